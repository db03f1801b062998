"""How a run's step counter goes on: by how many steps from record to record, and where it goes back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isfinite
from operator import sub

from dlperf.formats.column import Column
from dlperf.measure.columns import all_finite


@dataclass(frozen=True)
class Spacings:
    """Steps between each record and the next, told in one pass."""

    counts: Counter[float] = field(default_factory=Counter)
    """How often each number of steps lies between two records, in the order in which it first does."""
    back: Column[int] = field(default_factory=lambda: Column("q"))
    """Indices of the records whose step is less than that of the record before."""

    @property
    def usual(self) -> float:
        """Steps from one record to the next, as most records have it; 1 where that cannot be told."""
        forward = {spacing: count for spacing, count in self.counts.items() if spacing > 0}
        return max(forward, key=forward.__getitem__) if forward else 1.0


def spacings(steps: Column[float]) -> Spacings:
    """The spacings of a run's steps. A record without a step number has none."""
    found = Spacings()
    for index, some in _some_at_a_time(steps):
        known = some if all_finite(some) else list(filter(isfinite, some))
        if known and known.count(known[0]) == len(known):
            found.counts[known[0]] += len(known)
        else:
            found.counts.update(known)
        if known and min(known) < 0:
            found.back.extend(place for place, spacing in enumerate(some, index) if spacing < 0)
    return found


def _some_at_a_time(steps: Column[float]) -> Iterator[tuple[int, list[float]]]:
    """Spacings that follow each other, and the index of the record that the first of them ends at."""
    index, last = 1, None
    for block in steps.blocks():
        spacings = list(map(sub, block[1:], block)) if last is None else list(map(sub, block, [last, *block[:-1]]))
        yield index, spacings
        index, last = index + len(spacings), block[-1]
