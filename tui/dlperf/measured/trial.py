"""Measure a trial: compute its result from its evidence. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import Literal

from dlperf.catalog.units import counts_samples
from dlperf.evidence.facts import conditions_of
from dlperf.evidence.gather import Evidence
from dlperf.evidence.telemetry import (
    NODE_POWER,
    PACKAGE_ENERGY,
    TelemetryRow,
    by_gpu,
    counted_power,
    mean_clock,
    mean_power,
    peak_memory,
)
from dlperf.formats.programs.own import NUMERICS
from dlperf.formats.samples import Run, Samples
from dlperf.measured.causes import cause_of_trial
from dlperf.measured.expectations import first_unmet, unlike_numerics
from dlperf.measured.findings.checked_run import CheckedRun
from dlperf.measured.findings.clock import (
    LEAST_SHARE,
    clock_set_between,
    clock_setting,
    finding_of_arrival,
    findings_of_clock,
    findings_of_printed,
)
from dlperf.measured.findings.gpu_errors import COUNTED, error_counts, findings_of_drivers
from dlperf.measured.findings.program_faults import findings_of_programs
from dlperf.measured.findings.runs import checked_run, findings_of_run
from dlperf.measured.findings.telemetry import findings_of_processors, findings_of_telemetry, idle_share
from dlperf.measured.findings.trials import findings_of_window
from dlperf.measured.losses import losses_at_steps
from dlperf.measured.metrics import Source, metrics_of
from dlperf.measured.model import MetricValue, TrialResult
from dlperf.measured.run import Measured, measure_planned
from dlperf.measured.statistics import flop_limit, samples_per_joule
from dlperf.measured.telemetry_window import by_machine, halted_seconds, measured_rows, window_of
from dlperf.measured.throughput.figure import Figure
from dlperf.messages import Message, message
from dlperf.messages.finding import Finding, error, warning
from dlperf.plan import Launch, PlannedConfiguration
from dlperf.runs.records import State, TrialStatus

FOREIGN_CPU = "foreign_cpu_percent"
"""Column of telemetry without GPUs."""


@dataclass(frozen=True)
class _MeasuredTrial:
    """The evidence of a trial, its figure, and the telemetry of the time that gave the figure."""

    evidence: Evidence
    planned: PlannedConfiguration
    run: Measured | None
    """None without records."""

    @property
    def figure(self) -> Figure | None:
        return self.run.figure if self.run else None

    @property
    def shortage(self) -> Message | None:
        """Why there is no figure."""
        return self.run.shortage if self.run else message("no_records_of_format", format=self.planned.format)

    @cached_property
    def telemetry(self) -> Sequence[Sequence[TelemetryRow]]:
        """By node: all of it where a metric of the whole run stands for the figure."""
        if self.figure is None and self.planned.primary.estimator != "protocol":
            return self.evidence.telemetry
        return measured_rows(self.evidence, self.figure)

    @cached_property
    def rows(self) -> list[TelemetryRow]:
        return [row for rows in self.telemetry for row in rows]

    @cached_property
    def gpus(self) -> Collection[Sequence[TelemetryRow]]:
        return by_gpu(self.rows).values()

    @cached_property
    def power(self) -> tuple[float | None, Literal["", "counter", "readings"]]:
        """Watts of all GPUs, and whether a counter of energy or readings of power gave them."""
        counted = counted_power(self.gpus)
        if counted is not None:
            return counted, "counter"
        watts = mean_power(self.gpus)
        return watts, "" if watts is None else "readings"

    @cached_property
    def records(self) -> tuple[Samples, int, int] | None:
        """The records that gave the figure, by the first and the last: all where it is of no single ones."""
        if self.run is None or self.figure is None or not len(self.run.run.samples):
            return None
        samples, estimate = self.run.run.samples, self.figure.estimate
        if estimate.first is None or estimate.last is None:
            return samples, 0, len(samples) - 1
        return samples, estimate.first, estimate.last

    @cached_property
    def clock_setting(self) -> float:
        """By how many seconds the clock of the log was set within the measured window."""
        known = self.evidence.arrivals, self.evidence.duration_seconds
        return clock_setting(*self.records, *known) if self.records else 0.0

    @property
    def window_seconds(self) -> float | None:
        """Length of the measured window by a clock that was not set; None where its times are unknown."""
        first, last = window_of(self.evidence, self.figure)
        return round(last - first - self.clock_setting, 6) if isfinite(last - first) else None

    @cached_property
    def checked(self) -> CheckedRun | None:
        """The run as its checks look at it; None without records."""
        if self.run is None:
            return None
        planned = self.planned
        peak = planned.peak_tflops or planned.peak_limit
        limit = flop_limit(planned.gflops_per_sample, planned.configuration.gpus_total, peak)
        counted = self.figure is not None and counts_samples(self.figure.unit)
        runs = len(self.evidence.runs)
        return checked_run(self.run.reading, self.figure, runs_in_log=runs, flop_limit=limit if counted else None)

    @property
    def source(self) -> Source:
        machines = by_machine(self.evidence, self.telemetry)
        nodes, planned = self.evidence.nodes, self.planned
        return Source(
            planned,
            self.run.reading if self.run else None,
            self.figure,
            self.power[0],
            peak_memory(row for rows in self.evidence.telemetry for row in rows),
            counted_power(machines, PACKAGE_ENERGY),
            mean_power(machines, NODE_POWER),
            {name: counts for name in COUNTED if (counts := error_counts(nodes, planned, name))},
        )


def measured_of(evidence: Evidence, planned: PlannedConfiguration) -> Measured | None:
    """Measure the run of a trial's log under its plan; None where no log has records."""
    return measure_planned(evidence.run, planned) if evidence.run is not None else None


def result_of(
    evidence: Evidence, run: Measured | None, planned: PlannedConfiguration, status: TrialStatus
) -> TrialResult:
    """Compute a result under the plan's protocol. Pure.

    Args:
        run: by ``measured_of``.
    """
    try:
        return _result_of(_MeasuredTrial(evidence, planned, run), status)
    except OverflowError:  # a log with numbers that nothing measures counts as one without records
        return _result_of(_MeasuredTrial(replace(evidence, runs=()), planned, None), status)


def _result_of(trial: _MeasuredTrial, status: TrialStatus) -> TrialResult:
    evidence, planned = trial.evidence, trial.planned
    source, figure = trial.source, trial.figure
    succeeded = status.state is State.SUCCEEDED
    metrics = metrics_of(source) if succeeded else ()
    primary, why_none = _primary(trial, metrics)
    samples = trial.run.run.samples if trial.run else None
    estimate = figure.estimate if figure else None
    by_protocol = figure is not None and planned.primary.estimator == "protocol"
    watts, power_source = trial.power
    return TrialResult(
        number=status.key.number,
        state=str(status.state),
        cause=cause_of_trial(evidence, planned, status),
        started=status.started,
        duration_seconds=evidence.duration_seconds,
        value=primary.value if primary else None,
        value_from_timestamps=figure.value_from_timestamps if figure and by_protocol else None,
        unit=planned.unit or (figure.unit if figure else ""),
        estimator=_estimator(planned, figure),
        samples=estimate.samples if estimate else 0,
        first_step=estimate.first_step if estimate else None,
        last_step=estimate.last_step if estimate else None,
        first_line=estimate.first_line if estimate else None,
        last_line=estimate.last_line if estimate else None,
        window_seconds=trial.window_seconds,
        drift=trial.checked.drift_of_start if trial.checked else None,
        idle=idle_share(row.reading for row in trial.rows if row.reading),
        telemetry_samples=min(map(len, trial.gpus), default=0),
        log=evidence.log,
        log_sha256=evidence.log_sha256,
        estimates=figure.estimates if figure and by_protocol else {},
        power_watts=watts,
        power_source=power_source,
        sm_clock_mhz=mean_clock(trial.rows),
        samples_per_joule=samples_per_joule(source.throughput, watts) if source.throughput else None,
        metrics=metrics if planned.metrics else (),
        conditions=_caches(planned.launch) | conditions_of(evidence.nodes, evidence.programs, evidence.printed),
        numerics=_used_numerics(evidence.run),
        losses=losses_at_steps(samples.step, samples.loss) if samples else (),
        findings=_findings(trial, why_none if succeeded else None),
    )


def _primary(trial: _MeasuredTrial, metrics: Sequence[MetricValue]) -> tuple[MetricValue | None, Message | None]:
    """Return the metric that is the trial's value, or None and why there is none."""
    planned = trial.planned
    primary = next((metric for metric in metrics if metric.id == planned.primary.id), None)
    if primary is not None:
        unmet = first_unmet(planned.expect, metrics, trial.evidence.expected_lines)
        unmet = unmet or unlike_numerics(planned.numerics, _used_numerics(trial.evidence.run))
        return (None, unmet) if unmet else (primary, None)
    if trial.run is None or planned.primary.estimator == "protocol":
        return None, trial.shortage
    return None, message("no_metric", metric=planned.primary.id)


def _used_numerics(run: Run | None) -> dict[str, str]:
    stated = run.metadata.arguments.items() if run else ()
    return {name.removeprefix(NUMERICS): text for name, text in stated if name.startswith(NUMERICS)}


def _caches(launch: Launch) -> dict[str, str]:
    return {"compile_cache": launch.compile_cache} if launch.compile_cache else {}


def _estimator(planned: PlannedConfiguration, measured: Figure | None) -> str:
    if planned.primary.estimator != "protocol":
        return planned.primary.estimator
    return measured.estimator if measured else planned.protocol.estimator or ""


def _findings(trial: _MeasuredTrial, why_no_figure: Message | None) -> tuple[Finding, ...]:
    """Return the caveats of a trial, the most serious first."""
    evidence, found = trial.evidence, list(findings_of_run(trial.checked)) if trial.checked else []
    found += trial.run.findings if trial.run else ()
    found[:0] = findings_of_programs(
        evidence.programs, trial.planned.launch.command, trial.planned.configuration.gpus_total
    )
    if evidence.replaced_logs:
        found.insert(0, warning("log_replaced", logs=", ".join(evidence.replaced_logs)))
    if why_no_figure:
        found.insert(0, error("no_figure", reason=why_no_figure))
    if evidence.telemetry_rows_lost:
        found.append(warning("telemetry_lost", rows=evidence.telemetry_rows_lost))
    found[:0] = (*_halt_findings(trial), *_clock_findings(trial))
    if trial.planned.protocol.seconds:
        readings = min(map(len, trial.gpus)) if trial.gpus else None
        found += findings_of_window(trial.window_seconds, readings)
    vendors = {str(name) for node in evidence.nodes if (name := node.environment.get("never_run_vendor"))}
    unproven = tuple(warning("never_run_vendor", vendor=name) for name in sorted(vendors))
    return (*found, *(unproven + findings_of_drivers(evidence.nodes)), *_telemetry_findings(trial.rows))


def _clock_findings(trial: _MeasuredTrial) -> Sequence[Finding]:
    """Check the times of the window that gave the figure."""
    if trial.run is None or trial.figure is None or trial.records is None:
        return ()
    figure, arrivals, has_times = trial.figure, trial.evidence.arrivals, trial.evidence.has_own_times
    if figure.is_timed and not has_times:
        return (finding_of_arrival(*trial.records, arrivals),)
    moved = max(trial.clock_setting, clock_set_between(*trial.records, arrivals), key=abs) if has_times else 0.0
    if figure.is_timed:
        return findings_of_clock(*trial.records, moved)
    is_doubtful = moved or not has_times
    return findings_of_printed(trial.run.reading, figure, *trial.records, arrivals, moved) if is_doubtful else ()


def _halt_findings(trial: _MeasuredTrial) -> Sequence[Finding]:
    """Say that the machine, or the job, was suspended while it was measured; a clock that goes on counts that time."""
    seconds, window = halted_seconds(trial.evidence, trial.figure), trial.window_seconds
    if trial.figure is None or seconds <= LEAST_SHARE * (window or 0.0):
        return ()
    return (warning("halted", seconds=seconds),)


def _telemetry_findings(window: Sequence[TelemetryRow]) -> tuple[Finding, ...]:
    foreign = [row.metrics[FOREIGN_CPU] for row in window if FOREIGN_CPU in row.metrics]
    return findings_of_telemetry(row.reading for row in window if row.reading) + findings_of_processors(foreign)
