"""Results as charts: the fastest frameworks, and the scaling of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dlperf.catalog.axes import axes_text
from dlperf.report import figures
from dlperf.report import markdown as md
from dlperf.report.answer import Answer, answers, contest_of
from dlperf.report.charts.plot import Line, Plot, plot
from dlperf.report.data import gpus_total, grouped, is_published
from dlperf.report.pages.page import Page
from dlperf.report.views import Bar, Part
from dlperf.results.model import ConfigurationResult

Results = Sequence[ConfigurationResult]


def rankings(page: Page, results: Results) -> list[Part]:
    """Return a bar chart for each hardware and precision with results of several frameworks."""
    return [comparison_chart(page, answer) for answer in answers(results) if len(answer.ranked) > 1]


def comparison_chart(page: Page, answer: Answer) -> Part:
    """Return the frameworks of a comparison as bars, the highest first, under the conditions that they share."""
    title = (*_series_title(page, answer.shared), figures.gpus_text(page.language, answer.best))
    drawn = bars(page, answer.ranked)
    if answer.mixed:
        named = zip(drawn, answer.ranked, strict=True)
        drawn = tuple(replace(bar, name=f"{bar.name} ({figures.precision_text(row)})") for bar, row in named)
    return _part(title, answer.best.unit, drawn)


def _part(title: tuple[str, ...], unit: str, drawn: tuple[Bar, ...]) -> Part:
    return Part(tuple(map(md.unbroken, title)), bars=drawn, unit=unit)


def bars(page: Page, rows: Results) -> tuple[Bar, ...]:
    """Return a bar from zero for each result, as long as the best trial of any allows."""
    longest = max((max((*_trials(row), row.value or 0.0)) for row in rows), default=0.0) or 1.0
    return tuple(_bar(page, row, longest) for row in rows)


def throughput(page: Page, results: Results) -> list[Part]:
    """Return a chart by scale, at the fastest batch size, for each framework without a competitor."""
    measured = [row for row in results if row.value is not None]
    alone = [rows for rows in grouped(measured, contest_of).values() if len({row.framework for row in rows}) == 1]
    return [chart for rows in alone for chart in _by_scale(page, rows)]


def _by_scale(page: Page, rows: Results) -> Iterator[Part]:
    fastest = max(rows, key=lambda row: row.score)
    same = sorted(
        (row for row in rows if figures.settings_key(row) == figures.settings_key(fastest)),
        key=lambda row: row.gpus_total,
    )
    if len(same) < 2:
        return
    framework = page.data.framework_title(fastest.framework, fastest.campaign)
    batch = (f"BS={fastest.batch_size}",) if fastest.batch_size is not None else ()
    title = (*_series_title(page, fastest), framework, *batch)
    drawn = tuple(
        replace(bar, name=f"{figures.gpus_text(page.language, row)} ({row.nodes} × {row.gpus})")
        for bar, row in zip(bars(page, same), same, strict=True)
    )
    yield _part(title, fastest.unit, drawn)


def scaling(page: Page, results: Results) -> list[Part]:
    """Return a chart of speed-up over GPU count for each hardware and precision, with the ideal line."""
    known = [row for row in results if row.speedup]
    return [chart for rows in grouped(known, _race).values() for chart in _scaling(page, rows)]


def _scaling(page: Page, rows: Results) -> Iterator[Part]:
    title = _series_title(page, rows[0])
    lines = [_line(page, members) for members in grouped(rows, lambda row: (row.framework, row.batch_size)).values()]
    drawn = tuple(line for line in lines if len(line.points) > 1)
    if drawn:
        label, ideal = page._("Scaling") + page.language.colon + " · ".join(title), page._("ideal (linear)")
        yield Part(
            tuple(map(md.unbroken, title)),
            svg=plot(Plot(label, page._("GPUs"), page._("Speed-up"), drawn, ideal=ideal)),
        )


def _series_title(page: Page, row: ConfigurationResult) -> tuple[str, ...]:
    hardware = page.data.hardware_title(row.hardware, row.campaign)
    return page.data.case_title(row.case), hardware, row.precision.upper(), *filter(None, [axes_text(row.axes)])


def _line(page: Page, rows: Results) -> Line:
    points = sorted({(float(gpus_total(row)), row.speedup) for row in rows if row.speedup})
    batch = f", BS={rows[0].batch_size}" if rows[0].batch_size is not None else ""
    name = page.data.framework_title(rows[0].framework, rows[0].campaign)
    return Line(f"{name}{batch}", tuple(points), page.data.series[rows[0].framework])


def _bar(page: Page, row: ConfigurationResult, longest: float) -> Bar:
    trials = _trials(row)
    low, high = min(trials, default=0.0), max(trials, default=0.0)
    return Bar(
        page.data.framework_title(row.framework, row.campaign),
        figures.spread_text(row),
        page.figure(row),
        _percent((row.value or 0.0) / longest),
        page.data.series[row.framework],
        is_published(row.campaign),
        (_percent(low / longest), _percent((high - low) / longest)) if high > low else None,
    )


def _trials(row: ConfigurationResult) -> Sequence[float]:
    return () if is_published(row.campaign) else row.values


def _percent(share: float) -> str:
    return f"{share * 100:.4g}%"


def _race(row: ConfigurationResult) -> tuple[object, ...]:
    return row.hardware, row.precision, row.axes
