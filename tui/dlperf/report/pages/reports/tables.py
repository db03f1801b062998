"""Result tables of a report: grids over two axes, lists, and missing results."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from dlperf.messages.numbers import four_digits
from dlperf.report import figures
from dlperf.report import markdown as md
from dlperf.report.answer import claimed_best
from dlperf.report.data import distinct, grouped, is_published
from dlperf.report.data.together import by_host
from dlperf.report.pages.models import MEMORY, by_precision, quality_cells
from dlperf.report.pages.page import Page
from dlperf.report.pages.reports.stacks import of_many_settings
from dlperf.report.views import ColumnView, FigureView, Link, Part, TableView, TextView, filled
from dlperf.runs.published import PublishedReport
from dlperf.table.model import ConfigurationResult

Results = Sequence[ConfigurationResult]
Axis = tuple[Callable[[ConfigurationResult], object], Callable[[Page, ConfigurationResult], str | Link]]
"""Key of a row or column of a grid, and its title."""
PER_GPU = (
    *("hardware", "nodes_gpus", "per_gpu", "per_gpu_steady", "time_to_train", "framework", "precision", "batch_size"),
    *("axes", "published_at"),
)
SIDE_BY_SIDE = ("precision", "framework", "figure", "of_best", "batch_size", "axes", "mfu", MEMORY, "samples_per_joule")
AXES = ("framework", "hardware", "precision", "batch_size", "axes", "nodes_gpus", "figure", "unit")


def throughput(page: Page, results: Results, shown: Results) -> list[Part]:
    """Return grids of GPU counts × precisions and batch sizes for each hardware and framework.

    A single scale whose results are all shown already has none.
    If any precision has more than two batch sizes, each precision has a grid of its own: batch sizes × scales.
    """
    parts = []
    for (hardware, framework, unit), rows in grouped(results, _stack).items():
        if len({(row.nodes, row.gpus) for row in rows}) == 1 and not without(rows, shown):
            continue
        campaign = rows[0].campaign
        title = (page.framework_link(framework, campaign), page.hardware_link(hardware, campaign))
        precisions = grouped(rows, lambda row: row.precision)
        if max(len(distinct(map(figures.settings_key, same))) for same in precisions.values()) > 2:
            parts.append(Part(title, unit=unit))
            for precision, same in precisions.items():
                table = _grid(page, same, SETTINGS, SCALE, page._("Batch per GPU"))
                parts.append(Part((precision.upper(),), (table,)))
        else:
            table = _grid(page, rows, SCALE, PRECISION_AND_SETTINGS, page._("Nodes × GPUs"), number=True)
            parts.append(Part(title, (table,), unit=unit))
    return parts


def side_by_side(page: Page, results: Results) -> list[Part]:
    """Return a list of programs, by precision and speed, for each hardware and scale where their settings differ."""
    return [
        Part(
            (page.hardware_link(rows[0].hardware, rows[0].campaign), figures.scale_text(rows[0]), *_hosts(page, rows)),
            (page.listed(_values_first(rows), SIDE_BY_SIDE, quality_cells(page, rows)),),
            unit=rows[0].unit,
        )
        for rows in of_many_settings(results)
    ]


def _hosts(page: Page, rows: Results) -> tuple[str, ...]:
    """Return on how many sets of GPUs the results of several GPUs were measured, where these are not the same."""
    sets = by_host(row for row in rows if row.gpus_total > 1)
    return (page._("measured on {count} sets of GPUs", count=str(len(sets))),) if len(sets) > 1 else ()


def _values_first(rows: Results) -> Results:
    return sorted(by_precision(rows), key=lambda row: row.value is None)


def contested(results: Results) -> list[Results]:
    """Return the results of each hardware and precision where several frameworks ran the same scale and settings."""
    return [rows for rows in grouped(results, _race).values() if any(map(_is_shared, _points(rows)))]


def _points(results: Results) -> Iterable[Results]:
    return grouped(results, SCALE_AND_SETTINGS[0]).values()


def _is_shared(rows: Results) -> bool:
    return len({row.framework for row in rows}) > 1


def per_gpu(page: Page, published: PublishedReport | None, results: Results) -> TableView:
    """Return the values of a report that states them per GPU, the highest first, with what it states beside them."""
    stated = {one.source for one in published.figures if one.unit.endswith("/GPU")} if published else ()
    rows = [row for row in results if row.source in stated and row.value is not None]
    cells = {
        "per_gpu_steady": lambda row: figures.optional(figures.metric_value(row, "steady_rate", row.gpus_total)),
        "time_to_train": lambda row: figures.optional(figures.metric_value(row, "time_to_train")),
        "axes": lambda row: figures.varying_axes(page.language, row, page.stated),
        "published_at": lambda row: TextView(row.source, "source"),
    }
    return page.listed(sorted(rows, key=lambda row: -(figures.per_gpu(row) or 0.0)), PER_GPU, cells)


def comparisons(page: Page, results: Results, shown: Results) -> list[Part]:
    """Return a grid of GPU counts × frameworks for each hardware and precision with results that are not shown yet."""
    parts = []
    for rows in contested(results):
        if without(rows, shown):
            title = (page.hardware_link(rows[0].hardware, rows[0].campaign), _precision(page, rows[0]))
            table = _grid(page, rows, SCALE_AND_SETTINGS, FRAMEWORK, page._("GPUs"), best_of_row=True)
            parts.append(Part(title, (table,), unit=rows[0].unit))
    return parts


def scaling(page: Page, results: Results) -> TableView:
    """Return throughput, speed-up and efficiency by scale of configurations run at several scales."""
    scaled = [
        row
        for members in grouped(results, _series).values()
        if len([row for row in members if row.value is not None]) > 1
        for row in sorted(members, key=size)
    ]
    return page.listed(scaled, (*AXES, "speedup", "efficiency"))


def utilisation(page: Page, results: Results) -> TableView:
    """Return MFU, share of the roofline and samples per joule of results that have any of them."""
    known = [row for row in results if row.mfu or figures.per_joule(row) or page.data.roofline(row)]
    more = {
        "figure": lambda row: replace(page.figure(row), trials=page.gpus_text(row) if page.data.is_joint(row) else "")
    }
    return page.listed(known, (*AXES, "mfu", "roofline", "samples_per_joule"), more)


def single_runs(page: Page, results: Results) -> TableView:
    """Return the values of trials that count, with average and median, where there are several: on each GPU, where
    several measured together."""
    repeated = [(row, values) for row in page.data.with_together(results) for values in [row.values] if len(values) > 1]
    most = max((len(values) for _, values in repeated), default=0)
    rows = [
        (
            replace(page.subject(row, results), aside=page.language.separator.join(_marks(page, row))),
            *map(four_digits, values),
            *[""] * (most - len(values)),
            four_digits(statistics.fmean(values)),
            four_digits(statistics.median(values)),
            figures.factor(row.speedup) if row.gpus_total > 1 else "",
        )
        for row, values in repeated
    ]
    runs = [md.unbreakable(page._("Run {number}", number=str(number))) for number in range(1, most + 1)]
    titles = (*runs, page._("Average"), page._("Median"), page._("Speed-up"))
    return filled([ColumnView(page._("Configuration"), words=True), *map(ColumnView, titles)], rows)


def _marks(page: Page, row: ConfigurationResult) -> list[str]:
    """Return what trials in a list are marked with: caveats, and which of several GPUs they are of."""
    return [*(["†"] if row.caveats else []), *([row.campaign] if len(page.data.together(row)) > 1 else [])]


def missing(page: Page, results: Results) -> list[tuple[str, list[Link]]]:
    """Return each reason for missing results, with the configurations that it affects."""
    reasons = grouped((row for row in results if row.value is None), lambda row: row.status)
    return [
        (status.text(page.language), [page.subject(row, results) for row in rows]) for status, rows in reasons.items()
    ]


def _grid(
    page: Page,
    results: Results,
    rows: Axis,
    columns: Axis,
    corner: str,
    *,
    number: bool = False,
    best_of_row: bool = False,
) -> TableView:
    """Return results over two axes; a combination that the source lacks is marked as such.

    Args:
        corner: title of the row names.
        number: row names begin with a number.
    """
    cells = grouped(results, lambda result: (rows[0](result), columns[0](result)))
    of_rows, of_columns = grouped(sorted(results, key=size), rows[0]), grouped(results, columns[0])
    absent = FigureView(page._(figures.missing_reason(results[0].campaign)), missing=True)
    body: list[tuple[object, ...]] = []
    for row, members in of_rows.items():
        best = claimed_best(members, page.data.context) if best_of_row else None
        found = [_figures(page, cells.get((row, column), ()), best) or (absent,) for column in of_columns]
        body.append((rows[1](page, members[0]), *found))
    titles = [columns[1](page, members[0]) for members in of_columns.values()]
    measured = {columns[0](row) for row in results if row.value is not None}
    heads = [ColumnView(title, number=column in measured) for column, title in zip(of_columns, titles, strict=True)]
    return TableView((ColumnView(corner, number=number), *heads), tuple(body))


def _figures(page: Page, results: Results, best: ConfigurationResult | None) -> tuple[FigureView, ...]:
    """Return all results of a cell, since a report may print two, and mark the one that may be called best."""
    return tuple(page.figure_of_gpus(result, scaling=True, best=result is best) for result in results)


def without(results: Results, shown: Results) -> Results:
    """Return the results that are not shown elsewhere."""
    elsewhere = set(map(id, shown))
    return [row for row in results if id(row) not in elsewhere]


def size(row: ConfigurationResult) -> tuple[int, int, int]:
    """Return the sort key of scales: GPUs of all nodes, nodes, batch size."""
    return row.gpus_total, row.nodes, row.batch_size or 0


def _stack(row: ConfigurationResult) -> tuple[str, str, str]:
    return row.hardware, row.framework, row.unit


def _race(row: ConfigurationResult) -> tuple[object, ...]:
    return row.hardware, row.precision, figures.recipe_of(row), row.unit


def _series(row: ConfigurationResult) -> tuple[object, ...]:
    return row.framework, row.hardware, row.precision, figures.settings_key(row), row.unit


def _settings(page: Page, row: ConfigurationResult) -> str:
    return page.language.separator.join(page.settings(row))


def _precision_and_settings(page: Page, row: ConfigurationResult) -> str:
    settings = _settings(page, row)
    return figures.precision_text(page.language, row) + (f" ({settings})" if settings else "")


SCALE: Axis = (lambda row: (row.nodes, row.gpus), lambda page, row: figures.scale_text(row))
SETTINGS: Axis = (figures.settings_key, _settings)
FRAMEWORK: Axis = (lambda row: row.framework, lambda page, row: page.framework_link(row.framework, row.campaign))
SCALE_AND_SETTINGS: Axis = (lambda row: (row.nodes, row.gpus, figures.settings_key(row)), Page.scale_and_settings)
PRECISION_AND_SETTINGS: Axis = (lambda row: (row.precision, figures.settings_key(row)), _precision_and_settings)


def _precision(page: Page, row: ConfigurationResult) -> str:
    """Return the precision of the computation, with the source's name for it if different."""
    renamed = is_published(row.campaign) and row.precision == "tf32"
    return figures.precision_text(page.language, row) + (" – " + page._("the source says FP32") if renamed else "")
