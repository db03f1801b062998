"""What may be claimed of two results: the one place that says faster, slower, or why neither. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from statistics import median
from typing import Any

from dlperf.catalog.axes import REVISION
from dlperf.catalog.units import is_speed
from dlperf.evidence.facts import LIBRARIES
from dlperf.evidence.names import facts_of_name
from dlperf.measured.findings.trials import WINDOW_SECONDS
from dlperf.measured.losses import unlike_losses
from dlperf.measured.model import TrialResult
from dlperf.measured.statistics import pooled_variation
from dlperf.messages import Message, message
from dlperf.table.conditions import used_numerics
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.significance import (
    LEAST_TRIALS,
    SIGNIFICANT,
    bootstrap_interval,
    detectable_difference,
    permutation_p,
)

MOST_IN_ROW = 2
"""Trials of one side after each other in interleaved trials: ABAB and ABBA are, AAABBB is not."""
BEYOND_MACHINES = 2.576 * 2**0.5
"""Differences of machines of one kind that stay below this many of their deviations in 99 % of cases."""
SAID = ("too_few_trials", "short_window")
"""Findings that other conditions of a claim say already."""
WORK_LEFT_OUT = re.compile(r"-w-o-.+|-without-.+")
"""Part of a framework's id that names work which this variant leaves out, as ``oneflow-w-o-clip``."""
MACHINE = ("gpu.uuid", "machine")
"""Conditions of a trial that name its machine."""
DECIDED = ("faster", "slower", "better", "worse")
"""Verdicts that call one side ahead."""
VERSION = re.compile(r"(-[0-9][0-9.x]*)+$")

Recorded = frozenset[tuple[str, str]] | None


@dataclass(frozen=True)
class Claim:
    """B relative to A for one configuration."""

    a: ConfigurationResult
    b: ConfigurationResult
    verdict: Message
    """faster or slower (better or worse of what is no speed), no_difference, similar_conditions or not_comparable. The
    last two hold the reasons."""
    differences: tuple[str, ...] = ()
    """Differing options, protocol and environment."""

    @property
    def ratio(self) -> float | None:
        """B's value over A's; None if they are not comparable."""
        if self.verdict.code == "not_comparable" or not self.a.value or not self.b.value:
            return None
        return self.b.value / self.a.value

    @property
    def gain(self) -> float | None:
        """B's performance relative to A's: the ratio, or its inverse where lower values are better."""
        return None if self.ratio is None else self.b.score / self.a.score

    @property
    def improves(self) -> bool:
        """Whether B may be called faster, or better in what is no speed."""
        return self.verdict.code in ("faster", "better")

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % bootstrap interval of the ratio of medians; None under two trials each."""
        return bootstrap_interval(_ratio_of_medians, self.a.values, self.b.values) if self._repeated else None

    @property
    def p(self) -> float | None:
        """Of the exact permutation test; None under two trials each."""
        return permutation_p(self.a.values, self.b.values) if self._repeated else None

    @property
    def tested(self) -> bool:
        """Whether both sides have the trials that the permutation test needs to show anything."""
        return self._repeated and min(len(self.a.values), len(self.b.values)) >= LEAST_TRIALS

    @property
    def detectable(self) -> float | None:
        """Relative difference that this many trials with this variation show; None under five trials each."""
        variation = pooled_variation((self.a.values, self.b.values))
        trials = min(len(self.a.values), len(self.b.values))
        return None if variation is None else detectable_difference(trials, variation)

    @property
    def reasons(self) -> tuple[Message, ...]:
        """Why nothing may be claimed; none where the test decides."""
        why = self.verdict.parameters.get("why")
        return why if isinstance(why, tuple) else ()

    @property
    def brief(self) -> Message:
        """The verdict with its first reason, and how many more there are."""
        first = message(self.verdict.code, why=self.reasons[:1]) if self.reasons else self.verdict
        more = len(self.reasons) - 1
        return message("more_reasons", why=first, count=more) if more > 0 else first

    @property
    def _repeated(self) -> bool:
        return self.ratio is not None and min(len(self.a.values), len(self.b.values)) > 1

    def as_data(self) -> dict[str, Any]:
        """Return the fields for JSON output."""
        low, high = self.interval or (None, None)
        names = ("a", "b", "ratio", "gain", "p", "detectable", "verdict", "differences")
        return {name: getattr(self, name) for name in names} | {
            "low": low,
            "high": high,
            "verdict_code": self.verdict.to_json(),
        }


def _ratio_of_medians(a: Sequence[float], b: Sequence[float]) -> float:
    return median(b) / median(a) if median(a) else 0.0


def claim(a: ConfigurationResult, b: ConfigurationResult, machine_variation: float | None = None) -> Claim:
    """Return what may be said of B relative to A.

    Args:
        machine_variation: relative standard deviation between machines of one kind, where known; a difference of two
            kinds of hardware must exceed it.
    """
    if why := tuple(_incomparable(a, b)):
        return Claim(a, b, message("not_comparable", why=why))
    if why := tuple(_obstacles(a, b)):
        return Claim(a, b, message("similar_conditions", why=why))
    return Claim(a, b, message(_decide(a, b, machine_variation)))


def _decide(a: ConfigurationResult, b: ConfigurationResult, machine_variation: float | None) -> str:
    least = (machine_variation or 0.0) * BEYOND_MACHINES if a.hardware != b.hardware else 0.0
    if permutation_p(a.values, b.values) > SIGNIFICANT or abs(b.score / a.score - 1) <= least:
        return "no_difference"
    up, down = ("faster", "slower") if is_speed(a.unit) else ("better", "worse")
    return up if b.score > a.score else down


def _incomparable(a: ConfigurationResult, b: ConfigurationResult) -> Iterator[Message]:
    """Yield why even the ratio would mean nothing."""
    yield from (row.status.in_full for row in (a, b) if not row.value)
    pairs = ((a.metric, b.metric), (a.unit, b.unit), (a.case, b.case))
    yield from (message("units_differ", a=left, b=right) for left, right in pairs if left != right)
    for side, other in ((a, b), (b, a)):
        if work_left_out(side.framework) not in ("", work_left_out(other.framework)):
            yield message("leaves_out_work", framework=side.framework)


def _obstacles(a: ConfigurationResult, b: ConfigurationResult) -> Iterator[Message]:
    """Yield what a claim needs and these results lack, the most important first."""
    if any(row.status.code == "published" for row in (a, b)):
        yield message("third_party")
        return
    yield from _unequal_settings(a, b)
    yield from _few_trials(len(a.values), len(b.values))
    yield from _unequal_numerics(a, b)
    yield from _unequal_losses(a, b)
    yield from _machines(a, b)
    yield from _windows(a, b)
    for row in (a, b):
        found = (item for item in row.caveats if item.code not in SAID)
        yield from (message("with_caveat", framework=row.framework, why=item.message) for item in found)


def _unequal_settings(a: ConfigurationResult, b: ConfigurationResult) -> Iterator[Message]:
    settings = [
        ("batch_size", a.batch_size, b.batch_size),
        ("scale", a.scale, b.scale),
        ("protocol", a.protocol, b.protocol),
        ("tuning", a.tuning or "–", b.tuning or "–"),
        *((name, dict(a.axes).get(name), dict(b.axes).get(name)) for name in sorted(dict((*a.axes, *b.axes)))),
    ]
    for name, left, right in settings:
        if left != right and name != REVISION:
            yield message("unequal_setting", name=name, a=str(left), b=str(right))


def _unequal_numerics(a: ConfigurationResult, b: ConfigurationResult) -> Iterator[Message]:
    left, right = (used_numerics(row.numerics, row.gpus_total) for row in (a, b))
    unlike = [f"{name} {left[name]}/{right[name]}" for name in left if right.get(name, left[name]) != left[name]]
    if a.precision != b.precision:
        unlike = unlike or [f"{a.precision.upper()} / {b.precision.upper()}"]
    if unlike:
        yield message("numerics_differ", names=", ".join(unlike))
    elif not left or left != right:
        yield message("numerics_unknown")


def _unequal_losses(a: ConfigurationResult, b: ConfigurationResult) -> Iterator[Message]:
    """Programs that do not train alike may not do the same work."""
    if unlike := unlike_losses(*([trial.losses for trial in _usable(row)] for row in (a, b))):
        yield message("losses_differ", **unlike, first=a.framework, second=b.framework)


def _few_trials(a: int, b: int) -> Iterator[Message]:
    if min(a, b) < LEAST_TRIALS:
        yield message("few_trials_each", count=a) if a == b > 1 else message("few_trials", a=a, b=b)


def _machines(a: ConfigurationResult, b: ConfigurationResult) -> Iterator[Message]:
    """Yield what differs of the machines; where hardware is compared, of the programs that ran on them."""
    if a.hardware != b.hardware:
        yield from _equal(_recorded(a, "programs."), _recorded(b, "programs."), "programs")
        yield from _equal(_recorded(a, LIBRARIES), _recorded(b, LIBRARIES), "versions")
        return
    yield from _equal(_recorded(a, *MACHINE), _recorded(b, *MACHINE), "gpus")
    yield from _interleaving(a, b)


def _equal(a: Recorded, b: Recorded, what: str) -> Iterator[Message]:
    if a is None or b is None:
        yield message(f"{what}_unrecorded")
    elif a != b:
        yield message(f"other_{what}")


def _recorded(row: ConfigurationResult, *names: str) -> Recorded:
    """Return the conditions of all trials whose names begin so; None if a trial recorded none."""
    found = [{item for item in trial.conditions.items() if item[0].startswith(names)} for trial in _usable(row)]
    return frozenset().union(*found) if found and all(found) else None


def _interleaving(a: ConfigurationResult, b: ConfigurationResult) -> Iterator[Message]:
    started = [(trial.started or "", side) for side, row in enumerate((a, b)) for trial in _usable(row)]
    order = [side for moment, side in sorted(started)]
    if not all(moment for moment, _ in started) or max(len(list(run)) for _, run in groupby(order)) > MOST_IN_ROW:
        yield message("not_interleaved")


def _windows(a: ConfigurationResult, b: ConfigurationResult) -> Iterator[Message]:
    windows = [trial.window_seconds for row in (a, b) for trial in _usable(row)]
    known = [seconds for seconds in windows if seconds is not None]
    if len(known) < len(windows):
        yield message("window_unrecorded")
    elif known and min(known) < WINDOW_SECONDS:
        yield message("short_window", seconds=min(known), least=WINDOW_SECONDS)


def same_machine(a: ConfigurationResult, b: ConfigurationResult) -> bool:
    """Whether both record the same machine or GPUs."""
    return not any(_equal(_recorded(a, *MACHINE), _recorded(b, *MACHINE), "gpus"))


def _usable(row: ConfigurationResult) -> list[TrialResult]:
    return [trial for trial in row.trials if trial.usable]


def work_left_out(framework: str) -> str:
    """Return the part of a framework's id that names work which it leaves out; empty if it does all."""
    found = WORK_LEFT_OUT.search(framework)
    return found[0] if found else ""


@lru_cache(maxsize=1 << 10)
def family_of(framework: str) -> str:
    """Return the framework of which an id names a version or variant: a framework never beats itself."""
    return facts_of_name(framework).framework or VERSION.sub("", WORK_LEFT_OUT.sub("", framework))


def machine_variation(rows: Iterable[ConfigurationResult]) -> float | None:
    """Return the relative standard deviation between machines, from configurations that ran on several of one kind."""
    found: dict[tuple[object, ...], dict[Recorded, list[float]]] = {}
    for row in rows:
        gpus = _recorded(row, *MACHINE)
        if row.value and gpus:
            point = (row.configuration, row.metric, row.unit, row.protocol, _recorded(row, "programs."))
            found.setdefault(point, {}).setdefault(gpus, []).append(row.value)
    return pooled_variation([[median(values) for values in machines.values()] for machines in found.values()])
