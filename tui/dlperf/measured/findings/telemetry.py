"""Findings from GPU telemetry: throttling, contention, a GPU slower than the others, one without work."""

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
IDLE = 0.05
"""Share of the window without a kernel above which it is reported.

Of 465 kept trials on H100 and H200 nine in ten kept their GPU at work for 96 % of the window or more.
"""
FOREIGN_LOAD = 0.1
"""Share of the processors that others may use: less is an idle system and the engine itself."""
MINIMUM_READINGS = 5
"""A GPU's clock varies from second to second: fewer readings give no mean."""
DISTURBANCES = frozenset(
    {"contended_gpu", "halted", *(code for code, severity in THROTTLE_REASONS.values() if severity == "warning")}
)
"""Codes of findings after which a trial is repeated once."""


def disturbance(findings: Iterable[Finding]) -> Message | None:
    return next((finding.message for finding in findings if finding.code in DISTURBANCES), None)


def findings_of_telemetry(readings: Iterable[GpuReading]) -> tuple[Finding, ...]:
    """Report throttled, contended and idle GPUs of a trial's measured window, and one that the others wait for."""
    rows = list(readings)
    found = [_contended(rows), *(_throttled(rows, bit) for bit in THROTTLE_REASONS), _slower(rows), _idle(rows)]
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
    means = _means((row.gpu, row.sm_clock_mhz) for row in rows)
    if len(means) < 2:
        return None
    slowest = min(means, key=means.__getitem__)
    others = fmean(mean for gpu, mean in means.items() if gpu != slowest)
    if means[slowest] >= SLOWER_CLOCK * others:
        return None
    return note("slower_gpu", gpu=_gpu_names([slowest]), clock=means[slowest], others=others)


def idle_share(readings: Iterable[GpuReading]) -> float | None:
    """Return in which share of the time no kernel ran on the GPU that worked least; None with too few readings."""
    return max(_idle_shares(readings).values(), default=None)


def _idle(rows: Sequence[GpuReading]) -> Finding | None:
    shares = _idle_shares(rows)
    idlest = max(shares, key=shares.__getitem__, default="")
    return note("idle_gpu", gpu=_gpu_names([idlest]), share=shares[idlest]) if shares.get(idlest, 0.0) > IDLE else None


def _idle_shares(readings: Iterable[GpuReading]) -> dict[str, float]:
    return {gpu: 1 - mean / 100 for gpu, mean in _means((row.gpu, row.utilization_percent) for row in readings).items()}


def _means(readings: Iterable[tuple[str, float | None]]) -> dict[str, float]:
    """Return the mean of each GPU; none where one has too few readings."""
    values: dict[str, list[float]] = {}
    for gpu, value in readings:
        values.setdefault(gpu, []).extend([] if value is None else [value])
    enough = min(map(len, values.values()), default=0) >= MINIMUM_READINGS
    return {gpu: fmean(each) for gpu, each in values.items()} if enough else {}


def _gpu_names(gpus: Sequence[str]) -> Message:
    if len(gpus) == 1:
        return message("one_gpu", name=gpus[0])
    return message("several_gpus", count=len(gpus), names=", ".join(gpus[:4]) + ", …" * (len(gpus) > 4))
