"""The pages of frameworks."""

from __future__ import annotations

from collections.abc import Sequence

from dlperf.catalog.model import Framework
from dlperf.report import figures, html
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.answer import Answer
from dlperf.report.data import KINDS, SiteData, distinct, gpus_total, grouped
from dlperf.report.pages.page import Page
from dlperf.report.text import Language
from dlperf.results.model import ConfigurationResult


def framework(
    say: Language, data: SiteData, name: str, results: Sequence[ConfigurationResult], found: Sequence[Answer]
) -> str:
    """The page of a framework.

    Args:
        found: the answers of all reports; those that the framework takes part in say where it stands.
    """
    page = Page(say, data, at.framework_page(name))
    entry = data.frameworks.get(name)
    return page.written(
        data.framework_title(name),
        md.text(entry.description) if entry else "",
        _standing(page, name, found),
        _facts(page, entry) if entry else "",
        _patches(page, entry) if entry else "",
        md.heading(2, say("all_figures"), "figures", searched=False),
        say("other_versions") if entry and any(data.kind(row.campaign) != "measured" for row in results) else "",
        page.all_figures(results, ("case", "hardware")),
        page.data_files(),
        wide=True,
    )


def frameworks_index(say: Language, data: SiteData) -> str:
    page = Page(say, data, at.FRAMEWORKS)
    ordered = sorted(data.ordered, key=lambda row: row.framework)
    stacks = grouped(ordered, lambda row: row.framework)
    rows = [
        (
            page.html_to(at.framework_page(name), data.framework_title(name)),
            say.separator.join(map(md.code, versions(data, name))),
            *page.counts(results),
        )
        for name, results in stacks.items()
    ]
    header = [say(word) for word in ("framework", "version_measured", *(f"home_{kind}" for kind in KINDS))]
    told = html.listing(html.table(header, rows, (0, 1), {})) if rows else say("no_figures")
    return page.written(say("frameworks"), say("frameworks_intro"), told, wide=True)


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
    words = ("case", "hardware", "place", "of_the_fastest", "figure", "unit", "precision", "gpus", "source")
    table = html.table([page.say(word) for word in words], rows, (0, 1, 5, 6, 8), {4: "value", 5: "aside"})
    return md.paragraphs(md.heading(2, page.say("standing"), "standing", searched=False), html.listing(table))


def _place(page: Page, answer: Answer, row: ConfigurationResult) -> tuple[str, ...]:
    ahead = sum((rival.value or 0.0) > (row.value or 0.0) for rival in answer.ranked)
    share = (row.value or 0.0) / answer.best.value if answer.best.value else None
    return (
        md.text(page.data.case_title(row.case)),
        page.html_to(at.hardware_page(row.hardware), page.data.hardware_title(row.hardware, row.campaign)),
        page.say("place_of", place=md.number(str(ahead + 1)), count=md.number(str(len(answer.ranked)))),
        figures.percent(share),
        figures.html_cell(page.say, page.path, row),
        md.text(row.unit),
        figures.precision_text(row),
        md.number(str(gpus_total(row))),
        page.html_to(at.report_page(page.data.source(row), row.case), page.data.source_title(page.say, row.campaign)),
    )


def _facts(page: Page, entry: Framework) -> str:
    say, measured = page.say, ", ".join(versions(page.data, entry.id))
    rows = [
        (say("id"), md.code(entry.id)),
        (say("version_measured"), md.text(measured)) if measured else (say("version"), md.text(entry.version)),
        (say("image"), md.code(entry.container.image) if entry.container else ""),
        (say("repository"), md.web_link(entry.repository)),
        (say("commit"), md.text(entry.commit)),
        (say("log_format"), md.code(entry.format)),
        *((page.fact(fact), md.web_link(value)) for fact, value in entry.facts.items()),
        *((md.text(option), md.text(figures.option_text(value))) for option, value in entry.options.items()),
        (say("source"), md.source_link(entry.source)),
    ]
    return md.paragraphs(md.heading(2, say("description"), "description", searched=False), page.facts(rows))


def _patches(page: Page, entry: Framework) -> str:
    if not entry.patches:
        return ""
    return md.paragraphs(md.heading(2, page.say("patches"), "patches"), md.bullets(map(md.text, entry.patches)))
