"""Measure a trial: gather evidence from its files, then compute the result from it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from math import nan
from pathlib import Path

from dlperf.catalog.units import counts_samples
from dlperf.errors import DlperfError, RequestError
from dlperf.formats.samples import Run
from dlperf.measure.figure import Figure, figure_of
from dlperf.measure.findings import Finding, error, warning
from dlperf.measure.reading import NotEstimable, Reading
from dlperf.measure.run_findings import findings_of_run
from dlperf.measure.statistics import flop_limit, samples_per_joule
from dlperf.measure.telemetry import findings_of_processors, findings_of_telemetry
from dlperf.messages import Message, message
from dlperf.plan import Launch, PlannedConfiguration
from dlperf.plan.subject import STARTED_ONCE
from dlperf.results.causes import diagnosis, explained
from dlperf.results.error_lines import failed_rank
from dlperf.results.logs import BUILTIN_FORMATS, LogReader, log_tail
from dlperf.results.metrics import Source, metrics_of
from dlperf.results.model import TrialResult
from dlperf.results.run_units import run_in_unit
from dlperf.results.telemetry import TelemetryRow, in_window, mean_clock, mean_power, peak_memory, read_telemetry
from dlperf.runs.archive import TrialFiles, sha256_of
from dlperf.runs.bounded import load_json
from dlperf.runs.paths import NodePaths, TrialPaths
from dlperf.runs.records import State, TrialRecord, TrialStatus
from dlperf.runs.store import read_record_if_whole

FOREIGN_CPU = "foreign_cpu_percent"
"""Column of telemetry without GPUs."""


@dataclass(frozen=True)
class Evidence:
    """The contents of a trial's files that its result depends on."""

    log: str | None = None
    """Relative to the trial's folder."""
    log_sha256: str | None = None
    runs: tuple[Run, ...] = ()
    log_run: int | None = None
    """Number of this trial's run (1-based); the last one if None."""
    tail: str = ""
    tails: Mapping[str, str] = field(default_factory=dict)
    """End of each node's log, where there are several nodes."""
    slurm_tail: str = ""
    telemetry: tuple[tuple[TelemetryRow, ...], ...] = ()
    """By node."""
    duration_seconds: float | None = None
    """Of the node that took longest."""
    telemetry_rows_lost: int = 0
    """That the disks of nodes refused."""
    replaced_logs: tuple[str, ...] = ()
    """Earlier parts of logs that the program truncated, replaced or renamed, relative to the trial's folder."""

    @property
    def run(self) -> Run | None:
        if self.log_run is not None:
            return next((run for run in self.runs if run.number == self.log_run), None)
        return self.runs[-1] if self.runs else None


def measure_trial(
    paths: TrialPaths, planned: PlannedConfiguration, status: TrialStatus, logs: LogReader = BUILTIN_FORMATS
) -> TrialResult:
    """Compute the result of a trial from its archived files.

    The first log with records counts: node 0 first, ``out.log`` before the logs of single ranks. A missing or
    unreadable file leaves its part of the result empty.
    """
    return result_of(gather(paths, planned, logs), planned, status)


def gather(paths: TrialPaths, planned: PlannedConfiguration, logs: LogReader) -> Evidence:
    """Read the files of a trial."""
    nodes, files = nodes_of(paths, planned), TrialFiles(paths)
    record = read_record_if_whole(paths.trial, TrialRecord, read=files.read)
    exits = [_exit_numbers(node.exit, files) for node in nodes]
    log, runs = _log_with_records([log for node in nodes for log in node.logs()], planned.format, logs)
    return Evidence(
        log=log.relative_to(paths.directory).as_posix() if log else None,
        log_sha256=sha256_of(log) if log else None,
        runs=runs,
        log_run=record.log_run if record else None,
        tail=log_tail(log) if log else "",
        tails={node.directory.name: log_tail(node.log) for node in nodes} if len(nodes) > 1 else {},
        slurm_tail=log_tail(paths.slurm_log),
        telemetry=tuple(tuple(read_telemetry(node.telemetry, node.directory.name)) for node in nodes),
        duration_seconds=max(filter(None, (record.get("duration_seconds") for record in exits)), default=None),
        telemetry_rows_lost=int(sum(record.get("telemetry_rows_lost", 0) for record in exits)),
        replaced_logs=tuple(
            path.relative_to(paths.directory).as_posix() for node in nodes for path in node.replaced_logs()
        ),
    )


def result_of(evidence: Evidence, planned: PlannedConfiguration, status: TrialStatus) -> TrialResult:
    """Compute a result under the plan's protocol. Pure."""
    run, point = evidence.run, planned.configuration
    if run and planned.primary.estimator == "protocol":
        with suppress(DlperfError):
            run = run_in_unit(run, planned.unit)
    reading = Reading(run, point.gpus_total, point.gpus, point.batch_size) if run else None
    measured, reason = _figure(reading, planned)
    window = _measured_rows(evidence, measured)
    power = mean_power(window)
    memory = peak_memory(row for rows in evidence.telemetry for row in rows)
    source = Source(planned, reading, measured, power, memory)
    metrics = metrics_of(source) if status.state is State.SUCCEEDED else ()
    primary = next((metric for metric in metrics if metric.id == planned.primary.id), None)
    by_protocol = planned.primary.estimator == "protocol"
    if not by_protocol and reading is not None:
        reason = None if primary else message("no_metric", metric=planned.primary.id)
    findings = _findings(evidence, reading, planned, measured)
    if evidence.replaced_logs:
        findings = (warning("log_replaced", logs=", ".join(evidence.replaced_logs)), *findings)
    if evidence.telemetry_rows_lost:
        findings = (*findings, warning("telemetry_lost", rows=evidence.telemetry_rows_lost))
    if reason and status.state is State.SUCCEEDED:
        findings = (error("no_figure", reason=reason), *findings)
    estimate = measured.estimate if measured else None
    return TrialResult(
        number=status.key.number,
        state=str(status.state),
        cause=_cause(evidence, planned.launch, status),
        started=status.started,
        duration_seconds=evidence.duration_seconds,
        value=primary.value if primary else None,
        value_from_timestamps=measured.value_from_timestamps if measured and by_protocol else None,
        unit=planned.unit or (measured.unit if measured else ""),
        estimator=_estimator(planned, measured),
        samples=estimate.samples if estimate else 0,
        first_step=estimate.first_step if estimate else None,
        last_step=estimate.last_step if estimate else None,
        first_line=estimate.first_line if estimate else None,
        last_line=estimate.last_line if estimate else None,
        log=evidence.log,
        log_sha256=evidence.log_sha256,
        estimates=measured.estimates if measured and by_protocol else {},
        power_watts=power,
        sm_clock_mhz=mean_clock(window),
        samples_per_joule=samples_per_joule(source.throughput, power) if source.throughput else None,
        metrics=metrics if planned.metrics else (),
        findings=(*findings, *_telemetry_findings(window)),
    )


def _estimator(planned: PlannedConfiguration, measured: Figure | None) -> str:
    if planned.primary.estimator != "protocol":
        return planned.primary.estimator
    return measured.estimator if measured else str(planned.protocol.get("estimator", ""))


def _figure(reading: Reading | None, planned: PlannedConfiguration) -> tuple[Figure | None, Message | None]:
    """Return the figure, or the reason why there is none."""
    if reading is None:
        return None, message("no_records_of_format", format=planned.format)
    try:
        return figure_of(reading, planned.protocol.get("estimator")), None
    except NotEstimable as shortage:
        return None, shortage.message


def _findings(
    evidence: Evidence, reading: Reading | None, planned: PlannedConfiguration, measured: Figure | None
) -> tuple[Finding, ...]:
    if reading is None:
        return ()
    point = planned.configuration
    peaks = (planned.accelerator or {}).get("peak_tflops", {})
    limit = flop_limit(planned.gflops_per_sample, point.gpus_total, peaks.get(point.precision))
    return findings_of_run(
        reading,
        measured,
        runs_in_log=len(evidence.runs),
        flop_limit=limit if measured and counts_samples(measured.unit) else None,
    )


def _cause(evidence: Evidence, launch: Launch, status: TrialStatus) -> Message | None:
    """Return the journal's cause, explained by the log of the node that it names, else by that of another."""
    cause = status.cause
    if status.state is State.SUCCEEDED:
        return cause
    parts = cause.chain() if cause else ()
    named = next((part.text_of("node") for part in parts if part.code == "of_node"), "")
    tail = evidence.tails.get(named, evidence.tail)
    found, node = diagnosis(tail), _failed_node(launch, tail)
    if found is None and named:
        found, node = next(
            ((why, other) for other, log in evidence.tails.items() if (why := diagnosis(log))), (None, "")
        )
    if found and named and node not in ("", named):
        found = message("of_node", node=node, cause=found)
    found = found or diagnosis(evidence.slurm_tail)
    slurm_tail = "" if evidence.tail or any(evidence.tails.values()) else evidence.slurm_tail
    return explained(cause, found, tail if status.state in (State.FAILED, State.TIMED_OUT) else "", slurm_tail)


def _failed_node(launch: Launch, tail: str) -> str:
    """Return the node of the rank that failed, where one launcher started the ranks of all nodes."""
    rank = failed_rank(tail) if launch.launcher in STARTED_ONCE else None
    node = len(launch.nodes) if rank is None else rank // launch.gpus
    return launch.nodes[node].name if node < len(launch.nodes) else ""


def _measured_rows(evidence: Evidence, measured: Figure | None) -> list[TelemetryRow]:
    """Return the telemetry of all nodes between the first and the last record that gave the figure."""
    run, estimate = evidence.run, measured.estimate if measured else None
    if run is None or estimate is None or estimate.first is None or estimate.last is None:
        return []
    times = run.samples.time
    first, last = (times[index] if index < len(times) else nan for index in (estimate.first, estimate.last))
    return [row for rows in evidence.telemetry for row in in_window(rows, first, last)]


def _telemetry_findings(window: list[TelemetryRow]) -> tuple[Finding, ...]:
    foreign = [row.metrics[FOREIGN_CPU] for row in window if FOREIGN_CPU in row.metrics]
    return findings_of_telemetry(row.reading for row in window if row.reading) + findings_of_processors(foreign)


def nodes_of(paths: TrialPaths, planned: PlannedConfiguration) -> list[NodePaths]:
    """Return the folders of a trial's nodes, node 0 first, then any that the plan does not name."""
    wanted = [paths.node(node.name) for node in planned.launch.nodes]
    return [*wanted, *(node for node in paths.nodes() if node not in wanted)]


def _log_with_records(paths: list[Path], log_format: str, logs: LogReader) -> tuple[Path | None, tuple[Run, ...]]:
    """Find the first log with records, also of another format, else the first log."""
    for name in (log_format, None) if log_format else (None,):
        for path in paths:
            with suppress(RequestError):
                if runs := logs.read(path, name):
                    return path, tuple(runs)
    return (paths[0] if paths else None), ()


def _exit_numbers(path: Path, files: TrialFiles) -> dict[str, float]:
    """Return the numbers of a node's exit record, such as the duration by its own monotonic clock."""
    try:
        record = load_json(files.read(path)).items()
    except (OSError, ValueError, AttributeError):
        return {}
    return {name: float(value) for name, value in record if isinstance(value, (int, float))}
