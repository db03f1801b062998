"""The pages of frameworks."""

from __future__ import annotations

from collections.abc import Sequence

from dlperf.catalog.model import Framework
from dlperf.messages import N_, Language
from dlperf.report import figures, html
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.answer import Answer
from dlperf.report.data import KINDS, SiteData, distinct, gpus_total, grouped
from dlperf.report.pages.page import Page
from dlperf.results.model import ConfigurationResult


def framework(
    language: Language, data: SiteData, name: str, results: Sequence[ConfigurationResult], found: Sequence[Answer]
) -> str:
    """The page of a framework.

    Args:
        found: the answers of all reports; those that the framework takes part in say where it stands.
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
    ordered = sorted(data.ordered, key=lambda row: row.framework)
    stacks = grouped(ordered, lambda row: row.framework)
    rows = [
        (
            page.html_to(at.framework_page(name), data.framework_title(name)),
            language.separator.join(map(md.code, versions(data, name))),
            *page.counts(results),
        )
        for name, results in stacks.items()
    ]
    header = [page._(word) for word in (N_("Framework"), N_("Version measured here"), *KINDS.values())]
    told = html.listing(html.table(header, rows, (0, 1), {})) if rows else page._("No figure here yet.")
    return page.written(
        page._("Frameworks"), page._("The software stacks, and how many figures come from each."), told, wide=True
    )


def versions(data: SiteData, name: str) -> tuple[str, ...]:
    """The versions that the programs printed where they were measured here."""
    return distinct(
        probed.framework_version
        for (_, _, framework), probed in data.probed.items()
        if framework == name and probed.framework_version
    )


def _standing(page: Page, name: str, found: Sequence[Answer]) -> str:
    """Where the framework stands in each comparison that it takes part in."""
    contests = [answer for answer in found if answer.second is not None]
    rows = [_place(page, answer, row) for answer in contests for row in answer.ranked if row.framework == name]
    if not rows:
        return ""
    words = (
        N_("Case"),
        N_("Hardware"),
        N_("Place"),
        N_("Of the fastest"),
        N_("Figure"),
        N_("Unit"),
        N_("Precision"),
        N_("GPUs"),
        N_("Source"),
    )
    table = html.table([page._(word) for word in words], rows, (0, 1, 5, 6, 8), {4: "value", 5: "aside"})
    return md.paragraphs(
        md.heading(2, page._("Beside other frameworks"), "standing", searched=False), html.listing(table)
    )


def _place(page: Page, answer: Answer, row: ConfigurationResult) -> tuple[str, ...]:
    ahead = sum((rival.value or 0.0) > (row.value or 0.0) for rival in answer.ranked)
    share = (row.value or 0.0) / answer.best.value if answer.best.value else None
    return (
        md.text(page.data.case_title(row.case)),
        page.html_to(at.hardware_page(row.hardware), page.data.hardware_title(row.hardware, row.campaign)),
        page._("{place} of {count}", place=md.number(str(ahead + 1)), count=md.number(str(len(answer.ranked)))),
        figures.percent(share),
        figures.html_cell(page.language, page.path, row),
        md.text(row.unit),
        md.text(figures.precision_text(row)),
        md.number(str(gpus_total(row))),
        page.html_to(
            at.report_page(page.data.source(row), row.case), page.data.source_title(page.language, row.campaign)
        ),
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
