"""Results that meet every condition of a claim."""

from __future__ import annotations

from dataclasses import replace
from statistics import median

from dlperf.catalog.axes import Configuration, field_values
from dlperf.measured.model import TrialResult
from dlperf.table.model import ConfigurationResult, Status

NUMERICS = {"weights": "fp32", "compute": "bf16"}
CONDITIONS = {"gpu.uuid": "GPU-1", "programs.a.py": "1", "libraries.nccl": "2.28.9"}
LOSSES = ((100, 2.0),)
TRIAL = TrialResult(
    1, "succeeded", window_seconds=30.0, telemetry_samples=30, conditions=CONDITIONS, numerics=NUMERICS, losses=LOSSES
)


def claimable(row: ConfigurationResult, *values: float, turn: int = 0) -> ConfigurationResult:
    """The row with these trials, by default five around its value, which began in turns with those of other rows.

    Args:
        turn: position of the row among those that ran in turns.
    """
    values = values or tuple((row.value or 0.0) * (1 + step / 10_000) for step in (-3, -1, 0, 1, 3))
    trials = [
        replace(TRIAL, number=number, value=value, unit=row.unit, started=f"2026-01-01T{number:02}:{turn:02}:00Z")
        for number, value in enumerate(values, 1)
    ]
    spread = (max(values) - min(values)) / median(values)
    row = replace(row, numerics=NUMERICS, trials=tuple(trials), n=len(values), spread=spread)
    return replace(row, value=median(values))


ROW = ConfigurationResult(
    *("box", "jax", "resnet50", "bf16", 256, 1, 1), campaign="c", unit="images/s", status=Status("measured")
)
LOW = claimable(ROW, 7000.0, 7001.0, 7003.0, 7004.0, 7008.0)
PYTORCH = replace(ROW, framework="pytorch")
HIGH = claimable(PYTORCH, 7600.0, 7601.0, 7603.0, 7604.0, 7608.0, turn=1)


def of_trials(row: ConfigurationResult, **changes: object) -> ConfigurationResult:
    return replace(row, trials=tuple(replace(trial, **changes) for trial in row.trials))  # type: ignore[arg-type]


Values = tuple[float, ...]
STEADY = (100.0, 100.03, 99.98, 100.01, 99.97, 100.02, 99.99)
NOISY = (100.0, 106.0, 95.0, 104.0, 97.0, 103.0, 94.0)
PAIRS: dict[str, tuple[Values, Values]] = {
    "better": (STEADY, tuple(value * 1.1 for value in STEADY)),
    "worse": (STEADY, tuple(value * 0.9 for value in STEADY)),
    "same": (STEADY, STEADY[::-1]),
    "cannot_tell": (NOISY, tuple(value * 0.97 for value in NOISY[::-1])),
}


def row(*values: float, framework: str = "alpha", campaign: str = "one", gpu: str = "1", turn: int = 0):
    point = Configuration("box", framework, "lenet5", "fp32", 32, 1, 1)
    known = {"unit": "images/s", "status": Status("measured")}
    found = claimable(ConfigurationResult(**field_values(point), campaign=campaign, **known), *values, turn=turn)
    conditions = CONDITIONS | {"gpu.uuid": gpu}
    return replace(found, trials=tuple(replace(trial, conditions=conditions) for trial in found.trials))
