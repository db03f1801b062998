"""How much of the machine a framework uses, beside how fast it is; and what was not equal between frameworks."""

from __future__ import annotations

from collections.abc import Sequence

from dlperf.measure.statistics import bandwidth_limit, flop_limit, roofline_share
from dlperf.report import figures
from dlperf.report import locations as at
from dlperf.report import markdown as md
from dlperf.report.data import distinct, gpus_total
from dlperf.report.pages.page import Page
from dlperf.results.model import ConfigurationResult

SIXTEEN_BIT = ("fp16", "bf16", "amp")


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
        for share in [roofline(page, row)]
        if row.mfu or row.samples_per_joule or share
    ]
    words = ("framework", "hardware", "precision", "batch_size", "nodes_gpus", "figure")
    header = [page.say(word) for word in (*words, "mfu", "roofline", "samples_per_joule")]
    return md.paragraphs(page.say("utilisation_rule"), md.table(header, rows)) if rows else ""


def roofline(page: Page, row: ConfigurationResult) -> float | None:
    """The figure over what the slower of arithmetic and memory traffic allows; None where the plan does not tell.

    The traffic of a case is that at 16 bit, so that there is no roofline at other precisions.
    """
    plan = page.data.plan(row)
    if plan is None or row.value is None or row.precision not in SIXTEEN_BIT:
        return None
    accelerator = plan.accelerator or {}
    case = page.data.cases.get(row.case)
    peak = accelerator.get("peak_tflops", {}).get(row.precision)
    memory = bandwidth_limit(
        case.bytes_per_sample if case else None, gpus_total(row), accelerator.get("bandwidth_gb_per_s")
    )
    arithmetic = flop_limit(plan.gflops_per_sample, gpus_total(row), peak)
    return roofline_share(row.value, arithmetic, memory) if memory and arithmetic else None
