"""What the trials of results show: scores, machines, the order in which they ran, and what rounding hides. Pure."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby

from dlperf.catalog.units import is_rate, is_time
from dlperf.measured.findings.clock import COARSE_CLOCK
from dlperf.measured.losses import Losses
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.inference.rounding import rounding

MOST_IN_ROW = 2
"""Trials of one side after each other in trials that ran in turns: ABAB and ABBA are, AAABBB is not."""
MACHINE = ("gpu.uuid", "machine")
"""Conditions of a trial that name its machine."""

Recorded = frozenset[tuple[str, str]] | None
Pair = tuple[ConfigurationResult, ConfigurationResult]


def scores(row: ConfigurationResult) -> tuple[float, ...]:
    """Return the values of the usable trials so that higher is better; none if one is not above 0."""
    values = row.values
    if any(value <= 0 for value in values):
        return ()
    return values if row.direction == "higher" else tuple(1 / value for value in values)


def losses_of(pairs: Sequence[Pair]) -> tuple[list[Losses], list[Losses]]:
    """Return the losses of the trials of each side."""
    left, right = ([trial.losses for row in side for trial in row.usable_trials] for side in zip(*pairs, strict=True))
    return left, right


def recorded(row: ConfigurationResult, *names: str) -> Recorded:
    """Return the conditions of all trials whose names begin so; None if a trial recorded none."""
    found = [{item for item in trial.conditions.items() if item[0].startswith(names)} for trial in row.usable_trials]
    return frozenset().union(*found) if found and all(found) else None


def machine_of(row: ConfigurationResult) -> Recorded:
    """Return what the trials recorded of their machine or GPUs; None if one recorded nothing."""
    return recorded(row, *MACHINE)


def devices_of(row: ConfigurationResult) -> frozenset[str]:
    """Return the GPUs, or machines, that the trials recorded; none if one recorded nothing."""
    return frozenset(name for _, listed in machine_of(row) or () for name in listed.split(", "))


def placed(row: ConfigurationResult) -> frozenset[tuple[Recorded, Fraction]] | None:
    """Return the machines and their shares of the trials, which a cluster places where it likes; None if unknown."""
    ran = [
        frozenset(each for each in trial.conditions.items() if each[0].startswith(MACHINE))
        for trial in row.usable_trials
    ]
    shares = {(machine, Fraction(count, len(ran))) for machine, count in Counter(ran).items()}
    return frozenset(shares) if ran and all(ran) else None


def same_machine(a: ConfigurationResult, b: ConfigurationResult) -> bool:
    """Whether both record the same machine or GPUs."""
    machines = placed(a)
    return machines is not None and machines == placed(b)


def last_start(row: ConfigurationResult) -> str:
    """Return when the last trial of a result began."""
    return max((trial.started or "" for trial in row.trials), default="")


def in_turns(a: ConfigurationResult, b: ConfigurationResult) -> bool:
    """Whether the trials of both sides alternated."""
    started = [(trial.started or "", side) for side, row in enumerate((a, b)) for trial in row.usable_trials]
    order = [side for moment, side in sorted(started)]
    return all(moment for moment, _ in started) and max(len(list(run)) for _, run in groupby(order)) <= MOST_IN_ROW


def neighbours(a: ConfigurationResult, b: ConfigurationResult) -> tuple[list[float], list[float]]:
    """Return the scores of trials of A and of B that began one after the other: what is lost or repeated has none.

    Rounds in which both ran are as many pairs, whichever was first in each.
    """
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
