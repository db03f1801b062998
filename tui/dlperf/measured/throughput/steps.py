"""The steps of a run: how many were done at each record, and where their count or the clock goes back."""

import statistics
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, pairwise, repeat
from math import isfinite, nan
from operator import add, sub

from dlperf.evidence.columns import Spacings, finite, finite_indices, spacings
from dlperf.formats.samples import Run

SAME_EPOCH = 1.2
"""Times the usual number of steps below which all records count those of one epoch; of three that are added up, the
last has 1.5 times the usual number."""
CLOCK_JITTER = 1.0
"""Seconds by which the timestamps of processes that share a log may go back."""
MOST_CLOCK_BACKS = 0.02
"""Share of the records beyond which a log has several clocks."""


@dataclass(frozen=True)
class RunSteps:
    """What the records of a run say without further facts.

    Columns are computed on first use: make another of a run that has grown.
    """

    run: Run

    @cached_property
    def timed(self) -> Sequence[int]:
        """Indices of the records with a timestamp."""
        return finite_indices(self.run.samples.time)

    @cached_property
    def clock_resolution(self) -> float:
        """Seconds to which timestamps are rounded: 1.0 if they are all whole."""
        return 1.0 if all(map(float.is_integer, filter(isfinite, self.run.samples.time))) else 0.0

    @cached_property
    def spacings(self) -> Spacings:
        return spacings(self.run.samples.step)

    @cached_property
    def steps_done(self) -> Sequence[float]:
        """Steps completed at each record, over all epochs; NaN where unknown.

        A log that counts from 0 has done one step more than it prints. Steps between the last record of an epoch and
        its end are not in the log, and not counted.
        """
        steps = self.run.samples.step
        if not any(map(isfinite, steps)):
            every_step = self.run.window == "step"
            return array("d", (index + 1.0 if every_step else nan for index in range(len(steps))))
        first_offset = float(self._counts_from_zero)
        if not first_offset and not self.epoch_starts:
            return steps
        done: array[float] = array("d")
        for start, end in pairwise(chain((0,), self.epoch_starts, (len(steps),))):
            offset = (done[-1] if done else 0.0) + first_offset
            done.extend(map(add, steps[start:end], repeat(offset)))
        return done

    @cached_property
    def progress(self) -> Sequence[float]:
        """What was done at each record, of which only ratios count: steps, or samples where steps have no numbers."""
        done, counted = self.steps_done, self.run.samples.samples
        return counted if any(map(isfinite, counted)) and not any(map(isfinite, done)) else done

    @cached_property
    def steps_before(self) -> float:
        """Steps that were done before the first record covers any: those of the run that a checkpoint continues.

        0 where no step follows another, so that the steps which a record covers are unknown.
        """
        if not any(spacing > 0 for spacing in self.spacings.counts):
            return 0.0
        first = next(filter(isfinite, self.steps_done), 0.0)
        return max(first - self.spacings.usual, 0.0)

    @cached_property
    def epoch_starts(self) -> Sequence[int]:
        """Indices of the records that begin an epoch; the gap before them is not measured.

        There the step counter went back, or is the same in a log of one record an epoch, some of them cut.
        """
        epochs, steps = self.run.samples.epoch, self.run.samples.step
        if self.counts_within_epochs:
            return array("q", (index for index in range(1, len(steps)) if epochs[index] > epochs[index - 1]))
        return array(
            "q",
            (
                index
                for index in self.spacings.back
                if epochs[index] > epochs[index - 1]
                or (steps[index] < steps[index - 1] and epochs[index] != epochs[index - 1])
            ),
        )

    @property
    def counts_within_epochs(self) -> bool:
        """Whether each record is of an epoch, and states the steps of that epoch instead of those since the start."""
        steps = finite(self.run.samples.step) if self.run.window == "epoch" else ()
        return len(steps) > 1 and max(steps) < SAME_EPOCH * statistics.median(steps)

    @property
    def repeats(self) -> int:
        """Records with the step of the record before, in the same epoch."""
        steps = self.run.samples.step
        others = {*self.epoch_starts, *self.idle_between(0, len(steps) - 1)}
        return sum(steps[index] == steps[index - 1] for index in self.spacings.back if index not in others)

    @cached_property
    def clock_backs(self) -> Sequence[int]:
        """Indices of the records before which the clock was set back, where it was not several clocks."""
        times = self.run.samples.time
        gaps = array("d", map(sub, islice(times, 1, None), times))
        if not gaps or min(gaps) >= -CLOCK_JITTER:
            return ()
        found = [index for index, gap in enumerate(gaps, 1) if gap < -CLOCK_JITTER]
        found = [index for index in found if index not in frozenset(self.epoch_starts)]
        return found if len(found) <= max(MOST_CLOCK_BACKS * len(gaps), 1) else ()

    def segments(self, start: int, end: int, without: Sequence[int] = ()) -> Iterator[tuple[int, int]]:
        """Split records ``start`` … ``end`` where steps or clock go back: first and last index of each part.

        Args:
            without: indices of records before which they are split, too.
        """
        breaks = sorted({*self.epoch_starts, *self.clock_backs, *without})
        cuts = (index for index in breaks if start < index <= end)
        return ((first, following - 1) for first, following in pairwise(chain((start,), cuts, (end + 1,))))

    def idle_between(self, start: int, end: int) -> Sequence[int]:
        """Return the indices of the records after ``start`` up to ``end`` before which time went without a sample."""
        counted, times = self.run.samples.samples, self.run.samples.time
        if not any(map(isfinite, counted)):
            return ()
        same = (index for index in range(start + 1, end + 1) if counted[index] == counted[index - 1])
        return [index for index in same if times[index] > times[index - 1]]

    @property
    def _counts_from_zero(self) -> bool:
        """Whether the first step is number 0: the first record is 0, or ends a window as 19, 39, … do."""
        first = next(filter(isfinite, self.run.samples.step))
        usual = self.spacings.usual
        return first == 0 or (usual > 1 and (first + 1) % usual == 0)
