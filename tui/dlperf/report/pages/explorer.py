"""The explorer: every figure in one table that a script filters, sorts and compares."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

from dlperf.report import figures
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.data import SiteData, distinct
from dlperf.report.pages.page import Page
from dlperf.report.roofline import roofline
from dlperf.report.text import Language
from dlperf.results.model import ConfigurationResult

SCHEMA = 1
WORDS = {
    "title": "all_figures",
    "search": "explorer_search",
    "reset": "explorer_reset",
    "count": "explorer_count",
    "compare": "explorer_compare",
    "no_ratio": "explorer_no_ratio",
    "beyond": "explorer_beyond",
    "within": "explorer_within",
    "spread_unknown": "sure_unknown_short",
    "other_protocol": "explorer_other_protocol",
    "n": "trials_n",
    "value": "figure",
    "per_joule": "samples_per_joule",
}
"""Name in the script → key of the words; columns that are called as their key need none."""
COLUMN_WORDS = (
    *("case", "hardware", "framework", "precision", "source", "batch_size", "nodes_gpus", "unit", "spread", "speedup"),
    *("efficiency", "mfu", "roofline", "protocol", "list_separator"),
)


def explorer(say: Language, data: SiteData) -> str:
    """The page; without scripts it leads to the tables and the data."""
    page = Page(say, data, at.EXPLORER)
    without = say("explorer_no_script", csv=page.file(at.RESULTS_CSV, "CSV"))
    name = at.relative(at.EXPLORER, at.EXPLORER_DATA)
    return page.written(
        say("explorer"),
        say("explorer_intro"),
        f'<div id="figure-explorer"><p>{without}</p></div>',
        f'<script src="{md.attribute(name)}"></script>',
        page.script("explorer.js"),
        page.to(at.CONFIGURATIONS, say("explorer_index")),
        wide=True,
    )


def explorer_data(say: Language, data: SiteData) -> str:
    """``figures.js``: names once, then a row of numbers for each figure, so that 10 000 of them stay under 2 MB."""
    names = {column: distinct(name(row) for row in data.ordered) for column, name in _names(say, data).items()}
    numbers = {column: {name: index for index, name in enumerate(listed)} for column, listed in names.items()}
    readers = _names(say, data)
    read_numbers: dict[str, Callable[[ConfigurationResult], object]] = {**NUMBERS, "roofline": partial(roofline, data)}
    rows = [
        [*(numbers[column][readers[column](row)] for column in names), *(read(row) for read in read_numbers.values())]
        for row in data.ordered
    ]
    words = {name: say.words(key) for name, key in (WORDS | {key: key for key in COLUMN_WORDS}).items()}
    document = {
        "schema": SCHEMA,
        "columns": [*names, *read_numbers],
        "names": names,
        "words": words,
        "rows": rows,
    }
    return f"window.dlperfFigures = {json.dumps(document, ensure_ascii=True, separators=(',', ':'))};\n"


def _names(say: Language, data: SiteData) -> dict[str, Callable[[ConfigurationResult], str]]:
    return {
        "case": lambda row: data.case_title(row.case),
        "hardware": lambda row: data.hardware_title(row.hardware, row.campaign),
        "framework": lambda row: data.framework_title(row.framework, row.campaign),
        "precision": lambda row: row.precision.upper(),
        "source": lambda row: data.source_title(say, row.campaign),
        "unit": lambda row: row.unit,
        "status": lambda row: figures.plain_status(say, row.status),
        "protocol": lambda row: row.protocol or "",
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
    "per_joule": lambda row: row.samples_per_joule,
    "doubtful": lambda row: int(figures.doubtful(row)),
}
