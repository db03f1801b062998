"""The history page: each configuration across campaigns, with regressions marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise

from dlperf.measured.findings.program_faults import FAULTS, UNFAIR
from dlperf.messages import N_, Language
from dlperf.report import figures
from dlperf.report import markdown as md
from dlperf.report.charts.plot import ChartLine, Plot, plot
from dlperf.report.data import SiteData, distinct, grouped
from dlperf.report.pages.page import COLUMNS as PAGE_COLUMNS
from dlperf.report.pages.page import Page
from dlperf.report.pages.releases import by_release
from dlperf.report.site import locations as at
from dlperf.report.views import ColumnView, Link, TableView, TextView, date
from dlperf.table.conditions import HASH_DIGITS, differing, row_conditions
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.claims import Claim, claim
from dlperf.verdicts.judging import judge_rows
from dlperf.verdicts.variation import known_of_pair

SUSPECTED = "suspected"
MOST = 200
"""Most configurations on the page, regressions first; the data files hold all of them."""
HEIGHT = 200
OVERVIEW = ("configuration", "verdict", "change", "figure", "change_since_first", "campaigns", "date")
"""Columns, the most important first because a telephone shows only these."""
COLUMNS = ("date", "build", "figure", "verdict", "change", "campaign", "changed_conditions")

Series = Sequence[ConfigurationResult]


def history(language: Language, data: SiteData) -> str:
    page = Page(language, data, at.HISTORY)
    found = sorted(data.repeated.values(), key=lambda rows: claim(rows[-2], rows[-1]).gain or 0.0)
    verdicts = Counter(_verdict_of(page, claim(rows[-2], rows[-1])) for rows in found)
    shown, root = found[:MOST], at.language_root(language)
    return page.render(
        "history.md.j2",
        count=len(found),
        worse=verdicts["worse"],
        better=verdicts["better"],
        suspected=verdicts[SUSPECTED],
        most=MOST,
        overview=_overview(page, shown),
        sections=[_section(page, rows) for rows in shown],
        releases=by_release(page),
        faults=_faults(page, FAULTS),
        withdrawn=_faults(page, UNFAIR),
        editions=[page.file_link(f"{at.edition(name)}{root}index.html", name) for name in data.editions],
    )


def _faults(page: Page, codes: Collection[str]) -> list[tuple[str, list[Link]]]:
    """Return what was wrong with training programs, and the results that were measured with each."""
    found = [(fault, row) for row in page.data.ordered for fault in row.findings if fault.code in codes]
    return [
        (page.language.render(members[0][0].message), [_result_link(page, row) for _, row in members])
        for members in grouped(found, lambda pair: pair[0].code).values()
    ]


def _result_link(page: Page, row: ConfigurationResult) -> Link:
    return page.link(f"{_join_names(_names(page, row))} ({row.campaign})", at.configuration_page(row))


def _overview(page: Page, found: Sequence[Series]) -> TableView:
    """Return a table with the newest result and the change of each configuration, and the names that all share."""
    newest = [rows[-1] for rows in found]
    table = page.table(
        OVERVIEW, [_overview_row(page, rows, newest) for rows in found], places={"change": "aside", "figure": "value"}
    )
    same = (
        [(ColumnView(page._(axis)), name) for axis, name, same in _axes(page, newest[0], newest) if same]
        if found
        else []
    )
    return replace(table, same=tuple(same))


def _overview_row(page: Page, rows: Series, among: Series) -> tuple[object, ...]:
    newest, compared = rows[-1], claim(rows[-2], rows[-1])
    return (
        Link(_join_names(_names(page, newest, among)), f"#{at.history_anchor(newest)}"),
        _verdict(page, compared),
        _change(compared),
        replace(page.figure(newest), below=newest.unit),
        _change(claim(rows[0], newest)),
        str(len(rows)),
        date(page.data.created(newest.campaign)),
    )


def _section(page: Page, rows: Series) -> dict[str, object]:
    compared = [None, *(claim(a, b) for a, b in pairwise(rows))]
    cells = [_row(page, *pair) for pair in zip(rows, compared, strict=True)]
    return {
        "title": _join_names(_names(page, rows[0])),
        "anchor": at.history_anchor(rows[0]),
        "chart": _chart(page, rows, compared),
        "table": page.table(COLUMNS, cells, places={"figure": "value", "verdict": "by", "change": "aside"}),
    }


def _join_names(names: Sequence[str]) -> str:
    """Join the names in a line that does not break within ``4 × 8``."""
    return md.unbroken(" · ".join(names))


def _names(page: Page, row: ConfigurationResult, among: Series = ()) -> list[str]:
    """Return the names that identify a configuration, without those shared by all in ``among``."""
    varying = [name for _, name, same in _axes(page, row, among) if not same]
    return [*varying, *figures.point_parts(page.language, row)]


def _axes(page: Page, row: ConfigurationResult, among: Series) -> tuple[tuple[str, str, bool], ...]:
    """Return each axis, its value as a name, and whether all in ``among`` share that value."""
    data = page.data
    return (
        (N_("Framework"), data.framework_title(row.framework), len({other.framework for other in among}) == 1),
        (N_("Model"), data.case_title(row.case), len({other.case for other in among}) == 1),
        (N_("Hardware"), data.hardware_title(row.hardware), len({other.hardware for other in among}) == 1),
    )


def _row(page: Page, row: ConfigurationResult, compared: Claim | None) -> tuple[object, ...]:
    return (
        date(page.data.created(row.campaign)),
        _build(page, row),
        page.figure(row),
        _verdict(page, compared) if compared else "",
        _change(compared) if compared else "",
        page.link(row.campaign, at.group_page(at.group_of(row))),
        _changed(page, compared) if compared else "",
    )


def _build(page: Page, row: ConfigurationResult) -> str:
    """Return the framework's version as its log printed it, and the commit of its program where one is known."""
    stated = row_conditions(row, page.data.plan(row))
    parts = (stated.get("framework_version", ""), stated.get("facts.commit", "")[:HASH_DIGITS])
    return " · ".join(filter(None, parts))


def _changed(page: Page, compared: Claim) -> str:
    """Return the names of the conditions that are not those of the campaign before."""
    names = ("programs" if name.startswith("programs.") else name for name in differing(compared.a, compared.b))
    return page.language.separator.join(distinct(page.fact(name) for name in names))


def _change(compared: Claim) -> str:
    change = figures.percent(compared.ratio - 1 if compared.ratio else None)
    return change if change.startswith(("-", "0.0 ")) or not change else f"+{change}"


def _verdict_of(page: Page, compared: Claim) -> str:
    """Return the verdict's code, or ``SUSPECTED`` where a gate would fail but a condition of a claim is missing."""
    if compared.verdict.code == "cannot_tell":
        known = known_of_pair(page.data.context.known, compared.a, compared.b)
        if judge_rows(compared.a, compared.b, known=known).failed:
            return SUSPECTED
    return compared.verdict.code


def _verdict(page: Page, compared: Claim) -> tuple[TextView | str, ...]:
    code, said = _verdict_of(page, compared), page.reason(compared.brief)
    if code == "worse":
        return (TextView(page._("regression"), "regression"),)
    return (TextView(page._("possible regression"), "warning"), said) if code == SUSPECTED else (said,)


def _chart(page: Page, rows: Series, compared: Sequence[Claim | None]) -> str:
    points = tuple((float(number), row.value or 0.0) for number, row in enumerate(rows, 1))
    regressions = tuple(
        point
        for point, one in zip(points, compared, strict=True)
        if one and _verdict_of(page, one) in ("worse", SUSPECTED)
    )
    spans = tuple((float(number), min(row.values), max(row.values)) for number, row in enumerate(rows, 1) if row.values)
    name = page.data.framework_title(rows[0].framework)
    line = ChartLine(name, points, page.data.series[rows[0].framework], regressions, spans)
    builds = tuple(_build(page, row) for row in rows)
    days = tuple(page.data.created(row.campaign)[:10] or row.campaign for row in rows)
    by_build = all(builds) and len(set(builds)) > 1
    label = page._("Changes") + page.language.colon + " · ".join(_names(page, rows[0]))
    unit = page._("{unit}, axis not from 0", unit=rows[0].unit)
    axis, names = ("build", builds) if by_build else ("date", days)
    return plot(Plot(label, page._(PAGE_COLUMNS[axis]), unit, (line,), height=HEIGHT, names=names))
