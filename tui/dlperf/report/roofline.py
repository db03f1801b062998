"""Throughput relative to the limit of its hardware."""

from __future__ import annotations

from dlperf.measure.statistics import bandwidth_limit, flop_limit, roofline_share
from dlperf.report.data import SiteData, gpus_total
from dlperf.results.model import ConfigurationResult

SIXTEEN_BIT = ("fp16", "bf16", "amp")


def roofline(data: SiteData, row: ConfigurationResult) -> float | None:
    """Return throughput over the lower limit of arithmetic and memory bandwidth; None if unknown.

    The memory traffic of a case is known at 16 bit only.
    """
    plan = data.plan(row)
    if plan is None or row.value is None or row.precision not in SIXTEEN_BIT:
        return None
    accelerator = plan.accelerator or {}
    case = data.cases.get(row.case)
    peak = accelerator.get("peak_tflops", {}).get(row.precision)
    traffic, bandwidth = case.bytes_per_sample if case else None, accelerator.get("bandwidth_gb_per_s")
    memory = bandwidth_limit(traffic, gpus_total(row), bandwidth)
    arithmetic = flop_limit(plan.gflops_per_sample, gpus_total(row), peak)
    return roofline_share(row.value, arithmetic, memory) if memory and arithmetic else None
