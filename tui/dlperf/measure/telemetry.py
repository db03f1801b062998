"""What the GPUs themselves say of a trial: throttled, or not alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dlperf.measure.finding import Finding
from dlperf.sentences import sentence

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


DISTURBANCES = frozenset(
    {"contended_gpu", *(code for code, severity in THROTTLE_REASONS.values() if severity == "warning")}
)
"""Findings that say that a trial's GPUs were not free to do what they can: such a trial is repeated once."""


def disturbance(findings: Iterable[Finding]) -> str | None:
    """What disturbed the GPUs of a trial, in words; None where nothing did."""
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


def findings_of_telemetry(readings: Iterable[GpuReading]) -> tuple[Finding, ...]:
    """Throttled and contended GPUs of one trial, over its measured window."""
    rows = list(readings)
    found = [_throttled(rows, bit) for bit in THROTTLE_REASONS]
    return tuple(finding for finding in [_contended(rows), *found] if finding)


def _contended(rows: Sequence[GpuReading]) -> Finding | None:
    gpus = sorted({row.gpu for row in rows if row.foreign_processes})
    if not gpus:
        return None
    return Finding("contended_gpu", sentence("contended_gpu", gpus=_listed(gpus)))


def _throttled(rows: Sequence[GpuReading], bit: int) -> Finding | None:
    told = [row for row in rows if row.throttle_reasons is not None]
    hit = [row for row in told if (row.throttle_reasons or 0) & bit]
    if not hit:
        return None
    code, severity = THROTTLE_REASONS[bit]
    gpus = _listed(sorted({row.gpu for row in hit}))
    return Finding(code, sentence(code, gpus=gpus, share=f"{len(hit) / len(told):.0%}"), severity)


def _listed(gpus: Sequence[str]) -> str:
    if len(gpus) == 1:
        return sentence("one_gpu", name=gpus[0])
    return sentence("several_gpus", count=len(gpus), names=", ".join(gpus[:4]) + ", …" * (len(gpus) > 4))
