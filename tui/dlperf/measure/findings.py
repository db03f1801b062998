"""What a careful reader must know of a run, of its trials, of a scaling series and of the machine."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from itertools import pairwise

from dlperf.measure.finding import Finding, warning
from dlperf.measure.run_findings import findings_of_run
from dlperf.measure.telemetry import findings_of_telemetry

__all__ = ["findings_of_run", "findings_of_scaling", "findings_of_telemetry", "findings_of_trials"]

TRIALS_LIMIT = 0.02
"""Coefficient of variation between trials; healthy nodes repeat within 1 %."""
SUPER_LINEAR_LIMIT = 1.03
"""Efficiency beyond this only a wrong baseline gives, as in published tables: FleetX VGG16 AMP 102 %, Paddle 103 %."""


def findings_of_trials(values: Sequence[float], repeats: int | None = None) -> tuple[Finding, ...]:
    """What is odd between the trials of one configuration; ``repeats`` is what the protocol asks for."""
    found = []
    if repeats is not None and 0 < len(values) < repeats:
        found.append(warning("too_few_trials", count=len(values), repeats=repeats))
    if len(values) > 1:
        variation = statistics.stdev(values) / statistics.fmean(values)
        if variation > TRIALS_LIMIT:
            found.append(warning("trial_spread", lowest=min(values), highest=max(values), variation=variation))
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
    return [warning("super_linear", gpus=gpus, speedup=speedup, efficiency=speedup / gpus)]


def _rising(fewer: int, more: int, gain: float) -> list[Finding]:
    if gain <= SUPER_LINEAR_LIMIT:
        return []
    return [warning("efficiency_rises", more=more, gain=gain - 1, fewer=fewer)]
