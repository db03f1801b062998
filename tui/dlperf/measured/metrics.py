"""Metrics of a trial: those that dlperf computes, and those that the log prints."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from math import isfinite

from dlperf.catalog.axes import SEQUENCE_LENGTH
from dlperf.catalog.plugins import METRICS, installed, load_plugin
from dlperf.catalog.units import counts_samples
from dlperf.evidence.columns import MOST, finite
from dlperf.formats.samples import PrintedMetric
from dlperf.measured.findings.gpu_errors import COUNTED
from dlperf.measured.model import MetricValue
from dlperf.measured.throughput.figure import Figure
from dlperf.measured.throughput.lost import LostTime, Straggler, lost_time, slowest_node, slowest_rank
from dlperf.measured.throughput.reading import Reading
from dlperf.measured.throughput.steady import reader_share
from dlperf.plan import PlannedConfiguration, PlannedMetric

PERCENTILE_LEAST = 20
"""Records that a 95th percentile needs for one to be above it."""
GB_PER_MIB = 2**20 / 1e9


@dataclass(frozen=True)
class Source:
    """What the metrics of a trial are computed from."""

    planned: PlannedConfiguration
    reading: Reading | None
    figure: Figure | None
    power_watts: float | None = None
    """Of all GPUs together."""
    peak_memory_mib: float | None = None
    package_watts: float | None = None
    """Of all processors together."""
    node_watts: float | None = None
    """Of all machines together."""
    gpu_errors: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """By ``gpu_errors.COUNTED``, of each GPU."""

    @property
    def printed(self) -> Mapping[str, PrintedMetric]:
        return self.reading.run.metrics if self.reading else {}

    @cached_property
    def throughput(self) -> float | None:
        """Samples per second of all GPUs; None where the figure is something else."""
        return self.figure.value if self.figure and counts_samples(self.figure.unit) else None

    @cached_property
    def step_seconds(self) -> Sequence[float]:
        """Seconds per step of each record of the measured window, as printed, else by timestamps with fractions."""
        if self.reading is None:
            return ()
        samples, window = self.reading.run.samples, self.window
        printed = finite(samples.seconds_per_step[window])
        if printed or self.reading.clock_resolution or self.reading.run.timed_on_arrival:
            return printed  # single steps are shorter than what these times are rounded to
        points = zip(samples.time[window], self.reading.steps_done[window], strict=True)
        known = [point for point in points if all(map(isfinite, point))]
        return [(b[0] - a[0]) / (b[1] - a[1]) for a, b in pairwise(known) if b[1] > a[1] and b[0] > a[0]]

    @cached_property
    def lost(self) -> LostTime | None:
        """What pauses took after the steps that the protocol skips."""
        return lost_time(self.reading, self.figure.skip) if self.reading and self.figure else None

    @property
    def window(self) -> slice:
        """The records used."""
        estimate = self.figure.estimate if self.figure else None
        if estimate is None or estimate.first is None or estimate.last is None:
            return slice(None)
        return slice(estimate.first, estimate.last + 1)


def _protocol(source: Source) -> float | None:
    return source.figure.value if source.figure else None


def _of_rate(name: str, source: Source) -> float | None:
    value: float | None = getattr(source.figure, name, None)
    return value if source.reading and counts_samples(source.reading.run.unit) else None


def _tokens(source: Source) -> float | None:
    if source.figure and source.figure.unit == "tokens/s":
        return source.throughput
    declared = source.reading.run.metadata.sequence_length if source.reading else None
    length = dict(source.planned.configuration.axes).get(SEQUENCE_LENGTH, declared)
    return source.throughput * length if source.throughput and isinstance(length, int) else None


def _model_tflops(source: Source) -> float | None:
    gflops = source.planned.gflops_per_sample
    return source.throughput * gflops / 1000 if source.throughput and gflops else None


def _mfu(source: Source) -> float | None:
    peak, tflops = source.planned.peak_tflops, _model_tflops(source)
    return 100 * tflops / (peak * source.planned.configuration.gpus_total) if tflops and peak else None


def _per_sample(source: Source, watts: float | None) -> float | None:
    return watts / source.throughput if watts and source.throughput else None


def _cost(source: Source) -> float | None:
    planned = source.planned
    if planned.price is None or not source.throughput:
        return None
    return planned.price.amount * planned.configuration.gpus_total * 1e6 / (3600 * source.throughput)


def _step_time(source: Source) -> float | None:
    return statistics.median(source.step_seconds) if source.step_seconds else None


def _step_time_p95(source: Source) -> float | None:
    return percentile_95(source.step_seconds) if len(source.step_seconds) >= PERCENTILE_LEAST else None


def _most_errors(name: str, source: Source) -> float | None:
    return max(source.gpu_errors.get(name, ()), default=None)


def _lost(kind: str, source: Source) -> float | None:
    if source.lost is None:
        return None
    share = source.lost.share_of(kind) if kind else source.lost.share
    return None if share is None else 100 * share


def _waiting(source: Source) -> float | None:
    reading = source.reading
    if reading is None or not finite(reading.run.samples.reader_share[source.window]):
        return None
    return 100 * reader_share(reading, source.window)


def _excess(find: Callable[[Reading], Straggler | None], source: Source) -> float | None:
    found = find(source.reading) if source.reading else None
    return 100 * found.excess if found else None


def _final_loss(source: Source) -> float | None:
    losses = finite(source.reading.run.samples.loss) if source.reading else ()
    return losses[-1] if losses else None


COMPUTED: dict[str, Callable[[Source], float | None]] = {
    "protocol": _protocol,
    "goodput": partial(_of_rate, "goodput"),
    "steady": partial(_of_rate, "steady"),
    "paused": partial(_lost, ""),
    "evaluation": partial(_lost, "evaluation"),
    "checkpoint": partial(_lost, "checkpoint"),
    "waiting": _waiting,
    "slowest_rank": partial(_excess, slowest_rank),
    "slowest_node": partial(_excess, slowest_node),
    "tokens": _tokens,
    "step_time": _step_time,
    "step_time_p95": _step_time_p95,
    "model_tflops": _model_tflops,
    "mfu": _mfu,
    "peak_memory": lambda source: source.peak_memory_mib and source.peak_memory_mib * GB_PER_MIB,
    "energy": lambda source: _per_sample(source, source.power_watts),
    "package_energy": lambda source: _per_sample(source, source.package_watts),
    "node_energy": lambda source: _per_sample(source, source.node_watts),
    "cost": _cost,
    "final_loss": _final_loss,
    **{name: partial(_most_errors, name) for name in COUNTED},
}
"""By the estimator of the catalogue."""
MERGED: dict[str, Callable[[Sequence[float]], float]] = {
    "last": lambda values: values[-1],
    "mean": statistics.fmean,
    "median": statistics.median,
    "p95": lambda values: percentile_95(values),
    "min": min,
    "max": max,
    "final_loss": lambda values: values[-1],
}
"""How printed values become one, by the estimator; the median where dlperf would compute it but lacks a fact."""
TOTALS = ("protocol", "tokens", "model_tflops")
"""Of these, those of all GPUs together."""


def percentile_95(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=20, method="inclusive")[-1] if len(values) > 1 else values[0]


def metrics_of(source: Source) -> tuple[MetricValue, ...]:
    """Return the metrics of the plan that the trial gives, the primary one first if it does, and others of the log."""
    planned = source.planned.metrics or (source.planned.primary,)
    known = filter(None, (_measured(source, metric) for metric in planned))
    names = {metric.id for metric in planned}
    further = (
        MetricValue(name, printed.values[-1], printed.unit, printed.direction)
        for name, printed in source.printed.items()
        if name not in names
    )
    return (*known, *further)


def _measured(source: Source, metric: PlannedMetric) -> MetricValue | None:
    """Return what dlperf computes, else what the log prints."""
    value, unit = _computed(source, metric), metric.unit
    printed = source.printed.get(metric.id)
    if value is None and printed is not None:
        value, unit = MERGED.get(metric.estimator, statistics.median)(printed.values), printed.unit or unit
    if value is None or not abs(value) <= MOST:
        return None
    return MetricValue(metric.id, value, unit, metric.direction, metric.scope, metric.basis)


def _computed(source: Source, metric: PlannedMetric) -> float | None:
    if metric.estimator not in COMPUTED and metric.estimator in installed(METRICS):
        value: float | None = load_plugin(METRICS, metric.estimator)(source)
        return value
    computed = COMPUTED[metric.estimator](source) if metric.estimator in COMPUTED else None
    if computed is None or metric.estimator not in TOTALS:
        return computed
    point = source.planned.configuration
    return computed / {"global": 1, "per_gpu": point.gpus_total, "per_node": point.nodes}[metric.scope]
