"""Gather the evidence of a trial: the contents of its files that its result depends on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from dlperf.catalog.patterns import expected_line
from dlperf.errors import RequestError
from dlperf.evidence.arrivals import Arrival, read_arrivals, timed_by_arrival
from dlperf.evidence.facts import PRINTED, PRINTED_NCCL, NodeFacts
from dlperf.evidence.logs import LogReader, first_lines, log_head, log_tail
from dlperf.evidence.telemetry import TelemetryRow, read_telemetry
from dlperf.formats.ranks import times_of_runs
from dlperf.formats.samples import Run
from dlperf.plan import PlannedConfiguration
from dlperf.runs.archive import RENDERED, TrialFiles
from dlperf.runs.bounded import load_json
from dlperf.runs.paths import NodePaths, TrialPaths
from dlperf.runs.records import TrialRecord
from dlperf.runs.store import read_record_if_whole

MOST_RANKS, MOST_BYTES = 256, 1 << 28
"""Logs of ranks, and bytes of all, up to which they are compared."""


@dataclass(frozen=True)
class Evidence:
    """The contents of a trial's files that its result depends on."""

    log: str | None = None
    """Relative to the trial's folder."""
    log_sha256: str | None = None
    runs: tuple[Run, ...] = ()
    arrivals: tuple[Arrival, ...] = ()
    """When the lines of the log arrived, by the node's monotonic clock; empty where it was not recorded."""
    has_own_times: bool = True
    """Whether the times of the run that counts are its log's; else its lines were timed by their arrival."""
    started: float = 0.0
    """When the trial started on the node of its log, in seconds since 1970; 0 where unknown."""
    log_run: int | None = None
    """Number of this trial's run (1-based); the last one if None."""
    tail: str = ""
    """End of the log; empty, as those below, where the trial succeeded."""
    tails: Mapping[str, str] = field(default_factory=dict)
    """End of each node's log, where there are several nodes."""
    job_tail: str = ""
    telemetry: tuple[tuple[TelemetryRow, ...], ...] = ()
    """By node."""
    telemetry_sha256: Mapping[str, str] = field(default_factory=dict)
    """By node, of those that have any."""
    duration_seconds: float | None = None
    """Of the node that took longest."""
    nodes: tuple[NodeFacts, ...] = ()
    programs: Mapping[str, str] = field(default_factory=dict)
    """File that was sent → SHA-256."""
    printed: Mapping[str, str] = field(default_factory=dict)
    """Conditions that the log states."""
    telemetry_rows_lost: int = 0
    """That the disks of nodes refused."""
    halts: tuple[tuple[float, float], ...] = ()
    """When supervisors of nodes were stopped, and until when, in seconds since 1970."""
    expected_lines: Mapping[str, str] = field(default_factory=dict)
    """Regular expression that the plan expects in the logs, or not → the line in which it was found."""
    replaced_logs: tuple[str, ...] = ()
    """Earlier parts of logs that the program truncated, replaced or renamed, relative to the trial's folder."""

    @property
    def run(self) -> Run | None:
        return run_that_counts(self.runs, self.log_run)


def run_that_counts(runs: Sequence[Run], number: int | None = None) -> Run | None:
    """Return the run of a log that is a trial's: the one of this number, else the last."""
    if number is not None:
        return next((run for run in runs if run.number == number), None)
    return runs[-1] if runs else None


def gather(
    paths: TrialPaths,
    planned: PlannedConfiguration,
    logs: LogReader,
    files: TrialFiles | None = None,
    *,
    with_tails: bool = False,
) -> Evidence:
    """Read the files of a trial.

    Args:
        files: those of the trial, where more of them is read.
        with_tails: read the ends of logs, where a cause of failure is searched.
    """
    nodes, files = _nodes_of(paths, planned), files or TrialFiles(paths)
    record = read_record_if_whole(paths.trial, TrialRecord, read=files.read)
    exits = [_readable_json(node.exit, files) for node in nodes]
    telemetry = tuple(tuple(read_telemetry(node.telemetry, node.directory.name)) for node in nodes)
    paths_of_logs = [log for node in nodes for log in node.logs()]
    log, stated = _log_with_records(paths_of_logs, planned.format, logs)
    node = next((place for place, node in enumerate(nodes) if log and node.directory in log.parents), None)
    arrivals = _arrivals(nodes[node], log) if log and stated and node is not None else ()
    started = _started(exits[node]) if node is not None else 0.0
    runs = tuple(timed_by_arrival(run, arrivals, started) for run in stated)
    log_run = record.log_run if record else None
    counted = run_that_counts(runs, log_run)
    if counted is not None and len(paths_of_logs) > 1 and not counted.ranks.count:
        counted.ranks = times_of_runs(_runs_of_ranks(nodes, counted.format, logs, log_run))
    return Evidence(
        log=log.relative_to(paths.directory).as_posix() if log else None,
        log_sha256=files.sha256_of(log) if log else None,
        runs=runs,
        arrivals=arrivals,
        has_own_times=run_that_counts(runs, log_run) is run_that_counts(stated, log_run),
        started=started,
        log_run=log_run,
        tail=log_tail(log) if log and with_tails else "",
        tails={node.directory.name: log_tail(node.log) for node in nodes} if len(nodes) > 1 and with_tails else {},
        job_tail=log_tail(paths.job_log) if with_tails else "",
        telemetry=telemetry,
        telemetry_sha256={
            node.directory.name: digest for node in nodes if (digest := files.sha256_of(node.telemetry)) is not None
        },
        duration_seconds=max((_number(record, "duration_seconds") for record in exits), default=0.0) or None,
        nodes=tuple(
            NodeFacts(
                _readable_json(node.environment, files),
                _facts(record, "libraries"),
                _facts(record, "modules"),
                _mappings(record, "driver_errors"),
                frozenset(row.reading.gpu.rpartition(":")[2] for row in rows if row.reading),
            )
            for node, record, rows in zip(nodes, exits, telemetry, strict=True)
        ),
        programs=_programs(files),
        printed=_printed(log, run_that_counts(runs, log_run)) if log else {},
        expected_lines=first_lines(paths_of_logs, filter(None, map(expected_line, planned.expect))),
        halts=tuple(halt for record in exits for halt in _halts(record)),
        telemetry_rows_lost=int(sum(_number(record, "telemetry_rows_lost") for record in exits)),
        replaced_logs=tuple(
            path.relative_to(paths.directory).as_posix() for node in nodes for path in node.replaced_logs()
        ),
    )


def _nodes_of(paths: TrialPaths, planned: PlannedConfiguration) -> list[NodePaths]:
    """Return the folders of a trial's nodes, node 0 first, then any that the plan does not name."""
    wanted = [paths.node(node.name) for node in planned.launch.nodes]
    return [*wanted, *(node for node in paths.nodes() if node not in wanted)]


def _arrivals(node: NodePaths, log: Path) -> tuple[Arrival, ...]:
    return read_arrivals(node.arrivals, log, log.relative_to(node.directory).as_posix())


def _started(ended: Mapping[str, Any]) -> float:
    with suppress(ValueError, TypeError):
        return datetime.fromisoformat(str(ended.get("started"))).timestamp()
    return 0.0


def _halts(ended: Mapping[str, Any]) -> Iterator[tuple[float, float]]:
    with suppress(ValueError, TypeError):  # what a payload may have written
        for begun, seconds in ended.get("halts") or ():
            yield _started(ended) + begun, _started(ended) + begun + seconds


def _log_with_records(paths: list[Path], log_format: str, logs: LogReader) -> tuple[Path | None, tuple[Run, ...]]:
    """Find the first log with records, also of another format, else the first log."""
    for name in (log_format, None) if log_format else (None,):
        for path in paths:
            with suppress(RequestError):
                if runs := logs.read(path, name):
                    return path, tuple(runs)
    return (paths[0] if paths else None), ()


def _runs_of_ranks(nodes: Iterable[NodePaths], log_format: str, logs: LogReader, number: int | None) -> dict[str, Run]:
    """Return the run of each rank, or node, that has a log of its own, as ``node/log``; none where they are huge."""
    paths = {f"{node.directory.name}/{path.name}": path for node in nodes for path in node.logs_of_ranks()}
    if not 1 < len(paths) <= MOST_RANKS or sum(path.lstat().st_size for path in paths.values()) > MOST_BYTES:
        return {}
    found = {}
    for rank, path in paths.items():
        with suppress(RequestError):
            found[rank] = run_that_counts(logs.read(path, log_format), number)
    return {rank: run for rank, run in found.items() if run is not None}


def _readable_json(path: Path, files: TrialFiles) -> dict[str, Any]:
    """Return the record in a node's file; an empty one where there is none."""
    with suppress(OSError, ValueError):
        record = load_json(files.read(path))
        return record if isinstance(record, dict) else {}
    return {}


def _number(record: Mapping[str, Any], name: str) -> float:
    value = record.get(name)
    return float(value) if isinstance(value, (int, float)) else 0.0


def _facts(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = record.get(name)
    return found if isinstance(found, dict) else {}


def _mappings(record: Mapping[str, Any], name: str) -> tuple[dict[str, Any], ...]:
    found = record.get(name)
    return tuple(item for item in found if isinstance(item, dict)) if isinstance(found, list) else ()


def _programs(files: TrialFiles) -> dict[str, str]:
    """Return the SHA-256 of each program file that was sent, without what dlperf itself makes for a node."""
    digests: dict[str, str] = {}
    with suppress(OSError):
        digests = {name.partition("/files/")[2]: digest for name, digest in files.digests().items() if RENDERED in name}
    return {name: digest for name, digest in digests.items() if name}


def _printed(log: Path, run: Run | None) -> dict[str, str]:
    """Return versions, and what is compiled and in CUDA graphs, as a log states them."""
    nccl = PRINTED_NCCL.search(log_head(log))
    arguments = run.metadata.arguments if run else {}
    stated = {"libraries.nccl": nccl and nccl[1].decode(), **{name: arguments.get(name) for name in PRINTED}}
    return {name: text for name, text in stated.items() if text}
