"""The page of a model: the results of all sources on one case."""

from __future__ import annotations

from collections.abc import Sequence

from dlperf.messages import Language
from dlperf.report import figures
from dlperf.report.data import KINDS, SiteData
from dlperf.report.pages.hardware import shared_title
from dlperf.report.pages.page import Page
from dlperf.report.site import locations as at
from dlperf.table.model import ConfigurationResult

LENGTH = "sequence_length"
COLUMNS = (
    *("origin", "hardware", "framework", "per_gpu", "figure", "unit", "precision", LENGTH, "batch_size", "nodes_gpus"),
    *("axes", "mfu", "source"),
)


def model(language: Language, data: SiteData, case: str, results: Sequence[ConfigurationResult]) -> str:
    """Return the page. Sources are not ranked: their conditions stand beside each result."""
    page = Page(language, data, at.model_page(case))
    cells = {
        "origin": lambda row: page._(KINDS[data.kind(row.campaign)]),
        "per_gpu": lambda row: figures.optional(figures.per_gpu(row)),
        LENGTH: lambda row: str(dict(row.axes).get(LENGTH, "")),
        "axes": lambda row: figures.axes_text(language, (axis for axis in row.axes if axis[0] != LENGTH)),
    }
    ordered = sorted(results, key=lambda row: (row.unit, -(figures.per_gpu(row) or row.score)))
    return page.render(
        "model.md.j2",
        title=page._("{case}, all sources", case=data.case_title(case)),
        shared=shared_title(page, case, results),
        case=data.cases.get(case),
        your_number=page.your_number(case),
        figures=page.listed(ordered, COLUMNS, cells, constant=("unit", "precision", LENGTH)),
    )
