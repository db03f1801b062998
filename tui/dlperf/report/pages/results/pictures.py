"""Results as charts: the fastest frameworks, and the scaling of each."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median

from dlperf.report import figures
from dlperf.report import markdown as md
from dlperf.report.answer import Answer, chip, contest_of, gpus_of
from dlperf.report.best import program_words
from dlperf.report.data import grouped, is_published
from dlperf.report.medians import median_figure
from dlperf.report.pages.page import Page
from dlperf.report.views import Bar, Part
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.claims import Claim

Results = Sequence[ConfigurationResult]


def comparison_chart(page: Page, answer: Answer) -> Part:
    """Return the frameworks of a comparison as bars, the highest first, under the conditions that they share."""
    title = [*_series_title(page, answer.shared), figures.gpus_text(page.language, answer.best)]
    if answer.claim and page.data.kind(answer.best.campaign) == "measured":
        title.append(page._("on {gpus}", gpus=_gpus(page, answer, answer.claim)))
    return _part(tuple(title), answer.best.unit, ranked_bars(page, answer))


def _gpus(page: Page, answer: Answer, found: Claim) -> str:
    """Return the GPUs of which bars show the median, else those that the claim is about."""
    gpus, machine = answer.on_each_machine(answer.best) or page.data.together(answer.best), chip(page.data, answer.best)
    count = len(gpus)
    if count == 1:
        return gpus_of(page.language, page.data, found)
    if answer.best.gpus_total == 1:
        return page._("{machine}, {count} GPUs each on its own", machine=machine, count=str(count))
    return page._("{machine}, {count} machines", machine=machine, count=str(count))


def ranked_bars(page: Page, answer: Answer, most: int | None = None) -> tuple[Bar, ...]:
    """Return the frameworks of a comparison as bars, with their precisions if these differ."""
    each = [answer.on_each_machine(row) or page.data.together(row) for row in answer.ranked]
    each = sorted(each, key=lambda gpus: -median(one.score for one in gpus))[:most]
    drawn = zip(_bars(page, each), (gpus[0] for gpus in each), strict=True)
    told = [replace(bar, aside=_with_program(page, row, bar.aside)) for bar, row in drawn]
    if not answer.mixed:
        return tuple(told)
    named = zip(told, (gpus[0] for gpus in each), strict=True)
    return tuple(replace(bar, name=f"{bar.name} ({figures.precision_text(page.language, row)})") for bar, row in named)


def _with_program(page: Page, row: ConfigurationResult, aside: str) -> str:
    return md.BETWEEN.join(filter(None, (program_words(page.language, page.data, row), aside)))


def _part(title: tuple[str, ...], unit: str, drawn: tuple[Bar, ...]) -> Part:
    return Part(tuple(map(md.unbroken, title)), bars=drawn, unit=unit)


def bars(page: Page, rows: Results) -> tuple[Bar, ...]:
    """Return a bar from zero for each result, as long as the best trial of any allows."""
    return _bars(page, [(row,) for row in rows])


def _bars(page: Page, each: Sequence[Results]) -> tuple[Bar, ...]:
    """Return a bar for the results of each on all its GPUs, of which it shows the median."""
    longest = max((max((*_trials(same), *(row.value or 0.0 for row in same))) for same in each), default=0.0) or 1.0
    return tuple(_bar(page, same, longest) for same in each)


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
    batch = figures.settings_of(page.language, replace(fastest, axes=()))
    title = (*_series_title(page, fastest), framework, *batch)
    drawn = tuple(
        replace(bar, name=f"{figures.gpus_text(page.language, row)} ({row.nodes} × {row.gpus})")
        for bar, row in zip(bars(page, same), same, strict=True)
    )
    yield _part(title, fastest.unit, drawn)


def scaling(page: Page, results: Results) -> list[Part]:
    """Return the efficiency of several GPUs as bars for each hardware and precision, at the best batch size of each."""
    known = [row for row in results if row.efficiency is not None and row.gpus_total > 1]
    return [_efficiency(page, rows) for rows in grouped(known, _race).values()]


def _efficiency(page: Page, rows: Results) -> Part:
    frameworks = grouped(rows, lambda row: row.framework)
    best = {name: figures.settings_key(max(same, key=lambda row: row.score)) for name, same in frameworks.items()}
    shown = [row for same in frameworks.values() for row in same if figures.settings_key(row) == best[row.framework]]
    longest = max(1.0, *(row.efficiency or 0.0 for row in shown))
    drawn = tuple(
        replace(
            bar,
            aside=page.scale_and_settings(row),
            figure=replace(bar.figure, value=figures.percent(row.efficiency), full=""),
            share=_percent((row.efficiency or 0.0) / longest),
            whisker=None,
        )
        for bar, row in zip(bars(page, shown), shown, strict=True)
    )
    return _part(_series_title(page, rows[0]), page._("throughput per GPU, 1 GPU = 100 %"), drawn)


def _series_title(page: Page, row: ConfigurationResult) -> tuple[str, ...]:
    hardware = page.data.hardware_title(row.hardware, row.campaign)
    return hardware, figures.conditions_text(page.language, row, page.stated)


def _bar(page: Page, gpus: Results, longest: float) -> Bar:
    row, trials = gpus[0], _trials(gpus)
    low, high = min(trials, default=0.0), max(trials, default=0.0)
    shown = median_figure(page.language, page.path, gpus)
    return Bar(
        page.data.framework_title(row.framework, row.campaign),
        shown.trials,
        shown,
        _percent(median(one.value or 0.0 for one in gpus) / longest),
        page.data.series[row.framework],
        not page.data.is_ours(row.campaign),
        (_percent(low / longest), _percent((high - low) / longest)) if high > low else None,
    )


def _trials(rows: Results) -> Sequence[float]:
    """Return the values of all trials; of others' results none."""
    return [value for row in rows if not is_published(row.campaign) for value in row.values]


def _percent(share: float) -> str:
    return f"{share * 100:.4g}%"


def _race(row: ConfigurationResult) -> tuple[object, ...]:
    return row.hardware, row.precision, row.axes
