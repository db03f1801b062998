"""Write the values of an import as a third-party report: values with their sources, without the logs."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePath

import yaml

from dlperf.catalog.units import is_time
from dlperf.derived.importing import ImportedLog, ImportPlan
from dlperf.errors import RequestError
from dlperf.evidence.gather import Evidence
from dlperf.evidence.logs import LogReader
from dlperf.measured.model import TrialResult
from dlperf.measured.run import Measured
from dlperf.measured.statistics import aggregate, olympic_least
from dlperf.measured.trial import measured_of, result_of
from dlperf.opening import make_folder, writer
from dlperf.plan import PlannedConfiguration, TrialKey
from dlperf.runs.paths import PublishedPaths, WorkspacePaths
from dlperf.runs.records import State, TrialStatus

COLUMNS = (
    *("model", "framework", "hardware", "nodes", "gpus", "precision", "batch_size", "metric", "unit", "value"),
    *("source", "log", "rule", "axes", "protocol", "median_of", "mean_needs"),
)
DIGITS = 6
"""Significant digits of a value."""
PER_GPU = "tokens/s"
"""Unit whose values are published per GPU."""


def write_report(
    workspace: WorkspacePaths, name: str, plan: ImportPlan, logs: LogReader
) -> dict[TrialKey, TrialResult]:
    """Write the values of an import as ``runs/published/<name>/``, and return each trial's result.

    Raises:
        RequestError: there is such a report.
    """
    paths = PublishedPaths(workspace.published / name)
    folder = paths.directory
    if folder.exists():
        raise RequestError(f"--report {name}: {folder} exists, and nothing is overwritten: choose another name")
    text = io.StringIO(newline="")
    rows = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    rows.writeheader()
    results: dict[TrialKey, TrialResult] = {}
    for planned in plan.configurations:
        keys = [key for key in plan.trials if key.configuration == planned.configuration.id]
        trials = {key: _measured(key, plan.trials[key], planned, logs) for key in keys}
        rows.writerows(_figures(planned, [trial for trial in trials.values() if trial.result.usable]))
        results |= {key: trial.result for key, trial in trials.items()}
    make_folder(folder, anew=True)
    for path, content in ((paths.figures, text.getvalue()), (paths.report, _report(name, plan))):
        with open(path, "w", encoding="utf-8", newline="", opener=writer) as stream:
            stream.write(content)
    return results


@dataclass(frozen=True)
class _MeasuredLog:
    """A run of a log, measured as the trial of a campaign of imported logs."""

    log: ImportedLog
    measured: Measured
    result: TrialResult

    @property
    def steady(self) -> float | None:
        return self.measured.figure.steady if self.measured.figure else None

    @property
    def minutes(self) -> float | None:
        """Time to train, None where the run does not converge."""
        metric = self.measured.run.metrics.get("time_to_train")
        return metric.values[-1] if metric else None


def _measured(key: TrialKey, log: ImportedLog, planned: PlannedConfiguration, logs: LogReader) -> _MeasuredLog:
    evidence = Evidence(runs=tuple(logs.read(log.file.opened, log.format)), log_run=log.log_run)
    measured = measured_of(evidence, planned)
    if measured is None:
        raise RequestError(f"{log.file.shown} changed while it was read: import it when it is no longer written")
    return _MeasuredLog(log, measured, result_of(evidence, measured, planned, TrialStatus(key, State.SUCCEEDED)))


def _figures(planned: PlannedConfiguration, trials: Sequence[_MeasuredLog]) -> Iterator[dict[str, object]]:
    """Yield the rows of one configuration: its value, that of each run, without pauses, and its time to train."""
    if not trials:
        return
    point, gpus, first = planned.configuration, planned.configuration.gpus_total, trials[0].log
    shared = {
        "model": first.model,
        "framework": first.framework,
        "hardware": first.conditions.get("accelerator_model_name", point.hardware),
        "nodes": point.nodes,
        "gpus": gpus,
        "precision": point.precision,
        "batch_size": point.batch_size,
        "axes": " ".join(f"{name}={value}" for name, value in (*point.axes, ("system", point.hardware))),
        "protocol": planned.protocol.id or "",
        "source": _folder(trial.log for trial in trials),
        **_aggregation(planned, len(trials)),
    }
    unit, divided = (f"{PER_GPU}/GPU", gpus) if planned.unit == PER_GPU else (planned.unit, 1)
    metric = "time_to_train" if is_time(planned.unit) else "throughput"
    values = [trial.result.value / divided for trial in trials if trial.result.value is not None]
    steady = [trial.steady / divided for trial in trials if trial.steady]
    yield shared | _cell(metric, unit, _one(planned, values))
    for number, value in enumerate(values, start=1):
        yield shared | _cell(f"{metric}_run_{number}", unit, value)
    if steady and metric == "throughput":
        yield shared | _cell("throughput_without_pauses", unit, _one(planned, steady))
    minutes = [trial.minutes for trial in trials if trial.minutes is not None]
    without = len(trials) - len(minutes)
    is_valid = planned.protocol.aggregate != "olympic" or without <= planned.protocol.drop
    if minutes and is_valid and metric == "throughput":
        one = _one(planned, minutes, without)
        yield shared | _cell("time_to_train", "min", one)


def _cell(metric: str, unit: str, value: float) -> dict[str, object]:
    return {"metric": metric, "unit": unit, "value": f"{value:.{DIGITS}g}"}


def _one(planned: PlannedConfiguration, values: list[float], without: int = 0) -> float:
    protocol = planned.protocol
    return aggregate(values, protocol.aggregate, "lower" if without else "higher", without, protocol.drop).value


def _aggregation(planned: PlannedConfiguration, count: int) -> dict[str, object]:
    """Return how so many logs become one value, in words, and where they are too few for the protocol's mean."""
    how, least = planned.protocol.aggregate, olympic_least(planned.protocol.drop)
    is_few = how == "olympic" and count < least
    rule = f"{planned.protocol.estimator}; {'median' if is_few else how} of {count} logs"
    return {"rule": rule, "median_of": count if is_few else 0, "mean_needs": least if is_few else 0}


def _folder(runs: Iterable[ImportedLog]) -> str:
    """Return where the logs of a configuration lie."""
    return "; ".join(folder for folder, _ in groupby(str(PurePath(log.source).parent) for log in runs))


def _report(name: str, plan: ImportPlan) -> str:
    logs = list(plan.trials.values())
    report = {
        "schema": 1,
        "title": {"en": name},
        "language": "en",
        "source": "; ".join(dict.fromkeys(log.published for log in logs)) or name,
        "url": "",
        "date": next((log.date for log in logs if log.date), None),
        "protocol": None,
        "protocol_text": {"en": "Computed from the published logs by dlperf."},
        "summary": {"en": ""},
        "environment": [],
        "topology": "",
        "steps": [],
        "notes": [],
    }
    return yaml.safe_dump(report, sort_keys=False, allow_unicode=True)
