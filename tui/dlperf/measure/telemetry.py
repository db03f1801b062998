"""What the GPUs themselves say of a trial: throttled, not alone, or one slower than the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from dlperf.measure.finding import Finding, note, warning
from dlperf.messages import Message, message

THROTTLE_REASONS = {
    0x08: ("hw_slowdown", "warning"),
    0x40: ("hw_thermal_slowdown", "warning"),
    0x80: ("hw_power_brake", "warning"),
    0x20: ("sw_thermal_slowdown", "warning"),
    0x04: ("sw_power_cap", "note"),
}
"""Bits of ``clocks_event_reasons.active`` (NVML, nvmlClocksEventReasons): code, severity.

A power cap is how every busy GPU is kept within its limit; the others slow a GPU that could run faster.
"""


SLOWER_CLOCK = 0.97
"""Mean clock of the slowest GPU over that of the others, below which it is said.

Of four H200 at their power limit, those within 3 % of each other gave 98 % of four times one, those with one 6 %
below gave 96 %.
"""
READINGS = 5
"""Of a GPU's clock, fewer than which say nothing: it moves from second to second."""


DISTURBANCES = frozenset(
    {"contended_gpu", *(code for code, severity in THROTTLE_REASONS.values() if severity == "warning")}
)
"""Findings that say that a trial's GPUs were not free to do what they can: such a trial is repeated once."""


def disturbance(findings: Iterable[Finding]) -> Message | None:
    """What disturbed the GPUs of a trial; None where nothing did."""
    return next((finding.message for finding in findings if finding.code in DISTURBANCES), None)


@dataclass(frozen=True)
class GpuReading:
    """One GPU at one moment."""

    gpu: str
    """Names the GPU over all nodes: ``node1:0``."""
    throttle_reasons: int | None = None
    """``clocks_event_reasons.active`` as a bit mask; None where the driver does not tell."""
    foreign_processes: int | None = None
    """Processes on the GPU that do not belong to the trial; None where that was not sampled."""
    sm_clock_mhz: float | None = None
    """Clock of its multiprocessors; None where that was not sampled."""


def findings_of_telemetry(readings: Iterable[GpuReading]) -> tuple[Finding, ...]:
    """Throttled and contended GPUs of one trial, over its measured window, and one for which the others wait."""
    rows = list(readings)
    found = [_throttled(rows, bit) for bit in THROTTLE_REASONS]
    return tuple(finding for finding in [_contended(rows), *found, _slower(rows)] if finding)


def _contended(rows: Sequence[GpuReading]) -> Finding | None:
    gpus = sorted({row.gpu for row in rows if row.foreign_processes})
    if not gpus:
        return None
    return warning("contended_gpu", gpus=_listed(gpus))


def _throttled(rows: Sequence[GpuReading], bit: int) -> Finding | None:
    told = [row for row in rows if row.throttle_reasons is not None]
    hit = [row for row in told if (row.throttle_reasons or 0) & bit]
    if not hit:
        return None
    code, severity = THROTTLE_REASONS[bit]
    gpus = _listed(sorted({row.gpu for row in hit}))
    return Finding(message(code, gpus=gpus, share=len(hit) / len(told)), severity)


def _slower(rows: Sequence[GpuReading]) -> Finding | None:
    clocks: dict[str, list[float]] = {}
    for row in rows:
        clocks.setdefault(row.gpu, []).extend([] if row.sm_clock_mhz is None else [row.sm_clock_mhz])
    if len(clocks) < 2 or any(len(told) < READINGS for told in clocks.values()):
        return None
    means = {gpu: fmean(told) for gpu, told in clocks.items()}
    slowest = min(means, key=means.__getitem__)
    others = fmean(mean for gpu, mean in means.items() if gpu != slowest)
    if means[slowest] >= SLOWER_CLOCK * others:
        return None
    return note("slower_gpu", gpu=_listed([slowest]), clock=means[slowest], others=others)


def _listed(gpus: Sequence[str]) -> Message:
    if len(gpus) == 1:
        return message("one_gpu", name=gpus[0])
    return message("several_gpus", count=len(gpus), names=", ".join(gpus[:4]) + ", …" * (len(gpus) > 4))
