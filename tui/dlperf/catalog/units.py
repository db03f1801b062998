"""Units and directions of metrics."""

import re
from typing import Literal

Direction = Literal["higher", "lower"]
"""Which values are better."""
Scope = Literal["global", "per_gpu", "per_node"]
Aggregation = Literal["median", "mean", "olympic"]
"""How repeats become one value."""
CompileCache = Literal["fresh", "shared"]
"""Whether each trial begins without compiled programs, or finds those of the earlier trials of its configuration."""

ENERGIES = ("energy", "package_energy", "node_energy")
"""Estimators per token, image or whatever else throughput counts."""
VARYING_UNITS = ("tokens/s", "words/s", "items/s")
"""Units whose count per step differs from step to step, so that a batch size does not give it."""
_TIME = re.compile(r"ns|us|µs|ms|s|min|h")
_COUNTED = re.compile(r"([a-z ]+(?<!che)(?<!ie))s/s")
_SAMPLES = re.compile(r"(?!(?:bits|bytes|flops)/)[a-z ]+s/s|")


def is_time(unit: str) -> bool:
    return _TIME.fullmatch(unit) is not None


def default_metric(unit: str) -> str:
    """Return the metric of cases that name none: throughput, or duration where the unit is one of time."""
    return "duration" if is_time(unit) else "throughput"


def is_rate(unit: str, direction: str) -> bool:
    """Whether values of several GPUs add up, so that speed-up and efficiency have a meaning."""
    return direction == "higher" and unit.endswith("/s")


def of_counted(unit: str, throughput: str) -> str:
    """Return a unit per sample, such as ``J/sample``, with what a unit of throughput counts: ``J/token``."""
    counted = _COUNTED.fullmatch(throughput)
    return unit.replace("sample", counted[1]) if counted else unit


def counts_samples(unit: str) -> bool:
    """Whether a unit is one of training throughput, such as images/s, which steps, batch size and time give, too."""
    return _SAMPLES.fullmatch(unit) is not None
