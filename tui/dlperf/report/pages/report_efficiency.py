"""How much of the machine a framework uses, beside how fast it is; and what was not equal between frameworks."""

from __future__ import annotations

from collections.abc import Sequence

from dlperf.report import figures
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.data import distinct
from dlperf.report.pages.page import Page
from dlperf.report.roofline import roofline
from dlperf.results.model import ConfigurationResult


def utilisation(page: Page, results: Sequence[ConfigurationResult]) -> str:
    """Model FLOPs utilisation, share of the roofline, and samples per joule of every figure that has one of them."""
    several = len(distinct(row.hardware for row in results)) > 1
    rows = [
        (
            page.framework(row.framework, row.campaign),
            page.hardware(row.hardware, row.campaign) if several else "",
            figures.precision_text(row),
            figures.batch_text(row),
            figures.scale_text(row),
            page.to(at.configuration_page(row), figures.value_text(row)),
            figures.percent(row.mfu),
            figures.percent(share),
            figures.optional(row.samples_per_joule),
        )
        for row in results
        for share in [roofline(page.data, row)]
        if row.mfu or row.samples_per_joule or share
    ]
    words = ("framework", "hardware", "precision", "batch_size", "nodes_gpus", "figure")
    header = [page.say(word) for word in (*words, "mfu", "roofline", "samples_per_joule")]
    return md.paragraphs(page.say("utilisation_rule"), md.table(header, rows)) if rows else ""
