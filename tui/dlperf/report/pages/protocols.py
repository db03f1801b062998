"""The protocol page: protocols, estimators and definitions of the statistics."""

from __future__ import annotations

from collections import Counter

from dlperf.catalog.model import Protocol
from dlperf.measure.estimators import signature
from dlperf.messages import N_, Language
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.data import SiteData
from dlperf.report.pages.page import COLUMNS, Page
from dlperf.report.templating import Safe
from dlperf.report.views import Link

FACTS = ("skip_steps", "take_steps", "estimator", "repeats", "aggregate")
"""Keys of ``COLUMNS`` for the fields of a protocol."""
AGGREGATES = {"median": N_("median"), "mean": N_("mean"), "olympic": N_("mean without the best and the worst")}
DEFINITIONS = {
    "mean": N_("Arithmetic mean of every record."),
    "skipmean": N_("Arithmetic mean without the first k records."),
    "tailmean": N_("Arithmetic mean of the last n records."),
    "window": N_("Arithmetic mean of the records that end iterations a+1 … b: a dropped, b − a measured."),
    "time_window": N_("Samples between the ends of iterations a and b, over the time between them."),
    "rate": N_("Samples between two timestamps over the time between them: take steps (or all) after the first skip."),
    "tipc": N_(
        "Paddle's rule: without the first skip records, then without the slowest and the fastest 5 % (5 at least)."
    ),
    "batch_over_time": N_("Global batch over the mean seconds per step, without the first skip records."),
    "summary": N_("The program's own final figure."),
    "hmean_epochs": N_("Harmonic mean of the epochs' figures, without the first w epochs."),
}
"""Estimator → what it does."""


def protocols(language: Language, data: SiteData) -> str:
    page = Page(language, data, at.PROTOCOLS)
    described = [_described(page, name) for name in sorted(data.protocols)]
    rows = [(md.code(signature(name)), md.text(page._(definition))) for name, definition in DEFINITIONS.items()]
    estimators = md.paragraphs(
        md.heading(2, page._("Estimators"), "estimators"),
        page._("An estimator turns the samples of one trial into one figure."),
        md.facts((page._("Estimator"), page._("Definition")), rows),
    )
    statistics = md.paragraphs(
        md.heading(2, page._("Statistics"), "statistics"),
        page._(
            "A figure shows the protocol's value over its trials, spread and n. Spread is (highest − lowest) ÷ "
            "median. Speed-up is computed from the 1-GPU median of the same configuration on the same hardware. "
            "MFU is FLOPs per sample × throughput ÷ (GPUs × dense peak of the precision used). Missing is not "
            "zero: a cell without a figure says why."
        ),
    )
    parts = (
        page._(
            "A figure without its protocol is not comparable. These are all protocols, with the number of "
            "figures of this site that rest on each."
        ),
        _overview(page),
        *described,
        estimators,
        statistics,
    )
    return page.written(page._("Protocols"), *parts, wide=True)


def _overview(page: Page) -> str:
    """Return a table that compares all protocols."""
    used = Counter(row.protocol for row in page.data.ordered if row.value is not None)
    rows = [
        (
            Link(name, f"#{at.protocol_anchor(name)}", code=True),
            *(Safe(value) for _, value in _facts(page.language, page.data.protocols[name])),
            str(used[name]) if used[name] else "",
        )
        for name in sorted(page.data.protocols)
    ]
    return page.listing(page.table(("protocol", *FACTS, "figures"), rows))


def protocol_facts(page: Page, name: str) -> str:
    """Return a protocol as a table of names and values."""
    protocol = page.data.protocols.get(name)
    if protocol is None:
        return ""
    return page.facts(_facts(page.language, protocol))


def _facts(language: Language, protocol: Protocol) -> list[tuple[str, str]]:
    values = (
        md.number(str(protocol.skip_steps)),
        "" if protocol.take_steps is None else md.number(str(protocol.take_steps)),
        md.code(protocol.estimator),
        md.number(str(protocol.repeats)),
        language.gettext(AGGREGATES[protocol.aggregate]),
    )
    return [(language.gettext(COLUMNS[name]), value) for name, value in zip(FACTS, values, strict=True)]


def _described(page: Page, name: str) -> str:
    protocol = page.data.protocols[name]
    return md.paragraphs(
        md.heading(2, md.text(name), at.protocol_anchor(name)),
        md.text(protocol.title) if protocol.title != name else "",
        md.text(protocol.description) if protocol.description != protocol.title else "",
        protocol_facts(page, name),
        page._("Source") + page.language.colon + md.source_link(protocol.source) if protocol.source else "",
    )
