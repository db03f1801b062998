"""Add trials to a campaign while its verdicts are open."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dlperf.cli.output import print_note
from dlperf.errors import ExitCode, RequestError
from dlperf.view.text import count_noun

if TYPE_CHECKING:
    from dlperf.plan import TrialKey
    from dlperf.runs.paths import CampaignPaths
    from dlperf.verdicts.judging import Judgement, Options

SECONDS = {"s": 1, "m": 60, "h": 3600}


def options_of(loss: float | None, most: int | None) -> Options:
    """Return the options of verdicts from those of a command, where the loss is in percent."""
    from dlperf.verdicts.judging import Options

    return Options(None if loss is None else loss / 100, most)


@dataclass(frozen=True)
class Budget:
    """Of time; no end without one."""

    text: str
    seconds: float

    def __str__(self) -> str:
        return f"--budget {self.text}"


def budget_of(text: str | None) -> Budget:
    """Return a budget from the option of a command, such as ``45m``. Raises RequestError: it is no time."""
    if text is None:
        return Budget("", float("inf"))
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text.strip())
    if not found:
        raise RequestError(f"--budget {text}: write a time such as 90s, 45m or 3h")
    return Budget(text, float(found[1]) * SECONDS[found[2]])


def code_of(ended: ExitCode, verdict: ExitCode) -> ExitCode:
    """Return how a command ends that ran trials and judged them: trials that failed are part of the verdict."""
    return ended if ended is ExitCode.UNREACHABLE else verdict


@dataclass
class Deciding:
    """Judges a campaign whenever its trials have ended, and names those to add."""

    paths: CampaignPaths
    judge: Callable[[], list[Judgement]]
    budget: Budget
    found: list[Judgement] = field(default_factory=list)
    _looks: Counter[tuple[str, str]] = field(default_factory=Counter)
    _begun: float = field(default_factory=time.monotonic)
    _round: float = field(default_factory=time.monotonic)
    _trials: int = -1

    def __call__(self) -> list[TrialKey]:
        """Return the trials to add in a drawn order; none where all is decided or the budget is spent."""
        self.found = self.judge()
        now = time.monotonic()
        last, self._round = now - self._round, now
        trials = sum(len(item.pair.b.values) for item in self.found if item.pair)
        grew, self._trials = trials > self._trials, trials
        wanting = [item for item in self.found if item.wants_trials and self._may_look_again(item)]
        # a configuration that gives no values would be asked for for ever
        if not wanting or not grew:
            return []
        if now - self._begun + last > self.budget.seconds:
            print_note(f"{self.budget} is spent with {count_noun(len(wanting), 'verdict')} open")
            return []
        several = f"{count_noun(len(wanting), 'verdict')} of {len(self.found)} open"
        print_note(f"trials are added: {wanting[0].verdict if len(self.found) == 1 else several}")
        return self._added(wanting)

    def _may_look_again(self, item: Judgement) -> bool:
        """Count a look, and return whether the policy has another: where trials fail, fewer than were added decide."""
        looked = item.found is not None and item.pair is not None and len(item.pair.b.values) >= item.policy.least
        self._looks[item.configuration, item.metric] += looked
        return item.policy.looks is None or self._looks[item.configuration, item.metric] < item.policy.looks

    def _added(self, wanting: Sequence[Judgement]) -> list[TrialKey]:
        import random

        from dlperf.plan import TrialKey
        from dlperf.runs.journal import CampaignReader

        reader = CampaignReader(self.paths)
        last: dict[str, int] = {}
        for key in reader.refresh().trials:
            last[key.configuration] = max(key.number, last.get(key.configuration, 0))
        draw, keys = random.Random(f"{reader.record.seed} {self._trials}"), []
        for item in wanting:
            sides = [row.id for row in (item.pair.a, item.pair.b)] if item.pair else []
            names = [name for name in dict.fromkeys(sides) if name in last]
            # at once up to the last of a policy's few looks
            rounds = 1 if item.policy.looks is None or item.pair is None else item.policy.most - len(item.pair.b.values)
            for number in range(1, rounds + 1):
                keys += [TrialKey(name, last[name] + number) for name in draw.sample(names, len(names))]
        return keys
