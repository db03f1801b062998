"""Findings from GPU telemetry: throttling, contention, a GPU slower than the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from dlperf.evidence.columns import total
from dlperf.evidence.telemetry import GpuReading
from dlperf.messages import Message, message
from dlperf.messages.finding import Finding, Severity, note, warning

THROTTLE_REASONS: dict[int, tuple[str, Severity]] = {
    0x08: ("hw_slowdown", "warning"),
    0x40: ("hw_thermal_slowdown", "warning"),
    0x80: ("hw_power_brake", "warning"),
    0x20: ("sw_thermal_slowdown", "warning"),
    0x04: ("sw_power_cap", "note"),
}
"""Bits of ``clocks_event_reasons.active`` (NVML, nvmlClocksEventReasons): code, severity.

A power cap keeps every busy GPU within its limit; the others slow a GPU that could run faster.
"""
SLOWER_CLOCK = 0.97
"""Ratio of the slowest GPU's mean clock to that of the others below which it is reported.

Four H200 at their power limit with clocks within 3 % of each other reached 98 % of four times one GPU; with one clock
6 % lower they reached 96 %.
"""
FOREIGN_LOAD = 0.1
"""Share of the processors that others may use: less is an idle system and the engine itself."""
MINIMUM_READINGS = 5
"""A GPU's clock varies from second to second: fewer readings give no mean."""
DISTURBANCES = frozenset(
    {"contended_gpu", *(code for code, severity in THROTTLE_REASONS.values() if severity == "warning")}
)
"""Codes of findings after which a trial is repeated once."""


def disturbance(findings: Iterable[Finding]) -> Message | None:
    return next((finding.message for finding in findings if finding.code in DISTURBANCES), None)


def findings_of_telemetry(readings: Iterable[GpuReading]) -> tuple[Finding, ...]:
    """Report throttled and contended GPUs of a trial's measured window, and one that the others wait for."""
    rows = list(readings)
    found = [_contended(rows), *(_throttled(rows, bit) for bit in THROTTLE_REASONS), _slower(rows)]
    return tuple(finding for finding in found if finding)


def findings_of_processors(foreign_percents: Sequence[float]) -> tuple[Finding, ...]:
    """Report other processes on nodes without GPUs, from their share of the processors second by second.

    In a shorter window they must have used as much as is tolerated in one of ``MINIMUM_READINGS``.
    """
    used = total(foreign_percents) / 100
    if used <= FOREIGN_LOAD * max(len(foreign_percents), MINIMUM_READINGS):
        return ()
    return (warning("contended_cpu", share=used / len(foreign_percents)),)


def _contended(rows: Sequence[GpuReading]) -> Finding | None:
    gpus = sorted({row.gpu for row in rows if row.foreign_processes})
    return warning("contended_gpu", gpus=_gpu_names(gpus)) if gpus else None


def _throttled(rows: Sequence[GpuReading], bit: int) -> Finding | None:
    known = [row for row in rows if row.throttle_reasons is not None]
    throttled = [row for row in known if (row.throttle_reasons or 0) & bit]
    if not throttled:
        return None
    code, severity = THROTTLE_REASONS[bit]
    gpus = _gpu_names(sorted({row.gpu for row in throttled}))
    return Finding(message(code, gpus=gpus, share=len(throttled) / len(known)), severity)


def _slower(rows: Sequence[GpuReading]) -> Finding | None:
    clocks: dict[str, list[float]] = {}
    for row in rows:
        clocks.setdefault(row.gpu, []).extend([] if row.sm_clock_mhz is None else [row.sm_clock_mhz])
    if len(clocks) < 2 or min(map(len, clocks.values())) < MINIMUM_READINGS:
        return None
    means = {gpu: fmean(readings) for gpu, readings in clocks.items()}
    slowest = min(means, key=means.__getitem__)
    others = fmean(mean for gpu, mean in means.items() if gpu != slowest)
    if means[slowest] >= SLOWER_CLOCK * others:
        return None
    return note("slower_gpu", gpu=_gpu_names([slowest]), clock=means[slowest], others=others)


def _gpu_names(gpus: Sequence[str]) -> Message:
    if len(gpus) == 1:
        return message("one_gpu", name=gpus[0])
    return message("several_gpus", count=len(gpus), names=", ".join(gpus[:4]) + ", …" * (len(gpus) > 4))
