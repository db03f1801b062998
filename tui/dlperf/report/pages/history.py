"""The history page: each configuration across campaigns, with regressions marked."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from dlperf.measured.findings.program_faults import FAULTS, UNFAIR
from dlperf.messages import N_, Language
from dlperf.messages.finding import Finding
from dlperf.report import figures
from dlperf.report import markdown as md
from dlperf.report.charts.plot import ChartLine, Plot, plot
from dlperf.report.data import SiteData, distinct, grouped
from dlperf.report.pages.page import COLUMNS as PAGE_COLUMNS
from dlperf.report.pages.page import Page
from dlperf.report.pages.releases import by_release
from dlperf.report.pages.reports.withdrawn import withdrawn_claims
from dlperf.report.site import locations as at
from dlperf.report.views import ColumnView, FigureView, Link, Prose, TableView, TextView, date
from dlperf.table.conditions import HASH_DIGITS, differing, row_conditions
from dlperf.table.model import ConfigurationResult
from dlperf.verdicts.claims import Claim, claim
from dlperf.verdicts.inference.policies import holm_level
from dlperf.verdicts.judging import Judgement, judge_rows
from dlperf.verdicts.variation import known_of_pair

SUSPECTED = "suspected"
CHANGED = ("worse", "better", SUSPECTED)
"""Verdicts of what stands before the configurations of which nothing can be told."""
MOST = 200
"""Most configurations on the page, regressions first; the data files hold all of them."""
HEIGHT = 200
OVERVIEW = ("configuration", "verdict", "change", "figure", "change_since_first", "campaigns", "date")
"""Columns, the most important first because a telephone shows only these."""
COLUMNS = ("date", "build", "figure", "verdict", "change", "campaign", "changed_conditions")

Series = Sequence[ConfigurationResult]


@dataclass(frozen=True)
class Change:
    """What became of a result since the campaign before."""

    claim: Claim
    code: str
    """Of the verdict, or ``SUSPECTED`` where a gate would fail but a condition of a claim is missing."""


Changes = tuple[Series, Sequence[Change]]
"""The results of a configuration, and each but the first against the one before."""


def history(language: Language, data: SiteData) -> str:
    page = Page(language, data, at.HISTORY)
    found = sorted(_changes(data), key=lambda one: one[1][-1].claim.gain or 0.0)
    verdicts = Counter(changes[-1].code for _, changes in found)
    shown, root = found[:MOST], at.language_root(language)
    changed = [one for one in shown if one[1][-1].code in CHANGED]
    return page.render(
        "history.md.j2",
        count=len(found),
        versions=sum(len({_build(page, row) for row in rows}) > 1 for rows, _ in found),
        worse=verdicts["worse"],
        better=verdicts["better"],
        suspected=verdicts[SUSPECTED],
        most=MOST,
        changed=_overview(page, changed),
        unchanged=_overview(page, [one for one in shown if one not in changed]),
        sections=[_section(page, *one) for one in shown],
        releases=by_release(page),
        faults=_faults(page, FAULTS),
        claims=withdrawn_claims(page),
        withdrawn=_faults(page, UNFAIR),
        editions=[page.file_link(f"{at.edition(name)}{root}index.html", name) for name in data.editions],
    )


def _changes(data: SiteData) -> list[Changes]:
    """Return what became of each configuration, at levels that hold for all of them together."""
    series = list(data.repeated.values())
    claims = [[data.context.claim(*pair) for pair in pairwise(rows)] for rows in series]
    gates = [[_gate(data, one) for one in same] for same in claims]
    level = holm_level(gate.found.p for same in gates for gate in same if gate.found)
    found = ([_change_of(*both, level) for both in zip(*same, strict=True)] for same in zip(claims, gates, strict=True))
    return list(zip(series, found, strict=True))


def _gate(data: SiteData, compared: Claim) -> Judgement:
    known = known_of_pair(data.context.known, compared.a, compared.b)
    return judge_rows(compared.a, compared.b, known=known)


def _change_of(compared: Claim, gate: Judgement, level: float) -> Change:
    fails = gate.failed and gate.found is not None and gate.found.p <= level
    code = compared.verdict.code
    return Change(compared, SUSPECTED if code == "cannot_tell" and fails else code)


def faulty(data: SiteData, codes: Collection[str]) -> list[tuple[Finding, Series]]:
    """Return what was wrong with training programs, and the results that were measured with each."""
    found = [(fault, row) for row in data.ordered for fault in row.findings if fault.code in codes]
    same = grouped(found, lambda pair: pair[0].code).values()
    return [(members[0][0], [row for _, row in members]) for members in same]


def _faults(page: Page, codes: Collection[str]) -> list[tuple[str, list[Link]]]:
    return [
        (Prose(page.language.render(fault.message)), [_result_link(page, row) for row in rows])
        for fault, rows in faulty(page.data, codes)
    ]


def _result_link(page: Page, row: ConfigurationResult) -> Link:
    return page.link(f"{_join_names(_names(page, row))} ({row.campaign})", at.configuration_page(row))


def _overview(page: Page, found: Sequence[Changes]) -> TableView:
    """Return a table with the newest result and the change of each configuration, and the names that all share."""
    newest = [rows[-1] for rows, _ in found]
    table = page.table(
        OVERVIEW,
        [_overview_row(page, rows, changes[-1], newest) for rows, changes in found],
        places={"change": "aside", "figure": "value"},
    )
    same = (
        [(ColumnView(page._(axis)), name) for axis, name, same in _axes(page, newest[0], newest) if same]
        if found
        else []
    )
    return replace(table, same=tuple(same))


def _overview_row(page: Page, rows: Series, last: Change, among: Series) -> tuple[object, ...]:
    newest = rows[-1]
    return (
        Link(_join_names(_names(page, newest, among)), f"#{at.history_anchor(newest)}"),
        _verdict(page, last),
        _percent(last.claim),
        replace(_figure(page, newest), below=newest.unit),
        _percent(claim(rows[0], newest)),
        str(len(rows)),
        date(page.data.created(newest.campaign)),
    )


def _section(page: Page, rows: Series, changes: Sequence[Change]) -> dict[str, object]:
    compared = [None, *changes]
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


def _row(page: Page, row: ConfigurationResult, change: Change | None) -> tuple[object, ...]:
    return (
        date(page.data.created(row.campaign)),
        _build(page, row),
        _figure(page, row),
        _verdict(page, change) if change else "",
        _percent(change.claim) if change else "",
        page.link(row.campaign, at.group_page(at.group_of(row))),
        _changed(page, change.claim) if change else "",
    )


def _figure(page: Page, row: ConfigurationResult) -> FigureView:
    """Return the throughput, with the range of the GPUs that were measured together with it."""
    gpus = page.data.together(row)
    if len(gpus) == 1:
        return page.figure(row)
    reached = figures.range_text(page.language, [one.value or 0.0 for one in gpus])
    said = page._("one of {count} GPUs, {range}", count=str(len(gpus)), range=reached)
    return replace(page.figure(row), trials=said)


def _build(page: Page, row: ConfigurationResult) -> str:
    """Return the framework's version as its log printed it, and the commit of its program where one is known."""
    stated = row_conditions(row, page.data.plan(row))
    parts = (stated.get("framework_version", ""), stated.get("facts.commit", "")[:HASH_DIGITS])
    return " · ".join(filter(None, parts))


def _changed(page: Page, compared: Claim) -> str:
    """Return the names of the conditions that are not those of the campaign before."""
    names = ("programs" if name.startswith("programs.") else name for name in differing(compared.a, compared.b))
    return page.language.separator.join(distinct(page.fact(name) for name in names))


def _percent(compared: Claim) -> str:
    change = figures.percent(compared.ratio - 1 if compared.ratio else None)
    return change if change.startswith(("-", "0.0 ")) or not change else f"+{change}"


def _verdict(page: Page, change: Change) -> tuple[TextView | str, ...]:
    said = page.reason(change.claim.brief)
    if change.code == "worse":
        return (TextView(page._("regression"), "regression"),)
    return (TextView(page._("possible regression"), "warning"), said) if change.code == SUSPECTED else (said,)


def _span(rows: Series) -> tuple[float, float]:
    """Return the lowest and highest trial, of all GPUs that were measured together."""
    values = [value for row in rows for value in row.values or (row.value or 0.0,)]
    return min(values), max(values)


def _chart(page: Page, rows: Series, changes: Sequence[Change | None]) -> str:
    points = tuple((float(number), row.value or 0.0) for number, row in enumerate(rows, 1))
    regressions = tuple(
        point for point, one in zip(points, changes, strict=True) if one and one.code in ("worse", SUSPECTED)
    )
    spans = tuple((float(number), *_span(page.data.together(row))) for number, row in enumerate(rows, 1))
    name = page.data.framework_title(rows[0].framework)
    line = ChartLine(name, points, page.data.series[rows[0].framework], regressions, spans)
    builds = tuple(_build(page, row) for row in rows)
    days = tuple(page.data.created(row.campaign)[:10] or row.campaign for row in rows)
    by_build = all(builds) and len(set(builds)) > 1
    label = page._("Changes") + page.language.colon + " · ".join(_names(page, rows[0]))
    unit = page._("{unit}, axis not from 0", unit=rows[0].unit)
    axis, names = ("build", builds) if by_build else ("date", days)
    return plot(Plot(label, page._(PAGE_COLUMNS[axis]), unit, (line,), height=HEIGHT, names=names), page.language)
