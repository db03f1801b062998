"""Windows of records → estimates: what the rules of ``dlperf.measured.throughput.rules`` share."""

from array import array
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from math import inf, isfinite

from dlperf.catalog.units import counts_samples
from dlperf.evidence.columns import total
from dlperf.formats.samples import Summary
from dlperf.measured.throughput.reading import Estimate, NotEstimable, Reading
from dlperf.messages import Value, message


def between(reading: Reading, start: int, end: int, without: Sequence[int] = ()) -> Estimate:
    """Divide the samples after record ``start`` up to record ``end`` by the time between the two.

    Where the step counter or the clock goes back (a new epoch), neither the samples nor the time in between count.

    Args:
        without: indices of records before which neither counts either.

    Raises:
        NotEstimable: no timestamps, no time between them, or samples per step unknown.
    """
    need(counts_samples(reading.run.unit), "no_sample_rate", unit=reading.run.unit)
    times = reading.run.samples.time
    segments = list(reading.segments(start, end, without))
    seconds = total(times[last] - times[first] for first, last in segments)
    need(isfinite(seconds), "some_timestamps")
    need(seconds > 0, "few_time")
    work = total(reading.work(first, last) for first, last in segments)
    need(0 < work / seconds < inf, "few_work")
    result = estimate_from(reading, range(start, end + 1), work / seconds)
    return replace(
        result,
        samples=end - start - len(without),
        dropped=result.dropped + 1 + len(without),
        records=array("q", chain.from_iterable(range(first + 1, last + 1) for first, last in segments)),
    )


def start_after(reading: Reading, skip: int) -> int:
    """Return the first record with a timestamp after ``skip`` steps, or after a tenth where steps have no numbers.

    Raises:
        NotEstimable: no timestamps, no step numbers and no count of samples, or no record after those steps.
    """
    timed = reading.timed
    need(bool(timed), "no_timestamps")
    if not any(map(isfinite, reading.steps_done)):
        need(reading.records_state_work, "no_steps")
        return timed[len(timed) // 10 if skip else 0]
    start = first_at(timed, reading, skip, "few_before_step", step=skip)
    need(not skip or start < timed[-1], "few_after", steps=skip)
    return start


def need_steps(reading: Reading, skip: int) -> None:
    """Raise unless steps have numbers; where samples are counted, with the rule that needs no numbers."""
    if any(map(isfinite, reading.steps_done)):
        return
    is_timed = reading.timed and any(map(isfinite, reading.run.samples.samples))
    raise NotEstimable(message("no_steps_but_samples", skip=skip) if is_timed else message("no_steps"))


def first_at(indices: Sequence[int], reading: Reading, steps: float, shortage: str, /, **values: Value) -> int:
    """Return the first of the records at which the run has done so many steps, without those that it continues."""
    goal = reading.steps_before + steps
    for index in indices:
        if reading.steps_done[index] >= goal:
            return index
    raise NotEstimable(message(shortage, **values))


def estimate_from(reading: Reading, indices: Sequence[int], value: float) -> Estimate:
    """Return the estimate from the records of these indices, in file order."""
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
        records=indices,
    )


def estimate_from_summaries(reading: Reading, used: Sequence[Summary], dropped: int, value: float) -> Estimate:
    lines = [summary.line for summary in used]
    unit = reading.run.unit if counts_samples(used[0].unit) else used[0].unit  # beside rates, some state a time
    return Estimate(value, unit, len(used), dropped, first_line=min(lines), last_line=max(lines))


def _whole(number: float) -> int | None:
    return int(number) if isfinite(number) else None


def need(condition: bool, shortage: str, /, **values: Value) -> None:
    """Raise the message of this code unless the condition holds."""
    if not condition:
        raise NotEstimable(message(shortage, **values))
