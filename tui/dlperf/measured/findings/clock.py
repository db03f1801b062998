"""Whether the times in a log agree with when its lines arrived, which a clock says that nobody sets."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from math import inf, isfinite
from statistics import median

from dlperf.evidence.arrivals import Arrival, arrival_times
from dlperf.formats.samples import Samples
from dlperf.measured.findings.checked_run import CheckedRun
from dlperf.measured.throughput.figure import Figure, rate_at
from dlperf.measured.throughput.reading import Reading
from dlperf.messages.finding import Finding, error, note, warning

COARSE_CLOCK = "coarse_clock"
"""Finding that the times of a log are whole seconds in a short window."""
LOOK_SECONDS = 0.1
"""A line arrives so much before it is seen, at most."""
LOOK_SHARE = 1e-4
"""The same as a part of the time since the start, in long trials."""
LEAST_SHARE = 0.005
"""Of the window: smaller differences do not matter."""
LEAST_NOTED = 0.001
"""Of the window: no smaller difference is sought."""
LARGE_SHARE = 0.1
"""Of the window, from which a rate by timestamps is none."""
TOGETHER = 1.5
"""Records for each arrival, from which lines arrive in blocks."""
FEW_SECONDS = 1.0
"""What is tolerated more where there are fewer arrivals than both ends have."""
ENDS = 5
"""Arrivals at each end of the window: of these, the line that waited least for being seen counts."""


def coarse_clock(context: CheckedRun) -> Finding | None:
    """Say how exactly a window is known whose times are whole seconds in the log: to one of them."""
    share, is_timed = context.clock_share, context.figure is not None and context.figure.is_timed
    if not is_timed or context.run.timed_on_arrival or share <= LEAST_NOTED:
        return None
    make = note if share <= LEAST_SHARE else warning
    return make(COARSE_CLOCK, share=share, window=context.window_seconds)


def findings_of_clock(samples: Samples, first: int, last: int, moved: float) -> tuple[Finding, ...]:
    """Say by how much the clock of a log was set within the window of a value that follows from its times.

    Args:
        moved: by ``clock_setting`` or, if that is more, by ``clock_set_between``.
    """
    window = samples.time[last] - samples.time[first]
    make = error if abs(moved) > LARGE_SHARE * max(window - moved, LOOK_SECONDS) else warning
    return (make("clock_moved", seconds=moved, window=window),) if moved else ()


def findings_of_printed(
    reading: Reading, figure: Figure, samples: Samples, first: int, last: int, arrivals: Sequence[Arrival], moved: float
) -> tuple[Finding, ...]:
    """Hold a rate that the program printed against the one at which its records arrived.

    One that agrees is not of the clock that was set; where that is unknown, short pauses may explain a difference.

    Args:
        moved: as for ``findings_of_clock``; 0 for a log without times.
    """
    arrived = rate_at(reading, figure, first, last, arrival_times(samples.line, arrivals))
    window = samples.time[last] - samples.time[first]
    wrong = figure.value / arrived - 1 if arrived else 0.0
    exact = resolution_of(samples, first, last, arrivals) / max(window - moved, LOOK_SECONDS)
    if moved:
        make = note if abs(wrong) <= LEAST_SHARE + exact else error if abs(wrong) > LARGE_SHARE else warning
        return (make("clock_moved", seconds=moved, window=window),)
    if arrived is None or figure.estimate.first is None or abs(wrong) <= LARGE_SHARE + exact:
        return ()
    rates = {"printed": figure.value, "timed": arrived, "difference": wrong}
    return (warning("printed_rate", **rates, unit=figure.unit, hint=""),)


def clock_setting(
    samples: Samples, first: int, last: int, arrivals: Sequence[Arrival], duration_seconds: float | None
) -> float:
    """By how many seconds the clock of a log was set within a window; 0 where nothing contradicts its times.

    Args:
        first, last: records of the window.
        arrivals: of its lines, by the monotonic clock.
        duration_seconds: of the trial, by the monotonic clock.
    """
    window = samples.time[last] - samples.time[first]
    moved = clock_moved(samples, first, last, arrivals)
    if moved is None and duration_seconds and window > duration_seconds + 1.0:
        moved = window - duration_seconds
    if moved is None or not isfinite(window) or abs(moved) < LEAST_SHARE * max(window - moved, LOOK_SECONDS):
        return 0.0
    return moved


def finding_of_arrival(samples: Samples, first: int, last: int, arrivals: Sequence[Arrival]) -> Finding:
    """State how exactly a window is known whose times are those at which the lines arrived.

    Lines of a block that a program holds back arrive together: then the time between blocks is the resolution.
    """
    window = samples.time[last] - samples.time[first]
    resolution = resolution_of(samples, first, last, arrivals)
    share = resolution / window if window > 0 else 1.0
    make, code = (note, "timed_by_arrival") if share <= LEAST_SHARE else (warning, "arrival_too_coarse")
    return make(code, resolution=resolution, share=share, window=window)


def resolution_of(samples: Samples, first: int, last: int, arrivals: Sequence[Arrival]) -> float:
    """To how many seconds the arrival of records gives the time between them."""
    seen = _newest(samples, first, last, arrivals)
    gaps = [after[1] - before[1] for before, after in pairwise(seen)]
    blocks = median(gaps) if gaps and (last - first + 1) / len(seen) > TOGETHER else 0.0
    return max(_look_seconds(arrivals[-1].seconds), blocks) if seen else inf


def _look_seconds(elapsed: float) -> float:
    return max(LOOK_SECONDS, LOOK_SHARE * elapsed)


def clock_moved(samples: Samples, first: int, last: int, arrivals: Sequence[Arrival]) -> float | None:
    """By how many seconds the clock of a log was set within a window; None where nothing contradicts its times.

    A record is seen after it is printed: the time that it states, less the time of its arrival, is the offset of the
    clocks or less. The largest such difference at each end of the window is near the offset there.
    """
    seen = _newest(samples, first, last, arrivals)
    if len(seen) < 2 * ENDS:
        return None
    if (last - first) / len(seen) > 2 * TOGETHER:  # the first line of a block waits for its end
        return _moved(samples, seen)
    until, since = _newest(samples, 0, first, arrivals), _newest(samples, last, len(samples.time) - 1, arrivals)
    return _moved(samples, seen, until[-ENDS:], since[:ENDS])


def clock_set_between(samples: Samples, first: int, last: int, arrivals: Sequence[Arrival]) -> float:
    """By how many seconds a clock was set at most between the records before which it was set back; 0 if never.

    The time across these is not counted, but a setting before them is, though none is left at the end of the window.
    """
    backs = [index for index in range(first + 1, last + 1) if samples.time[index] < samples.time[index - 1]]
    seen = _newest(samples, first, last, arrivals) if backs else []
    indices = [index for index, _ in seen]
    cuts = [0, *(bisect_left(indices, index) for index in backs), len(seen)]
    parts = (seen[start:end] for start, end in pairwise(cuts) if end - start > 1)
    return max((_moved(samples, part) or 0.0 for part in parts), key=abs, default=0.0)


_Seen = Sequence[tuple[int, float]]
"""Records, and when they arrived."""


def _moved(samples: Samples, seen: _Seen, until: _Seen = (), since: _Seen = ()) -> float | None:
    """By how many seconds the clock was set between the first and the last of these records.

    Args:
        until: what arrived last before the window, and its first record.
        since: what arrived first after the window.
    """
    ahead, ends, (first, last) = _ahead(samples, seen), ENDS, (seen[0][0], seen[-1][0])
    tolerance = LOOK_SECONDS + LOOK_SHARE * seen[-1][1]
    if len(seen) < 2 * ENDS:
        ends, tolerance = len(seen) // 2, tolerance + FEW_SECONDS
    gaps = [samples.time[index] - samples.time[index - 1] for index in range(first + 1, last + 1)]
    if gaps and (last - first) / len(seen) > TOGETHER:  # lines of a block wait for its end
        tolerance += max(median(gaps), 0.0)
    # Set within the records of an end, the clock is ahead of what it was at the end itself on one side of it only.
    begun = min(max(ahead[:ends]), max(_ahead(samples, until)) if len(until) > 1 else inf)
    ended = min(max(ahead[-ends:]), max(ahead[-1], *_ahead(samples, since)) if len(since) > 1 else inf)
    moved = ended - begun
    return moved if abs(moved) > tolerance else None


def _ahead(samples: Samples, seen: _Seen) -> list[float]:
    return [samples.time[index] - at for index, at in seen]


def _newest(samples: Samples, first: int, last: int, arrivals: Sequence[Arrival]) -> list[tuple[int, float]]:
    """The newest record of each arrival, and when it arrived."""
    found: list[tuple[int, float]] = []
    index = first
    for seconds, lines in arrivals:
        newest = None
        while index <= last and samples.line[index] <= lines:
            newest = index if isfinite(samples.time[index]) else newest
            index += 1
        if newest is not None:
            found.append((newest, seconds))
    return found
