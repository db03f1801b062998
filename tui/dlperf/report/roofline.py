"""How far a figure is from what its hardware allows."""

from __future__ import annotations

from dlperf.measure.statistics import bandwidth_limit, flop_limit, roofline_share
from dlperf.report.data import SiteData, gpus_total
from dlperf.results.model import ConfigurationResult

SIXTEEN_BIT = ("fp16", "bf16", "amp")


def roofline(data: SiteData, row: ConfigurationResult) -> float | None:
    """The figure over what the slower of arithmetic and memory traffic allows; None where the plan does not tell.

    The traffic of a case is that at 16 bit, so that there is no roofline at other precisions.
    """
    plan = data.plan(row)
    if plan is None or row.value is None or row.precision not in SIXTEEN_BIT:
        return None
    accelerator = plan.accelerator or {}
    case = data.cases.get(row.case)
    peak = accelerator.get("peak_tflops", {}).get(row.precision)
    memory = bandwidth_limit(
        case.bytes_per_sample if case else None, gpus_total(row), accelerator.get("bandwidth_gb_per_s")
    )
    arithmetic = flop_limit(plan.gflops_per_sample, gpus_total(row), peak)
    return roofline_share(row.value, arithmetic, memory) if memory and arithmetic else None
