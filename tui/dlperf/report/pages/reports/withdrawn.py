"""Claims that the site no longer makes, on the history page."""

from dataclasses import replace

from dlperf.report import markdown as md
from dlperf.report.pages.page import COLUMNS, Page
from dlperf.report.site.lists.withdrawn import Withdrawn
from dlperf.report.views import ColumnView, Prose, TableView, date, filled


def withdrawn_claims(page: Page) -> TableView:
    """Return each claim with its date, the values as they stand, and why it is withdrawn, the last first."""
    claims = sorted(page.data.withdrawn, key=lambda one: one.date, reverse=True)
    columns = (
        ColumnView(page._("Withdrawn"), words=True),
        ColumnView(page._("Claim"), words=True),
        ColumnView(page._(COLUMNS["figure"]), place="value"),
        ColumnView(page._("Reason"), words=True),
    )
    return filled(columns, [row for one in claims if (row := _row(page, one))])


def _row(page: Page, claim: Withdrawn) -> tuple[object, ...]:
    """Return the cells of a claim; none where its results are not in this workspace."""
    data = page.data
    rows = {row.id: row for row in data.results if row.campaign == claim.campaign}
    if not {claim.ahead, claim.behind} <= rows.keys():
        return ()
    ahead, behind = rows[claim.ahead], rows[claim.behind]
    first, second = (data.framework_title(row.framework, row.campaign) for row in (ahead, behind))
    said = page._(
        "{framework} {lead} ahead of {second}", framework=first, lead=md.unbreakable(claim.lead), second=second
    )
    subject = " · ".join((data.case_title(ahead.case), data.hardware_title(ahead.hardware)))
    values = tuple(replace(page.figure(data.joint(row)), below=row.unit) for row in (ahead, behind))
    return date(claim.date), (said, subject), values, Prose(page.language.render(claim.reason))
