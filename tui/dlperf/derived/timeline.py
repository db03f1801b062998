"""Derive ``result.json`` and ``timeline.json`` of a trial: its curves and the log lines that gave the figure."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BufferedIOBase
from itertools import islice
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from sys import maxsize

from dlperf.evidence.gather import Evidence, gather
from dlperf.evidence.logs import BLOCK, BUILTIN_FORMATS, LogReader, open_log
from dlperf.evidence.telemetry import TelemetryRow
from dlperf.formats.samples import Run
from dlperf.measured.model import TrialResult
from dlperf.measured.run import Measured
from dlperf.measured.statistics import outliers
from dlperf.measured.trial import measured_of, result_of
from dlperf.plan import PlannedConfiguration
from dlperf.redaction import Redactor
from dlperf.runs.archive import TrialFiles
from dlperf.runs.paths import TrialPaths
from dlperf.runs.records import State, TrialStatus
from dlperf.runs.schema import SCHEMA_VERSION
from dlperf.runs.secrets import secrets_of
from dlperf.runs.store import dump_record, redacted_record, write_atomic, write_record

Point = tuple[float, float]
_height = itemgetter(1)
METRICS = (
    *("power_watts", "sm_clock_mhz", "utilization_percent", "temperature_celsius", "cpu_percent"),
    "memory_used_mib",
)
"""Columns of ``telemetry.csv`` that become curves."""
MOST_POINTS = 240
"""Points of a curve."""
ENDS = 3
"""Lines quoted from each end of the lines that gave a figure."""
AROUND = 1
"""Lines quoted before and after them."""
LONGEST_LINE = 400
VERSION = 2
"""Increase it when timelines are derived differently, so that older ones are replaced."""
MOST_DECLARED = 60
LONGEST_DECLARED = 80


@dataclass(frozen=True)
class LogLines:
    """The first and last log lines that gave a figure, and the lines around them."""

    head: tuple[str, ...] = ()
    left_out: int = 0
    tail: tuple[str, ...] = ()
    first_line: int = 1
    """Number of the first line of ``head``."""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class Origin:
    """The inputs of a timeline; it is valid only as long as they are the same."""

    log_sha256: str | None = None
    telemetry_sha256: dict[str, str] = field(default_factory=dict)
    """By node."""
    steps: tuple[int | None, int | None] = (None, None)
    """First and last step of the window that gave the figure."""
    lines: tuple[int | None, int | None] = (None, None)
    samples: int = 0
    version: int = 0


@dataclass(frozen=True)
class Timeline:
    """``timeline.json``; ``dlperf build-site`` derives it where it is missing."""

    origin: Origin = Origin()
    throughput: tuple[Point, ...] = ()
    """Step, and throughput of all GPUs."""
    outliers: tuple[Point, ...] = ()
    """Points of the measured window."""
    telemetry: dict[str, tuple[Point, ...]] = field(default_factory=dict)
    """Metric → seconds since the first row, and the mean over all GPUs, or over nodes without one."""
    log_lines: LogLines = LogLines()
    declared: dict[str, str] = field(default_factory=dict)
    """Versions and options as the program printed them."""
    unit: str = ""
    """Of the throughput."""
    schema: int = SCHEMA_VERSION


def origin_of(result: TrialResult, log_sha256: str | None, telemetry_sha256: Mapping[str, str]) -> Origin:
    """Return the origin of a result's timeline whose files have these hashes."""
    steps = (result.first_step, result.last_step)
    lines = (result.first_line, result.last_line)
    return Origin(log_sha256, dict(telemetry_sha256), steps, lines, result.samples, VERSION)


def _timeline_of(paths: TrialPaths, result: TrialResult, evidence: Evidence, measured: Measured | None) -> Timeline:
    """Derive the timeline of a trial from its evidence."""
    points = [(step, _short(rate)) for step, rate in measured.curve.points] if measured else []
    log = log_of(paths, result)
    rows = [row for of_node in evidence.telemetry for row in of_node]
    series = {metric: thinned(_series(rows, metric)) for metric in METRICS}
    return Timeline(
        origin_of(result, result.log_sha256, evidence.telemetry_sha256),
        thinned(points),
        _outliers(points, result),
        {metric: line for metric, line in series.items() if len(line) > 1},
        _log_lines(log, result) if log else LogLines(),
        _declared(measured.run) if measured else {},
        measured.run.unit if measured else "",
    )


def log_of(paths: TrialPaths, result: TrialResult) -> Path | None:
    """Return the log that gave the value if it is inside the trial's folder."""
    log = result.log or ""
    return paths.directory / log if log.isprintable() and not {"", ".."} & set(log.split("/")) else None


def thinned(points: Sequence[Point], most: int = MOST_POINTS) -> tuple[Point, ...]:
    """Return at most ``most`` points: the lowest and highest of each of ``most`` / 2 parts, so that outliers stay."""
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
    declared = sorted(item for item in run.metadata.arguments.items() if len(item[1]) <= LONGEST_DECLARED)
    return dict(declared[:MOST_DECLARED])


def _outliers(points: Sequence[Point], result: TrialResult) -> tuple[Point, ...]:
    """Find outliers among the last ``samples`` points: a window between two records begins after the first one."""
    if result.first_step is None or result.last_step is None or not result.samples:
        return ()
    first, last = result.first_step, result.last_step
    inside = [point for point in points if first <= point[0] <= last][-result.samples :]
    return tuple(inside[index] for index in outliers([value for _, value in inside]))


def _series(rows: Iterable[TelemetryRow], metric: str) -> tuple[Point, ...]:
    """Average over all devices in each second."""
    readings = [(row.time, row.metrics[metric]) for row in rows if metric in row.metrics]
    start = min((time for time, _ in readings), default=0.0)
    seconds: dict[int, list[float]] = {}
    for time, value in readings:
        seconds.setdefault(int(time - start), []).append(value)
    return tuple((float(second), _short(fmean(seconds[second]))) for second in sorted(seconds))


def _short(value: float) -> float:
    """Round to six significant digits: more than a picture shows."""
    return float(f"{value:.6g}")


def _log_lines(log: Path, result: TrialResult) -> LogLines:
    first, last = result.first_line or 0, result.last_line or 0
    if not 0 < first <= last <= maxsize:
        return LogLines()
    with open_log(log) as stream:
        lines = _beginnings(stream)
        before = tuple(deque(islice(lines, first - 1), AROUND))
        head = tuple(islice(lines, min(ENDS, last - first + 1)))
        rest = tuple(deque(islice(lines, max(0, last - first + 1 - ENDS)), ENDS))
        after = tuple(islice(lines, AROUND))
    left_out = max(0, last - first + 1 - len(head) - len(rest))
    redactor = Redactor(secrets_of(log))
    quoted = (tuple(_quoted(redactor, line) for line in part) for part in (head, rest, before, after))
    head_text, rest_text, before_text, after_text = quoted
    return LogLines(head_text, left_out, rest_text, first, before_text, after_text)


def _beginnings(stream: BufferedIOBase) -> Iterator[bytes]:
    """Yield the first bytes of each line of a log, up to where a compressed one is cut."""
    try:
        while beginning := stream.readline(LONGEST_LINE * 4):
            yield beginning
            rest = beginning
            while rest and not rest.endswith(b"\n"):
                rest = stream.readline(BLOCK)
    except (EOFError, OSError):
        return


def _quoted(redactor: Redactor, line: bytes) -> str:
    # redacted before it is cut, because the rest of a cut secret is not found
    text = redactor.redact(line)[0].decode("utf-8", "replace").rstrip("\r\n")
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 1] + "…"


@dataclass(frozen=True)
class Derived:
    """``result.json`` and ``timeline.json``."""

    result: TrialResult
    timeline: Timeline


def measure_trial(paths: TrialPaths, planned: PlannedConfiguration, status: TrialStatus) -> TrialResult:
    """Compute the result of a trial from its archived files, whose log has a built-in format.

    The first log with records counts: node 0 first, ``out.log`` before the logs of single ranks. A missing or
    unreadable file leaves its part of the result empty.
    """
    evidence = gather(paths, planned, BUILTIN_FORMATS, with_tails=_has_failed(status))
    return result_of(evidence, measured_of(evidence, planned), planned, status)


def derive(
    paths: TrialPaths,
    planned: PlannedConfiguration,
    status: TrialStatus,
    logs: LogReader = BUILTIN_FORMATS,
    files: TrialFiles | None = None,
) -> Derived:
    """Measure a trial, see ``measure_trial``, and derive its timeline, both without secrets.

    Args:
        files: those of the trial, where more of them is read.
    """
    evidence = gather(paths, planned, logs, files, with_tails=_has_failed(status))
    measured = measured_of(evidence, planned)
    result = result_of(evidence, measured, planned, status)
    timeline = _timeline_of(paths, result, evidence, measured)
    return Derived(redacted_record(paths.result, result), redacted_record(paths.timeline, timeline))


def _has_failed(status: TrialStatus) -> bool:
    return status.state is not State.SUCCEEDED


def derive_timeline(paths: TrialPaths, planned: PlannedConfiguration, result: TrialResult, logs: LogReader) -> Timeline:
    """Derive the timeline of a trial that was measured before."""
    evidence = gather(paths, planned, logs)
    timeline = _timeline_of(paths, result, evidence, measured_of(evidence, planned))
    return redacted_record(paths.timeline, timeline)


def write_derived(paths: TrialPaths, derived: Derived) -> None:
    """Write both files, the timeline first, so that a result has one; what a crash damages is derived again."""
    write_timeline(paths, derived.timeline, durable=False)
    write_record(paths.result, derived.result, durable=False)


def write_timeline(paths: TrialPaths, timeline: Timeline, durable: bool = True) -> None:
    """Write ``timeline.json``; it is derived again where a crash damages one that is not ``durable``."""
    write_atomic(paths.timeline, dump_record(timeline) + b"\n", durable)
