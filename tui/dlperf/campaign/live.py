"""Read the step and the throughput of a running trial from its growing log."""

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import isfinite
from pathlib import Path
from statistics import median

from dlperf.catalog.log_format import LogFormat
from dlperf.evidence.growing import GrowingLog
from dlperf.formats.samples import Run, Samples
from dlperf.measured.run import measure_planned
from dlperf.plan import PlannedConfiguration
from dlperf.runs.records import TrialProgress

RECENT = 32
"""Values of each trial in ``progress.json``."""
MEASURED = 2_000
"""Last records that decide where the throughput is taken from: a long log would take long each time."""
READ_LIMIT = 1 << 20
"""Bytes parsed at a time, so that a log of gigabytes after a resume does not delay the other trials."""


class LiveLog:
    """Parse a log as it grows; a missing or empty log is no error."""

    def __init__(self, path: Path, planned: PlannedConfiguration, formats: Sequence[LogFormat] = ()) -> None:
        self._planned = planned
        self._log = GrowingLog(path, planned.format, formats)
        self._arrivals: list[tuple[float, float]] = []
        """When (monotonic) the first and the newest step were read, and which: the pace of a log without times."""
        self.progress = TrialProgress(steps=planned_steps(planned), unit=planned.unit)
        """Step, throughput and time left, as far as they are in what was read; replaced as a whole by ``read``."""

    def read(self) -> bool:
        """Parse what was added; return whether there is more to read."""
        try:
            added = self._log.read(READ_LIMIT)
        except FileNotFoundError:
            return False
        if added:
            self.progress = self._progress()
        return added == READ_LIMIT

    def _progress(self) -> TrialProgress:
        steps = self.progress.steps
        run = self._log.run
        if run is None:
            return TrialProgress(steps=steps, unit=self._planned.unit)
        recent = run.samples.last(RECENT)
        number = recent.step[-1]
        step = int(number) if isfinite(number) else None
        unit, values = self._values(run)
        return TrialProgress(
            step=step,
            steps=steps,
            value=values[-1] if values else None,
            unit=unit,
            recent=values,
            seconds_left=seconds_left(recent, step, steps, self._note_arrival(recent.step[-1])),
        )

    def progress_now(self) -> TrialProgress:
        """Return the progress with the time left now: a log may hold a step only every few minutes."""
        left = self.progress.seconds_left
        if left is None:
            return self.progress
        since = time.monotonic() - self._arrivals[-1][0]
        return replace(self.progress, seconds_left=round(max(0.0, left - since), 1))

    def _note_arrival(self, step: float) -> float | None:
        """Note when a step was read; return the seconds of a step since the first that was read."""
        if not self._arrivals or step > self._arrivals[-1][1]:
            self._arrivals[1:] = [(time.monotonic(), step)]
        (begun, first), (now, newest) = self._arrivals[0], self._arrivals[-1]
        return (now - begun) / (newest - first) if newest > first else None

    def _values(self, run: Run) -> tuple[str, tuple[float, ...]]:
        """Return the end of the curve with its unit; nothing where it is not of the primary metric."""
        if self._planned.primary.estimator != "protocol":
            return self._planned.unit, ()
        measured = measure_planned(replace(run, samples=run.samples.last(MEASURED)), self._planned)
        rates = [float(f"{rate:.6g}") for rate in measured.curve.rates if isfinite(rate)]
        return measured.run.unit, tuple(rates[-RECENT:])


def planned_steps(planned: PlannedConfiguration) -> int | None:
    """Return the steps of the protocol; None where it measures to the end of the run, or for a time."""
    protocol = planned.protocol
    return protocol.skip_steps + protocol.take_steps if protocol.take_steps and not protocol.seconds else None


def seconds_left(
    samples: Samples, step: int | None, steps: int | None, arrival_pace: float | None = None
) -> float | None:
    """Return the seconds of the remaining steps, from the timestamps of these samples.

    Args:
        arrival_pace: seconds of a step as the log was read, for samples without timestamps.
    """
    if step is None or steps is None:
        return None
    pace = [
        (samples.time[later] - samples.time[earlier]) / (samples.step[later] - samples.step[earlier])
        for earlier, later in pairwise(range(len(samples)))
        if samples.step[later] > samples.step[earlier]
    ]
    known = [seconds for seconds in pace if isfinite(seconds) and seconds >= 0]
    one = median(known) if known else arrival_pace
    return None if one is None else round(max(0, steps - step) * one, 1)
