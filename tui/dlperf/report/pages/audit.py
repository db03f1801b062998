"""The audit page: published figures against the raw logs that were published with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dlperf.messages import N_, Language
from dlperf.report import figures, html
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.data import PUBLISHED, SiteData, grouped
from dlperf.report.pages.page import Page
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
WORDED = (0, 1, 2, 3, 9, 11, 12, 13)
"""Columns of words."""
TOLD_ONCE = (0, 1, 2, 3, 4, 9, 11, 12)
"""Columns that are often the same in a whole report."""
PLACED = {6: "value", 10: "aside"}
"""The published figure, and by how much the log's differs, in the block of a row on a telephone."""


def audit(language: Language, data: SiteData) -> str:
    page = Page(language, data, at.AUDIT)
    if not data.audit:
        return page.written(
            page._("Audit"),
            page._(
                "Published figures against the raw logs that were published with them. Logs that lie in this "
                "workspace (`dlperf import`) are computed again under the source's own rule, and from their time "
                "stamps."
            ),
            page._("No log of a published figure is here to be checked."),
        )
    reports = grouped(data.audit, lambda row: row.report)
    sections = [_section(page, report, [row for row in rows if row.log]) for report, rows in reports.items()]
    return page.written(
        page._("Audit"),
        _answer(page, data.audit),
        page._(
            "Published figures against the raw logs that were published with them. Logs that lie in this "
            "workspace (`dlperf import`) are computed again under the source's own rule, and from their time "
            "stamps."
        ),
        _overview(page, reports),
        *sections,
        page.data_files(),
        wide=True,
    )


def _answer(page: Page, rows: Rows) -> str:
    names = ("figures", "logged", "recomputed", "exact")
    told = {name: md.number(str(count)) for name, count in zip(names, _counts(rows), strict=True)}
    others = sum(row.verdict.code == OTHER_VERSION for row in rows)
    other = (
        page._(
            "Of {count} more, a log of the same name is here and gives another figure; it may be of another version.",
            count=md.number(str(others)),
        )
        if others
        else ""
    )
    answer = ANSWER if _counts(rows)[2] or others else ANSWER_UNCHECKED
    return md.paragraphs(page._(answer, **told), other)


def _counts(rows: Rows) -> tuple[int, int, int, int]:
    """Figures, those with a raw log, those recomputed from it, and those of them that came out the same."""
    recomputed = [row for row in rows if row.recomputed is not None]
    return (
        len(rows),
        sum(bool(row.log) for row in rows),
        len(recomputed),
        sum(row.verdict.code == EXACT for row in rows),
    )


def _overview(page: Page, reports: Mapping[str, Rows]) -> str:
    """A row for each report: how much of it can be checked, and what came of it, where anything was."""
    checked = any(row.recomputed is not None for row in page.data.audit)
    body = []
    for report, rows in reports.items():
        title, counts = md.text(page.data.source_title(page.language, f"{PUBLISHED}{report}")), _counts(rows)
        differences = [abs(row.difference) for row in rows if row.difference is not None]
        body.append(
            (
                html.link(title, f"#{_anchor(report)}") if counts[1] else title,
                *(md.number(str(count)) for count in counts[:2]),
                *(md.number(str(count)) if checked else "" for count in counts[2:]),
                figures.percent(max(differences, default=None), 3),
            )
        )
    words = (N_("Report"), N_("Figures"), N_("With a raw log"), N_("Recomputed"), N_("Exact"), N_("Largest difference"))
    return html.block("evidence", html.table([page._(word) for word in words], body, (0,)))


def _anchor(report: str) -> str:
    return f"report-{at.slug(report)}"


def _section(page: Page, report: str, logged: Rows) -> str:
    """The figures with a raw log; nothing where there is none."""
    title = md.text(page.data.source_title(page.language, f"{PUBLISHED}{report}"))
    heading = md.heading(2, title, _anchor(report), searched=False)
    return md.paragraphs(heading, _table(page, logged)) if logged else ""


def _table(page: Page, rows: Rows) -> str:
    axes = (N_("Case"), N_("Hardware"), N_("Framework"), N_("Precision"), N_("Batch per GPU"), N_("Nodes × GPUs"))
    words = (*axes, N_("Published value"), N_("Recomputed"), N_("From timestamps"), N_("Unit"), N_("Difference"))
    header = [page._(word) for word in (*words, N_("Verdict"), N_("Estimator"), N_("Log"))]
    return html.listing(page.told_once(header, [_row(page, row) for row in rows], WORDED, TOLD_ONCE, placed=PLACED))


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
        md.text(page.language.render(row.verdict)),
        md.code(row.rule) if row.rule else "",
        md.source_link(row.log, brief=True),
    )
