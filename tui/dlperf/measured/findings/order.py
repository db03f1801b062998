"""Findings about the order of a run's records: clocks and steps that go back, gaps, several writers of one log."""

from collections.abc import Iterable
from math import inf, isnan

from dlperf.formats.samples import Samples
from dlperf.measured.findings.checked_run import CheckedRun
from dlperf.measured.throughput.figure import MOST_SHORT_PAUSES
from dlperf.measured.throughput.pauses import timed_gaps
from dlperf.messages import message
from dlperf.messages.finding import Finding, error, note, warning

MINIMUM_ALTERNATIONS = 2
"""A program that continues a checkpoint goes back, but passes all steps again; a lost line looks like one jump."""
LONG_GAP = 1800.0
"""Seconds between two records that are more than an evaluation or a checkpoint."""
CALENDAR = 1e8
"""Seconds beyond which a time is a date and no count since a start."""


def clock_back(context: CheckedRun) -> Finding | None:
    """Find a clock that was set back; a program's own timer may begin anew."""
    found = [index for index in context.reading.clock_backs if context.run.samples.time[index] > CALENDAR]
    return note("clock_back", line=context.run.samples.line[found[0]]) if found else None


def long_gap(context: CheckedRun) -> Finding | None:
    """Find a gap between records that is longer than any pause of one launch."""
    times, lines = context.run.samples.time, context.run.samples.line
    gaps = timed_gaps(context.reading, slice(0, len(times))) if len(times) > 2 else None
    longest = max(gaps.pauses, key=lambda index: times[index] - times[index - 1], default=0) if gaps else 0
    seconds = times[longest] - times[longest - 1] if longest else 0.0
    if seconds < LONG_GAP:
        return None
    return warning("long_gap", seconds=seconds, first=lines[longest - 1], last=lines[longest])


def step_back(context: CheckedRun) -> Finding | None:
    """Find a launch that continues a checkpoint in the same run: its steps are passed again."""
    samples, spacings = context.run.samples, context.reading.spacings
    back = [
        index
        for index in spacings.back
        if samples.step[index] < samples.step[index - 1] and not samples.epoch[index] > samples.epoch[index - 1]
    ]
    if not back or _copies(context) > 1 or mixed_programs(context) is not None:
        return None
    return note("step_back", count=len(back), line=samples.line[back[0]])


def _copies(context: CheckedRun) -> int:
    """Return how often each step is printed."""
    records = len(context.run.samples) if context.run.window not in ("epoch", "run") else 0
    return round(records / max(records - context.reading.repeats, 1))


def interleaved_ranks(context: CheckedRun) -> Finding | None:
    copies = _copies(context)
    if copies in (context.reading.total_gpus, context.run.metadata.gpus):
        return None  # each rank prints every step, as torchrun's do by default
    if copies <= 1:
        return None
    figure = context.figure
    printed, timed = (figure.value_printed, figure.value_from_timestamps) if figure else (None, None)
    is_of_one = not (printed and timed) or abs(printed / timed - 1) <= MOST_SHORT_PAUSES
    return (warning if is_of_one else error)("interleaved_ranks", evidence=message("repeated_steps", copies=copies))


def mixed_programs(context: CheckedRun) -> Finding | None:
    if _copies(context) > 1 or "interleaved_ranks" in context.run.notes:
        return None
    count = _alternations(context.run.samples, context.reading.spacings.back)
    return error("mixed_programs", count=count) if count >= MINIMUM_ALTERNATIONS else None


def _alternations(samples: Samples, back: Iterable[int]) -> int:
    """Return how often the records go back and then jump beyond the furthest one.

    Args:
        samples: the records of a run.
        back: indices of those whose step is not greater than that of the record before.
    """
    epochs = samples.epoch
    if all(epochs[index] > epochs[index - 1] for index in back):
        return 0
    count, furthest = 0, (-inf, -inf)
    last = furthest
    for epoch, step in zip(epochs, samples.step, strict=True):
        position = (0.0 if isnan(epoch) else epoch, step)
        count += last < furthest < position
        furthest, last = max(furthest, position), position
    return count
