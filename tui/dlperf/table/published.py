"""Convert third-party reports to rows; only speed-up and variation are computed."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from statistics import median

from dlperf.catalog.axes import Configuration, field_values
from dlperf.catalog.units import Direction, is_time
from dlperf.evidence.identify import catalog_id
from dlperf.evidence.names import facts_of_name
from dlperf.measured.model import TrialResult
from dlperf.messages import quoted
from dlperf.messages.finding import Finding, warning
from dlperf.runs.published import PublishedFigure, PublishedReport
from dlperf.table.audited import NONE_KEPT, AuditVerdict, Key, caveats_of_figure
from dlperf.table.model import ConfigurationResult, MetricResult, Status
from dlperf.table.scaling import with_scaling

FIGURES = ("throughput", "throughput_median", "throughput_average", "time_to_train")
"""Metrics of a configuration's figure in order of preference."""
OTHER_METRICS = {"throughput_without_pauses": "steady_rate", "time_to_train": "time_to_train"}
"""Metrics beside it → their ids in the catalogue."""
_RUN = re.compile(r"(?:throughput|time_to_train)_run_([0-9]+)")
_UNITS = {
    "images/sec": "images/s",
    "samples/sec": "samples/s",
    "sequences/sec": "sequences/s",
    "sentences/s": "sequences/s",
    "tokens/s/GPU": "tokens/s",
}
"""Unit of a report → unit of the catalogue."""
_TF32_BY_DEFAULT = re.compile(r"\b(A100|A30|A10|H100|H200|B200)\b")
"""Accelerators on which every tested framework computes FP32 matrix products in TF32 by default."""
_TF32 = warning("tf32")
_REASONS = {"": "not_run", "not run": "not_run", "not published": "not_published", "out of memory": "out_of_memory"}
"""Rule of a figure without a value in ``figures.csv`` → status."""


def campaign_of(report: PublishedReport) -> str:
    """Return the name of a report among campaigns."""
    return f"published/{report.id}"


def rows_of_report(
    report: PublishedReport, verdicts: Mapping[Key, AuditVerdict] = NONE_KEPT
) -> list[ConfigurationResult]:
    """Return the rows of a report, in the order of its figures, with the caveats that follow from their logs."""
    points: dict[str, list[PublishedFigure]] = {}
    for figure in report.figures:
        points.setdefault(configuration_of(figure).id, []).append(figure)
    rows = with_scaling([row for figures in points.values() for row in _rows_of_point(report, figures, verdicts)])
    return [_with_metrics(row, points[row.id]) for row in rows]


def _with_metrics(row: ConfigurationResult, figures: Iterable[PublishedFigure]) -> ConfigurationResult:
    """Add the metrics of a row: its own, and what the report states beside it."""
    if row.value is None:
        return row
    metric = MetricResult(row.metric, row.value, row.unit, row.direction, spread=row.spread, n=row.n)
    others = (
        _metric(OTHER_METRICS[one.metric], one, one.value)
        for one in figures
        if one.value is not None and OTHER_METRICS.get(one.metric, row.metric) != row.metric
    )
    return replace(row, metrics=(metric, *others))


def _metric(name: str, figure: PublishedFigure, value: float) -> MetricResult:
    direction: Direction = "lower" if is_time(figure.unit) else "higher"
    return MetricResult(name, value * figure.gpus if is_per_gpu(figure) else value, unit_of(figure), direction)


def configuration_of(figure: PublishedFigure) -> Configuration:
    """Return the configuration of a figure."""
    return Configuration(
        catalog_id(figure.hardware),
        catalog_id(figure.framework),
        _case_of(figure.model),
        _precision_of(figure),
        figure.batch_size,
        figure.nodes,
        gpus_per_node(figure),
        axes=figure.axes,
    )


@cache
def _case_of(model: str) -> str:
    return facts_of_name(model).model or catalog_id(model)


def _precision_of(figure: PublishedFigure) -> str:
    """Return the precision of the computation, which is not always the stated one."""
    precision = (figure.computed or figure.precision).lower()
    return "tf32" if precision == "fp32" and _TF32_BY_DEFAULT.search(figure.hardware) else precision


def _of_few(figure: PublishedFigure) -> Iterator[Finding]:
    """Yield the caveat of a median that stands for the mean of a protocol."""
    if figure.median_of:
        yield warning("few_for_mean", count=figure.median_of, least=figure.mean_needs)


def _relabelled(figure: PublishedFigure, precision: str) -> Iterator[Finding]:
    """Yield the caveat of a figure whose report calls its precision otherwise."""
    if figure.computed:
        yield warning("relabelled", label=figure.precision, precision=precision.upper())
    elif precision != figure.precision.lower():
        yield _TF32


def gpus_per_node(figure: PublishedFigure) -> int:
    """Return the GPUs of one node."""
    return max(1, figure.gpus // max(1, figure.nodes))


def unit_of(figure: PublishedFigure) -> str:
    """Return the unit as the catalogue writes it."""
    return _UNITS.get(figure.unit, figure.unit)


def is_per_gpu(figure: PublishedFigure) -> bool:
    """Tell whether the report prints the throughput of one GPU; the row has that of all."""
    return figure.unit.endswith("/GPU")


def _rows_of_point(
    report: PublishedReport, figures: Sequence[PublishedFigure], verdicts: Mapping[Key, AuditVerdict]
) -> Iterable[ConfigurationResult]:
    for metric in FIGURES:
        chosen: dict[float | None, PublishedFigure] = {}
        for figure in figures:
            if figure.metric == metric:
                chosen.setdefault(figure.value, figure)  # some reports print a value in two tables
        if chosen:
            runs = _runs(figures) if len(chosen) == 1 else ()
            rows = [_with_runs(_row(report, figure, verdicts), runs) for figure in chosen.values()]
            return [replace(row, variant=number) for number, row in enumerate(rows, start=1)]
    return []


def _value(figure: PublishedFigure) -> float | None:
    """Return the value of all GPUs."""
    return figure.value * figure.gpus if is_per_gpu(figure) and figure.value is not None else figure.value


def _runs(figures: Iterable[PublishedFigure]) -> tuple[TrialResult, ...]:
    return tuple(
        TrialResult(number=int(match[1]), state="published", value=_value(figure), unit=unit_of(figure))
        for figure in figures
        if (match := _RUN.fullmatch(figure.metric))
    )


def _with_runs(row: ConfigurationResult, runs: tuple[TrialResult, ...]) -> ConfigurationResult:
    row = replace(row, trials=runs)
    values = row.values
    if len(values) < 2:
        return row
    return replace(row, n=len(values), spread=(max(values) - min(values)) / median(values))


def _status_of(figure: PublishedFigure) -> Status:
    if figure.value is not None:
        return Status("published")
    return Status(_REASONS[figure.rule]) if figure.rule in _REASONS else Status("not_published", quoted(figure.rule))


def _row(report: PublishedReport, figure: PublishedFigure, verdicts: Mapping[Key, AuditVerdict]) -> ConfigurationResult:
    point = configuration_of(figure)
    return ConfigurationResult(
        metric=OTHER_METRICS.get(figure.metric, "throughput"),
        direction="lower" if is_time(figure.unit) else "higher",
        **field_values(point),
        campaign=campaign_of(report),
        unit=unit_of(figure),
        value=_value(figure),
        protocol=figure.protocol or report.protocol,
        status=_status_of(figure),
        findings=(
            *_relabelled(figure, point.precision),
            *_of_few(figure),
            *caveats_of_figure(report.id, figure, verdicts),
        ),
        source=figure.source,
        date=report.date or "",
        printed="" if is_per_gpu(figure) or figure.value is None else figure.printed,
    )
