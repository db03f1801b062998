"""Compute the rows of a campaign from its trials: value, spread, scaling, MFU, or a reason for none. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from dlperf.catalog.axes import field_values
from dlperf.catalog.files.problem import hint
from dlperf.catalog.units import Direction, counts_samples, of_counted
from dlperf.errors import RequestError
from dlperf.measured.causes import is_out_of_memory, lacking_memory
from dlperf.measured.findings.telemetry import disturbance
from dlperf.measured.findings.trials import findings_of_trials
from dlperf.measured.losses import losses_apart
from dlperf.measured.model import MetricValue, TrialResult
from dlperf.measured.statistics import Aggregate, aggregate, mfu, olympic_least
from dlperf.measured.throughput.figure import pauses_of
from dlperf.messages import message
from dlperf.messages.finding import Finding, distinct, error, warning
from dlperf.plan import PlannedConfiguration, TrialKey
from dlperf.runs.records import CampaignRecord, CampaignStatus, State, TrialStatus
from dlperf.table.model import ConfigurationResult, MetricResult, Status
from dlperf.table.scaling import with_scaling

ALL = "all"
"""In place of a metric's id."""
REPEATED = "repeated"
"""Finding of a trial that its repeat replaces."""

FAILED = "trials_failed"
"""Finding that trials failed: what they would have measured is not known."""
UNCOUNTED = "uncounted"
"""Finding of a trial at the start that does not count."""
NEEDS_BEFORE = {
    "peak_memory_per_gpu": ("one_framework",),
    **dict.fromkeys(("energy_per_sample", "cpu_energy_per_sample", "node_energy_per_sample"), ("readings",)),
    "final_loss": ("equal_steps",),
}
"""What the plans of 0.2 do not say of metrics."""


def rows_of_campaign(
    record: CampaignRecord, status: CampaignStatus, results: Mapping[TrialKey, TrialResult]
) -> list[ConfigurationResult]:
    """Return one row for each selected configuration, in the order of the plan."""
    statuses = _by_configuration(status.trials.values())
    rows = []
    for planned in (item for item in record.configurations if not item.profiled):
        tried = statuses.get(planned.configuration.id, ())
        trials = [results[item.key] for item in tried if item.key in results]
        rows.append(_measured_row(record, planned, trials, tried))
    for item in record.impossible:
        point, why = item.configuration, Status("not_supported", item.reason)
        rows.append(
            ConfigurationResult(**field_values(point), campaign=record.name, unit="", status=why, date=record.created)
        )
    return with_scaling(rows)


def _measured_row(
    record: CampaignRecord,
    planned: PlannedConfiguration,
    trials: Sequence[TrialResult],
    statuses: Sequence[TrialStatus],
) -> ConfigurationResult:
    """Return the row of one configuration without its scaling."""
    trials = _judged(planned, trials, statuses)
    row = ConfigurationResult(
        **field_values(planned.configuration),
        campaign=record.name,
        numerics=_numerics(planned, trials),
        tuning=planned.tuning,
        options=planned.options,
        unit=planned.unit,
        metric=planned.primary.id,
        direction=planned.primary.direction,
        protocol=planned.protocol.id,
        trials=tuple(trials),
        source=planned.facts.get("log_source", ""),
        date=planned.facts.get("log_date", "") if planned.launch.imported else record.created,
        pauses=pauses_of(planned.protocol.estimator or "") if planned.primary.estimator == "protocol" else "",
    )
    values = row.values
    if not values:
        return replace(row, status=_status_without_figure(trials, statuses), findings=_trial_findings(trials))
    total, needs = _aggregate(planned, values), _needs(planned)
    succeeded = [trial for trial in trials if trial.state == State.SUCCEEDED]  # only these make the value
    primary = planned.primary
    facts = primary.unit, primary.direction, primary.scope
    return replace(
        row,
        metrics=(
            MetricResult(
                primary.id, total.value, *facts, spread=total.spread, n=total.n, needs=needs.get(primary.id, ())
            ),
            *_other_metrics(planned, [trial for trial in trials if trial.usable]),
        ),
        findings=distinct(
            (
                *findings_of_trials(values, planned.repeats),
                *_of_few(planned, len(values)),
                *_failed(trials, statuses),
                *_trial_findings(succeeded),
            )
        ),
        value=total.value,
        spread=total.spread,
        n=total.n,
        status=Status("imported" if planned.launch.imported else "measured"),
        mfu=_mfu(planned, total.value),
        samples_per_joule=_samples_per_joule(planned, trials),
    )


def value_of_trials(
    planned: PlannedConfiguration, trials: Sequence[TrialResult], statuses: Sequence[TrialStatus]
) -> float | None:
    """Return the value of the row that these trials of a configuration make; None where it has none."""
    values = [trial.value for trial in _judged(planned, trials, statuses) if trial.usable and trial.value is not None]
    return _aggregate(planned, values).value if values else None


def _judged(
    planned: PlannedConfiguration, trials: Sequence[TrialResult], statuses: Sequence[TrialStatus]
) -> list[TrialResult]:
    """Return the trials, marked where they do not count."""
    return [_counted(trial, planned) for trial in _with_repeats(trials, statuses)]


def _numerics(planned: PlannedConfiguration, trials: Sequence[TrialResult]) -> dict[str, str]:
    """Return what the trials report, where all of a value report the same; what is planned where they do not tell."""
    reports = [trial.numerics for trial in trials if trial.value is not None]
    shared = set.intersection(*(set(report.items()) for report in reports)) if reports else set()
    told = {name for report in reports for name in report}
    return {name: text for name, text in planned.numerics.items() if name not in told} | dict(sorted(shared))


def rows_of_metrics(rows: Sequence[ConfigurationResult], wanted: Iterable[str]) -> list[ConfigurationResult]:
    """Return a row for each of these metrics of each configuration that has it.

    ``all`` stands for every metric; configurations without any then keep their row, which gives the reason.

    Raises:
        RequestError: no row has a metric.
    """
    names = dict.fromkeys(metric.id for row in rows for metric in row.metrics)
    for name in wanted:
        if name not in (ALL, *names):
            known = hint(name, names) if names else "none has a value: leave --metric out to see why"
            raise RequestError(f"--metric {name}: no result has this metric ({known})")
    chosen = [name for name in names if name in wanted or ALL in wanted]
    primary = [row for row in rows if (row.metric in chosen if row.metrics else ALL in wanted)]
    others = [row_of_metric(row, name) for name in chosen for row in rows if name != row.metric]
    return primary + with_scaling([row for row in others if row is not None])


def row_of_metric(row: ConfigurationResult, name: str) -> ConfigurationResult | None:
    """Return the row of another metric of a configuration; None where it has no such metric."""
    metric = next((metric for metric in row.metrics if metric.id == name), None)
    if metric is None:
        return None
    trials = tuple(_trial_of(trial, name) for trial in row.trials)
    row = replace(row, trials=trials, speedup=None, efficiency=None, mfu=None, samples_per_joule=None)
    row = replace(row, metric=name, unit=metric.unit, direction=metric.direction, basis=metric.basis)
    return replace(row, value=metric.value, spread=metric.spread, n=metric.n)


def row_of_trial(row: ConfigurationResult, trial: TrialResult) -> ConfigurationResult:
    """Return the row of a configuration as if this were its only trial."""
    with_value = row.status if row.status.code == "imported" else Status("measured")
    status = with_value if trial.usable else _status_of(trial)
    row = replace(row, trials=(trial,), findings=trial.findings, status=status, speedup=None, efficiency=None)
    return replace(row, value=trial.value if trial.usable else None, spread=None, n=1)


def _trial_of(trial: TrialResult, name: str) -> TrialResult:
    metric = next((metric for metric in trial.metrics if metric.id == name), None)
    return replace(trial, value=metric.value if metric else None, unit=metric.unit if metric else trial.unit)


def _with_repeats(trials: Sequence[TrialResult], statuses: Sequence[TrialStatus]) -> list[TrialResult]:
    """Replace a disturbed trial by its repeat if that has any throughput, so that trials are not picked by result."""
    repeat_of = {status.key.number: status.retry_of for status in statuses if status.retry_of is not None}
    repeated: dict[int, int] = {}
    for trial in trials:
        earlier = repeat_of.get(trial.number) if trial.usable else None
        while earlier is not None:
            repeated[earlier] = trial.number
            earlier = repeat_of.get(earlier)
    return [_repeated(trial, repeated[trial.number]) if trial.number in repeated else trial for trial in trials]


def _counted(trial: TrialResult, planned: PlannedConfiguration) -> TrialResult:
    """Mark a trial that runs only so that the next ones find a machine in its usual state."""
    if trial.number > planned.uncounted or trial.value is None or trial.errors:
        return trial
    return replace(trial, findings=(error(UNCOUNTED),))


def _repeated(trial: TrialResult, by: int) -> TrialResult:
    if trial.value is None:
        return trial
    why = disturbance(trial.findings) or message("asked_for")
    return replace(trial, findings=(error(REPEATED, by=by, why=why),))


def _status_without_figure(trials: Sequence[TrialResult], statuses: Sequence[TrialStatus]) -> Status:
    """Return the reason why no trial gave a figure: that of the last one that was not cancelled."""
    if any(status.state in (State.SUBMITTED, State.RUNNING) for status in statuses):
        return Status("running")
    ended = [trial for trial in trials if trial.state != State.CANCELLED] or trials
    return _status_of(ended[-1]) if ended else Status("not_run")


def _status_of(trial: TrialResult) -> Status:
    if is_out_of_memory(trial.cause):
        return Status("out_of_memory", lacking_memory(trial.cause))
    if trial.state == State.SUCCEEDED:
        return Status("failed", trial.why_unusable)
    return Status(trial.state, None if trial.state == State.CANCELLED else trial.cause)


def _failed(trials: Sequence[TrialResult], statuses: Sequence[TrialStatus]) -> tuple[Finding, ...]:
    """Say how many trials their program failed, or gave no value, without another in their place."""
    again = {status.retry_of for status in statuses}
    failed = {item.key.number for item in statuses if item.state in (State.FAILED, State.TIMED_OUT)}
    failed |= {trial.number for trial in trials if trial.state == State.SUCCEEDED and not trial.usable}
    failed -= again | {trial.number for trial in trials if any(each.code == UNCOUNTED for each in trial.errors)}
    ended = {trial.number for trial in trials} - again
    return (warning(FAILED, count=len(failed), of=len(ended | failed)),) if failed else ()


def _trial_findings(trials: Sequence[TrialResult]) -> tuple[Finding, ...]:
    """Collect the findings of the trials, and name the excluded ones."""
    excluded = tuple(
        message("excluded_trial", number=trial.number, why=trial.why_unusable)
        for trial in trials
        if trial.state == State.SUCCEEDED and not trial.usable and UNCOUNTED not in (e.code for e in trial.errors[:1])
    )
    said = [warning("trial_excluded", trials=excluded)] if excluded else []
    if apart := losses_apart([trial.losses for trial in trials if trial.usable and trial.losses]):
        said.append(warning("losses_apart", **apart))
    found = (finding for trial in trials for finding in trial.findings if finding.code not in (REPEATED, UNCOUNTED))
    return distinct((*said, *found))


def _aggregate(
    planned: PlannedConfiguration, values: Sequence[float], direction: Direction = "higher", without: int = 0
) -> Aggregate:
    return aggregate(values, planned.protocol.aggregate, direction, without, planned.protocol.drop)


def _of_few(planned: PlannedConfiguration, count: int) -> tuple[Finding, ...]:
    """Return the caveat of a median that stands for the mean of a protocol."""
    least = olympic_least(planned.protocol.drop)
    is_median = planned.protocol.aggregate == "olympic" and count < least
    return (warning("few_for_mean", count=count, least=least),) if is_median else ()


def _other_metrics(planned: PlannedConfiguration, trials: Sequence[TrialResult]) -> Iterator[MetricResult]:
    """Yield the metrics beside the primary one, in the order of the first trial that has them."""
    found: dict[str, list[MetricValue]] = {}
    for metric in (metric for trial in trials for metric in trial.metrics if metric.id != planned.primary.id):
        found.setdefault(metric.id, []).append(metric)
    needs = _needs(planned)
    for name, metrics in found.items():
        without = len(trials) - len(metrics) if name == "time_to_train" else 0
        if planned.protocol.aggregate == "olympic" and without > planned.protocol.drop:
            continue
        total = _aggregate(planned, [metric.value for metric in metrics], metrics[0].direction, without)
        unit = of_counted("J/sample", planned.unit) if metrics[0].unit == "J" else metrics[0].unit
        yield MetricResult(**field_values(metrics[0]) | field_values(total) | {"unit": unit}, needs=needs.get(name, ()))


def _needs(planned: PlannedConfiguration) -> dict[str, tuple[str, ...]]:
    """Return what a fair comparison of each metric needs, also of plans that do not say it."""
    return NEEDS_BEFORE | {metric.id: metric.needs for metric in planned.metrics if metric.needs}


def _mfu(planned: PlannedConfiguration, value: float) -> float | None:
    if planned.primary.estimator != "protocol" or not counts_samples(planned.unit):
        return None
    return mfu(planned.gflops_per_sample, value, planned.configuration.gpus_total, planned.peak_tflops)


def _samples_per_joule(planned: PlannedConfiguration, trials: Iterable[TrialResult]) -> float | None:
    """Return the inverse of the energy per sample, so that both always agree."""
    energies = [1 / trial.samples_per_joule for trial in trials if trial.usable and trial.samples_per_joule]
    return 1 / _aggregate(planned, energies, "lower").value if energies else None


def _by_configuration(statuses: Iterable[TrialStatus]) -> dict[str, list[TrialStatus]]:
    found: dict[str, list[TrialStatus]] = {}
    for status in sorted(statuses, key=lambda item: item.key):
        found.setdefault(status.key.configuration, []).append(status)
    return found
