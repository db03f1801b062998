"""The pages of frameworks."""

from __future__ import annotations

from collections.abc import Sequence

from dlperf.catalog.model import Framework
from dlperf.report import figures
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.data import SiteData, grouped
from dlperf.report.pages.page import Page
from dlperf.report.text import Language
from dlperf.results.model import ConfigurationResult


def framework(say: Language, data: SiteData, name: str, results: Sequence[ConfigurationResult]) -> str:
    page = Page(say, data, at.framework_page(name))
    entry = data.frameworks.get(name)
    return page.written(
        data.framework_title(name),
        md.text(entry.description) if entry else "",
        _facts(page, entry) if entry else "",
        _patches(page, entry) if entry else "",
        md.heading(2, say("all_figures"), "figures", searched=False),
        say("other_versions") if entry and any(data.kind(row.campaign) != "measured" for row in results) else "",
        page.all_figures(results, ("case", "hardware", "source")),
        page.data_files(),
        wide=True,
    )


def frameworks_index(say: Language, data: SiteData) -> str:
    page = Page(say, data, at.FRAMEWORKS)
    ordered = sorted(data.ordered, key=lambda row: row.framework)
    rows = []
    for name, results in grouped(ordered, lambda row: row.framework).items():
        entry = data.frameworks.get(name)
        rows.append(
            (
                page.framework(name),
                md.text(entry.version) if entry else "",
                md.code(entry.container.image) if entry and entry.container else "",
                md.number(str(sum(row.value is not None for row in results))),
            )
        )
    header = [say(word) for word in ("framework", "version", "image", "figures")]
    table = md.table(header, rows) if rows else say("no_figures")
    return page.written(say("framework"), say("frameworks_intro"), table)


def _facts(page: Page, entry: Framework) -> str:
    say = page.say
    rows = [
        (say("id"), md.code(entry.id)),
        (say("version"), md.text(entry.version)),
        (say("image"), md.code(entry.container.image) if entry.container else ""),
        (say("repository"), md.web_link(entry.repository)),
        (say("commit"), md.text(entry.commit)),
        (say("log_format"), md.code(entry.format)),
        *((page.fact(fact), md.web_link(value)) for fact, value in entry.facts.items()),
        *((md.text(option), md.text(figures.option_text(value))) for option, value in entry.options.items()),
        (say("source"), md.source_link(entry.source)),
    ]
    return page.facts(rows)


def _patches(page: Page, entry: Framework) -> str:
    if not entry.patches:
        return ""
    return md.paragraphs(md.heading(2, page.say("patches"), "patches"), md.bullets(map(md.text, entry.patches)))
