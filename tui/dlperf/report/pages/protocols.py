"""The protocol page: every protocol, every estimator, and what the statistics mean."""

from __future__ import annotations

from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.data import SiteData
from dlperf.report.pages.page import Page
from dlperf.report.text import Language
from dlperf.report.words.stored import ESTIMATORS


def protocols(say: Language, data: SiteData) -> str:
    page = Page(say, data, at.PROTOCOLS)
    described = [_described(page, name) for name in sorted(data.protocols)]
    rows = [
        (md.code(name), md.text(_definition(say, name, definition))) for name, definition in data.estimators.items()
    ]
    estimators = md.paragraphs(
        md.heading(2, say("estimator"), "estimators"),
        say("estimators_intro"),
        md.facts((say("estimator"), say("definition")), rows),
    )
    statistics = md.paragraphs(md.heading(2, say("statistics_title"), "statistics"), say("statistics_text"))
    return page.written(say("protocols"), say("protocols_intro"), *described, estimators if rows else "", statistics)


def protocol_facts(page: Page, name: str) -> str:
    """A protocol as a table: what a reader needs beside every figure."""
    protocol = page.data.protocols.get(name)
    if protocol is None:
        return ""
    say = page.say
    rows = [
        (say("skip_steps"), md.number(str(protocol.skip_steps))),
        (say("take_steps"), "" if protocol.take_steps is None else md.number(str(protocol.take_steps))),
        (say("estimator"), md.code(protocol.estimator)),
        (say("repeats"), md.number(str(protocol.repeats))),
        (say("aggregate"), say(f"by_{protocol.aggregate}")),
    ]
    return page.facts(rows)


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
