"""The audit page: published figures against the raw logs that were published with them."""

from __future__ import annotations

from dlperf.report import figures, html
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.data import PUBLISHED, SiteData, grouped
from dlperf.report.pages.page import Page
from dlperf.report.text import Language
from dlperf.results.audit import EXACT, NO_LOG_HERE, NO_LOG_PUBLISHED, NO_RULE, OTHER_VERSION, AuditRow

VERDICT_WORDS = {
    EXACT: "audit_exact",
    NO_LOG_PUBLISHED: "audit_no_log_published",
    NO_LOG_HERE: "audit_no_log_here",
    NO_RULE: "audit_no_rule",
    OTHER_VERSION: "audit_other_version",
}


WORDED = (0, 1, 2, 3, 9, 11, 12, 13)
"""Columns of words."""
TOLD_ONCE = (0, 1, 2, 3, 4, 9, 11, 12)
"""Columns that are often the same in a whole report."""


def audit(say: Language, data: SiteData) -> str:
    page = Page(say, data, at.AUDIT)
    if not data.audit:
        return page.written(say("audit_title"), say("audit_intro"), say("audit_none"))
    sections = [_section(page, report, rows) for report, rows in grouped(data.audit, lambda row: row.report).items()]
    return page.written(say("audit_title"), say("audit_intro"), *sections, wide=True)


def _section(page: Page, report: str, rows: tuple[AuditRow, ...]) -> str:
    logged = tuple(row for row in rows if row.log)
    without = len(rows) - len(logged)
    return md.paragraphs(
        md.heading(2, md.text(page.data.source_title(page.say, f"{PUBLISHED}{report}")), searched=False),
        _table(page, logged) if logged else "",
        page.say("audit_without", count=md.number(str(without))) if without else "",
    )


def _table(page: Page, rows: tuple[AuditRow, ...]) -> str:
    axes = ("case", "hardware", "framework", "precision", "batch_size", "nodes_gpus")
    words = (*axes, "audit_published", "audit_recomputed", "from_timestamps", "unit", "audit_difference")
    header = [page.say(word) for word in (*words, "audit_verdict", "estimator", "log")]
    table = page.told_once(header, [_row(page, row) for row in rows], WORDED, TOLD_ONCE)
    return html.block("evidence", table)


def _verdict(page: Page, verdict: str) -> str:
    """In the page's language; a difference is a number."""
    key = VERDICT_WORDS.get(verdict)
    return page.say(key) if key else md.text(verdict)


def _row(page: Page, row: AuditRow) -> tuple[str, ...]:
    return (
        md.text(page.data.case_title(row.case)),
        md.text(page.data.hardware_title(row.hardware, f"{PUBLISHED}{row.report}")),
        md.text(page.data.framework_title(row.framework, f"{PUBLISHED}{row.report}")),
        md.text(row.precision.upper()),
        "" if row.batch_size is None else md.number(str(row.batch_size)),
        md.number(f"{row.nodes} × {row.gpus}"),
        md.number(row.published),
        figures.printed_digits(row.recomputed, like=row.published),
        figures.optional(row.from_timestamps),
        md.text(row.unit),
        figures.percent(row.difference, 3),
        _verdict(page, row.verdict),
        md.code(row.rule) if row.rule else "",
        md.source_link(row.log, brief=True),
    )
