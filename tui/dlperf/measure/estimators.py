"""Estimators: the rules that turn the samples of a run into one figure.

Each is a function of a ``Reading``, registered under its name.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from math import inf, isfinite

from dlperf.formats.samples import Run, Summary
from dlperf.measure.columns import entries_at, total
from dlperf.measure.estimate import Estimate
from dlperf.measure.estimator import ESTIMATORS, Estimator, apply, estimator, parse_estimator
from dlperf.measure.reading import NotEstimable, Reading, have_equal_batches
from dlperf.messages import Value, message

__all__ = ["ESTIMATORS", "Estimate", "Estimator", "NotEstimable", "estimate", "parse_estimator"]

TIPC_TRIM_SHARE = 0.05
TIPC_TRIM_LEAST = 5
"""Paddle's test script ``analysis.py`` drops max(5 % of the records, 5) at either end of the sorted records."""


def estimate(
    run: Run,
    rule: Estimator | str,
    gpus: int | None = None,
    gpus_per_node: int | None = None,
    batch_size: int | None = None,
) -> Estimate:
    """The figure of a run under an estimator: throughput of all GPUs, finite and positive.

    Args:
        gpus: over all nodes; what the log declares if None.
        gpus_per_node: for logs that print the speed of a node; all GPUs on one node if None.
        batch_size: samples per GPU and step; what the log declares if None.

    Raises:
        NotEstimable: the run does not give this figure; the message is the reason.
        RequestError: ``rule`` is a text that names no estimator.
    """
    return apply(Reading(run, gpus, gpus_per_node, batch_size), rule)


@estimator
def mean(reading: Reading) -> Estimate:
    """Arithmetic mean of every record."""
    return skipmean(reading, 0)


@estimator
def skipmean(reading: Reading, k: int) -> Estimate:
    """Arithmetic mean without the first k records."""
    return _mean_of(reading, slice(k, None), "none_after", records=k)


@estimator
def tailmean(reading: Reading, n: int) -> Estimate:
    """Arithmetic mean of the last n records."""
    _need(len(reading.usable) >= n, "few_last", count=len(reading.usable), wanted=n)
    return _mean_of(reading, slice(-n, None), "none_of_last", records=n)


@estimator
def window(reading: Reading, a: int, b: int) -> Estimate:
    """Arithmetic mean of the records that end iterations a+1 … b: a dropped, b − a measured."""
    done, spacing = reading.steps_done, reading.spacings.usual
    reached = max(filter(isfinite, done), default=None)
    _need(reached is not None, "no_steps")
    _need(reached is not None and reached + spacing > b, "few_before", iteration=b)
    ends = zip(reading.usable, entries_at(done, reading.usable), strict=True)
    inside = [index for index, end in ends if a < end <= b]
    _need(len(inside) > 0, "none_between", first=a + 1, last=b)
    return _estimate(reading, inside, statistics.fmean(entries_at(reading.values, inside)))


@estimator
def time_window(reading: Reading, a: int, b: int) -> Estimate:
    """Samples between the ends of iterations a and b, over the time between them."""
    return rate(reading, skip=a, take=b - a)


@estimator
def rate(reading: Reading, skip: int = 0, take: int | None = None) -> Estimate:
    """Samples between two timestamps over the time between them: ``take`` steps (or all) after the first ``skip``.

    The window begins at the first record with ``skip`` steps done and ends at the first with ``take`` more,
    so a log that prints every tenth step is measured from one printed step to another.
    """
    timed = reading.timed
    _need(bool(timed), "no_timestamps")
    _need(any(map(isfinite, reading.steps_done)), "no_steps")
    start = _first(timed, reading, skip, "few_before_step", step=skip)
    _need(not skip or start < timed[-1], "few_after", steps=skip)
    if take is None:
        return between(reading, start, timed[-1])
    goal = reading.steps_done[start] + take
    return between(reading, start, _first(timed, reading, goal, "few_steps", wanted=take, steps=skip))


@estimator
def tipc(reading: Reading, skip: int = 10) -> Estimate:
    """Paddle's rule: without the first ``skip`` records, then without the slowest and the fastest 5 % (5 at least)."""
    rest, speeds = reading.usable[skip:], reading.speeds[skip:]
    trim = max(int(len(rest) * TIPC_TRIM_SHARE), TIPC_TRIM_LEAST)
    _need(len(rest) > 2 * TIPC_TRIM_LEAST, "few_tipc", least=skip + 2 * TIPC_TRIM_LEAST)
    by_speed = sorted(range(len(rest)), key=speeds.__getitem__)
    kept = sorted(by_speed[trim:-trim])
    return _estimate(reading, [rest[place] for place in kept], statistics.fmean(entries_at(speeds, kept)))


@estimator
def batch_over_time(reading: Reading, skip: int = 0) -> Estimate:
    """Global batch over the mean seconds per step, without the first ``skip`` records.

    Not given where the printed rates tell that the steps are not all of one size.
    """
    indices = reading.with_step_seconds
    _need(bool(indices), "no_step_seconds")
    _need(len(indices) > skip, "few_skipped", count=len(indices), skipped=skip)
    used = indices[skip:]
    _need(have_equal_batches(reading, used), "unequal_steps")
    duration = statistics.fmean(entries_at(reading.run.samples.seconds_per_step, used))
    _need(duration > 0, "zero_step_seconds")
    return _estimate(reading, used, reading.global_batch_size / duration)


@estimator
def summary(reading: Reading) -> Estimate:
    """The program's own final figure."""
    _need(bool(reading.run.summaries), "no_summary")
    last = reading.run.summaries[-1]
    return _from_summaries(reading, [last], 0, last.value * reading.factor)


@estimator
def hmean_epochs(reading: Reading, w: int) -> Estimate:
    """Harmonic mean of the epochs' figures, without the first w epochs."""
    epochs = [epoch for epoch in reading.run.epochs if isfinite(epoch.value) and epoch.value > 0]
    used = epochs[w:]
    _need(bool(used), "few_epochs", count=len(epochs), skipped=w)
    harmonic_mean = statistics.harmonic_mean([epoch.value for epoch in used])
    return _from_summaries(reading, used, len(epochs) - len(used), harmonic_mean * reading.factor)


def between(reading: Reading, start: int, end: int) -> Estimate:
    """Samples after record ``start`` up to record ``end``, over the time between the two.

    Where the step counter goes back (a new epoch), neither the samples nor the time in between count.

    Raises:
        NotEstimable: no timestamps, no time between them, or samples per step unknown.
    """
    times = reading.run.samples.time
    seconds = total(times[last] - times[first] for first, last in reading.segments(start, end))
    _need(isfinite(seconds), "some_timestamps")
    _need(seconds > 0, "few_time")
    work = total(reading.work(first, last) for first, last in reading.segments(start, end))
    _need(0 < work / seconds < inf, "few_work")
    result = _estimate(reading, range(start, end + 1), work / seconds)
    return replace(result, samples=end - start, dropped=result.dropped + 1)


def _first(indices: Sequence[int], reading: Reading, steps: float, shortage: str, /, **values: Value) -> int:
    """The first of the records at which so many steps are done."""
    for index in indices:
        if reading.steps_done[index] >= steps:
            return index
    raise NotEstimable(message(shortage, **values))


def _mean_of(reading: Reading, used: slice, shortage: str, /, **values: Value) -> Estimate:
    """Mean of some of the usable records."""
    indices = reading.usable[used]
    _need(len(indices) > 0, shortage, **values)
    return _estimate(reading, indices, statistics.fmean(reading.speeds[used]))


def _estimate(reading: Reading, indices: Sequence[int], value: float) -> Estimate:
    """An estimate from the records of these indices, in file order."""
    samples, first, last = reading.run.samples, indices[0], indices[-1]
    return Estimate(
        value,
        reading.run.unit,
        samples=len(indices),
        dropped=len(samples) - len(indices),
        first=first,
        last=last,
        first_step=_whole(samples.step[first]),
        last_step=_whole(samples.step[last]),
        first_line=samples.line[first],
        last_line=samples.line[last],
    )


def _from_summaries(reading: Reading, used: Sequence[Summary], dropped: int, value: float) -> Estimate:
    lines = [summary.line for summary in used]
    unit = reading.run.unit or used[0].unit
    return Estimate(value, unit, len(used), dropped, first_line=min(lines), last_line=max(lines))


def _whole(number: float) -> int | None:
    return int(number) if isfinite(number) else None


def _need(condition: bool, shortage: str, /, **values: Value) -> None:
    """Raise the message of this code where the condition does not hold."""
    if not condition:
        raise NotEstimable(message(shortage, **values))
