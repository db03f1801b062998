"""The rules of estimators: functions that turn the samples of a run into one throughput value, by name.

Each is a function of a ``Reading``; ``estimators.py`` parses names with arguments and applies them.
"""

import statistics
from bisect import bisect_left
from collections.abc import Callable
from math import isfinite

from dlperf.catalog.units import counts_samples
from dlperf.evidence.columns import entries_at
from dlperf.formats.samples import STEPS_PER_SECOND
from dlperf.measured.throughput.reading import Estimate, Reading
from dlperf.measured.throughput.steady import speed_by_clock, speed_of_records
from dlperf.measured.throughput.windows import (
    between,
    estimate_from,
    estimate_from_summaries,
    first_at,
    need,
    need_steps,
    start_after,
)
from dlperf.messages import Value

Rule = Callable[..., Estimate]

ESTIMATORS: dict[str, Rule] = {}
"""Rules by name."""
TIPC_TRIM_SHARE = 0.05
TIPC_TRIM_LEAST = 5
"""Paddle's test script ``analysis.py`` drops max(5 % of the records, 5) at either end of the sorted records."""

STEADY_SECONDS, STEADY = 5, 0.01
"""The warm-up is over where the rates of two such spans differ by less."""
MOST_WARM_UP = 600
"""Seconds."""


def estimator(rule: Rule) -> Rule:
    """Register a rule. Its arguments without a default are written bare, the others by name."""
    ESTIMATORS[rule.__name__] = rule
    return rule


@estimator
def mean(reading: Reading) -> Estimate:
    """Average all records."""
    return skipmean(reading, 0)


@estimator
def skipmean(reading: Reading, k: int) -> Estimate:
    """Average all records but the first k."""
    return _mean_of(reading, slice(k, None), "none_after", records=k)


@estimator
def tailmean(reading: Reading, n: int) -> Estimate:
    """Average the last n records."""
    need(len(reading.usable) >= n, "few_last", count=len(reading.usable), wanted=n)
    return _mean_of(reading, slice(-n, None), "none_of_last", records=n)


@estimator
def window(reading: Reading, a: int, b: int) -> Estimate:
    """Average the records that end iterations a+1 … b: a dropped, b − a measured."""
    need_steps(reading, a)
    done, before = reading.steps_done, reading.steps_before
    done = [step - before for step in done] if before else done
    need(max(filter(isfinite, done)) + reading.spacings.usual > b, "few_before", iteration=b)
    ends = zip(reading.usable, entries_at(done, reading.usable), strict=True)
    inside = [index for index, end in ends if a < end <= b]
    need(len(inside) > 0, "none_between", first=a + 1, last=b)
    return estimate_from(reading, inside, statistics.fmean(entries_at(reading.values, inside)))


@estimator
def time_window(reading: Reading, a: int, b: int) -> Estimate:
    """Divide the samples between the ends of iterations a and b by the time between them."""
    return rate(reading, skip=a, take=b - a)


@estimator
def rate(reading: Reading, skip: int = 0, take: int | None = None) -> Estimate:
    """Divide the samples of ``take`` steps (or all) after the first ``skip`` by the time between their timestamps.

    The window begins at the first record with ``skip`` steps done and ends at the first with ``take`` more,
    so a log that prints every tenth step is measured from one printed step to another.
    """
    timed, start = reading.timed, start_after(reading, skip)
    if take is None:
        return between(reading, start, timed[-1])
    need_steps(reading, skip)
    goal = reading.steps_done[start] - reading.steps_before + take
    return between(reading, start, first_at(timed, reading, goal, "few_steps", wanted=take, steps=skip))


@estimator
def settled(reading: Reading, skip: int = 0, cap: int = 20, least: int | None = None) -> Estimate:
    """Divide all samples after the warm-up by the time between their timestamps.

    The warm-up ends after ``skip`` steps at the first whole second from which the rate of 5 s is within 1 % of that of
    the 5 s after them, ``least`` seconds after its first record at the earliest and ``cap`` at the latest.
    """
    timed, start = reading.timed, start_after(reading, skip)
    times = entries_at(reading.run.samples.time, timed)
    begin = reading.run.samples.time[start]
    for second in range(least or 0, min(cap, MOST_WARM_UP) + 1):
        places = [bisect_left(times, begin + second + later) for later in (0, STEADY_SECONDS, 2 * STEADY_SECONDS)]
        if places[-1] >= len(timed):
            break
        first, middle, last = (timed[place] for place in places)
        start = first
        if first < middle < last and _is_steady(reading, first, middle, last):
            break
    return between(reading, start, timed[-1])


def _is_steady(reading: Reading, first: int, middle: int, last: int) -> bool:
    return abs(between(reading, first, middle).value / between(reading, middle, last).value - 1) < STEADY


@estimator
def tipc(reading: Reading, skip: int = 10) -> Estimate:
    """Apply Paddle's rule: drop the first ``skip`` records, then the slowest and the fastest 5 % (at least 5)."""
    rest, speeds = reading.usable[skip:], reading.speeds[skip:]
    trim = max(int(len(rest) * TIPC_TRIM_SHARE), TIPC_TRIM_LEAST)
    need(len(rest) > 2 * TIPC_TRIM_LEAST, "few_tipc", least=skip + 2 * TIPC_TRIM_LEAST)
    by_speed = sorted(range(len(rest)), key=speeds.__getitem__)
    kept = sorted(by_speed[trim:-trim])
    return estimate_from(reading, [rest[place] for place in kept], statistics.fmean(entries_at(speeds, kept)))


@estimator
def batch_over_time(reading: Reading, skip: int = 0) -> Estimate:
    """Divide the global batch by the mean seconds per step, without the first ``skip`` records.

    Refused where the printed rates show that steps differ in size.
    """
    indices = reading.with_step_seconds
    need(bool(indices), "no_step_seconds")
    need(len(indices) > skip, "few_skipped", count=len(indices), skipped=skip)
    used = indices[skip:]
    need(counts_samples(reading.run.unit), "no_sample_rate", unit=reading.run.unit)
    need(reading.has_equal_batches(used), "unequal_steps")
    duration = statistics.fmean(entries_at(reading.run.samples.seconds_per_step, used))
    need(duration > 0, "zero_step_seconds")
    return estimate_from(reading, used, reading.global_batch_size / duration)


@estimator
def steady(reading: Reading, skip: int = 0) -> Estimate:
    """Divide the work of the records by their time, as printed, without the first ``skip`` steps and without pauses.

    A record weighs as much as the steps that it covers. A pause is a record of less than half the usual speed, where
    such records are rare.
    """
    return speed_of_records(reading, skip, with_pauses=False)


@estimator
def goodput(reading: Reading, skip: int = 0) -> Estimate:
    """Divide the work of the records by their time, as printed, without the first ``skip`` steps, with all pauses."""
    return speed_of_records(reading, skip, with_pauses=True)


@estimator
def steady_rate(reading: Reading, skip: int = 0) -> Estimate:
    """Divide the samples after the first ``skip`` steps by the time between timestamps, without pauses.

    A pause is the time between two records at less than half the usual speed, where such times are rare.
    """
    return speed_by_clock(reading, skip, with_pauses=False)


@estimator
def summary(reading: Reading) -> Estimate:
    """Return the value that the program printed at its end."""
    need(bool(reading.run.summaries), "no_summary")
    last = reading.run.summaries[-1]
    work = reading.step_size if last.unit == STEPS_PER_SECOND else reading.factor
    return estimate_from_summaries(reading, [last], 0, last.value * work)


@estimator
def printed(reading: Reading) -> Estimate:
    """Return the last value that the program printed, in its summary or else in a record."""
    if reading.run.summaries:
        return summary(reading)
    need(len(reading.usable) > 0, "no_records")
    last = reading.usable[-1]
    line = reading.run.samples.line[last]
    dropped = len(reading.run.samples) - 1
    return Estimate(reading.values[last], reading.run.unit, 1, dropped, first_line=line, last_line=line)


@estimator
def hmean_epochs(reading: Reading, w: int) -> Estimate:
    """Return the harmonic mean of the values printed for each epoch, without the first w epochs."""
    epochs = [epoch for epoch in reading.run.epochs if isfinite(epoch.value) and epoch.value > 0]
    used = epochs[w:]
    need(bool(used), "few_epochs", count=len(epochs), skipped=w)
    harmonic_mean = statistics.harmonic_mean([epoch.value for epoch in used])
    work = reading.step_size if used[0].unit == STEPS_PER_SECOND else reading.factor
    return estimate_from_summaries(reading, used, len(epochs) - len(used), harmonic_mean * work)


def _mean_of(reading: Reading, used: slice, shortage: str, /, **values: Value) -> Estimate:
    indices = reading.usable[used]
    need(len(indices) > 0, shortage, **values)
    return estimate_from(reading, indices, statistics.fmean(reading.speeds[used]))
