"""The audit page: third-party results compared with the raw logs published with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dlperf.messages import N_, Language
from dlperf.report import figures
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.data import PUBLISHED, SiteData, grouped
from dlperf.report.pages.page import Page
from dlperf.report.views import Link, Text
from dlperf.results.audit import EXACT, OTHER_VERSION, AuditRow

ANSWER = N_(
    "Of {figures} published figures {logged} have a raw log that their source published. {recomputed} of them were "
    "computed again here; {exact} came out exactly."
)
ANSWER_UNCHECKED = N_(
    "Of {figures} published figures {logged} have a raw log that their source published. None of these logs is here, "
    "so none of the figures was computed again."
)
Rows = Sequence[AuditRow]
COLUMNS = (
    *("case", "hardware", "framework", "precision", "batch_size", "nodes_gpus", "published_value", "recomputed"),
    *("from_timestamps", "unit", "difference", "verdict", "estimator", "log"),
)
CONSTANT = ("case", "hardware", "framework", "precision", "batch_size", "unit", "verdict", "estimator")
"""Columns that often have one value in a whole report."""
PLACES = {"published_value": "value", "difference": "aside"}


def audit(language: Language, data: SiteData) -> str:
    page = Page(language, data, at.AUDIT)
    lead = page._(
        "Published figures against the raw logs that were published with them. Logs that lie in this workspace "
        "(`dlperf import`) are computed again under the source's own rule, and from their time stamps."
    )
    if not data.audit:
        return page.written(page._("Audit"), lead, page._("No log of a published figure is here to be checked."))
    reports = grouped(data.audit, lambda row: row.report)
    sections = [_section(page, report, [row for row in rows if row.log]) for report, rows in reports.items()]
    overview = _overview(page, reports)
    return page.written(
        page._("Audit"), _answer(page, data.audit), lead, overview, *sections, page.data_files(), wide=True
    )


def _answer(page: Page, rows: Rows) -> str:
    figures, logged, recomputed, exact = map(str, _counts(rows))
    others = sum(row.verdict.code == OTHER_VERSION for row in rows)
    answer = ANSWER if recomputed != "0" or others else ANSWER_UNCHECKED
    words = page._(answer, figures=figures, logged=logged, recomputed=recomputed, exact=exact)
    other = page._(
        "Of {count} more, a log of the same name is here and gives another figure; it may be of another version.",
        count=str(others),
    )
    return md.paragraphs(words, other if others else "")


def _counts(rows: Rows) -> tuple[int, int, int, int]:
    """Return the number of results, of those with a log, of those recomputed, and of exact matches."""
    recomputed = [row for row in rows if row.recomputed is not None]
    return (
        len(rows),
        sum(bool(row.log) for row in rows),
        len(recomputed),
        sum(row.verdict.code == EXACT for row in rows),
    )


def _overview(page: Page, reports: Mapping[str, Rows]) -> str:
    """Return a table of reports with the number of results that can be checked and, if any were, the outcome."""
    checked = any(row.recomputed is not None for row in page.data.audit)
    body = []
    for report, rows in reports.items():
        title, counts = page.data.source_title(page.language, f"{PUBLISHED}{report}"), _counts(rows)
        differences = [abs(row.difference) for row in rows if row.difference is not None]
        body.append(
            (
                Link(title, f"#{_anchor(report)}" if counts[1] else ""),
                *map(str, counts[:2]),
                *(str(count) if checked else "" for count in counts[2:]),
                figures.percent(max(differences, default=None), 3),
            )
        )
    columns = ("report", "figures", "figures_with_log", "recomputed", "exact", "largest_difference")
    return page.listing(page.table(columns, body), class_="evidence")


def _anchor(report: str) -> str:
    return f"report-{at.slug(report)}"


def _section(page: Page, report: str, logged: Rows) -> str:
    """Return the table of a report's results that have a log; empty without any."""
    title = md.text(page.data.source_title(page.language, f"{PUBLISHED}{report}"))
    heading = md.heading(2, title, _anchor(report), searched=False)
    table = page.table(COLUMNS, [_row(page, row) for row in logged], constant=CONSTANT, places=PLACES)
    return md.paragraphs(heading, page.listing(table)) if logged else ""


def _row(page: Page, row: AuditRow) -> tuple[object, ...]:
    return (
        page.data.case_title(row.case),
        page.data.hardware_title(row.hardware, f"{PUBLISHED}{row.report}"),
        page.data.framework_title(row.framework, f"{PUBLISHED}{row.report}"),
        row.precision.upper(),
        "" if row.batch_size is None else str(row.batch_size),
        f"{row.nodes} × {row.gpus}",
        row.published,
        figures.printed_digits(row.recomputed, like=row.published),
        figures.optional(row.from_timestamps),
        row.unit,
        figures.percent(row.difference, 3),
        page.language.render(row.verdict),
        Link(row.rule, code=True) if row.rule else "",
        Text(row.log, "source") if row.log else "",
    )
