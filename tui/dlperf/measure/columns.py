"""What estimators and findings ask of columns of numbers."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import compress
from math import fsum, isfinite, nan


def finite_indices(column: Sequence[float]) -> Sequence[int]:
    """Where a column holds a number: a range where it does throughout."""
    indices = range(len(column))
    return indices if all_finite(column) else array("q", compress(indices, map(isfinite, column)))


def finite(numbers: Sequence[float]) -> Sequence[float]:
    """Those that are numbers: the sequence itself where all are."""
    return numbers if all_finite(numbers) else array("d", filter(isfinite, numbers))


def all_finite(numbers: Iterable[float]) -> bool:
    """Whether none is NaN or infinite: a sum tells it in a third of the time, unless it overflows."""
    return isfinite(sum(numbers)) or all(map(isfinite, numbers))


def positive(numbers: Sequence[float]) -> Sequence[float]:
    """Those above 0."""
    return array("d", (number for number in numbers if number > 0))


def total(numbers: Iterable[float]) -> float:
    """Their sum, rounded once; not finite where one of them is not, or where they are too large together.

    Python's own sum rounds less often from 3.12 on: figures must be the same whatever Python computes them.
    """
    try:
        return fsum(numbers)
    except (OverflowError, ValueError):  # too large, or both infinities
        return nan


def entries_at(column: Sequence[float], indices: Sequence[int]) -> Sequence[float]:
    """The entries of a column at some indices."""
    if isinstance(indices, range):
        return column[indices.start : indices.stop]
    return array("d", map(column.__getitem__, indices))
