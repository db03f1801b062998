"""The explorer: all results in one table that a script filters, sorts and compares."""

from __future__ import annotations

import json
from collections.abc import Callable

from dlperf.messages import N_, Language
from dlperf.report import figures
from dlperf.report import locations as at
from dlperf.report.data import SiteData, distinct, is_published
from dlperf.report.pages.overview import chip, family
from dlperf.report.pages.page import COLUMNS, Page
from dlperf.results.model import ConfigurationResult

SCHEMA = 1
TEXTS = {
    "title": N_("All figures"),
    "search": N_("Search"),
    "reset": N_("Reset"),
    "count": N_("{count} of {total} figures"),
    "compare": N_("Compare"),
    "no_ratio": N_("no ratio: a figure is missing, or units differ"),
    "untested": N_("a ratio of two numbers and no claim: `dlperf compare` tests it"),
    "other_protocol": N_("different protocols: not strictly comparable"),
    "n": N_("n"),
    "value": COLUMNS["figure"],
    "per_joule": COLUMNS["samples_per_joule"],
    "spread": N_("Spread"),
    "list_separator": N_("; "),
    **{name: COLUMNS[name] for name in ("source", "case", "hardware", "framework", "unit", "precision", "batch_size")},
    **{name: COLUMNS[name] for name in ("nodes_gpus", "speedup", "efficiency", "mfu", "roofline", "protocol")},
}
"""Name in the script → text."""


def explorer(language: Language, data: SiteData) -> str:
    """Return the page, which without scripts links to the tables and the data."""
    page = Page(language, data, at.EXPLORER)
    return page.render(
        "explorer.md.j2",
        csv=page.file_link(at.RESULTS_CSV, "CSV"),
        scripts=[at.relative(at.EXPLORER, name) for name in (at.EXPLORER_DATA, f"{at.SCRIPTS}/explorer.js")],
        configurations=at.html_address(at.EXPLORER, at.CONFIGURATIONS),
    )


def explorer_data(language: Language, data: SiteData) -> str:
    """Return ``figures.js``: names once, then numbers only, so that 10 000 results stay under 2 MB."""
    readers = _names(language, data)
    names = {column: distinct(map(name, data.ordered)) for column, name in readers.items()}
    numbers = {column: {name: index for index, name in enumerate(listed)} for column, listed in names.items()}
    read_numbers: dict[str, Callable[[ConfigurationResult], object]] = {
        **NUMBERS,
        "roofline": data.roofline,
        "series": lambda row: data.series[row.framework],
        "newest": lambda row: int(id(row) in newest),
    }
    newest = {id(row) for rows in data.reports.values() for row in rows}
    rows = [
        [*(numbers[column][readers[column](row)] for column in names), *(read(row) for read in read_numbers.values())]
        for row in data.ordered
    ]
    words = {name: language.gettext(text) for name, text in TEXTS.items()}
    document = {"schema": SCHEMA, "columns": [*names, *read_numbers], "names": names, "words": words, "rows": rows}
    return f"window.dlperfFigures = {json.dumps(document, ensure_ascii=True, separators=(',', ':'))};\n"


def _names(language: Language, data: SiteData) -> dict[str, Callable[[ConfigurationResult], str]]:
    return {
        "case": lambda row: data.case_title(row.case),
        "hardware": lambda row: data.hardware_title(row.hardware, row.campaign),
        "framework": lambda row: data.framework_title(row.framework, row.campaign),
        "precision": lambda row: row.precision.upper(),
        "source": lambda row: data.source_title(language, row.campaign),
        "unit": lambda row: row.unit,
        "status": lambda row: row.status.text(language),
        "protocol": lambda row: row.protocol or "",
        "caveats": lambda row: figures.caveat_text(language, row),
        "chip": lambda row: chip(data, row),
        "family": family,
        "page": lambda row: at.html_address(at.EXPLORER, at.group_page(at.group_of(row))),
    }


NUMBERS: dict[str, Callable[[ConfigurationResult], object]] = {
    "anchor": at.configuration_anchor,
    "batch_size": lambda row: row.batch_size,
    "nodes": lambda row: row.nodes,
    "gpus": lambda row: row.gpus,
    "value": lambda row: row.value,
    "printed": figures.value_text,
    "n": lambda row: row.n,
    "spread": lambda row: row.spread,
    "speedup": lambda row: row.speedup,
    "efficiency": lambda row: row.efficiency,
    "mfu": lambda row: row.mfu,
    "per_joule": figures.per_joule,
    "published": lambda row: int(is_published(row.campaign)),
}
