"""Order statistics of any count of numbers, exact, in bounded memory."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from itertools import compress, islice, repeat
from operator import eq, gt, lt

from dlperf.formats.column import Column

HELD = 1 << 16
"""Numbers that are sorted at a time."""
SAMPLE = 1024
MARGIN = 48
"""Places of a sample: what is sought lies within them, three standard deviations, of where its rank says."""


def median(numbers: Sequence[float]) -> float:
    """``statistics.median`` of finite numbers."""
    if len(numbers) <= HELD:
        return statistics.median(numbers)
    upper = at_rank(numbers, len(numbers) // 2)
    return upper if len(numbers) % 2 else (at_rank(numbers, len(numbers) // 2 - 1) + upper) / 2


def at_rank(numbers: Sequence[float], rank: int) -> float:
    """``sorted(numbers)[rank]`` of finite numbers: only those near where a sample has it are sorted."""
    if len(numbers) <= HELD:
        return sorted(numbers)[rank]
    low, high = _around(numbers, rank)
    near = Column("d", (number for number in numbers if low <= number <= high))
    place = rank - how_many(numbers, lt, low)
    if place < 0:
        return at_rank(those(numbers, lt, low), rank)
    if place >= len(near):
        return at_rank(those(numbers, gt, high), place - len(near))
    if place < (lowest := how_many(near, eq, low)):
        return low
    between = Column("d", (number for number in near if low < number < high))
    return at_rank(between, place - lowest) if place - lowest < len(between) else high


def how_many(numbers: Iterable[float], compare: Callable[[float, float], bool], bound: float) -> int:
    """Of how many numbers it is true that they are so (``lt``, ``ge`` …) beside a bound."""
    return sum(map(compare, numbers, repeat(bound)))


def those(numbers: Sequence[float], compare: Callable[[float, float], bool], bound: float) -> Column[float]:
    """The numbers that are so (``lt``, ``ge`` …) beside a bound."""
    return Column("d", compress(numbers, map(compare, numbers, repeat(bound))))


def _around(numbers: Sequence[float], rank: int) -> tuple[float, float]:
    """Two of the numbers, a little below and a little above where a sample has the one of this rank."""
    sample = sorted(islice(numbers, 0, None, len(numbers) // SAMPLE))
    place = rank * len(sample) // len(numbers)
    return sample[max(place - MARGIN, 0)], sample[min(place + MARGIN, len(sample) - 1)]
