"""How a run's step counter goes on: by how many steps from record to record, and where it goes back."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from operator import sub


@dataclass(frozen=True)
class Spacings:
    """Steps between each record and the next."""

    counts: Counter[float]
    """How often each number of steps lies between two records, in the order in which it first does."""
    back: Sequence[int]
    """Indices of the records whose step is less than that of the record before."""

    @property
    def usual(self) -> float:
        """Steps from one record to the next, as most records have it; 1 where that cannot be told."""
        forward = {spacing: count for spacing, count in self.counts.items() if spacing > 0}
        return max(forward, key=forward.__getitem__) if forward else 1.0


def spacings(steps: Sequence[float]) -> Spacings:
    """The spacings of a run's steps. A record without a step number has none."""
    gaps = array("d", map(sub, islice(steps, 1, None), steps))
    back = [index for index, gap in enumerate(gaps, 1) if gap < 0]
    return Spacings(Counter(filter(isfinite, gaps)), back)
