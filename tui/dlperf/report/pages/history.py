"""The history page: the same configuration over campaigns, with what became slower marked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from dlperf.report import figures
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.charts.plot import Line, Plot, plot
from dlperf.report.data import SiteData, grouped, is_published
from dlperf.report.pages.page import Page
from dlperf.report.text import Language
from dlperf.results.compare import Comparison, compare_rows
from dlperf.results.model import ConfigurationResult

MOST = 200
"""Configurations that stand on the page, those that became slower first; the data has them all."""

Series = Sequence[ConfigurationResult]


def history(say: Language, data: SiteData) -> str:
    page = Page(say, data, at.HISTORY)
    found = sorted(series_of(data), key=lambda rows: _last(rows).ratio or 0.0)
    if not found:
        return page.written(say("history"), say("history_intro"), say("history_none"))
    cut = say("history_cut", count=md.number(str(MOST))) if len(found) > MOST else ""
    return page.written(
        say("history"), say("history_intro"), cut, *(_section(page, rows) for rows in found[:MOST]), in_search=False
    )


def series_of(data: SiteData) -> list[Series]:
    """The configurations that several campaigns measured, each in the order of the campaigns' dates."""
    created = {name: record.created for name, record in data.campaigns.items()}
    measured = [row for row in data.ordered if row.value and not is_published(row.campaign)]
    dated = sorted(measured, key=lambda row: (created.get(row.campaign, ""), row.campaign))
    return [rows for rows in grouped(dated, _point).values() if len({row.campaign for row in rows}) > 1]


def _point(row: ConfigurationResult) -> tuple[object, ...]:
    return row.case, row.hardware, row.framework, row.precision, row.batch_size, row.nodes, row.gpus, row.unit


def _last(rows: Series) -> Comparison:
    return compare_rows(rows[-2], rows[-1])


def _section(page: Page, rows: Series) -> str:
    first = rows[0]
    names = (page.data.framework_title(first.framework), page.data.case_title(first.case))
    where = (page.data.hardware_title(first.hardware), first.precision.upper(), f"BS={first.batch_size}", first.scale)
    title = md.text(" · ".join((*names, *where)))
    compared = [None, *(compare_rows(a, b) for a, b in pairwise(rows))]
    header = [page.say(word) for word in ("campaign", "created", "figure", "change", "verdict")]
    table = md.table(header, [_row(page, row, one) for row, one in zip(rows, compared, strict=True)])
    return md.paragraphs(md.heading(2, title), _chart(page, rows), table)


def _row(page: Page, row: ConfigurationResult, compared: Comparison | None) -> tuple[str, ...]:
    record = page.data.campaigns.get(row.campaign)
    change = compared.ratio - 1 if compared and compared.ratio else None
    return (
        page.report(row),
        f"<time>{md.text(record.created[:10])}</time>" if record else "",
        page.figure(row),
        figures.percent(change),
        _verdict(page, compared) if compared else "",
    )


def _verdict(page: Page, compared: Comparison) -> str:
    words = {
        "slower": f"**{page.say('regression')}**{{ .regression }}",
        "faster": page.say("faster"),
        "not distinguishable": page.say("no_change"),
    }
    return words.get(compared.verdict, page.say("sure_unknown_short"))


def _chart(page: Page, rows: Iterable[ConfigurationResult]) -> str:
    members = list(rows)
    points = tuple((float(number), row.value or 0.0) for number, row in enumerate(members, 1))
    name = page.data.framework_title(members[0].framework)
    line = Line(name, points, page.data.series[members[0].framework])
    return plot(
        Plot(
            page.say("history"), page.say("campaign"), members[0].unit, (line,), height=180, from_zero=True, whole=True
        )
    )
