"""Conditions of a claim, and what two results lack of them. Pure."""

from collections.abc import Iterator, Sequence
from math import prod
from statistics import fmean

from dlperf.catalog.axes import REVISION
from dlperf.evidence.facts import LIBRARIES
from dlperf.measured.findings.trials import WINDOW_SECONDS
from dlperf.messages import N_, Message, message, quoted
from dlperf.table.conditions import used_numerics
from dlperf.table.families import family_of, work_left_out
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.inference.verdict import Verdict
from dlperf.verdicts.losses import unlike_losses
from dlperf.verdicts.refusals import refusals
from dlperf.verdicts.trials import Pair, in_turns, losses_of, placed, recorded

CUT_SHORT = "too_few_trials"
SAID = ("measured_once", CUT_SHORT, "short_window")
"""Findings that other conditions of a claim say already."""
THIRD_PARTY = message("third_party")
NOT_STATED = N_("not stated")


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
        yield from (message("with_caveat", framework=_name(row), why=item.message) for item in found)


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
    unlike = [
        message(f"numerics_{name}", values=f"{left[name]}/{right[name]}")
        for name in left
        if right.get(name, left[name]) != left[name]
    ]
    if a.precision != b.precision:
        unlike = unlike or [quoted(f"{a.precision.upper()} / {b.precision.upper()}")]
    if unlike:
        yield message("numerics_differ", names=tuple(unlike))
    elif not left or left != right:
        yield message("numerics_unknown")
    elif family_of(a.framework) != family_of(b.framework):
        yield from (message("numerics_unreported", framework=row.framework) for row in (a, b) if _unreported(row))


def _unreported(row: ConfigurationResult) -> bool:
    """Whether a program does not report all of its data types: what its author planned need not be what it does."""
    return not used_numerics(row.numerics, row.gpus_total).keys() <= row.reported_numerics


def _unequal_losses(pairs: Sequence[Pair]) -> Iterator[Message]:
    """Programs that do not train alike may not do the same work; machines do not change what they learn.

    Versions of one framework that print no losses are compared without them.
    """
    a, b = pairs[0]
    left, right = losses_of(pairs)
    if any((*left, *right)) or family_of(a.framework) != family_of(b.framework):
        yield from unlike_losses(left, right, _name(a), _name(b))


def _name(row: ConfigurationResult) -> str:
    """Return the framework, or the version where two of one are compared."""
    return str(row.setting(REVISION)) if REVISION in dict(row.axes) else row.framework


def _machines(a: ConfigurationResult, b: ConfigurationResult) -> Iterator[Message]:
    """Yield what differs of the machines; where hardware is compared, of the programs that ran on them."""
    if a.hardware != b.hardware:
        yield from _equal(recorded(a, "programs."), recorded(b, "programs."), "programs")
        yield from _equal(recorded(a, LIBRARIES), recorded(b, LIBRARIES), "versions")
        return
    yield from _equal(placed(a), placed(b), "gpus")
    if not in_turns(a, b):
        yield message("not_interleaved")


def _equal(a: frozenset[object] | None, b: frozenset[object] | None, what: str) -> Iterator[Message]:
    if a is None or b is None:
        yield message(f"{what}_unrecorded")
    elif a != b:
        yield message(f"other_{what}")


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


def within_drift(pairs: Sequence[Pair], found: Verdict) -> Iterator[Message]:
    """Yield that the speed of a trial changed by more than the two results, or those of several machines, differ."""
    trials = (trial for pair in pairs for row in pair for trial in row.usable_trials)
    drift = max((abs(trial.drift or 0.0) for trial in trials), default=0.0)
    if found.ahead <= drift:
        yield message("within_drift", difference=found.ahead, drift=drift)


def within_idle(pairs: Sequence[Pair], found: Verdict, least: float = 0.0) -> Iterator[Message]:
    """Yield that the GPUs of the side behind had no kernel for longer, by as much as it is behind: its host may decide.

    Args:
        least: share of the window from which it matters.
    """
    ahead = found.difference > 0
    surplus = max((idle_of(pair[not ahead]) - idle_of(pair[ahead]) for pair in pairs), default=0.0)
    if surplus > least and surplus >= found.ahead:
        yield message("within_idle", difference=found.ahead, idle=surplus)


def idle_of(row: ConfigurationResult) -> float:
    """Return the mean idle share of the trials; 0 where none is known."""
    known = [trial.idle for trial in row.usable_trials if trial.idle is not None]
    return fmean(known) if known else 0.0


def _windows(a: ConfigurationResult, b: ConfigurationResult) -> Iterator[Message]:
    windows = [trial.window_seconds for row in (a, b) for trial in row.usable_trials]
    known = [seconds for seconds in windows if seconds is not None]
    if len(known) < len(windows):
        yield message("window_unrecorded")
    elif known and min(known) < WINDOW_SECONDS:
        yield message("short_window", seconds=min(known), least=WINDOW_SECONDS)
