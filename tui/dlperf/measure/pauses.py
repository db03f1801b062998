"""Pauses of a run: evaluations, checkpoints and stalls, within records or between them."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from dlperf.measure.columns import entries_at
from dlperf.measure.reading import Reading

PAUSE = 3.0
MOST_PAUSES = 0.2
"""Share of the records beyond which slow ones are no pauses, but how the program runs."""
RARE = 0.05
"""Most records of less than half the usual speed that are pauses."""


def paused_share(reading: Reading) -> float:
    """Share of the time between records that fell into pauses: evaluations, checkpoints.

    A pause makes a record take ``PAUSE`` times as long as usual and is rare. The last record is no pause: a stall
    at the end is something else.
    """
    times, done = reading.run.samples.time, reading.steps_done
    inside = (range(first + 1, last + 1) for first, last in reading.segments(0, len(times) - 1))
    gaps = [(times[index] - times[index - 1], done[index] - done[index - 1]) for part in inside for index in part]
    gaps = [(time, steps) for time, steps in gaps if time >= 0 and steps > 0]
    if len(gaps) < 3:
        return 0.0
    usual = statistics.median(time / steps for time, steps in gaps)
    limit = 2 * reading.clock_resolution
    lost = [time - usual * steps for time, steps in gaps[:-1] if time > PAUSE * usual * steps + limit]
    return sum(lost) / sum(time for time, _ in gaps) if len(lost) <= MOST_PAUSES * len(gaps) else 0.0


def slow_among(reading: Reading, indices: Sequence[int]) -> list[int]:
    """Return the records of less than half the median speed, where they are rare; the last is none of them."""
    speeds = entries_at(reading.values, indices)
    limit = statistics.median(speeds) / 2 if indices else 0.0
    slow = [index for index, speed in zip(indices, speeds, strict=True) if speed < limit and index != indices[-1]]
    return slow if len(slow) <= max(RARE * len(indices), 1) else []
