"""How much of the machine a framework uses, beside how fast it is; and what was not equal between frameworks."""

from __future__ import annotations

from collections.abc import Sequence

from dlperf.report import figures
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.pages.page import Page
from dlperf.report.roofline import roofline
from dlperf.results.model import ConfigurationResult


def utilisation(page: Page, results: Sequence[ConfigurationResult]) -> str:
    """Model FLOPs utilisation, share of the roofline, and samples per joule of every figure that has one of them."""
    known = [row for row in results if row.mfu or row.samples_per_joule or roofline(page.data, row)]
    axes = ("framework", "hardware", "precision", "batch_size", "nodes_gpus")
    columns = (*axes, "figure", "unit", "mfu", "roofline", "samples_per_joule")
    more = {
        "figure": lambda row: page.html_to(at.configuration_page(row), figures.value_text(row)),
        "roofline": lambda row: figures.percent(roofline(page.data, row)),
        "samples_per_joule": lambda row: figures.optional(row.samples_per_joule),
    }
    return (
        md.paragraphs(
            page._(
                "MFU: FLOPs that the model needs, over the dense peak of the GPUs at this precision. Share of "
                "roofline: the figure over what the slower of arithmetic and memory traffic allows; none where the "
                "traffic of the case at this precision is not known. Per joule: samples for each joule that the GPUs "
                "drew in the measured window."
            ),
            page.listed(known, columns, more),
        )
        if known
        else ""
    )
