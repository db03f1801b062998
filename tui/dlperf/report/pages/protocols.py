"""Protocols and estimators of the methodology page, and a protocol's facts on other pages."""

from collections import Counter

from dlperf.catalog.metrics import Protocol
from dlperf.measured.throughput.estimators import signature
from dlperf.messages import N_
from dlperf.report.pages.page import COLUMNS, Page
from dlperf.report.site import locations as at
from dlperf.report.views import Link, TableView

FACTS = ("skip_steps", "take_steps", "estimator", "repeats", "uncounted", "aggregate", "compile_cache")
"""Keys of ``COLUMNS`` for the fields of a protocol."""
AGGREGATES = {
    "median": N_("median"),
    "mean": N_("mean"),
    "olympic": N_("mean without the best {count} and the worst {count}"),
}
CACHES = {"fresh": N_("empty for each trial"), "shared": N_("shared by the trials of a configuration")}
DEFINITIONS = {
    "mean": N_("Arithmetic mean of every record."),
    "skipmean": N_("Arithmetic mean without the first k records."),
    "tailmean": N_("Arithmetic mean of the last n records."),
    "window": N_("Arithmetic mean of the records that end iterations a+1 … b: a dropped, b − a measured."),
    "time_window": N_("Samples between the ends of iterations a and b, over the time between them."),
    "rate": N_("Samples between two timestamps over the time between them: take steps (or all) after the first skip."),
    "settled": N_(
        "Samples over time after the warm-up, which ends after skip steps where the rate of 5 s is within 1 % of that "
        "of the next 5 s, after least seconds at the earliest and cap at the latest."
    ),
    "tipc": N_(
        "Paddle's rule: without the first skip records, then without the slowest and the fastest 5 % (5 at least)."
    ),
    "batch_over_time": N_("Global batch over the mean seconds per step, without the first skip records."),
    "steady": N_(
        "Work of the records over their time: without the records that contain one of the first skip steps, and "
        "without pauses."
    ),
    "steady_rate": N_(
        "Samples between timestamps over the time between them: without the first skip steps, and without pauses."
    ),
    "goodput": N_("Work of the records over their time, without the first skip steps, with all pauses."),
    "summary": N_("The final value that the program reports."),
    "printed": N_("The last value that the program prints."),
    "hmean_epochs": N_("Harmonic mean of the epochs' values, without the first w epochs."),
}
"""Estimator → what it does."""


def protocol_views(page: Page) -> dict[str, object]:
    """Return what the methodology page shows of all protocols and estimators."""
    return {
        "overview": _overview(page),
        "protocols": [(at.protocol_anchor(name), one) for name, one in sorted(page.data.protocols.items())],
        "estimators": [(signature(name), page._(definition)) for name, definition in DEFINITIONS.items()],
    }


def _overview(page: Page) -> TableView:
    """Return a table that compares all protocols."""
    used = Counter(row.protocol for row in page.data.ordered if row.value is not None)
    rows = [
        (
            Link(name, f"#{at.protocol_anchor(name)}", code=True),
            *(value for _, value in _facts(page, protocol)),
            str(used[name]) if used[name] else "",
        )
        for name, protocol in sorted(page.data.protocols.items())
    ]
    return page.table(("protocol", *FACTS, "figures"), rows)


def protocol_facts(page: Page, name: str) -> TableView | None:
    """Return a protocol as a table of names and values."""
    protocol = page.data.protocols.get(name)
    return page.facts(_facts(page, protocol)) if protocol else None


def _steps_measured(page: Page, protocol: Protocol) -> str:
    if protocol.take_steps is None:
        return ""
    return page._("{count} or more", count=str(protocol.take_steps)) if protocol.seconds else str(protocol.take_steps)


def _facts(page: Page, protocol: Protocol) -> list[tuple[str, str | Link]]:
    values: tuple[str | Link, ...] = (
        str(protocol.skip_steps),
        _steps_measured(page, protocol),
        Link(protocol.estimator, code=True),
        str(protocol.repeats),
        str(protocol.uncounted),
        page._(AGGREGATES[protocol.aggregate], count=str(protocol.drop)),
        page._(CACHES[protocol.compile_cache]),
    )
    return [(page._(COLUMNS[name]), value) for name, value in zip(FACTS, values, strict=True)]
