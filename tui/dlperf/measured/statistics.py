"""Trials → one value with its spread; outliers; scaling; limits of the hardware."""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from dlperf.catalog.units import Aggregation, Direction
from dlperf.errors import RequestError

OUTLIER_Z_SCORE = 3.5
"""Modified z-score above which a value is an outlier: Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993."""
NORMAL_DEVIATION = 0.6745
"""Median absolute deviation of a normal distribution, in standard deviations."""
MINIMUM_DISTANCE = 0.02
"""Smallest relative distance from the median of an outlier, however alike the other values are."""


@dataclass(frozen=True)
class Aggregate:
    """The trials of one configuration as one value."""

    value: float
    spread: float | None
    """(max - min) / median; None for a single trial and for a median of 0."""
    n: int


def aggregate(
    values: Sequence[float],
    how: Aggregation = "median",
    direction: Direction = "higher",
    without: int = 0,
    drop: int = 1,
) -> Aggregate:
    """Aggregate trials to their median, their mean, or (``olympic``) the mean without the best and the worst.

    Args:
        direction: which values are better.
        without: trials without a value: as MLPerf has it, they are the worst of an olympic mean.
        drop: how many of the best, and of the worst, an olympic mean leaves out; the median where none would be left.

    Raises:
        RequestError: there is no value.
    """
    if not values:
        raise RequestError("no trial gave a throughput: nothing to aggregate")
    median = statistics.median(values)
    spread = (max(values) - min(values)) / abs(median) if len(values) > 1 and median else None
    if how == "median" or (how == "olympic" and len(values) + without < olympic_least(drop)):
        return Aggregate(median, spread, len(values))
    end = len(values) - max(drop - without, 0)
    kept = values if how == "mean" else sorted(values, reverse=direction == "higher")[drop:end]
    return Aggregate(statistics.fmean(kept), spread, len(values))


def olympic_least(drop: int) -> int:
    """Return the trials of which an olympic mean leaves one."""
    return 2 * drop + 1


def outliers(values: Sequence[float]) -> tuple[int, ...]:
    """Return the indices of the values above ``OUTLIER_Z_SCORE``; none among fewer than five values."""
    if len(values) < 5:
        return ()
    centre = statistics.median(values)
    deviations = [abs(value - centre) for value in values]
    least = max(OUTLIER_Z_SCORE / NORMAL_DEVIATION * statistics.median(deviations), MINIMUM_DISTANCE * abs(centre))
    return tuple(index for index, deviation in enumerate(deviations) if deviation > least)


def speedup(value: float, single_gpu: float | None) -> float | None:
    return value / single_gpu if single_gpu else None


def efficiency(value: float, single_gpu: float | None, gpus: int) -> float | None:
    """Divide the speed-up by the number of GPUs; None without the 1-GPU baseline."""
    gain = speedup(value, single_gpu)
    return None if gain is None else gain / gpus


def mfu(gflops_per_sample: float | None, throughput: float, gpus: int, peak_tflops: float | None) -> float | None:
    """Return model FLOP utilisation: FLOP per second of the model over the dense peak of all GPUs at that precision.

    Args:
        gflops_per_sample: forward and backward of one sample, in 10^9 FLOP.
        throughput: samples per second of all GPUs.
        peak_tflops: dense peak of one GPU, in 10^12 FLOP/s.
    """
    limit = flop_limit(gflops_per_sample, gpus, peak_tflops)
    return None if limit is None else throughput / limit


def flop_limit(gflops_per_sample: float | None, gpus: int, peak_tflops: float | None) -> float | None:
    """Return the samples per second that the dense peak of all GPUs allows; None if either argument is unknown."""
    return gpus * peak_tflops * 1000 / gflops_per_sample if gflops_per_sample and peak_tflops else None


def bandwidth_limit(bytes_per_sample: float | None, gpus: int, bandwidth_gb_per_s: float | None) -> float | None:
    """Return the samples per second that the memory bandwidth of all GPUs allows; None if an argument is unknown."""
    return gpus * bandwidth_gb_per_s * 1e9 / bytes_per_sample if bytes_per_sample and bandwidth_gb_per_s else None


def roofline_share(throughput: float, *limits: float | None) -> float | None:
    """Divide throughput by the lowest known limit; None if none is known."""
    known = [limit for limit in limits if limit is not None]
    return throughput / min(known) if known else None


def samples_per_joule(throughput: float, power_watts: float | None) -> float | None:
    """Divide throughput by the power of all GPUs together; None if power was not sampled."""
    return throughput / power_watts if power_watts else None


def variation(values: Sequence[float]) -> float | None:
    """Return the standard deviation over the mean; None for fewer than two values or a mean of 0."""
    mean = fmean(values) if len(values) > 1 else 0.0
    return stdev(values) / abs(mean) if mean else None


def pooled_variation(groups: Iterable[Sequence[float]]) -> float | None:
    """Return the relative standard deviation within groups, such as of one configuration on several machines."""
    known = [(len(group) - 1, share) for group in groups if (share := variation(group)) is not None]
    freedom = sum(count for count, _ in known)
    return math.sqrt(sum(count * share**2 for count, share in known) / freedom) if freedom else None
