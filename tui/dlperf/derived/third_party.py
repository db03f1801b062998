"""Write the values of an import as a third-party report: values with their sources, without the logs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path, PurePath

import yaml

from dlperf.catalog.units import is_time
from dlperf.derived.importing import ImportedLog, ImportPlan
from dlperf.errors import RequestError
from dlperf.evidence.logs import LogReader
from dlperf.formats.samples import Run
from dlperf.measured.run import measure_planned
from dlperf.measured.statistics import OLYMPIC_LEAST, aggregate
from dlperf.opening import writer
from dlperf.plan import PlannedConfiguration
from dlperf.runs.paths import WorkspacePaths

COLUMNS = (
    *("model", "framework", "hardware", "nodes", "gpus", "precision", "batch_size", "metric", "unit", "value"),
    *("source", "log", "rule", "axes", "protocol"),
)
DIGITS = 6
"""Significant digits of a value."""
PER_GPU = "tokens/s"
"""Unit whose values are published per GPU."""


def write_report(workspace: WorkspacePaths, name: str, plan: ImportPlan, logs: LogReader) -> Path:
    """Write the values of an import as ``runs/published/<name>/``, and return that folder.

    Raises:
        RequestError: there is such a report.
    """
    folder = workspace.published / name
    if folder.exists():
        raise RequestError(f"--report {name}: {folder} exists, and nothing is overwritten: choose another name")
    folder.mkdir(parents=True)
    text = io.StringIO(newline="")
    rows = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    rows.writeheader()
    for planned in plan.configurations:
        runs = [log for key, log in plan.trials.items() if key.configuration == planned.configuration.id]
        rows.writerows(_figures(planned, runs, logs))
    for path, content in ((folder / "figures.csv", text.getvalue()), (folder / "report.yaml", _report(name, plan))):
        with open(path, "w", encoding="utf-8", newline="", opener=writer) as stream:
            stream.write(content)
    return folder


def _figures(planned: PlannedConfiguration, runs: list[ImportedLog], logs: LogReader) -> Iterator[dict[str, object]]:
    """Yield the rows of one configuration: its value, that of each run, without pauses, and its time to train."""
    point, gpus = planned.configuration, planned.configuration.gpus_total
    read = [(log, _run(log, logs)) for log in runs]
    found = [(log, run, measure_planned(run, planned)) for log, run in read]
    shared = {
        "model": runs[0].model,
        "framework": runs[0].framework,
        "hardware": runs[0].conditions.get("accelerator_model_name", point.hardware),
        "nodes": point.nodes,
        "gpus": gpus,
        "precision": point.precision,
        "batch_size": point.batch_size,
        "axes": " ".join(f"{name}={value}" for name, value in (*point.axes, ("system", point.hardware))),
        "protocol": planned.protocol.id or "",
        "source": _folder(runs),
        "rule": f"{planned.protocol.estimator}; {planned.protocol.aggregate} of {len(runs)} logs",
    }
    unit, divided = (f"{PER_GPU}/GPU", gpus) if planned.unit == PER_GPU else (planned.unit, 1)
    metric = "time_to_train" if is_time(planned.unit) else "throughput"
    values = [each.value / divided for _, _, each in found if each.value is not None]
    steady = [each.figure.steady / divided for _, _, each in found if each.figure and each.figure.steady]
    yield shared | _cell(metric, unit, _one(planned, values))
    for number, value in enumerate(values, start=1):
        yield shared | _cell(f"{metric}_run_{number}", unit, value)
    if steady and metric == "throughput":
        yield shared | _cell("throughput_without_pauses", unit, _one(planned, steady))
    minutes = [run.metrics["time_to_train"].values[-1] for _, run in read if "time_to_train" in run.metrics]
    if minutes and metric == "throughput":
        one = _one(planned, minutes, without=len(runs) - len(minutes))
        yield shared | _cell("time_to_train", "min", one)


def _run(log: ImportedLog, logs: LogReader) -> Run:
    runs = logs.read(log.file.opened, log.format)
    return runs[(log.log_run or 1) - 1]


def _cell(metric: str, unit: str, value: float) -> dict[str, object]:
    return {"metric": metric, "unit": unit, "value": f"{value:.{DIGITS}g}"}


def _one(planned: PlannedConfiguration, values: list[float], without: int = 0) -> float:
    how = planned.protocol.aggregate
    how = "median" if how == "olympic" and len(values) < OLYMPIC_LEAST else how
    return aggregate(values, how, "lower" if without else "higher", without).value


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
