"""A run as its checks look at it: what was measured, its speeds, its pauses and its drift."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from dlperf.evidence.columns import finite
from dlperf.formats.samples import Run
from dlperf.measured.findings.drift import Trend, trend
from dlperf.measured.throughput.figure import Figure
from dlperf.measured.throughput.pauses import TimedGaps, slow_among, timed_gaps
from dlperf.measured.throughput.reading import NotEstimable, Reading


@dataclass(frozen=True)
class CheckedRun:
    """What the checks of one run look at."""

    reading: Reading
    figure: Figure | None
    declared_gpus: int | None
    declared_batch_size: int | None
    runs_in_log: int
    flop_limit: float | None

    @property
    def run(self) -> Run:
        return self.reading.run

    @cached_property
    def measured(self) -> slice:
        """From the first to the last record used; all if the figure names no record."""
        estimate = self.figure.estimate if self.figure else None
        if estimate is None or estimate.first is None or estimate.last is None:
            return slice(0, len(self.run.samples))
        return slice(estimate.first, estimate.last + 1)

    @cached_property
    def window_seconds(self) -> float:
        """Length of the measured window by the times of its records; 0 without times."""
        times = finite(self.run.samples.time[self.measured])
        return times[-1] - times[0] if times else 0.0

    @property
    def clock_share(self) -> float:
        """The unit of rounded times as a part of the measured window."""
        return self.reading.clock_resolution / self.window_seconds if self.window_seconds > 0 else 0.0

    @cached_property
    def speeds(self) -> Sequence[float]:
        """Printed throughput in the measured window; empty if unknown, or if one printed value is the figure."""
        if self.figure is not None and self.figure.estimator == "printed()":
            return ()
        try:
            return finite(self.reading.values[self.measured])
        except NotEstimable:
            return ()

    @cached_property
    def slow_records(self) -> list[int]:
        """Indices of the records whose printed value is a pause's, unless their timestamps show none."""
        try:
            usable = self.reading.usable
            slow = slow_among(self.reading, usable[bisect_right(usable, self.measured.start) :])
        except NotEstimable:
            return []
        in_time = frozenset(self.timed_gaps.indices).difference(self.timed_gaps.pauses) if slow else ()
        return [index for index in slow if index not in in_time]

    @cached_property
    def printed_trend(self) -> Trend | None:
        return trend(self.speeds)

    @cached_property
    def timed_gaps(self) -> TimedGaps:
        return timed_gaps(self.reading, self.measured) if self.figure else TimedGaps((), (), ())

    @cached_property
    def timed_trend(self) -> Trend | None:
        return trend(self.timed_gaps.speeds_without_pauses)

    @cached_property
    def smooths(self) -> bool:
        """Whether printed values are means over more than their record, so that a pause looks like a drift."""
        printed = self.printed_trend
        if printed is None or not printed.is_drift or self.timed_trend is None:
            return False
        return len(self.timed_gaps.pauses) > 0 and self.timed_trend.refutes(printed)

    @cached_property
    def drift(self) -> Trend | None:
        """The change of the speed; None if it is unknown or no more than noise."""
        is_running_mean = self.run.window == "cumulative" and self.timed_gaps.indices
        found = self.timed_trend if is_running_mean else self.printed_trend
        return found if found is not None and found.is_clear and not self.smooths else None

    @property
    def drift_of_start(self) -> float | None:
        """The same relative to the speed at the start of the window."""
        return self.drift.of_start if self.drift else None
