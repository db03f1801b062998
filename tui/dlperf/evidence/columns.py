"""Operations on columns of numbers, which estimators and findings share."""

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress, islice
from math import fsum, isfinite, nan
from operator import ge, le, lt, sub

MOST = 1e100
"""Of what is measured: products and sums of such numbers are finite."""


def finite_indices(column: Sequence[float]) -> Sequence[int]:
    """Return the indices of the finite numbers, as a range if all are finite."""
    indices = range(len(column))
    return indices if _all_finite(column) else array("q", compress(indices, map(isfinite, column)))


def finite(numbers: Sequence[float]) -> Sequence[float]:
    """Return the finite numbers, the sequence itself if all are finite."""
    return numbers if _all_finite(numbers) else array("d", filter(isfinite, numbers))


def _all_finite(numbers: Iterable[float]) -> bool:
    # a sum takes a third of the time, but may overflow
    return isfinite(sum(numbers)) or all(map(isfinite, numbers))


def positive(numbers: Sequence[float]) -> Sequence[float]:
    return array("d", filter(partial(lt, 0.0), numbers))


def is_median_at_least(limit: float, numbers: Sequence[float]) -> bool:
    """Whether more than half of the numbers are at least this: counting takes a quarter of the time of sorting."""
    count: int = sum(map(partial(le, limit), numbers))
    return 2 * count > len(numbers)


def is_median_at_most(limit: float, numbers: Sequence[float]) -> bool:
    count: int = sum(map(partial(ge, limit), numbers))
    return 2 * count > len(numbers)


def total(numbers: Iterable[float]) -> float:
    """Return the sum, rounded once; not finite if a number is not, or if it overflows.

    Not ``sum``, which rounds less often from Python 3.12 on: values must not depend on the Python that computes them.
    """
    try:
        return fsum(numbers)
    except (OverflowError, ValueError):  # too large, or both infinities
        return nan


def entries_at(column: Sequence[float], indices: Sequence[int]) -> Sequence[float]:
    if isinstance(indices, range):
        return column[indices.start : indices.stop]
    return array("d", map(column.__getitem__, indices))


@dataclass(frozen=True)
class Spacings:
    """Steps between each record and the next."""

    counts: Counter[float]
    """How often each spacing occurs, in order of first occurrence."""
    back: Sequence[int]
    """Indices of the records whose step is not greater than that of the record before."""

    @property
    def usual(self) -> float:
        """The most frequent positive spacing; 1 if there is none."""
        forward = {spacing: count for spacing, count in self.counts.items() if spacing > 0}
        return max(forward, key=forward.__getitem__) if forward else 1.0


def spacings(steps: Sequence[float]) -> Spacings:
    """Return the spacings of a run's steps, ignoring records without a step number."""
    gaps = array("d", map(sub, islice(steps, 1, None), steps))
    back = [index for index, gap in enumerate(gaps, 1) if gap <= 0]
    return Spacings(Counter(filter(isfinite, gaps)), back)
