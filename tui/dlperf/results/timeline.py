"""``timeline.json``: how a trial went, read once from its log and telemetry so that a page needs small files only."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import isfinite
from operator import itemgetter
from pathlib import Path
from statistics import fmean

from dlperf.formats.samples import Run
from dlperf.measure.outliers import outliers
from dlperf.measure.reading import NotEstimable, Reading
from dlperf.plan import PlannedConfiguration
from dlperf.results.logs import open_log
from dlperf.results.model import TrialResult
from dlperf.results.telemetry import TelemetryRow, read_telemetry
from dlperf.results.trial import nodes_of
from dlperf.runs.checksums import sha256_of
from dlperf.runs.paths import TrialPaths
from dlperf.runs.upgrades import SCHEMA_VERSION

Point = tuple[float, float]
_height = itemgetter(1)
METRICS = (
    *("power_watts", "sm_clock_mhz", "utilization_percent", "temperature_celsius", "cpu_percent"),
    "memory_used_mib",
)
"""Columns of ``telemetry.csv`` that are followed over time."""
MOST_POINTS = 240
"""Of one line; of more, the lowest and the highest of each part are kept, so that no outlier is lost."""
ENDS = 3
"""Lines quoted from each end of the lines that gave a figure; the log has them all."""
AROUND = 1
"""Lines quoted before and after them."""
LONGEST_LINE = 400
VERSION = 1
"""Raised when a timeline is made in another way: those made before are made again."""
MOST_DECLARED = 60
LONGEST_DECLARED = 80


@dataclass(frozen=True)
class LogLines:
    """The first and the last of the log lines that gave a figure, and what stands around them."""

    head: tuple[str, ...] = ()
    left_out: int = 0
    tail: tuple[str, ...] = ()
    first_line: int = 1
    """Number of the first line of ``head``."""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class Origin:
    """What a timeline was made from: one of another origin is not believed."""

    log_sha256: str | None = None
    telemetry_sha256: dict[str, str] = field(default_factory=dict)
    """By node, of those that left any."""
    steps: tuple[int | None, int | None] = (None, None)
    """First and last step of the window that gave the figure."""
    lines: tuple[int | None, int | None] = (None, None)
    samples: int = 0
    version: int = VERSION


@dataclass(frozen=True)
class Timeline:
    """``timeline.json``: derived, made by ``dlperf verify --write``, by ``dlperf build-site`` where it is missing."""

    origin: Origin = Origin()
    throughput: tuple[Point, ...] = ()
    """Step, and samples per second of all GPUs."""
    outliers: tuple[Point, ...] = ()
    """Those points of the measured window that lie far from the others there."""
    telemetry: dict[str, tuple[Point, ...]] = field(default_factory=dict)
    """Metric → seconds since the sampling began, and the mean over all GPUs, or over all nodes without one."""
    log_lines: LogLines = LogLines()
    declared: dict[str, str] = field(default_factory=dict)
    """What the log says of its own run: versions and options, as the program printed them."""
    schema: int = SCHEMA_VERSION


def origin_of(result: TrialResult, log_sha256: str | None, telemetry_sha256: Mapping[str, str]) -> Origin:
    """What the timeline of a result is made from, where its files have these hashes."""
    return Origin(
        log_sha256=log_sha256,
        telemetry_sha256=dict(telemetry_sha256),
        steps=(result.first_step, result.last_step),
        lines=(result.first_line, result.last_line),
        samples=result.samples,
    )


def timeline_of(paths: TrialPaths, planned: PlannedConfiguration, result: TrialResult, run: Run | None) -> Timeline:
    """How a trial went, from its files; what is missing stays empty.

    Args:
        result: what the trial came to.
        run: the samples of its log.
    """
    telemetry = {node.directory.name: node.telemetry for node in nodes_of(paths, planned) if node.telemetry.is_file()}
    points = _throughput(run, planned) if run else []
    rows = [row for node, path in telemetry.items() for row in read_telemetry(path, node)]
    series = {metric: thinned(_series(rows, metric)) for metric in METRICS}
    return Timeline(
        origin_of(result, result.log_sha256, {name: sha256_of(path) for name, path in telemetry.items()}),
        thinned(points),
        _outliers(points, result),
        {metric: line for metric, line in series.items() if len(line) > 1},
        _log_lines(paths.directory / result.log, result) if result.log else LogLines(),
        _declared(run) if run else {},
    )


def thinned(points: Sequence[Point], most: int = MOST_POINTS) -> tuple[Point, ...]:
    """The points, or the lowest and highest of each of ``most`` / 2 equal parts, in order."""
    if len(points) <= most:
        return tuple(points)
    parts = most // 2
    kept: list[Point] = []
    for number in range(parts):
        part = points[number * len(points) // parts : (number + 1) * len(points) // parts]
        ends = {min(part, key=_height), max(part, key=_height)}
        kept += sorted(ends)
    return tuple(kept)


def _declared(run: Run) -> dict[str, str]:
    told = {name: value for name, value in run.metadata.arguments.items() if len(value) <= LONGEST_DECLARED}
    return dict(sorted(told.items())[:MOST_DECLARED])


def _throughput(run: Run, planned: PlannedConfiguration) -> list[Point]:
    point = planned.configuration
    reading = Reading(run, point.gpus_total, point.gpus, point.batch_size)
    try:
        points = zip(reading.steps_done, reading.rates, strict=True)
    except NotEstimable:
        return []
    return [(step, _short(value)) for step, value in points if isfinite(step) and isfinite(value)]


def _outliers(points: Sequence[Point], result: TrialResult) -> tuple[Point, ...]:
    """A window between two records begins after the first of them: of its points the last ``samples`` count."""
    if result.first_step is None or result.last_step is None or not result.samples:
        return ()
    first, last = result.first_step, result.last_step
    inside = [point for point in points if first <= point[0] <= last][-result.samples :]
    return tuple(inside[index] for index in outliers([value for _, value in inside]))


def _series(rows: Iterable[TelemetryRow], metric: str) -> tuple[Point, ...]:
    """The mean over all devices in each second."""
    told = [(row.time, row.metrics[metric]) for row in rows if metric in row.metrics]
    start = min((time for time, _ in told), default=0.0)
    seconds: dict[int, list[float]] = {}
    for time, value in told:
        seconds.setdefault(int(time - start), []).append(value)
    return tuple((float(second), _short(fmean(seconds[second]))) for second in sorted(seconds))


def _short(value: float) -> float:
    """Six significant digits: more than a picture shows, and a small file."""
    return float(f"{value:.6g}")


def _log_lines(log: Path, result: TrialResult) -> LogLines:
    if not result.first_line or not result.last_line:
        return LogLines()
    first, last = result.first_line, result.last_line
    with open_log(log) as stream:
        lines = map(_quoted, _whole(stream))
        before = tuple(deque(islice(lines, first - 1), AROUND))
        head = tuple(islice(lines, min(ENDS, last - first + 1)))
        rest = tuple(deque(islice(lines, max(0, last - first + 1 - ENDS)), ENDS))
        after = tuple(islice(lines, AROUND))
    left_out = max(0, last - first + 1 - len(head) - len(rest))
    return LogLines(head, left_out, rest, first, before, after)


def _whole(stream: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a log; of a compressed one that is cut, those that can be read."""
    try:
        yield from stream
    except (EOFError, OSError):
        return


def _quoted(line: bytes) -> str:
    text = line[: LONGEST_LINE * 4].decode("utf-8", "replace").rstrip("\r\n")
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 1] + "…"
