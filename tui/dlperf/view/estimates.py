"""Estimate how long a plan takes from earlier trials."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from dlperf.plan import Configuration, Plan


@dataclass(frozen=True)
class Estimate:
    seconds: float
    """Of the machine that takes longest; machines run in parallel."""
    unknown: int
    """Configurations without an earlier trial; not in ``seconds``."""


def expected_seconds(point: Configuration, history: Mapping[str, float], by_kind: Mapping[str, float]) -> float | None:
    """Return the seconds of a trial from those of its configuration, else of its hardware, framework and case."""
    return history.get(point.id) or by_kind.get(f"{point.hardware}_{point.framework}_{point.case}")


def seconds_by_kind(history: Mapping[str, float]) -> dict[str, float]:
    kinds: dict[str, list[float]] = defaultdict(list)
    for configuration, seconds in history.items():
        kinds["_".join(configuration.split("_")[:3])].append(seconds)
    return {kind: median(values) for kind, values in kinds.items()}


def estimate(plan: Plan, history: Mapping[str, float]) -> Estimate:
    by_kind = seconds_by_kind(history)
    machines: dict[str, float] = defaultdict(float)
    unknown = 0
    for item in plan.configurations:
        one = expected_seconds(item.configuration, history, by_kind)
        if one is None:
            unknown += 1
        else:
            machines[item.configuration.hardware] += one * item.repeats
    return Estimate(max(machines.values(), default=0.0), unknown)
