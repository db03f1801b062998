"""The audit page: third-party results compared with the raw logs published with them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dlperf.derived.health import CASE as DIAGNOSIS
from dlperf.messages import Language
from dlperf.messages.numbers import four_digits
from dlperf.report import figures
from dlperf.report.data import PUBLISHED, SiteData, grouped, is_published
from dlperf.report.pages.page import Page
from dlperf.report.site import locations as at
from dlperf.report.views import Link, TableView, TextView, date
from dlperf.table.audited import EXACT, NOTED
from dlperf.table.model import ConfigurationResult
from dlperf.verification.audit import AuditRow

Rows = Sequence[AuditRow]
COLUMNS = (
    *("case", "hardware", "framework", "precision", "batch_size", "nodes_gpus", "published_value", "recomputed"),
    *("from_timestamps", "unit", "difference", "verdict", "date", "estimator", "log"),
)
CONSTANT = ("case", "hardware", "framework", "precision", "batch_size", "unit", "verdict", "date", "estimator")
"""Columns that often have one value in a whole report."""
PLACES = {"published_value": "value", "difference": "aside"}


@dataclass(frozen=True)
class Counts:
    """Numbers of third-party results: all, with a public log, recomputed, and so on."""

    figures: int
    logged: int
    recomputed: int
    exact: int
    noted_exact: int
    noted: int
    """With a log that was checked when the report was transcribed, and not by dlperf."""
    not_reproduced: int
    """Of which no log gave the value when the report was transcribed."""


def audit(language: Language, data: SiteData) -> str:
    page = Page(language, data, at.AUDIT)
    own = [row for row in data.ordered if row.value is not None and data.kind(row.campaign) == "measured"]
    reports = grouped(data.audit, lambda row: row.report)
    kept = Counter((row.date, row.version) for row in data.audit if row.date)
    return page.render(
        "audit.md.j2",
        own=len(own),
        trained=sum(row.case != DIAGNOSIS for row in own),
        trials=sum(len(row.values) for row in own),
        verified=[(date(day), version, count) for (day, version), count in sorted(_verified(data).items())],
        unverified=sum(len(row.values) for row in own if row.campaign not in data.verified),
        counts=_counts(data.audit),
        results=sum(row.value is not None and is_published(row.campaign) for row in data.ordered),
        kept=[(date(day), version, str(count)) for (day, version), count in sorted(kept.items())],
        overview=_overview(page, reports),
        sections=[_section(page, report, rows) for report, rows in reports.items() if any(map(_is_checkable, rows))],
    )


def _verified(data: SiteData) -> Counter[tuple[str, str]]:
    """Return how many values of our own trials were recomputed, by date and version of dlperf."""
    found: Counter[tuple[str, str]] = Counter()
    for one in data.verified.values():
        found[one.date[:10], one.version] += one.values
    return found


def verification(page: Page, row: ConfigurationResult) -> TableView:
    """Return what was found of the raw log of a third-party result, as names and values; empty without a log."""
    rows = page.data.audited.get((row.campaign, row.id), ())
    found = next((one for one in rows if one.log and one.published in (row.printed, str(row.value))), None)
    if found is None:
        return page.facts(())
    checked = Link(
        page.language.render(found.verdict), f"{at.html_address(page.path, at.AUDIT)}#{_anchor(found.report)}"
    )
    return page.facts(
        (
            (page._("Raw log"), TextView(found.log, "source")),
            (page._("Estimator"), found.rule),
            (page._("Recomputed"), figures.printed_digits(found.recomputed, like=found.published)),
            (page._("Verdict"), checked),
            (page._("Date"), date(found.date)),
        )
    )


def _counts(rows: Rows) -> Counts:
    codes = Counter(row.verdict.code for row in rows)
    logged = [row for row in rows if row.log]
    return Counts(
        figures=len(rows),
        logged=len(logged),
        recomputed=sum(row.recomputed is not None for row in rows),
        exact=codes[EXACT],
        noted_exact=codes["noted_exact"],
        noted=sum(row.verdict.code in NOTED for row in logged),
        not_reproduced=sum(row.verdict.code in NOTED for row in rows if not row.log),
    )


def _is_checkable(row: AuditRow) -> bool:
    return bool(row.log) or row.verdict.code in NOTED


def _overview(page: Page, reports: Mapping[str, Rows]) -> TableView:
    """Return a table of reports with the number of results that can be checked and, if any were, the outcome."""
    body = []
    for report, rows in reports.items():
        counts, differences = _counts(rows), [abs(row.difference) for row in rows if row.difference is not None]
        outcome = (str(counts.recomputed), str(counts.exact)) if counts.recomputed else ("", "")
        noted = str(counts.noted) if counts.noted else ""
        body.append(
            (
                Link(_title(page, report), f"#{_anchor(report)}" if any(map(_is_checkable, rows)) else ""),
                *(str(counts.figures), str(counts.logged), *outcome, noted),
                _percent(max(differences, default=None)),
            )
        )
    columns = ("recomputed", "exact", "transcribed", "largest_difference")
    return page.table(("report", "printed_values", "figures_with_log", *columns), body)


def _percent(ratio: float | None) -> str:
    return "" if ratio is None else f"{four_digits(round(ratio * 100, 4))} %"


def _title(page: Page, report: str) -> str:
    return page.data.source_title(page.language, f"{PUBLISHED}{report}")


def _anchor(report: str) -> str:
    return f"report-{at.slug(report)}"


def _section(page: Page, report: str, rows: Rows) -> dict[str, object]:
    logged = grouped(filter(_is_checkable, rows), lambda row: row.recomputed is None)
    recomputed, others = (
        page.table(COLUMNS, [_row(page, row) for row in logged.get(key, ())], constant=CONSTANT, places=PLACES)
        for key in (False, True)
    )
    return {"title": _title(page, report), "anchor": _anchor(report), "table": recomputed, "others": others}


def _row(page: Page, row: AuditRow) -> tuple[object, ...]:
    return (
        page.data.case_title(row.case),
        page.data.hardware_title(row.hardware, f"{PUBLISHED}{row.report}"),
        page.data.framework_title(row.framework, f"{PUBLISHED}{row.report}"),
        row.precision.upper(),
        "" if not row.batch_size else str(row.batch_size),
        f"{row.nodes} × {row.gpus}",
        row.published,
        figures.printed_digits(row.recomputed, like=row.published),
        figures.optional(row.from_timestamps),
        row.unit,
        _percent(row.difference),
        page.language.render(row.verdict),
        date(row.date),
        Link(row.rule, code=True) if row.rule else "",
        TextView(row.log, "source") if row.log else "",
    )
