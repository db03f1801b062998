"""Conditions of a claim, and what two results lack of them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import groupby
from math import prod

from dlperf.catalog.axes import REVISION
from dlperf.catalog.units import is_rate, is_time
from dlperf.evidence.facts import LIBRARIES
from dlperf.measured.findings.clock import COARSE_CLOCK
from dlperf.measured.findings.trials import WINDOW_SECONDS
from dlperf.measured.losses import Losses
from dlperf.messages import N_, Message, message
from dlperf.table.conditions import used_numerics
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.families import family_of, work_left_out
from dlperf.verdicts.inference.rounding import rounding
from dlperf.verdicts.losses import unlike_losses
from dlperf.verdicts.refusals import refusals

MOST_IN_ROW = 2
"""Trials of one side after each other in trials that ran in turns: ABAB and ABBA are, AAABBB is not."""
CUT_SHORT = "too_few_trials"
SAID = ("measured_once", CUT_SHORT, "short_window")
"""Findings that other conditions of a claim say already."""
MACHINE = ("gpu.uuid", "machine")
"""Conditions of a trial that name its machine."""
THIRD_PARTY = message("third_party")
NOT_STATED = N_("not stated")

Recorded = frozenset[tuple[str, str]] | None
Pair = tuple[ConfigurationResult, ConfigurationResult]


def scores(row: ConfigurationResult) -> tuple[float, ...]:
    """Return the values of the usable trials so that higher is better; none if one is not above 0."""
    values = row.values
    if any(value <= 0 for value in values):
        return ()
    return values if row.direction == "higher" else tuple(1 / value for value in values)


def incomparable(a: ConfigurationResult, b: ConfigurationResult) -> Iterator[Message]:
    """Yield why even the ratio would mean nothing."""
    yield from (row.status.in_full for row in (a, b) if row.value is None)
    pairs = ((a.metric, b.metric), (a.unit, b.unit), (a.case, b.case))
    yield from (message("units_differ", a=left, b=right) for left, right in pairs if left != right)
    for side, other in ((a, b), (b, a)):
        if work_left_out(side.framework) not in ("", work_left_out(other.framework)):
            yield message("leaves_out_work", framework=side.framework)


def obstacles(pairs: Sequence[Pair]) -> list[Message]:
    """Return what a claim needs and these results lack, the most important first.

    Args:
        pairs: two results, or those of the same two programs on several machines, each of which has to meet all.
    """
    if any(row.is_third_party or row.source for pair in pairs for row in pair):
        return [THIRD_PARTY]
    settings, conditions = (_unequal_settings, refusals, _unequal_numerics), (_machines, _windows, _caveats)
    found = [why for check in settings for pair in pairs for why in check(*pair)]
    found += _unequal_losses(pairs)
    found += [why for check in conditions for pair in pairs for why in check(*pair)]
    return [why for place, why in enumerate(found) if why not in found[:place]]


def _caveats(a: ConfigurationResult, b: ConfigurationResult) -> Iterator[Message]:
    for row in (a, b):
        found = (item for item in row.caveats if item.code not in SAID)
        yield from (message("with_caveat", framework=row.framework, why=item.message) for item in found)


def _unequal_settings(a: ConfigurationResult, b: ConfigurationResult) -> Iterator[Message]:
    settings = [
        ("batch_size", a.batch_size, b.batch_size),
        ("scale", a.scale, b.scale),
        ("tuning", a.tuning or NOT_STATED, b.tuning or NOT_STATED),
        *((name, a.setting(name), b.setting(name)) for name in sorted(dict((*a.axes, *b.axes)))),
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


def _unequal_losses(pairs: Sequence[Pair]) -> Iterator[Message]:
    """Programs that do not train alike may not do the same work; machines do not change what they learn.

    Versions of one framework that print no losses are compared without them.
    """
    a, b = pairs[0]
    left, right = losses_of(pairs)
    if any((*left, *right)) or family_of(a.framework) != family_of(b.framework):
        yield from unlike_losses(left, right, a.framework, b.framework)


def losses_of(pairs: Sequence[Pair]) -> tuple[list[Losses], list[Losses]]:
    """Return the losses of the trials of each side."""
    left, right = ([trial.losses for row in side for trial in row.usable_trials] for side in zip(*pairs, strict=True))
    return left, right


def _machines(a: ConfigurationResult, b: ConfigurationResult) -> Iterator[Message]:
    """Yield what differs of the machines; where hardware is compared, of the programs that ran on them."""
    if a.hardware != b.hardware:
        yield from _equal(recorded(a, "programs."), recorded(b, "programs."), "programs")
        yield from _equal(recorded(a, LIBRARIES), recorded(b, LIBRARIES), "versions")
        return
    yield from _equal(_placed(a), _placed(b), "gpus")
    if not in_turns(a, b):
        yield message("not_interleaved")


def _equal(a: frozenset[object] | None, b: frozenset[object] | None, what: str) -> Iterator[Message]:
    if a is None or b is None:
        yield message(f"{what}_unrecorded")
    elif a != b:
        yield message(f"other_{what}")


def recorded(row: ConfigurationResult, *names: str) -> Recorded:
    """Return the conditions of all trials whose names begin so; None if a trial recorded none."""
    found = [{item for item in trial.conditions.items() if item[0].startswith(names)} for trial in row.usable_trials]
    return frozenset().union(*found) if found and all(found) else None


def machine_of(row: ConfigurationResult) -> Recorded:
    """Return what the trials recorded of their machine or GPUs; None if one recorded nothing."""
    return recorded(row, *MACHINE)


def _placed(row: ConfigurationResult) -> frozenset[tuple[Recorded, Fraction]] | None:
    """Return the machines and their shares of the trials, which a cluster places where it likes; None if unknown."""
    ran = [
        frozenset(each for each in trial.conditions.items() if each[0].startswith(MACHINE))
        for trial in row.usable_trials
    ]
    shares = {(machine, Fraction(count, len(ran))) for machine, count in Counter(ran).items()}
    return frozenset(shares) if ran and all(ran) else None


def last_start(row: ConfigurationResult) -> str:
    """Return when the last trial of a result began."""
    return max((trial.started or "" for trial in row.trials), default="")


def neighbours(a: ConfigurationResult, b: ConfigurationResult) -> tuple[list[float], list[float]]:
    """Return the scores of trials of A and of B that began one after the other: what is lost or repeated has none."""
    begun = [
        (trial.started or "", side, score)
        for side, row in enumerate((a, b))
        for trial, score in zip(row.usable_trials, scores(row), strict=False)
    ]
    pairs = list[tuple[float, float]]()
    waiting: tuple[int, float] | None = None
    for _, side, score in sorted(begun):
        if waiting is not None and waiting[0] != side:
            pairs.append((score, waiting[1]) if side == 0 else (waiting[1], score))
            waiting = None
        else:
            waiting = side, score
    return [left for left, _ in pairs], [right for _, right in pairs]


def rounding_of(a: Sequence[ConfigurationResult], b: Sequence[ConfigurationResult]) -> float:
    """Return the relative difference that printed digits, or times in whole seconds, alone may make of two sides."""
    left, right = ([value for row in side for value in row.values] for side in (a, b))
    return rounding(left, right, max((_clock_share(row) for row in (*a, *b)), default=0.0))


def _clock_share(row: ConfigurationResult) -> float:
    """Return which part of the measured window the unit of its times is, of a value that follows from them."""
    if not is_rate(row.unit, row.direction) and not is_time(row.unit):
        return 0.0
    said = (item for trial in row.usable_trials for item in trial.findings if item.code == COARSE_CLOCK)
    shares = (item.message.parameters.get("share") for item in said)
    return max((share for share in shares if isinstance(share, float)), default=0.0)


def stops(pairs: Sequence[Pair], least: int) -> int:
    """Return after how many numbers of trials campaigns that were cut short may have been stopped for their results.

    Args:
        least: trials of a side from which there may be a verdict.
    """
    planned = (
        [
            int(str(item.message.parameters["repeats"]))
            for row in pair
            for item in row.findings
            if item.code == CUT_SHORT
        ]
        for pair in pairs
    )
    return prod(max(1, max(each, default=least) - least + 1) for each in planned)


def in_turns(a: ConfigurationResult, b: ConfigurationResult) -> bool:
    """Whether the trials of both sides alternated."""
    started = [(trial.started or "", side) for side, row in enumerate((a, b)) for trial in row.usable_trials]
    order = [side for moment, side in sorted(started)]
    return all(moment for moment, _ in started) and max(len(list(run)) for _, run in groupby(order)) <= MOST_IN_ROW


def within_drift(pairs: Sequence[Pair], difference: float) -> Iterator[Message]:
    """Yield that the speed of a trial changed by more than the two results, or those of several machines, differ."""
    trials = (trial for pair in pairs for row in pair for trial in row.usable_trials)
    drift = max((abs(trial.drift or 0.0) for trial in trials), default=0.0)
    if abs(difference) <= drift:
        yield message("within_drift", difference=abs(difference), drift=drift)


def within_idle(pairs: Sequence[Pair], difference: float) -> Iterator[Message]:
    """Yield that a GPU waited for its host longer than the two results differ: another host could turn them round."""
    trials = (trial for pair in pairs for row in pair for trial in row.usable_trials)
    found = (item.message.parameters["share"] for trial in trials for item in trial.findings if item.code == "idle_gpu")
    idle = max((share for share in found if isinstance(share, float)), default=0.0)
    if 0 < idle >= abs(difference):
        yield message("within_idle", difference=abs(difference), idle=idle)


def _windows(a: ConfigurationResult, b: ConfigurationResult) -> Iterator[Message]:
    windows = [trial.window_seconds for row in (a, b) for trial in row.usable_trials]
    known = [seconds for seconds in windows if seconds is not None]
    if len(known) < len(windows):
        yield message("window_unrecorded")
    elif known and min(known) < WINDOW_SECONDS:
        yield message("short_window", seconds=min(known), least=WINDOW_SECONDS)


def same_machine(a: ConfigurationResult, b: ConfigurationResult) -> bool:
    """Whether both record the same machine or GPUs."""
    return not any(_equal(_placed(a), _placed(b), "gpus"))
