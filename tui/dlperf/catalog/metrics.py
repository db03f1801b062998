"""Metrics: what a trial measures, and protocols: how its samples become a value."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from dlperf.catalog.entry import Entry, MetricId, PositiveInt
from dlperf.catalog.plugins import METRICS, or_installed
from dlperf.catalog.units import Aggregation, CompileCache, Direction, Scope

Printed = Literal["last", "mean", "median", "p95", "min", "max"]
"""How the values that a log prints under the metric's id become one."""
Computed = Literal[
    "protocol",
    "goodput",
    "steady",
    "paused",
    "evaluation",
    "checkpoint",
    "waiting",
    "slowest_rank",
    "slowest_node",
    "tokens",
    "step_time",
    "step_time_p95",
    "model_tflops",
    "mfu",
    "peak_memory",
    "energy",
    "package_energy",
    "node_energy",
    "cost",
    "final_loss",
    "memory_errors_corrected",
    "memory_errors_uncorrected",
    "driver_errors",
]
"""What dlperf computes a metric from; each is a function of ``dlperf.measured.metrics``.

``protocol`` is the value under the case's protocol.
"""


Need = Literal["one_framework", "equal_steps", "readings"]
"""What a fair comparison needs: versions of one framework, runs of equal length, enough readings of telemetry."""


class Metric(Entry):
    """A measured quantity."""

    id: MetricId
    """Its name in commands, files and references."""
    unit: Annotated[str, StringConstraints(max_length=30)] | None = None
    """That of the case if absent. Of energies, ``sample`` stands for what throughput counts."""
    direction: Direction = "higher"
    """Which values are better."""
    scope: Scope = "global"
    """A computed value is divided by the GPUs or nodes; a printed one is taken as it is."""
    estimator: Annotated[Computed | Printed, or_installed(METRICS)] = "last"
    """Where the value comes from, also a function of an installed package; from ``last`` on, a statistic of what the
    log prints."""
    everywhere: bool = False
    """Whether cases that name no metrics have it."""
    needs: tuple[Need, ...] = ()
    """Without which a comparison of it gives no verdict."""


class Protocol(Entry):
    """Steps to run, estimator, repeats, and how repeats become one value."""

    skip_steps: Annotated[int, Field(ge=0)] = 0
    """Warm-up that does not count."""
    take_steps: PositiveInt | None = None
    """None: to the end of the run."""
    seconds: PositiveInt | None = None
    """Least time that a training program runs, where the number of steps does not decide."""
    estimator: str
    """For example ``rate(skip=20, take=100)``; all are listed below under "Estimators"."""
    repeats: PositiveInt = 1
    """Trials of a configuration."""
    uncounted: Annotated[int, Field(ge=0)] = 0
    """Trials before those, which do not count; none where fewer than five repeats are wanted."""
    compile_cache: CompileCache = "fresh"
    """Of what is compiled at run time: empty for each trial, or shared by the trials of a configuration."""
    aggregate: Aggregation = "median"
    """``olympic`` drops the best and the worst and takes the mean of the rest."""
    drop: PositiveInt = 1
    """How many of the best, and of the worst, ``olympic`` drops."""
    pause_seconds: Annotated[float, Field(ge=0)] = 0.0
    """For a machine to rest between two trials."""
