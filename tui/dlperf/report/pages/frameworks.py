"""The pages of frameworks."""

from __future__ import annotations

from collections.abc import Sequence

from dlperf.catalog.model import Framework
from dlperf.messages import Language
from dlperf.report import figures
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.answer import Answer
from dlperf.report.data import SiteData, distinct, gpus_total
from dlperf.report.pages.page import COUNTS, Page
from dlperf.report.templating import Safe
from dlperf.results.model import ConfigurationResult


def framework(
    language: Language, data: SiteData, name: str, results: Sequence[ConfigurationResult], found: Sequence[Answer]
) -> str:
    """Return the page of a framework.

    Args:
        found: the answers of all reports, from which its rank in each comparison is taken.
    """
    page = Page(language, data, at.framework_page(name))
    entry = data.frameworks.get(name)
    return page.written(
        data.framework_title(name),
        md.text(entry.description) if entry else "",
        _standing(page, name, found),
        _facts(page, entry) if entry else "",
        _patches(page, entry) if entry else "",
        md.heading(2, page._("All figures"), "figures", searched=False),
        page._(
            "Figures of others come from the versions of their reports and logs, which need not be the one "
            "described here."
        )
        if entry and any(data.kind(row.campaign) != "measured" for row in results)
        else "",
        page.all_figures(results, ("case", "hardware")),
        page.data_files(),
        wide=True,
    )


def frameworks_index(language: Language, data: SiteData) -> str:
    page = Page(language, data, at.FRAMEWORKS)
    rows = [
        (page.framework_link(name), _listed_versions(page, name), *page.counts(results))
        for name, results in sorted(data.of_framework.items())
    ]
    table = page.table(("framework", "version", *COUNTS), rows)
    return page.index(page._("Frameworks"), page._("The software stacks, and how many figures come from each."), table)


def _listed_versions(page: Page, name: str) -> Safe:
    return Safe(page.language.separator.join(map(md.code, versions(page.data, name))))


def versions(data: SiteData, name: str) -> tuple[str, ...]:
    """Return the versions that the programs printed in our measurements."""
    return distinct(
        probed.framework_version
        for (_, _, framework), probed in data.probed.items()
        if framework == name and probed.framework_version
    )


def _standing(page: Page, name: str, found: Sequence[Answer]) -> str:
    """Return a table of the framework's rank in each comparison that includes it."""
    contests = [answer for answer in found if answer.second is not None]
    rows = [_place(page, answer, row) for answer in contests for row in answer.ranked if row.framework == name]
    if not rows:
        return ""
    columns = ("case", "hardware", "rank", "percent_of_best", "figure", "unit", "precision", "gpus", "source")
    heading = md.heading(2, page._("Beside other frameworks"), "standing", searched=False)
    return md.paragraphs(heading, page.listing(page.table(columns, rows)))


def _place(page: Page, answer: Answer, row: ConfigurationResult) -> tuple[object, ...]:
    ahead = sum((rival.value or 0.0) > (row.value or 0.0) for rival in answer.ranked)
    return (
        page.data.case_title(row.case),
        page.hardware_link(row.hardware, row.campaign),
        page._("{place} of {count}", place=str(ahead + 1), count=str(len(answer.ranked))),
        figures.percent((row.value or 0.0) / answer.best.value if answer.best.value else None),
        page.figure(row),
        row.unit,
        figures.precision_text(row),
        str(gpus_total(row)),
        page.report_link(row),
    )


def _facts(page: Page, entry: Framework) -> str:
    measured = ", ".join(versions(page.data, entry.id))
    rows = [
        (page._("Id"), md.code(entry.id)),
        (page._("Version measured here"), md.text(measured))
        if measured
        else (page._("Version"), md.text(entry.version)),
        (page._("Image"), md.code(entry.container.image) if entry.container else ""),
        (page._("Repository"), md.web_link(entry.repository)),
        (page._("Commit"), md.text(entry.commit)),
        (page._("Log format"), md.code(entry.format)),
        *((md.text(page.fact(fact)), md.web_link(value)) for fact, value in entry.facts.items()),
        *((md.text(option), md.text(figures.option_text(value))) for option, value in entry.options.items()),
        (page._("Source"), md.source_link(entry.source)),
    ]
    return md.paragraphs(md.heading(2, page._("Description"), "description", searched=False), page.facts(rows))


def _patches(page: Page, entry: Framework) -> str:
    if not entry.patches:
        return ""
    return md.paragraphs(
        md.heading(2, page._("Changes to the model code"), "patches"), md.bullets(map(md.text, entry.patches))
    )
