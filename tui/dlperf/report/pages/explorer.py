"""Compare: all results as one chart and one table that scripts filter, sort and set side by side."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from dlperf.catalog.hardware import Hardware
from dlperf.catalog.units import is_rate
from dlperf.messages import Language
from dlperf.report import figures
from dlperf.report.answer import chip
from dlperf.report.best import is_training
from dlperf.report.charts.svg import COLOURS
from dlperf.report.data import KINDS, SiteData, distinct, grouped, is_published
from dlperf.report.machine import format_fact, localize_facts
from dlperf.report.pages.overview import METRICS, family, ranked_models
from dlperf.report.pages.page import COLUMNS, Page
from dlperf.report.pages.reports.fairness import published_facts
from dlperf.report.site import locations as at
from dlperf.table.conditions import row_conditions
from dlperf.table.model import ConfigurationResult, MetricResult
from dlperf.table.shown import shown_value

SCHEMA = 2
SCRIPTS = ("bars.js", "explorer-state.js", "explorer-chart.js", "explorer-sides.js", "explorer-copy.js", "explorer.js")
"""In the order in which they run."""
CHOSEN_BY_NAME = ("case", "framework", "precision", "source", "origin")
"""Columns whose names addresses keep."""
SHARED = (
    *("source", "case", "hardware", "framework", "precision", "batch_size", "sequence_length", "nodes_gpus"),
    *("speedup", "efficiency", "mfu", "roofline", "protocol", "date", "origin"),
)
"""Titles of columns of other pages, too."""
TEXTS: dict[str, str] = figures.TITLES["compare"] | {name: COLUMNS[name] for name in SHARED}
"""Name in the scripts → text."""
OF_A_ROW = ("Batch per GPU", "Precision", "Nodes × GPUs")
"""What a report states of a framework and each row states itself."""
SECTIONS = {
    "numerics": ("numerics.", "options.weights"),
    "versions": (
        *("programs.", "packages", "libraries.", "container.", "framework_version", "python", "driver", "cuda"),
        *("facts.version", "facts.image", "facts.repository", "facts.commit", "facts.patches"),
    ),
}
"""Section of a comparison → how the names of its conditions begin; others are of the section ``conditions``."""


def explorer(language: Language, data: SiteData) -> str:
    """Return the page, which without scripts links to the tables and the data."""
    page = Page(language, data, at.EXPLORER)
    scripts = (at.EXPLORER_DATA, *(f"{at.SCRIPTS}/{name}" for name in SCRIPTS))
    return page.render(
        "explorer.md.j2",
        counted=counted(data),
        your_number=page.your_number(),
        csv=page.file_link(at.RESULTS_CSV, "CSV"),
        style=at.relative(at.EXPLORER, at.EXPLORER_STYLE),
        scripts=[at.relative(at.EXPLORER, name) for name in scripts],
        conditions=at.relative(at.EXPLORER, at.CONDITIONS_DATA),
        configurations=at.html_address(at.EXPLORER, at.CONFIGURATIONS),
    )


def counted(data: SiteData) -> dict[str, str]:
    """Return how many results are ours and others', how many of ours count on pages, and how many rows are neither."""
    valued = [row for row in data.trained if row.value is not None]
    ours = sum(data.kind(row.campaign) == "measured" for row in valued)
    others = sum(is_published(row.campaign) for row in valued)
    current = sum(row.value is not None and data.kind(row.campaign) == "measured" for row in data.current)
    counts = {"ours": ours, "others": others, "current": current, "earlier": ours - current}
    return {name: f"{count:,}" for name, count in (counts | {"rest": len(data.ordered) - ours - others}).items()}


def explorer_data(language: Language, everything: SiteData) -> str:
    """Return ``figures.js``."""
    return script("dlperfFigures", explorer_document(language, everything))


def explorer_document(language: Language, everything: SiteData) -> dict[str, Any]:
    """Return all results: names once, then numbers only, so that 10 000 results stay under 2 MB."""
    data = everything.localized(language)
    rows = by_relevance(data)
    readers = _names(language, data)
    names = {column: distinct(map(name, rows)) for column, name in readers.items()}
    numbers = {column: {name: index for index, name in enumerate(listed)} for column, listed in names.items()}
    newest = set(map(id, data.current))
    read_numbers: dict[str, Callable[[ConfigurationResult], object]] = {
        **NUMBERS,
        "roofline": data.roofline,
        "series": lambda row: data.series[row.framework],
        "support": data.support,
        "together": lambda row: len(data.together(row)),
        "newest": lambda row: int(id(row) in newest),
        "earlier": lambda row: int(data.is_earlier(row)),
        "training": lambda row: int(is_training(row)),
        "published": lambda row: int(not data.is_ours(row.campaign)),
        "unchecked": lambda row: int(row.campaign in data.published and not is_recomputed(data, row)),
    }
    return {
        "schema": SCHEMA,
        "columns": [*names, *read_numbers],
        "colours": COLOURS,
        "names": names,
        "metrics": _metrics(language, data),
        "words": {name: language.gettext(text) for name, text in TEXTS.items()},
        "also": _also(language, everything),
        "rows": [
            [
                *(numbers[name][read(row)] for name, read in readers.items()),
                *(read(row) for read in read_numbers.values()),
            ]
            for row in rows
        ],
    }


def is_recomputed(data: SiteData, row: ConfigurationResult) -> bool:
    """Return whether a third-party value was computed here from its raw log."""
    return any(found.recomputed is not None for found in data.audited.get((row.campaign, row.id), ()))


def _also(language: Language, everything: SiteData) -> dict[str, str]:
    """Return the names by which an address of another language may choose, with those of this one."""
    own = _names(language, everything.localized(language))
    others = (_names(other, everything.localized(other)) for other in everything.site_languages)
    pairs = (
        (str(other[column](row)), str(own[column](row)))
        for other in others
        for column in CHOSEN_BY_NAME
        for row in everything.ordered
    )
    return {name: said for name, said in pairs if name != said}


def conditions_data(language: Language, data: SiteData) -> str:
    """Return ``conditions.js``: the conditions of each row of ``figures.js``, as places of names and values in turn."""
    page = Page(language, data, at.EXPLORER)
    of_reports = {
        key: tuple(_published(page, rows))
        for key, rows in grouped(data.ordered, lambda row: (row.campaign, row.framework)).items()
        if key[0] in data.published
    }
    names: dict[tuple[str, str], int] = {}
    values: dict[str, int] = {}
    sets: dict[tuple[int, ...], int] = {}
    listed = []
    for row in by_relevance(data):
        found = of_reports.get((row.campaign, row.framework)) or _measured(page, row)
        pairs = ((names.setdefault(name, len(names)), values.setdefault(value, len(values))) for name, value in found)
        listed.append(sets.setdefault(tuple(number for pair in pairs for number in pair), len(sets)))
    return script("dlperfConditions", {"names": [*names], "values": [*values], "sets": [*sets], "rows": listed})


def by_relevance(data: SiteData) -> list[ConfigurationResult]:
    """Return the results by model, those measured here on accelerators first, then by value per GPU.

    One of several GPUs that were measured together stands for them, as on all pages.
    """
    newest = set(map(id, data.current))
    standing = {_key(row): row for row in data.current}
    return [
        row
        for rows in ranked_models(data, (standing.get(_key(row), row) for row in data.ordered))
        for row in sorted(rows, key=lambda row: _standing(data, row, id(row) in newest))
    ]


def _key(row: ConfigurationResult) -> tuple[str, str, str, str]:
    return row.campaign, row.id, row.metric, row.unit


def _standing(data: SiteData, row: ConfigurationResult, newest: bool) -> tuple[bool, bool, bool, float]:
    return (
        row.value is None,
        not newest,
        not data.is_ours(row.campaign),
        -row.score * (1 - row.padding) / row.gpus_total,
    )


def _metrics(language: Language, data: SiteData) -> dict[str, dict[str, object]]:
    """Return title, unit and direction of what a chart can show; without a unit, the row's own one."""
    own: dict[str, dict[str, object]] = {name: {"title": language.gettext(title)} for name, title in METRICS.items()}
    further = {
        name: {
            "title": data.metric_title(language, name),
            "unit": "" if metric.basis else metric.unit,
            "lower": int(metric.direction == "lower"),
        }
        for name, metric in _first_of_each(data).items()
        if name not in own
    }
    return {**own, **further}


def _first_of_each(data: SiteData) -> dict[str, MetricResult]:
    """Return the first result of each metric that is not primary."""
    found: dict[str, MetricResult] = {}
    for row in data.ordered:
        for metric in row.metrics:
            if metric.id != row.metric:
                found.setdefault(metric.id, metric)
    return found


def _shown_metrics(row: ConfigurationResult, usual: Mapping[str, MetricResult]) -> Iterator[tuple[str | float, ...]]:
    """Yield id and value of each metric beside the primary one; unit and basis, too, where they differ by row."""
    for metric in row.metrics:
        value = shown_value(row, metric)
        if metric.id != row.metric and value is not None:
            differs = metric.basis or metric.unit != usual[metric.id].unit
            yield (metric.id, value, *((metric.unit, metric.basis) if differs else ()))


def _measured(page: Page, row: ConfigurationResult) -> list[tuple[tuple[str, str], str]]:
    stated = row_conditions(row, page.data.plan(row))
    entry = page.data.hardware.get(row.hardware)
    return [
        ((_section(name), _title(page, name)), _fact_text(page, entry, name, value))
        for name, value in stated.items()
        if name != "protocol"
    ]


def _fact_text(page: Page, entry: Hardware | None, name: str, value: str) -> str:
    """Format a condition as reports do."""
    kind, _, fact = name.partition(".")
    if kind == "facts" and entry:
        return localize_facts(page.language, entry, {fact: value})[fact]
    return page.option(value) if kind == "options" else format_fact(name, value)


def _published(page: Page, rows: Iterable[ConfigurationResult]) -> list[tuple[tuple[str, str], str]]:
    members = tuple(rows)
    known = published_facts(page, page.data.published[members[0].campaign], members)
    left_out = {page._(name) for name in OF_A_ROW}
    return [(("conditions", name), value) for name, value in known.items() if value and name not in left_out]


def _section(name: str) -> str:
    return next((section for section, starts in SECTIONS.items() if name.startswith(starts)), "conditions")


def _title(page: Page, name: str) -> str:
    kind, _, rest = name.partition(".")
    known = {"protocol.estimator": COLUMNS["estimator"], "protocol.aggregate": COLUMNS["aggregate"]}
    if name in known:
        return page._(known[name])
    return page.fact(rest if kind in ("facts", "options", "numerics", "programs") else name)


def script(name: str, document: object) -> str:
    """Return a script that sets a variable, as a text, which a browser parses faster than an object."""
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"))
    quoted = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"window.{name} = JSON.parse('{quoted}');\n"


def _names(language: Language, data: SiteData) -> dict[str, Callable[[ConfigurationResult], object]]:
    usual = _first_of_each(data)
    return {
        "case": lambda row: data.case_title(row.case),
        "hardware": lambda row: data.hardware_title(row.hardware, row.campaign),
        "framework": lambda row: data.framework_title(row.framework, row.campaign),
        "precision": lambda row: figures.precision_text(language, row),
        "source": lambda row: data.source_title(language, row.campaign),
        "origin": lambda row: language.gettext(KINDS[data.kind(row.campaign)]),
        "date": lambda row: row.date[:10],
        "unit": lambda row: row.unit,
        "status": lambda row: row.status.text(language),
        "protocol": lambda row: row.protocol or "",
        "caveats": lambda row: figures.caveat_text(language, row),
        "program_caveats": lambda row: " ".join(sorted(row.program_caveats)),
        "chip": lambda row: chip(data, row),
        "family": family,
        "page": lambda row: at.html_address(at.EXPLORER, at.group_page(at.group_of(row))),
        "axes": lambda row: row.axes,
        "tuning": lambda row: row.tuning,
        "settings": lambda row: figures.axes_text(language, row.axes),
        "metrics": lambda row: tuple(_shown_metrics(row, usual)),
    }


NUMBERS: dict[str, Callable[[ConfigurationResult], object]] = {
    "anchor": at.configuration_anchor,
    "batch_size": lambda row: row.batch_size or None,
    "nodes": lambda row: row.nodes,
    "gpus": lambda row: row.gpus,
    "value": lambda row: row.value,
    "printed": figures.value_text,
    "padding": lambda row: row.padding or 0,
    "n": lambda row: row.n,
    "spread": lambda row: row.spread,
    "speedup": lambda row: row.speedup if row.gpus_total > 1 else None,  # of one GPU both say nothing
    "efficiency": lambda row: row.efficiency if row.gpus_total > 1 else None,
    "mfu": lambda row: row.mfu,
    "per_joule": figures.per_joule,
    "rate": lambda row: int(is_rate(row.unit, row.direction)),
    "lower": lambda row: int(row.direction == "lower"),
}
