"""Findings about windows, repeated trials and scaling series."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from dlperf.measured.statistics import variation
from dlperf.messages.finding import Finding, note, warning

WINDOW_SECONDS = 20
"""Shortest measured window of a claim; a protocol that asks for a time must reach it."""
WINDOW_READINGS = 20
"""Fewest readings of telemetry in it."""
TRIALS_LIMIT = 0.02
"""Coefficient of variation between trials; healthy nodes repeat within 1 %."""
SUPER_LINEAR_LIMIT = 1.03
"""Only a wrong baseline gives a higher efficiency, as in published tables: FleetX VGG16 AMP 102 %, Paddle 103 %."""


def findings_of_window(seconds: float | None, readings: int | None) -> tuple[Finding, ...]:
    """Check the measured window of a trial under a protocol that asks for a time.

    Args:
        readings: telemetry of the GPU with the fewest; None without telemetry of GPUs.
    """
    found = []
    if seconds is not None and seconds < WINDOW_SECONDS:
        found.append(warning("short_window", seconds=seconds, least=WINDOW_SECONDS))
    if readings is not None and readings < WINDOW_READINGS:
        found.append(note("few_readings", count=readings, least=WINDOW_READINGS))
    return tuple(found)


def findings_of_trials(values: Sequence[float], repeats: int | None = None) -> tuple[Finding, ...]:
    """Check the trials of one configuration; ``repeats`` is how many were planned."""
    found = []
    if repeats is not None and 0 < len(values) < repeats:
        found.append(warning("too_few_trials", count=len(values), repeats=repeats))
    elif len(values) == 1:
        found.append(warning("measured_once"))
    share = variation(values) or 0.0
    if share > TRIALS_LIMIT:
        found.append(warning("trial_spread", lowest=min(values), highest=max(values), variation=share))
    return tuple(found)


def findings_of_scaling(values: Mapping[int, float]) -> dict[int, tuple[Finding, ...]]:
    """Check a scaling series of one configuration on one hardware: GPUs → findings of that point.

    Args:
        values: GPUs over all nodes → throughput of all of them.
    """
    found: dict[int, list[Finding]] = {gpus: [] for gpus in values}
    for gpus in values:
        speedup = values[gpus] / values[1] if 1 in values else 0.0
        if gpus > 1 and speedup > SUPER_LINEAR_LIMIT * gpus:
            found[gpus].append(warning("super_linear", gpus=gpus, speedup=speedup, efficiency=speedup / gpus))
    for fewer, more in pairwise(sorted(values)):
        gain = (values[more] / more) / (values[fewer] / fewer)
        if gain > SUPER_LINEAR_LIMIT:
            found[more].append(warning("efficiency_rises", more=more, gain=gain - 1, fewer=fewer))
    return {gpus: tuple(findings) for gpus, findings in found.items()}
