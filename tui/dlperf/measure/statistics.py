"""Trials → one value with its spread; scaling; what the hardware could do. All computed, never typed."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dlperf.errors import RequestError

Aggregation = Literal["median", "mean", "olympic"]

OLYMPIC_LEAST = 3
"""MLPerf Training drops the best and the worst run: three are needed for one to remain."""


@dataclass(frozen=True)
class Aggregate:
    """Several trials of one configuration as one value."""

    value: float
    spread: float | None
    """(max - min) / median; None of a single trial."""
    n: int


def aggregate(values: Sequence[float], how: Aggregation = "median") -> Aggregate:
    """Trials as one value: their median, their mean, or (``olympic``) the mean without the best and the worst.

    Raises:
        RequestError: there is no value, or fewer than three for ``olympic``.
    """
    if not values:
        raise RequestError("no trial gave a figure: nothing to aggregate")
    if how == "olympic" and len(values) < OLYMPIC_LEAST:
        raise RequestError(
            f"olympic drops the best and the worst: {len(values)} trials are too few, run {OLYMPIC_LEAST}"
        )
    return Aggregate(
        value=_centre(values, how),
        spread=(max(values) - min(values)) / statistics.median(values) if len(values) > 1 else None,
        n=len(values),
    )


def _centre(values: Sequence[float], how: Aggregation) -> float:
    if how == "median":
        return statistics.median(values)
    return statistics.fmean(values if how == "mean" else sorted(values)[1:-1])


def speedup(value: float, single_gpu: float | None) -> float | None:
    """Value over that of 1 GPU of the same configuration on the same hardware; None without that baseline."""
    return value / single_gpu if single_gpu else None


def efficiency(value: float, single_gpu: float | None, gpus: int) -> float | None:
    """Speed-up over the number of GPUs; None without the 1-GPU baseline."""
    gain = speedup(value, single_gpu)
    return None if gain is None else gain / gpus


def mfu(gflops_per_sample: float | None, throughput: float, gpus: int, peak_tflops: float | None) -> float | None:
    """Model FLOP utilisation: FLOP per second that the model needs, over the dense peak of all GPUs at that precision.

    Args:
        gflops_per_sample: forward and backward of one sample, in 10^9 FLOP.
        throughput: samples per second of all GPUs.
        peak_tflops: dense peak of one GPU, in 10^12 FLOP/s.
    """
    limit = flop_limit(gflops_per_sample, gpus, peak_tflops)
    return None if limit is None else throughput / limit


def flop_limit(gflops_per_sample: float | None, gpus: int, peak_tflops: float | None) -> float | None:
    """Samples per second that the dense peak of all GPUs allows; None where either figure is unknown."""
    return gpus * peak_tflops * 1000 / gflops_per_sample if gflops_per_sample and peak_tflops else None


def bandwidth_limit(bytes_per_sample: float | None, gpus: int, bandwidth_gb_per_s: float | None) -> float | None:
    """Samples per second that the memory bandwidth of all GPUs allows; None where either figure is unknown."""
    return gpus * bandwidth_gb_per_s * 1e9 / bytes_per_sample if bytes_per_sample and bandwidth_gb_per_s else None


def roofline_share(throughput: float, *limits: float | None) -> float | None:
    """Throughput over the lowest of the known limits; None where none is known."""
    known = [limit for limit in limits if limit is not None]
    return throughput / min(known) if known else None


def samples_per_joule(throughput: float, power_watts: float | None) -> float | None:
    """Samples for each joule that all GPUs together drew; None where power was not sampled."""
    return throughput / power_watts if power_watts else None
