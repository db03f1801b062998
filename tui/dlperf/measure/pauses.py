"""Pauses of a run: evaluations, checkpoints and stalls, within records or between them."""

from __future__ import annotations

import statistics
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from math import isfinite
from operator import sub, truediv

from dlperf.measure.columns import entries_at
from dlperf.measure.reading import Reading

PAUSE = 3.0
MOST_PAUSES = 0.2
"""Share of the records beyond which slow ones are no pauses, but how the program runs."""
RARE = 0.05
"""Most records of less than half the usual speed that are pauses."""


@dataclass(frozen=True)
class TimedGap:
    """Speed from one record to the next, by their timestamps."""

    index: int
    """Of the later record."""
    speed: float
    """Steps per second."""
    is_pause: bool
    """Less than half of the usual speed, and rare."""


def timed_gaps(reading: Reading, window: slice) -> list[TimedGap]:
    """Return the speeds between the records of a window that are known, without those across epochs."""
    times, done = reading.run.samples.time, reading.steps_done
    speeds = {
        index: (done[index] - done[index - 1]) / (times[index] - times[index - 1])
        for first, last in reading.segments(window.start, window.stop - 1)
        for index in range(first + 1, last + 1)
        if times[index] > times[index - 1] and done[index] > done[index - 1]
    }
    usual = statistics.median(speeds.values()) if speeds else 0.0
    slow = {index for index, speed in speeds.items() if speed < usual / 2}
    rare = len(slow) <= MOST_PAUSES * len(speeds)
    return [TimedGap(index, speed, rare and index in slow) for index, speed in speeds.items()]


def paused_share(reading: Reading) -> float:
    """Share of the time between records that fell into pauses: evaluations, checkpoints.

    A pause makes a record take ``PAUSE`` times as long as usual and is rare. The last record is no pause: a stall
    at the end is something else.
    """
    seconds, steps = _between_records(reading)
    if len(seconds) < 3:
        return 0.0
    paces = array("d", map(truediv, seconds, steps))
    usual = statistics.median(paces)
    if max(paces) <= PAUSE * usual:  # of most runs: a third of the time
        return 0.0
    limit = 2 * reading.clock_resolution
    gaps = zip(seconds[:-1], steps[:-1], strict=True)
    lost = [time - usual * count for time, count in gaps if time > PAUSE * usual * count + limit]
    return sum(lost) / sum(seconds) if len(lost) <= MOST_PAUSES * len(seconds) else 0.0


def _between_records(reading: Reading) -> tuple[array[float], array[float]]:
    """Seconds and steps from each record to the next of its epoch, where both are known and none goes back."""
    times, done = reading.run.samples.time, reading.steps_done
    seconds, steps = array("d"), array("d")
    for first, last in reading.segments(0, len(times) - 1):
        for gaps, column in ((seconds, times), (steps, done)):
            gaps.extend(map(sub, column[first + 1 : last + 1], column[first:last]))
    if isfinite(sum(seconds) + sum(steps)) and min(seconds, default=0.0) >= 0 and min(steps, default=1.0) > 0:
        return seconds, steps
    known = [time >= 0 and count > 0 for time, count in zip(seconds, steps, strict=True)]
    return array("d", compress(seconds, known)), array("d", compress(steps, known))


def slow_among(reading: Reading, indices: Sequence[int]) -> list[int]:
    """Return the records of less than half the median speed, where they are rare; the last is none of them."""
    speeds = entries_at(reading.values, indices)
    limit = statistics.median(speeds) / 2 if indices else 0.0
    slow = [index for index, speed in zip(indices, speeds, strict=True) if speed < limit and index != indices[-1]]
    return slow if len(slow) <= max(RARE * len(indices), 1) else []
