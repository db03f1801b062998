"""Published reports → rows. Nothing was measured here, so nothing is invented; only speed-up is computed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median

from dlperf.catalog.axes import Configuration
from dlperf.measure.finding import note
from dlperf.messages import quoted
from dlperf.results.identify import catalog_id
from dlperf.results.model import ConfigurationResult, Status, TrialResult
from dlperf.results.names import facts_of_name
from dlperf.results.rows import with_scaling
from dlperf.runs.published import PublishedFigure, PublishedReport

FIGURES = ("throughput", "throughput_median", "throughput_average")
"""Metrics that are a configuration's figure, the first that there is."""
_RUN = re.compile(r"throughput_run_([0-9]+)")
_UNITS = {
    "images/sec": "images/s",
    "samples/sec": "samples/s",
    "sequences/sec": "sequences/s",
    "sentences/s": "sequences/s",
}
"""A unit as a report prints it → as the cases have it."""
_TF32_BY_DEFAULT = re.compile(r"\b(A100|A30|A10|H100|H200|B200)\b")
"""Accelerators on which every framework tested computes FP32 matrix products in TF32 unless it is told not to."""
_TF32 = note("tf32")
_REASONS = {"": "not_run", "not run": "not_run", "not published": "not_published", "out of memory": "out_of_memory"}
"""The rule of a figure without a value, as ``figures.csv`` words it → the status."""


def campaign_of(report: PublishedReport) -> str:
    """What a report is called where campaigns are."""
    return f"published/{report.id}"


def rows_of_report(report: PublishedReport) -> list[ConfigurationResult]:
    """The rows of a report, in the order of its figures."""
    points: dict[str, list[PublishedFigure]] = {}
    for figure in report.figures:
        points.setdefault(point_of(figure), []).append(figure)
    return with_scaling([row for figures in points.values() for row in _rows_of_point(report, figures)])


def configuration_of(figure: PublishedFigure) -> Configuration:
    """The configuration that a figure belongs to."""
    return Configuration(
        catalog_id(figure.hardware),
        catalog_id(figure.framework),
        case_of(figure),
        precision_of(figure),
        figure.batch_size,
        figure.nodes,
        gpus_per_node(figure),
    )


def point_of(figure: PublishedFigure) -> str:
    """The id of the configuration that a figure belongs to."""
    point = configuration_of(figure)
    return replace(point, case=catalog_id(point.case), precision=catalog_id(point.precision)).id


def case_of(figure: PublishedFigure) -> str:
    """The case that a report's model is; the model's own name where we have no word for it."""
    return facts_of_name(figure.model).model or catalog_id(figure.model)


def precision_of(figure: PublishedFigure) -> str:
    """The precision that was computed in, which is not always the one that the table says."""
    precision = figure.precision.lower()
    return "tf32" if precision == "fp32" and _TF32_BY_DEFAULT.search(figure.hardware) else precision


def gpus_per_node(figure: PublishedFigure) -> int:
    """GPUs of one node."""
    return max(1, figure.gpus // max(1, figure.nodes))


def unit_of(figure: PublishedFigure) -> str:
    """The unit in the words of the catalogue's cases."""
    return _UNITS.get(figure.unit, figure.unit)


def _rows_of_point(report: PublishedReport, figures: Sequence[PublishedFigure]) -> Iterable[ConfigurationResult]:
    for metric in FIGURES:
        chosen = [figure for figure in figures if figure.metric == metric]
        if chosen:
            runs = _runs(figures) if len(chosen) == 1 else ()
            rows = [_with_runs(_row(report, figure), runs) for figure in chosen]
            return [replace(row, variant=number) for number, row in enumerate(rows, start=1)]
    return []


def _runs(figures: Iterable[PublishedFigure]) -> tuple[TrialResult, ...]:
    """The single runs that a report prints."""
    return tuple(
        TrialResult(number=int(match[1]), state="published", value=figure.value, unit=unit_of(figure))
        for figure in figures
        if (match := _RUN.fullmatch(figure.metric))
    )


def _with_runs(row: ConfigurationResult, runs: tuple[TrialResult, ...]) -> ConfigurationResult:
    row = replace(row, trials=runs)
    values = row.values
    if len(values) < 2:
        return row
    return replace(row, n=len(values), spread=(max(values) - min(values)) / median(values))


def _absence(rule: str) -> Status:
    return Status(_REASONS[rule]) if rule in _REASONS else Status("not_published", quoted(rule))


def _row(report: PublishedReport, figure: PublishedFigure) -> ConfigurationResult:
    point = configuration_of(figure)
    return ConfigurationResult(
        **vars(point),
        campaign=campaign_of(report),
        unit=unit_of(figure),
        value=figure.value,
        spread=None,
        n=None,
        speedup=None,
        efficiency=None,
        mfu=None,
        protocol=report.protocol,
        status=Status("published") if figure.value is not None else _absence(figure.rule),
        findings=(_TF32,) if point.precision != figure.precision.lower() else (),
        configuration=point_of(figure),
        source=figure.source,
        printed=figure.printed if figure.value is not None else "",
    )
