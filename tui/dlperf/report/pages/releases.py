"""Third-party results over releases of their framework: values side by side, for each was printed once."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dlperf.messages.numbers import change, four_digits
from dlperf.report import figures
from dlperf.report.charts import svg
from dlperf.report.charts.plot import ChartLine, Plot, plot
from dlperf.report.data import distinct, grouped, is_published
from dlperf.report.pages.page import Page
from dlperf.report.site import locations as at
from dlperf.report.views import ColumnView, FigureView, Link, TableView
from dlperf.table.model import ConfigurationResult

NAMED = re.compile(r"(?P<framework>.+) \((?P<release>[^()]*\d[\d.-]*)\)")
"""The name that a report gives a release of a framework."""
HEIGHT = 220

Series = Sequence["OfRelease"]


class OfRelease(NamedTuple):
    """A result, and the release that it is of."""

    framework: str
    release: str
    row: ConfigurationResult

    @property
    def order(self) -> tuple[int, ...]:
        return tuple(map(int, re.findall(r"\d+", self.release)))


class ReleaseSection(NamedTuple):
    """A model in a framework, by release."""

    title: str
    anchor: str
    report: Link
    chart: str
    table: TableView


def by_release(page: Page) -> list[ReleaseSection]:
    """Return a section for each model of which a report has one configuration in several releases of a framework."""
    known = grouped(_known(page), lambda one: (one.framework, one.row.campaign, _configuration(one.row)))
    series = [
        sorted(same, key=lambda one: one.order) for same in known.values() if len({one.release for one in same}) > 1
    ]
    models = grouped(series, lambda same: (same[0].framework, same[0].row.campaign, same[0].row.case))
    return [_section(page, found) for found in models.values()]


def _known(page: Page) -> Iterator[OfRelease]:
    for row in page.data.trained:
        name = NAMED.fullmatch(page.data.framework_title(row.framework, row.campaign))
        if name and row.value and is_published(row.campaign):
            yield OfRelease(name["framework"], name["release"], row)


def _configuration(row: ConfigurationResult) -> tuple[object, ...]:
    return row.case, row.hardware, row.precision, row.batch_size, row.nodes, row.gpus, row.axes, row.unit, row.variant


def _section(page: Page, found: Sequence[Series]) -> ReleaseSection:
    first = found[0][0]
    title = f"{first.framework} · {page.data.case_title(first.row.case)} ({first.row.unit})"
    return ReleaseSection(
        title, at.slug(title.lower()), page.report_link(first.row), _chart(page, title, found), _table(page, found)
    )


def _chart(page: Page, title: str, found: Sequence[Series]) -> str:
    releases = [one.release for one in sorted((one for same in found for one in same), key=lambda one: one.order)]
    names = distinct(releases)
    lines = tuple(
        ChartLine(
            _line_name(page, same[0].row, number, found),
            tuple((names.index(one.release) + 1.0, 100 * one.row.score / same[0].row.score) for one in same),
            svg.series_of_trial(number),
        )
        for number, same in enumerate(found, 1)
    )
    unit = page._("throughput, first release = 100 %")
    wanted = Plot(title, page._("Release"), unit, lines, height=HEIGHT, names=tuple(map(_short, names)))
    return plot(wanted, page.language)


def _short(release: str) -> str:
    return release.rpartition(" ")[2]


def _line_name(page: Page, row: ConfigurationResult, number: int, found: Sequence[Series]) -> str:
    """Return hardware and precision, with the number of its row in the table where several have them."""
    names = [_hardware_and_precision(page, same[0].row) for same in found]
    name = _hardware_and_precision(page, row)
    return f"{name} ({number})" if names.count(name) > 1 else name


def _hardware_and_precision(page: Page, row: ConfigurationResult) -> str:
    return f"{page.data.hardware_title(row.hardware, row.campaign)} · {row.precision.upper()}"


def _table(page: Page, found: Sequence[Series]) -> TableView:
    columns = (
        *(ColumnView(page._("Hardware"), words=True), ColumnView(page._("Configuration"), words=True)),
        *(ColumnView(page._("First release")), ColumnView(page._("Newest release"), place="value")),
        ColumnView(page._("Change"), place="aside"),
    )
    return TableView(columns, tuple(_row(page, number, same) for number, same in enumerate(found, 1)))


def _row(page: Page, number: int, same: Series) -> tuple[object, ...]:
    first, newest = same[0], same[-1]
    return (
        f"{number}. {page.data.hardware_title(first.row.hardware, first.row.campaign)}",
        figures.point_text(page.language, first.row),
        *(_cell(page, one) for one in (first, newest)),
        change(newest.row.score / first.row.score - 1),
    )


def _cell(page: Page, one: OfRelease) -> FigureView:
    value = four_digits(figures.per_gpu(one.row) or one.row.score)
    caveat = figures.caveat_text(page.language, one.row)
    return FigureView(
        value, at.html_address(page.path, at.configuration_page(one.row)), below=one.release, caveat=caveat
    )
