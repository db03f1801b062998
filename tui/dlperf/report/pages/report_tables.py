"""The tables of figures in a report."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from dlperf.report import figures, html
from dlperf.report import markdown as md
from dlperf.report.data import distinct, gpus_total, grouped, is_published
from dlperf.report.pages.page import Page
from dlperf.results.model import ConfigurationResult

Results = Sequence[ConfigurationResult]
Axis = Callable[[ConfigurationResult], object]
Label = Callable[[Page, ConfigurationResult], str]


def throughput(page: Page, results: Results) -> str:
    """One table for each hardware and framework: rows are GPU counts, columns precisions and batch sizes. Where a
    precision has more than two batch sizes, each has a table of its own: rows are batch sizes, columns scales."""
    tables = grouped(results, lambda row: (row.hardware, row.framework, row.unit))
    parts = []
    for (hardware, framework, unit), rows in tables.items():
        campaign = rows[0].campaign
        subject = md.BETWEEN.join((page.framework(framework, campaign), page.hardware(hardware, campaign)))
        title = page._("{what} ({aside})", what=subject, aside=md.text(unit))
        parts.append(md.paragraphs(md.heading(4, title, searched=False), *_throughput_tables(page, rows)))
    return md.paragraphs(*parts)


def comparisons(page: Page, results: Results) -> str:
    """One table for each hardware and precision that several frameworks ran: GPU counts × frameworks."""
    parts = []
    for (hardware, _, unit), rows in grouped(results, _race).items():
        if len(distinct(row.framework for row in rows)) > 1:
            subject = md.BETWEEN.join((page.hardware(hardware, rows[0].campaign), _precision(page, rows[0])))
            title = page._("{what} ({aside})", what=subject, aside=md.text(unit))
            axes = (_scale_and_batch, _scale_and_batch_label, _framework, _framework_label)
            body = _grid(page, rows, *axes, corner=page._("GPUs"), best_of_row=True)
            parts.append(md.paragraphs(md.heading(4, title, searched=False), body))
    return md.paragraphs(*parts)


def scaling(page: Page, results: Results) -> str:
    """Figure, speed-up and efficiency by scale, for everything that was run on more than one scale."""
    scaled = [
        row
        for members in grouped(results, _series).values()
        if len([row for row in members if row.value is not None]) > 1
        for row in sorted(members, key=size)
    ]
    axes = ("framework", "hardware", "precision", "batch_size", "nodes_gpus")
    columns = (*axes, "figure", "unit", "speedup", "efficiency")
    return (
        md.paragraphs(
            page._(
                "Speed-up is the figure over the 1-GPU figure of the same configuration on the same hardware; "
                "efficiency is speed-up over GPUs. Batch size per GPU stays the same (weak scaling). Without a 1-GPU "
                "figure there is neither."
            ),
            page.listed(scaled, columns),
        )
        if scaled
        else ""
    )


def single_runs(page: Page, results: Results) -> str:
    """Every trial's value, where there are several, with average and median."""
    repeated = [(row, _values(row)) for row in results if len(_values(row)) > 1]
    if not repeated:
        return ""
    most = max(len(values) for _, values in repeated)
    rows = [
        (
            page.html_subject(row, results),
            *(_number(row, value) for value in values),
            *[""] * (most - len(values)),
            _number(row, round(statistics.fmean(values), 2)),
            _number(row, statistics.median(values)),
            figures.factor(row.speedup),
        )
        for row, values in repeated
    ]
    runs = [page._("Run {number}", number=str(number)).replace(" ", md.NO_BREAK) for number in range(1, most + 1)]
    header = (page._("Configuration"), *runs, page._("Average"), page._("Median"), page._("Speed-up"))
    return html.listing(html.table(header, rows, (0,), {}))


def missing(page: Page, results: Results) -> str:
    """Every reason why a figure is missing, and where."""
    reasons = grouped((row for row in results if row.value is None), lambda row: row.status)
    return md.bullets(
        f"{figures.status_text(page.language, status)}{page.language.colon}"
        + page._("; ").join(page.subject(row, results) for row in rows)
        for status, rows in reasons.items()
    )


def _throughput_tables(page: Page, rows: Results) -> list[str]:
    precisions = grouped(rows, lambda row: row.precision)
    if max(len(distinct(row.batch_size for row in same)) for same in precisions.values()) > 2:
        return [
            md.paragraphs(
                f"**{md.text(precision.upper())}**",
                _grid(page, same, _batch, _batch_label, _scale, _scale_label, corner=page._("Batch per GPU")),
            )
            for precision, same in precisions.items()
        ]
    axes = (_scale, _scale_label, _precision_and_batch, _precision_and_batch_label)
    return [_grid(page, rows, *axes, corner=page._("Nodes × GPUs"))]


def _grid(
    page: Page,
    results: Results,
    row_of: Axis,
    row_label: Label,
    column_of: Axis,
    column_label: Label,
    *,
    corner: str,
    best_of_row: bool = False,
) -> str:
    """A table of figures over two axes; a combination that the source lacks says so. ``corner`` names the rows."""
    cells = grouped(results, lambda result: (row_of(result), column_of(result)))
    rows, columns = grouped(sorted(results, key=size), row_of), grouped(results, column_of)
    absent = figures.absent_word(results[0].campaign)
    header = (corner, *(column_label(page, members[0]) for members in columns.values()))
    body = []
    for row, members in rows.items():
        contest = [member.value for member in members if member.value is not None]
        highest = max(contest) if best_of_row and len(contest) > 1 else None
        figures_of_row = [_cell(page, cells.get((row, column), ()), absent, highest) for column in columns]
        body.append((row_label(page, members[0]), *figures_of_row))
    return md.table(header, body)


def _cell(page: Page, results: Results, absent: str, highest: float | None) -> str:
    """A report may print two figures for one configuration: both stand. The highest of several in a row is marked."""
    marked = [
        page.figure(result, scaling=True, best=highest is not None and result.value == highest) for result in results
    ]
    return "<br>".join(marked) or page.figure(None, absent)


def size(row: ConfigurationResult) -> tuple[int, int, int]:
    """The order of scales: GPUs of all nodes, nodes, batch size."""
    return gpus_total(row), row.nodes, row.batch_size or 0


def _race(row: ConfigurationResult) -> tuple[str, str, str]:
    return row.hardware, row.precision, row.unit


def _series(row: ConfigurationResult) -> tuple[object, ...]:
    return row.framework, row.hardware, row.precision, row.batch_size, row.unit


def _scale(row: ConfigurationResult) -> tuple[int, int]:
    return row.nodes, row.gpus


def _scale_label(page: Page, row: ConfigurationResult) -> str:
    return figures.scale_text(row)


def _batch(row: ConfigurationResult) -> int | None:
    return row.batch_size


def _batch_label(page: Page, row: ConfigurationResult) -> str:
    return f"BS={figures.batch_text(row)}"


def _framework(row: ConfigurationResult) -> str:
    return row.framework


def _framework_label(page: Page, row: ConfigurationResult) -> str:
    return page.framework(row.framework, row.campaign)


def _scale_and_batch(row: ConfigurationResult) -> tuple[int, int, int | None]:
    return row.nodes, row.gpus, row.batch_size


def _scale_and_batch_label(page: Page, row: ConfigurationResult) -> str:
    batch = f", BS={figures.batch_text(row)}" if row.batch_size is not None else ""
    return f"GPU={gpus_total(row)}{batch}"


def _precision_and_batch(row: ConfigurationResult) -> tuple[str, int | None]:
    return row.precision, row.batch_size


def _precision_and_batch_label(page: Page, row: ConfigurationResult) -> str:
    batch = f" (BS={figures.batch_text(row)})" if row.batch_size is not None else ""
    return f"{figures.precision_text(row)}{batch}"


def _precision(page: Page, row: ConfigurationResult) -> str:
    """The precision that was computed in, and what the source calls it where that is something else."""
    renamed = is_published(row.campaign) and row.precision == "tf32"
    return figures.precision_text(row) + (" – " + page._("the source says FP32") if renamed else "")


def _values(row: ConfigurationResult) -> list[float]:
    return [trial.value for trial in row.trials if trial.value is not None]


def _number(row: ConfigurationResult, value: float) -> str:
    return md.number(figures.exact(value) if is_published(row.campaign) else figures.sensible(value))
