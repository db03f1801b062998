"""Pauses of a run: evaluations, checkpoints and stalls, within records or between them."""

from __future__ import annotations

import statistics
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, compress, pairwise, takewhile
from math import isfinite
from operator import lt, sub, truediv
from typing import TYPE_CHECKING

from dlperf.evidence.columns import entries_at, is_median_at_least, is_median_at_most, total

if TYPE_CHECKING:
    from dlperf.measured.throughput.reading import Reading

PAUSE = 2.0
"""Times the usual time from which on a record, or the time before it, is a pause."""
EPOCH_PAUSE = 1.5
"""The same for the time of an epoch, which varies less."""
MOST_PAUSES = 0.2
"""Share of the records beyond which slow ones are no pauses, but how the program runs."""
SMOOTHED = 0.9
"""Part of the usual speed below which a printed mean is lowered by a pause, and not by noise."""
RARE = 0.05
"""Most stretches of slow records that are pauses, where a record is one step: slow steps that come back every few, such
as those of a data loader, are how the program runs."""


@dataclass(frozen=True)
class TimedGaps:
    """Speeds from one record to the next, by their timestamps."""

    indices: Sequence[int]
    """Of the later records."""
    speeds: Sequence[float]
    """Steps per second."""
    pauses: Sequence[int]
    """Indices of the records of less than half of the usual speed, where these are rare."""

    @property
    def speeds_without_pauses(self) -> Sequence[float]:
        if not self.pauses:
            return self.speeds
        pauses = frozenset(self.pauses)
        return [speed for index, speed in zip(self.indices, self.speeds, strict=True) if index not in pauses]


def timed_gaps(reading: Reading, window: slice) -> TimedGaps:
    """Return the speeds between the records of a window that are known, without those across epochs."""
    times, done = reading.run.samples.time, reading.progress
    indices, speeds, gaps = array("q"), array("d"), array("d")
    for first, last in reading.segments(window.start, window.stop - 1):
        seconds = map(sub, times[first + 1 : last + 1], times[first:last])
        steps = map(sub, done[first + 1 : last + 1], done[first:last])
        for index, time, count in zip(range(first + 1, last + 1), seconds, steps, strict=True):
            if time > 0 and count > 0:
                indices.append(index)
                speeds.append(count / time)
                gaps.append(time)
    usual, limit = statistics.median(speeds) if speeds else 0.0, 2 * reading.clock_resolution
    slow = [
        index
        for index, speed, gap in zip(indices, speeds, gaps, strict=True)
        if PAUSE * speed < usual and gap * (1 - PAUSE * speed / usual) > limit
    ]
    rare = slow if len(slow) <= MOST_PAUSES * len(speeds) else []
    return TimedGaps(indices, speeds, sorted((*rare, *reading.idle_between(window.start, window.stop - 1))))


def share_of_pauses(reading: Reading) -> float:
    """Share of the time between records that fell into pauses: evaluations, checkpoints.

    A pause makes a record take ``PAUSE`` times as long as usual and is rare.
    """
    seconds, steps = _between_records(reading)
    times = reading.run.samples.time
    idle = total(times[index] - times[index - 1] for index in reading.idle_between(0, len(times) - 1))
    lost = _lost_to_pauses(reading, seconds, steps)
    return (lost + idle) / (total(seconds) + idle) if lost + idle else 0.0


def _lost_to_pauses(reading: Reading, seconds: array[float], steps: array[float]) -> float:
    if len(seconds) < 3:
        return 0.0
    paces = array("d", map(truediv, seconds, steps))
    if is_median_at_least(max(paces) / PAUSE, paces):  # of most runs
        return 0.0
    usual, limit = statistics.median(paces), 2 * reading.clock_resolution
    slow = compress(range(len(paces)), map(partial(lt, PAUSE * usual), paces))
    lost = [
        seconds[index] - usual * steps[index] for index in slow if seconds[index] > PAUSE * usual * steps[index] + limit
    ]
    return total(lost) if len(lost) <= MOST_PAUSES * len(seconds) else 0.0


def _between_records(reading: Reading) -> tuple[array[float], array[float]]:
    """Seconds and steps from each record to the next of its epoch, where both are known and none goes back."""
    times, done = reading.run.samples.time, reading.progress
    seconds, steps = array("d"), array("d")
    for first, last in reading.segments(0, len(times) - 1):
        for gaps, column in ((seconds, times), (steps, done)):
            gaps.extend(map(sub, column[first + 1 : last + 1], column[first:last]))
    if isfinite(sum(seconds) + sum(steps)) and min(seconds, default=0.0) >= 0 and min(steps, default=1.0) > 0:
        return seconds, steps
    known = [time >= 0 and count > 0 for time, count in zip(seconds, steps, strict=True)]
    return array("d", compress(seconds, known)), array("d", compress(steps, known))


def smoothed_over_pauses(reading: Reading, indices: Sequence[int]) -> frozenset[int]:
    """Return the records whose printed value is a mean that a pause lowers: those from a pause on, while it does.

    NeMo prints the mean of the last five steps, which never falls to half the usual speed.
    """
    if not indices or not reading.paused_share:
        return frozenset()
    values, last = reading.values, indices[-1]
    usual = statistics.median(entries_at(values, indices))
    pauses = timed_gaps(reading, slice(indices[0], last + 1)).pauses
    lowered = chain.from_iterable(
        takewhile(lambda index: values[index] < SMOOTHED * usual, range(pause, last + 1)) for pause in pauses
    )
    found = frozenset(lowered)
    return found if len(found) <= MOST_PAUSES * len(indices) else frozenset()


def slow_among(reading: Reading, indices: Sequence[int]) -> list[int]:
    """Return the records of less than half the median speed, or two thirds where they are epochs, if they are rare."""
    speeds = entries_at(reading.values, indices)
    factor = EPOCH_PAUSE if reading.run.window == "epoch" else PAUSE
    if not indices or is_median_at_most(factor * min(speeds), speeds):  # of most runs
        return []
    limit = statistics.median(speeds) / factor
    places = [place for place, speed in enumerate(speeds) if speed < limit]
    stretches = sum(place - 1 != before for before, place in pairwise(chain((-2,), places)))
    rare = RARE if reading.run.window == "step" else MOST_PAUSES
    is_rare = len(places) <= MOST_PAUSES * len(indices) and stretches <= rare * len(indices)
    return [indices[place] for place in places] if is_rare or len(places) == 1 else []
