"""Results of stacks that ran with settings of their own, and the reports that say which one to use."""

from collections.abc import Sequence

from dlperf.report.best import is_training
from dlperf.report.data import grouped, is_published
from dlperf.report.pages.page import Page
from dlperf.report.site import locations as at
from dlperf.report.views import Link
from dlperf.table.model import ConfigurationResult

Results = Sequence[ConfigurationResult]
MANY_FRAMEWORKS = 3
WHICH = "which"
"""Anchor of the section of a report that says which stack to use."""


def of_many_settings(results: Results) -> list[Results]:
    """Return our results of each hardware and scale where most frameworks have no result of most settings."""
    ours = [row for row in results if not is_published(row.campaign)]
    return [rows for rows in grouped(ours, _place).values() if _is_sparse(rows)]


def _is_sparse(rows: Results) -> bool:
    frameworks = {row.framework for row in rows}
    settings = {(row.precision, row.axes) for row in rows}
    return len(frameworks) >= MANY_FRAMEWORKS and 2 * len(rows) < len(frameworks) * len(settings)


def _place(row: ConfigurationResult) -> tuple[object, ...]:
    return row.hardware, row.nodes, row.gpus, row.unit


def stacks_run(results: Results) -> list[ConfigurationResult]:
    """Return the results that a choice of a stack may rest on."""
    rows = (row for rows in of_many_settings(results) for row in rows)
    return [row for row in rows if row.value is not None and is_training(row)]


def is_released(row: ConfigurationResult) -> bool:
    """Return whether a result is of a stack as it was released, and not of a program of ours."""
    return bool(row.options.get("stack"))


def is_sound(row: ConfigurationResult) -> bool:
    """Return whether a program has no fault but padding, which a comparison leaves out."""
    return not row.program_caveats or bool(row.padding)


def which_stack(page: Page, case: str = "") -> tuple[Link, ...]:
    """Return a link to each report, of one case or of all, that says which stack to use."""
    reports = page.data.reports.items()
    found = [key for key, rows in reports if case in ("", key[1]) and _is_choice(rows)]
    return tuple(_link(page, source, of_case) for source, of_case in found)


def _is_choice(results: Results) -> bool:
    return any(is_released(row) and is_sound(row) for row in stacks_run(results))


def _link(page: Page, source: str, case: str) -> Link:
    address = f"{at.html_address(page.path, at.report_page(source, case))}#{WHICH}"
    return Link(page.data.case_title(case), address, aside=page.data.source_title(page.language, source))
