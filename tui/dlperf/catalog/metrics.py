"""Metrics: what a trial measures beside or in place of throughput."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import StringConstraints

from dlperf.catalog.model import Entry, MetricId
from dlperf.catalog.units import Direction, Scope

Printed = Literal["last", "mean", "median", "p95", "min", "max"]
"""How the values that a log prints under the metric's id become one."""
Source = Literal[
    "protocol",
    "tokens",
    "step_time",
    "step_time_p95",
    "model_tflops",
    "mfu",
    "peak_memory",
    "energy",
    "final_loss",
]
"""What dlperf computes a metric from; each is a function of ``dlperf.results.metrics``.

``protocol`` is the value under the case's protocol.
"""


class Metric(Entry):
    """A measured quantity."""

    id: MetricId
    unit: Annotated[str, StringConstraints(max_length=30)] | None = None
    """That of the case if absent."""
    direction: Direction = "higher"
    scope: Scope = "global"
    """A computed value is divided by the GPUs or nodes; a printed one is taken as it is."""
    estimator: Source | Printed = "last"
