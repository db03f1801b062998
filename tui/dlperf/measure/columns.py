"""What estimators and findings ask of long columns, in passes that run in C.

Numbers that are compared, filtered or counted one by one in Python take five times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress, repeat
from math import fsum, isfinite, isnan, nan
from operator import gt

from dlperf.formats.column import Column, Number


def finite_indices(column: Sequence[float]) -> Sequence[int]:
    """Where a column holds a number: a range where it does throughout."""
    indices = range(len(column))
    return indices if all_finite(column) else Column("q", compress(indices, map(isfinite, column)))


def finite(numbers: Sequence[float]) -> Sequence[float]:
    """Those that are numbers: the sequence itself where all are."""
    return numbers if all_finite(numbers) else Column("d", filter(isfinite, numbers))


def all_finite(numbers: Iterable[float]) -> bool:
    """Whether none is NaN or infinite: a sum tells it in a third of the time, unless it overflows."""
    return isfinite(sum(numbers)) or all(map(isfinite, numbers))


def total(numbers: Iterable[float]) -> float:
    """Their sum, rounded once; not finite where one of them is not, or where they are too large together.

    Python's own sum rounds less often from 3.12 on: figures must be the same whatever Python computes them.
    """
    try:
        return fsum(numbers)
    except (OverflowError, ValueError):  # too large, or both infinities
        return nan


def positive(numbers: Sequence[float]) -> Sequence[float]:
    """Those above 0: the sequence itself where all are."""
    all_are = not isnan(sum(numbers)) and min(numbers, default=1.0) > 0
    return numbers if all_are else those(numbers, gt, 0.0)


def entries_at(column: Sequence[float], indices: Sequence[int]) -> Sequence[float]:
    """The entries of a column at some indices in ascending order."""
    return column[indices.start : indices.stop] if isinstance(indices, range) else Column("d", _picked(column, indices))


def how_many(numbers: Iterable[float], compare: Callable[[float, float], bool], bound: float) -> int:
    """How many numbers are less than a bound (``lt``), at most that (``le``) …"""
    return sum(map(compare, numbers, repeat(bound)))


def those(numbers: Sequence[float], compare: Callable[[float, float], bool], bound: float) -> Column[float]:
    """The numbers that are less than a bound (``lt``), at most that (``le``) …"""
    return Column("d", compress(numbers, map(compare, numbers, repeat(bound))))


def _picked(column: Sequence[Number], indices: Sequence[int]) -> Iterator[Number]:
    """The entries at some indices in ascending order, one by one: much faster than to look each of them up."""
    end = indices[-1] + 1 if indices else 0
    wanted = iter(indices)
    following = next(wanted, end)
    for index, entry in enumerate(column[following:end], following):
        if index == following:
            yield entry
            following = next(wanted, end)
