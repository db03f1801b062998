"""How long a plan takes, from earlier trials."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from dlperf.plan import Configuration, Plan


@dataclass(frozen=True)
class Estimate:
    """How long a plan takes, from earlier trials."""

    seconds: float
    """Of the machine that takes longest; machines work side by side."""
    unknown: int
    """Configurations without any earlier trial to go by; they are not in ``seconds``."""


def trial_seconds(point: Configuration, history: Mapping[str, float], by_kind: Mapping[str, float]) -> float | None:
    """How long one trial takes: as the same configuration did, else as the same framework and case did there."""
    return history.get(point.id) or by_kind.get(_kind(point))


def seconds_by_kind(history: Mapping[str, float]) -> dict[str, float]:
    """Median seconds of the configurations of each hardware, framework and case."""
    kinds: dict[str, list[float]] = defaultdict(list)
    for configuration, seconds in history.items():
        kinds["_".join(configuration.split("_")[:3])].append(seconds)
    return {kind: median(values) for kind, values in kinds.items()}


def _kind(point: Configuration) -> str:
    return f"{point.hardware}_{point.framework}_{point.case}"


def estimate(plan: Plan, history: Mapping[str, float]) -> Estimate:
    """How long the plan takes."""
    by_kind = seconds_by_kind(history)
    machines: dict[str, float] = defaultdict(float)
    unknown = 0
    for item in plan.configurations:
        one = trial_seconds(item.configuration, history, by_kind)
        if one is None:
            unknown += 1
        else:
            machines[item.configuration.hardware] += one * item.repeats
    return Estimate(max(machines.values(), default=0.0), unknown)
