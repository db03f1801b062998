"""The speed of a run with its pauses and without them, from printed records or from timestamps."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from math import isfinite
from operator import gt, mul, sub, truediv

from dlperf.evidence.columns import entries_at, total
from dlperf.measured.throughput.pauses import slow_among, smoothed_over_pauses, timed_gaps
from dlperf.measured.throughput.reading import Estimate, Reading
from dlperf.measured.throughput.windows import between, estimate_from, need, start_after


def speed_of_records(reading: Reading, skip: int, with_pauses: bool) -> Estimate:
    """Divide the work of the records by their time, both as printed, without the first ``skip`` steps.

    A record that contains one of these steps is dropped, but never more than half of all.
    """
    rest = _records_after(reading, skip)
    slow = frozenset[int]() if with_pauses else smoothed_over_pauses(reading, rest).union(slow_among(reading, rest))
    speeds = entries_at(reading.values, rest)
    used = rest  # a range is read faster
    if slow or min(speeds, default=0.0) <= 0:
        used = [index for index, speed in zip(rest, speeds, strict=True) if speed > 0 and index not in slow]
    need(bool(used), "none_after", records=len(reading.usable) - len(rest))
    return estimate_from(reading, used, printed_speed(reading, used))


@dataclass(frozen=True)
class RecordTimes:
    """The times of some records, one entry of each in every column."""

    indices: Sequence[int]
    seconds: Sequence[float]
    steps: Sequence[float]


def printed_times(reading: Reading, skip: int) -> RecordTimes:
    """Return the times of the records without the first ``skip`` steps, as printed."""
    rest = array("q", (index for index in _records_after(reading, skip) if reading.values[index] > 0))
    seconds = _seconds_of_steps(reading, rest, entries_at(reading.values, rest)) if rest else ()
    steps = _steps_covered(reading, rest)
    return RecordTimes(rest, array("d", map(mul, seconds, steps)), steps)


def reader_share(reading: Reading, window: slice) -> float:
    """Return the part of the time of some records that was spent waiting for data, 0 where none prints it."""
    shares, seconds = reading.run.samples.reader_share, reading.run.samples.seconds_per_step
    used = [index for index in range(*window.indices(len(shares))) if isfinite(shares[index])]
    each = entries_at(seconds, used) if all(seconds[index] > 0 for index in used) else repeat(1.0)
    times = list(map(mul, _steps_covered(reading, used), each))
    return total(map(mul, entries_at(shares, used), times)) / total(times) if any(times) else 0.0


def printed_speed(reading: Reading, used: Sequence[int]) -> float:
    """Divide the printed work of some records by their printed time; each has a positive speed."""
    speeds = entries_at(reading.values, used)
    times = array("d", map(mul, _seconds_of_steps(reading, used, speeds), _steps_covered(reading, used)))
    spent = total(times)
    need(spent > 0, "no_records")  # where the printed steps or seconds are zero or not finite
    return total(map(mul, speeds, times)) / spent


def speed_by_clock(reading: Reading, skip: int, with_pauses: bool) -> Estimate:
    """Divide the work after the first ``skip`` steps by the time between the timestamps."""
    start, end = start_after(reading, skip), reading.timed[-1]
    return between(reading, start, end, () if with_pauses else pauses_between(reading, start, end))


def pauses_between(reading: Reading, start: int, end: int) -> Sequence[int]:
    """Return the indices of the records after one, up to another, before which the program paused."""
    return timed_gaps(reading, slice(start, end + 1)).pauses


def _records_after(reading: Reading, skip: int) -> Sequence[int]:
    """Return the indices of the records without those that contain one of the first steps, but at least half of all."""
    return reading.usable[min(_records_within(reading, skip), len(reading.usable) // 2) :]


def _records_within(reading: Reading, steps: int) -> int:
    """Count the records that contain one of the first steps; a tenth if steps have no numbers, one of epochs."""
    if reading.run.window in ("epoch", "run"):
        return int(reading.run.window == "epoch" and steps > 0)
    ends = entries_at(reading.steps_done, reading.usable)
    if not any(map(isfinite, ends)):
        return len(ends) // 10 if steps else 0
    before = reading.steps_before
    if reading.run.window == "step":
        return sum(map(partial(gt, before + steps + 1.0), ends))
    return sum(map(partial(gt, before + steps), chain((before,), ends[:-1])))


def _seconds_of_steps(reading: Reading, used: Sequence[int], speeds: Sequence[float]) -> Sequence[float]:
    """Return the seconds of a step in each record: as printed, else, for equal steps, the inverse of its speed."""
    seconds = entries_at(reading.run.samples.seconds_per_step, used)
    if min(seconds) > 0 and isfinite(sum(seconds)):
        return seconds
    return array("d", map(partial(truediv, 1.0), speeds))


def _steps_covered(reading: Reading, used: Sequence[int]) -> Sequence[float]:
    """Return how many steps each record covers: those since the record before it, at most the usual number.

    A record of one step counts once, however many steps are not printed. That of an epoch states its steps.
    """
    if reading.counts_within_epochs:
        return entries_at(reading.run.samples.step, used)
    usual, done = reading.spacings.usual, reading.steps_done
    if reading.run.window in ("step", "run") or set(reading.spacings.counts) <= {1.0}:
        return array("d", repeat(1.0, len(used)))
    covered = list(map(sub, done, chain((reading.steps_before,), done)))
    return array("d", (min(covered[index], usual) if covered[index] > 0 else usual for index in used))
