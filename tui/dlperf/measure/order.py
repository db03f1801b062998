"""Order statistics of any count of numbers, exact, in bounded memory."""

from __future__ import annotations

import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import islice
from operator import eq, gt, lt
from typing import NamedTuple

from dlperf.formats.column import Column
from dlperf.measure.columns import how_many, those

HELD = 1 << 16
"""Numbers that are sorted at a time."""
SAMPLE = 1024
MARGIN = 48
"""Places of a sample: what is sought lies within them, three standard deviations, of where its rank says."""


class Ranked(NamedTuple):
    """The number at a rank of the sorted numbers."""

    number: float
    below: int
    """How many are less."""
    up_to: int
    """How many are less or equal."""

    def behind(self, count: int) -> Ranked:
        """The same among numbers of which ``count`` more are less."""
        return Ranked(self.number, self.below + count, self.up_to + count)


def median(numbers: Sequence[float]) -> float:
    """``statistics.median`` of finite numbers."""
    if len(numbers) <= HELD:
        return statistics.median(numbers)
    lower, _, up_to = at_rank(numbers, (len(numbers) - 1) // 2)
    if up_to > len(numbers) // 2:
        return lower
    return (lower + min(number for number in numbers if number > lower)) / 2


def at_rank(numbers: Sequence[float], rank: int) -> Ranked:
    """``sorted(numbers)[rank]`` of finite numbers: only those near where a sample has it are sorted."""
    if len(numbers) <= HELD:
        ordered = sorted(numbers)
        number = ordered[rank]
        return Ranked(number, bisect_left(ordered, number), bisect_right(ordered, number))
    low, high = _around(numbers, rank)
    near = Column("d", (number for number in numbers if low <= number <= high))
    below = how_many(numbers, lt, low)
    if rank < below:
        return at_rank(those(numbers, lt, low), rank)
    if rank < below + len(near):
        return _at_rank_between(near, low, high, rank - below).behind(below)
    return at_rank(those(numbers, gt, high), rank - below - len(near)).behind(below + len(near))


def _at_rank_between(numbers: Sequence[float], low: float, high: float, rank: int) -> Ranked:
    """The same of numbers of which ``low`` is the lowest and ``high`` the highest."""
    lows, below_high = how_many(numbers, eq, low), how_many(numbers, lt, high)
    if rank < lows:
        return Ranked(low, 0, lows)
    if rank >= below_high:
        return Ranked(high, below_high, len(numbers))
    between = Column("d", (number for number in numbers if low < number < high))
    return at_rank(between, rank - lows).behind(lows)


def _around(numbers: Sequence[float], rank: int) -> tuple[float, float]:
    """Two of the numbers, a little below and a little above where a sample has the one of this rank."""
    sample = sorted(islice(numbers, 0, None, len(numbers) // SAMPLE))
    place = rank * len(sample) // len(numbers)
    return sample[max(place - MARGIN, 0)], sample[min(place + MARGIN, len(sample) - 1)]
