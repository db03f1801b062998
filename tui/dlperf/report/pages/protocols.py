"""The protocol page: every protocol, every estimator, and what the statistics mean."""

from __future__ import annotations

from collections import Counter

from dlperf.catalog.model import Protocol
from dlperf.report import html
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.data import SiteData
from dlperf.report.pages.page import Page
from dlperf.report.text import Language
from dlperf.report.words.stored import ESTIMATORS

FACTS = ("skip_steps", "take_steps", "estimator", "repeats", "aggregate")
"""Words for what a protocol lays down."""


def protocols(say: Language, data: SiteData) -> str:
    page = Page(say, data, at.PROTOCOLS)
    described = [_described(page, name) for name in sorted(data.protocols)]
    rows = [
        (md.code(name), md.text(_definition(say, name, definition))) for name, definition in data.estimators.items()
    ]
    estimators = md.paragraphs(
        md.heading(2, say("estimators_title"), "estimators"),
        say("estimators_intro"),
        md.facts((say("estimator"), say("definition")), rows),
    )
    statistics = md.paragraphs(md.heading(2, say("statistics_title"), "statistics"), say("statistics_text"))
    parts = (say("protocols_intro"), _overview(page), *described, estimators if rows else "", statistics)
    return page.written(say("protocols"), *parts, wide=True)


def _overview(page: Page) -> str:
    """All protocols side by side."""
    used = Counter(row.protocol for row in page.data.ordered if row.value is not None)
    rows = [
        (
            html.link(md.code(name), f"#{at.protocol_anchor(name)}"),
            *(value for _, value in _facts(page.say, page.data.protocols[name])),
            md.number(str(used[name])) if used[name] else "",
        )
        for name in sorted(page.data.protocols)
    ]
    header = [page.say("protocol"), *map(page.say, FACTS), page.say("figures")]
    return html.listing(html.table(header, rows, (0, 3, 5), {}))


def protocol_facts(page: Page, name: str) -> str:
    """A protocol as a table: what a reader needs beside every figure."""
    protocol = page.data.protocols.get(name)
    if protocol is None:
        return ""
    return page.facts(_facts(page.say, protocol))


def _facts(say: Language, protocol: Protocol) -> list[tuple[str, str]]:
    values = (
        md.number(str(protocol.skip_steps)),
        "" if protocol.take_steps is None else md.number(str(protocol.take_steps)),
        md.code(protocol.estimator),
        md.number(str(protocol.repeats)),
        say(f"by_{protocol.aggregate}"),
    )
    return list(zip(map(say, FACTS), values, strict=True))


def _definition(say: Language, name: str, documented: str) -> str:
    """What an estimator does; in English as its own documentation says."""
    return ESTIMATORS.get(name.partition("(")[0], documented) if say.code == "zh" else documented


def _described(page: Page, name: str) -> str:
    protocol = page.data.protocols[name]
    return md.paragraphs(
        md.heading(2, md.text(name), at.protocol_anchor(name)),
        md.text(protocol.title) if protocol.title != name else "",
        md.text(protocol.description) if protocol.description != protocol.title else "",
        protocol_facts(page, name),
        f"{page.say('source')}{page.say.colon}{md.source_link(protocol.source)}" if protocol.source else "",
    )
