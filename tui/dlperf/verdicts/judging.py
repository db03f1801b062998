"""Judge a result against an earlier one, for gates, reproductions, versions and thresholds. Pure."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from dlperf.errors import ExitCode
from dlperf.messages import Message, message
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.claims import Claim, claim, ratio_interval, undecided
from dlperf.verdicts.compare import Comparisons
from dlperf.verdicts.inference.policies import APART, IN_TURNS, Policy
from dlperf.verdicts.inference.verdict import Sides, Verdict, judge, two_campaigns
from dlperf.verdicts.refusals import failures, refusals
from dlperf.verdicts.trials import neighbours, rounding_of, same_machine, scores
from dlperf.verdicts.variation import UNKNOWN, Known, known_of_pair

Outcome = Literal["better", "worse", "same", "cannot_tell", "missing"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@dataclass(frozen=True)
class Options:
    """What a person may choose of a policy."""

    loss: float | None = None
    """Relative loss that is sought; None for what the variation allows."""
    most: int | None = None
    """Most trials of each side."""

    def of(self, policy: Policy, loss: float | None = None) -> Policy:
        """Return the policy with what was chosen.

        Args:
            loss: what is sought unless chosen.
        """
        return replace(policy, loss=loss if self.loss is None else self.loss, most=self.most or policy.most)

    def first(self, policy: Policy) -> int:
        """Return the trials of each side with which a campaign begins."""
        return min(policy.least, self.most or policy.least)


DEFAULTS = Options()


@dataclass(frozen=True)
class Judgement:
    """What a gate says of one configuration."""

    configuration: str
    metric: str
    outcome: Outcome
    verdict: Message
    pair: Claim | None = None
    """None where nothing was measured."""
    found: Verdict | None = None
    policy: Policy = APART
    assumed: bool = False
    """Whether campaigns are assumed to differ as much as trials, because too few were measured."""

    @property
    def failed(self) -> bool:
        return self.outcome in ("worse", "missing")

    @property
    def wants_trials(self) -> bool:
        """Whether further trials may decide, and the policy allows them."""
        if self.pair is None or self.outcome != "cannot_tell" or _lasting(self.pair.a, self.pair.b):
            return False
        allowed = len(self.pair.b.values) < self.policy.most
        return allowed and (self.found is None or self.found.more is not None)

    def as_data(self) -> dict[str, Any]:
        """Return the fields for JSON output."""
        numbers = {name: getattr(self.found, name, None) for name in ("difference", "p", "loss", "more")}
        low, high = (self.found and self.found.interval) or (None, None)
        names = ("configuration", "metric", "outcome", "failed", "verdict", "pair", "assumed")
        return (
            {name: getattr(self, name) for name in names}
            | numbers
            | {"low": low, "high": high, "verdict_code": self.verdict.to_json()}
        )


def exit_code(outcomes: Collection[Outcome]) -> ExitCode:
    """Return how a command ends that judged: nothing judged fails, too."""
    if not outcomes or not {"worse", "missing"}.isdisjoint(outcomes):
        return ExitCode.MEASURED_FAILED
    return ExitCode.CANNOT_TELL if "cannot_tell" in outcomes else ExitCode.DONE


def lacks_earlier_trials(before: ConfigurationResult, now: ConfigurationResult | None = None) -> Message | None:
    """Return that a result of another campaign, which gets no further trials, has too few for any verdict."""
    together, count = now is not None and before.campaign == now.campaign, len(before.values)
    return None if together or count >= APART.least else message("earlier_has_few", count=count, least=APART.least)


def outcome_of(pair: Claim) -> Outcome:
    """Return the verdict of a claim: what B lacks is missing, and what A lacks is no loss."""
    if pair.verdict.code == "not_comparable":
        return "same" if pair.a.value is None else "missing"
    return next(each for each in OUTCOMES if each == pair.verdict.code)


def judge_rows(
    before: ConfigurationResult,
    now: ConfigurationResult,
    options: Options = DEFAULTS,
    known: Known = UNKNOWN,
    loss: float | None = None,
) -> Judgement:
    """Judge a result against an earlier one, or one whose trials alternated with it.

    Unlike a claim, it allows other machines, other conditions and trials of another campaign.
    """
    pair = claim(before, now, known)
    if pair.verdict.code == "not_comparable":
        return Judgement(now.id, now.metric, "missing", pair.verdict, pair)
    evidence, alternated = _evidence(before, now, known)
    policy = options.of(IN_TURNS if alternated else APART, loss)
    why, found = _lasting(before, now), judge(evidence, policy)
    found = replace(found, more=None) if found and why else found
    if not why and (found is None or not found.decided):
        why = [undecided(found)]
    why += failures(now) if found is None or found.code != "worse" else []
    code: Outcome = "cannot_tell" if found is None or why else found.code
    verdict = message("cannot_tell", why=tuple(why)) if found is None else describe_verdict(found, now, code, why)
    assumed = not alternated and known.campaigns is None
    return Judgement(now.id, now.metric, code, verdict, pair, found, policy, assumed)


def _lasting(before: ConfigurationResult, now: ConfigurationResult) -> list[Message]:
    """Return why there is no verdict whatever trials are added to the later result."""
    few = lacks_earlier_trials(before, now)
    return [*refusals(before, now), *([few] if few else [])]


def _evidence(before: ConfigurationResult, now: ConfigurationResult, known: Known) -> tuple[Sides, bool]:
    """Return the trials of both, and whether they alternated."""
    sides, pairs = (scores(before), scores(now)), neighbours(before, now)
    apart, rounded = not same_machine(before, now), rounding_of([before], [now])
    alternated = before.campaign == now.campaign and not apart and 2 * len(pairs[0]) > min(map(len, sides))
    if alternated:
        return Sides(*pairs, paired=True, rounding=rounded), True
    found = two_campaigns(*sides, known.campaigns, known.between_machines if apart else None)
    return replace(found, rounding=rounded), False


def judge_pairs(compared: Comparisons, options: Options = DEFAULTS) -> list[Judgement]:
    """Judge each pair of a comparison by the variation of its own hardware."""
    sides = ((pair.a, pair.b) for pair in compared.pairs)
    return [judge_rows(a, b, options, known_of_pair(compared.known, a, b)) for a, b in sides]


def describe_verdict(found: Verdict, row: ConfigurationResult, code: str, why: Iterable[Message] = ()) -> Message:
    """Return the verdict with its numbers, as changes of the value: of metrics that are better when low, too."""
    gain, interval = 1 + found.difference, ratio_interval(found, row)
    difference = (gain if row.direction == "higher" else 1 / gain) - 1
    if interval is None:
        return message("judged_open", difference=difference, why=tuple(why))
    low, high = (end - 1 for end in interval)
    return message(f"judged_{code}", difference=difference, low=low, high=high, loss=found.loss, why=tuple(why))


def below(item: Judgement, ratio: float) -> Outcome:
    """Return whether the later result does less than this part of the earlier one, higher being better.

    ``worse`` where all of the interval is less, ``same`` where none of it is and no trial failed, ``cannot_tell`` where
    it holds the part, where a side has fewer trials than the policy needs, or where the metric refuses a verdict. The
    ratio of the values alone decides above 1, and of third-party results, whose trials are not known. What the earlier
    one lacks is the ``same``, what the later one alone lacks or is another quantity is ``missing``.
    """
    pair, found = item.pair, item.found
    if pair is None or pair.verdict.code == "not_comparable":
        return "same" if pair and pair.a.value is None else "missing"
    if pair.gain is None:
        return "cannot_tell"
    if ratio > 1 or pair.a.is_third_party or pair.b.is_third_party:
        return "worse" if pair.gain < ratio else "same"
    few = min(len(pair.a.values), len(pair.b.values)) < item.policy.least
    if found is None or few or any(refusals(pair.a, pair.b)):
        return "cannot_tell"
    if 1 + found.low >= ratio and not any(failures(pair.b)):
        return "same"
    return "worse" if 1 + found.high < ratio else "cannot_tell"
