"""Throughput by step: the rates of the records, of the same source as the value."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite

from dlperf.evidence.columns import MOST
from dlperf.measured.throughput.reading import Estimate, NotEstimable, Reading

AGREEMENT = 0.001
"""Printed rates whose mean over the measured window differs by more from a value by timestamps are not its curve."""


@dataclass(frozen=True)
class Curve:
    """Throughput of all GPUs up to each record; NaN where unknown."""

    steps: Sequence[float] = field(default_factory=lambda: array("d"))
    rates: Sequence[float] = field(default_factory=lambda: array("d"))

    @property
    def points(self) -> Iterator[tuple[float, float]]:
        """The step and the rate of each record that has both."""
        pairs = zip(self.steps, self.rates, strict=True)
        return ((step, rate) for step, rate in pairs if abs(step) <= MOST and abs(rate) <= MOST)


def curve_of(reading: Reading, estimate: Estimate | None, from_timestamps: bool) -> Curve:
    """Return the rates as printed, or by timestamps where those are not printed or contradict the value.

    Args:
        estimate: the value; None where the log gives none.
        from_timestamps: the value is work over time.
    """
    try:
        printed = reading.printed_rates
        if printed is not None and not (from_timestamps and estimate and _contradicts(reading, estimate, printed)):
            return Curve(reading.steps_done, printed)
        return Curve(reading.steps_done, reading.timed_rates)
    except NotEstimable:
        return Curve()


def _contradicts(reading: Reading, estimate: Estimate, rates: Sequence[float]) -> bool:
    """Whether the mean of rates over the window of an estimate, weighted by the time of each record, is another."""
    seconds = work = 0.0
    times = reading.run.samples.time
    for index in estimate.records:
        duration = times[index] - times[index - 1]
        if duration > 0 and isfinite(rates[index]):
            seconds += duration
            work += rates[index] * duration
    return not abs(work - estimate.value * seconds) <= AGREEMENT * estimate.value * seconds
