"""How a trial went: its speed by step, and what its GPUs did by second."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from statistics import fmean

from dlperf.formats.samples import Run
from dlperf.measure.outliers import outliers
from dlperf.measure.reading import NotEstimable, Reading
from dlperf.plan import PlannedConfiguration
from dlperf.results.logs import LogReader
from dlperf.results.model import TrialResult
from dlperf.results.telemetry import TelemetryRow
from dlperf.results.trial import gather
from dlperf.runs.paths import TrialPaths

Point = tuple[float, float]
METRICS = ("power_watts", "sm_clock_mhz", "utilization_percent", "temperature_celsius")
"""Columns of ``telemetry.csv`` that are followed over time."""


@dataclass(frozen=True)
class Timeline:
    """Everything over time that a trial left."""

    throughput: tuple[Point, ...] = ()
    """Step, and samples per second of all GPUs."""
    outliers: tuple[Point, ...] = ()
    """Those points of the measured window that lie far from the others there."""
    telemetry: dict[str, tuple[Point, ...]] = field(default_factory=dict)
    """Metric → seconds since the sampling began, and the mean over all GPUs."""


def timeline(paths: TrialPaths, planned: PlannedConfiguration, trial: TrialResult, logs: LogReader) -> Timeline:
    """Read a trial's files again; what is missing stays empty."""
    evidence = gather(paths, planned, logs)
    points = _throughput(evidence.run, planned) if evidence.run else ()
    rows = [row for node in evidence.telemetry for row in node]
    series = {metric: _series(rows, metric) for metric in METRICS}
    return Timeline(
        points, _outliers(points, trial), {metric: points for metric, points in series.items() if len(points) > 1}
    )


def _throughput(run: Run, planned: PlannedConfiguration) -> tuple[Point, ...]:
    point = planned.configuration
    reading = Reading(run, point.gpus_total, point.gpus, point.batch_size)
    try:
        pairs = zip(reading.steps_done, reading.values, strict=True)
        return tuple((step, value) for step, value in pairs if isfinite(step) and isfinite(value))
    except NotEstimable:
        return ()


def _outliers(points: Sequence[Point], trial: TrialResult) -> tuple[Point, ...]:
    """A window between two records begins after the first of them: of its points the last ``samples`` count."""
    if trial.first_step is None or trial.last_step is None or not trial.samples:
        return ()
    inside = [point for point in points if trial.first_step <= point[0] <= trial.last_step][-trial.samples :]
    return tuple(inside[index] for index in outliers([value for _, value in inside]))


def _series(rows: Iterable[TelemetryRow], metric: str) -> tuple[Point, ...]:
    """The mean over all GPUs in each second."""
    told = [(row.time, value) for row in rows if (value := getattr(row, metric)) is not None]
    start = min((time for time, _ in told), default=0.0)
    seconds: dict[int, list[float]] = {}
    for time, value in told:
        seconds.setdefault(int(time - start), []).append(value)
    return tuple((float(second), fmean(seconds[second])) for second in sorted(seconds))
