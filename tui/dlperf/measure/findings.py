"""What a careful reader must know of a run, of its trials, of a scaling series and of the machine."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from itertools import pairwise

from dlperf.measure.finding import Finding, amount
from dlperf.measure.run_findings import findings_of_run
from dlperf.measure.telemetry import findings_of_telemetry
from dlperf.sentences import sentence

__all__ = ["findings_of_run", "findings_of_scaling", "findings_of_telemetry", "findings_of_trials"]

TRIALS_LIMIT = 0.02
"""Coefficient of variation between trials; healthy nodes repeat within 1 %."""
SUPER_LINEAR_LIMIT = 1.03
"""Efficiency beyond this only a wrong baseline gives, as in published tables: FleetX VGG16 AMP 102 %, Paddle 103 %."""


def findings_of_trials(values: Sequence[float], repeats: int | None = None) -> tuple[Finding, ...]:
    """What is odd between the trials of one configuration; ``repeats`` is what the protocol asks for."""
    found = []
    if repeats is not None and 0 < len(values) < repeats:
        found.append(Finding("too_few_trials", sentence("too_few_trials", count=len(values), repeats=repeats)))
    if len(values) > 1:
        variation = statistics.stdev(values) / statistics.fmean(values)
        if variation > TRIALS_LIMIT:
            limits = {"lowest": amount(min(values)), "highest": amount(max(values))}
            words = sentence("trial_spread", **limits, variation=f"{variation:.1%}")
            found.append(Finding("trial_spread", words))
    return tuple(found)


def findings_of_scaling(values: Mapping[int, float]) -> dict[int, tuple[Finding, ...]]:
    """What is odd in a scaling series of one configuration on one hardware: GPUs → findings of that point.

    Args:
        values: GPUs over all nodes → throughput of all of them.
    """
    found: dict[int, list[Finding]] = {gpus: [] for gpus in values}
    for gpus in values:
        if gpus > 1 and 1 in values:
            found[gpus] += _super_linear(gpus, values[gpus] / values[1])
    for fewer, more in pairwise(sorted(values)):
        found[more] += _rising(fewer, more, (values[more] / more) / (values[fewer] / fewer))
    return {gpus: tuple(findings) for gpus, findings in found.items()}


def _super_linear(gpus: int, speedup: float) -> list[Finding]:
    if speedup <= SUPER_LINEAR_LIMIT * gpus:
        return []
    told = {"gpus": gpus, "speedup": f"{speedup:.2f}", "efficiency": f"{speedup / gpus:.0%}"}
    return [Finding("super_linear", sentence("super_linear", **told))]


def _rising(fewer: int, more: int, gain: float) -> list[Finding]:
    if gain <= SUPER_LINEAR_LIMIT:
        return []
    words = sentence("efficiency_rises", more=more, gain=f"{gain - 1:.0%}", fewer=fewer)
    return [Finding("efficiency_rises", words)]
