"""Rows of results, written by hand: measured in a campaign, or published by others."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from dlperf.measured.model import TrialResult
from dlperf.report.site import locations as at
from dlperf.table.model import ConfigurationResult, Status

LOG = "".join(
    f"DLPERF 2026-01-01T00:{step // 60:02}:{step % 60:02}.000000Z step={step} throughput={400 + step % 7}\n"
    for step in range(1, 151)
)


def measured(
    framework: str = "alpha",
    gpus: int = 1,
    value: float | None = 400.123456,
    spread: float | None = 0.004,
    precision: str = "fp32",
    status: Status | None = None,
    trials: int = 5,
    **other: object,
) -> ConfigurationResult:
    """A row of campaign ``first``."""
    row = ConfigurationResult(
        campaign="first",
        hardware="box",
        framework=framework,
        case="resnet50-imagenet",
        precision=precision,
        batch_size=256,
        nodes=1,
        gpus=gpus,
        unit="images/s",
        value=value,
        spread=spread if value else None,
        n=trials if value else None,
        speedup=None,
        efficiency=None,
        mfu=0.31 if value else None,
        protocol="dlperf-v1",
        status=status or Status("measured"),
        trials=tuple(_trial(number, value) for number in range(1, trials + 1)) if value else (),
    )
    return replace(row, **other)  # type: ignore[arg-type]


def first_trial(row: ConfigurationResult) -> tuple[str, int]:
    """The key of what a row's first trial left."""
    return at.configuration_anchor(row), 1


def published(
    framework: str, gpus: int, value: float | None, precision: str = "fp32", hardware: str = "v100", **other: object
) -> ConfigurationResult:
    """A row of the published report ``perf``."""
    row = ConfigurationResult(
        campaign="published/perf",
        hardware=hardware,
        framework=framework,
        case="resnet50-imagenet",
        precision=precision,
        batch_size=256,
        nodes=max(1, gpus // 8),
        gpus=min(8, gpus),
        unit="images/s",
        value=value,
        spread=None,
        n=None,
        speedup=None,
        efficiency=None,
        mfu=None,
        protocol=None,
        status=Status("published" if value else "not_published"),
        source="https://example.org/report",
    )
    return replace(row, **other)  # type: ignore[arg-type]


def _trial(number: int, value: float) -> TrialResult:
    return TrialResult(
        number=number,
        state="succeeded",
        started="2026-01-02T03:04:05Z",
        duration_seconds=61.25,
        value=value * (1 + number / 1000),
        value_from_timestamps=value * 0.995,
        unit="images/s",
        estimator="window(20,120)",
        samples=100,
        first_step=21,
        last_step=120,
        losses=((100, 2.0),),
        first_line=21,
        last_line=120,
        log="nodes/n1/out.log",
        log_sha256=hashlib.sha256(LOG.encode()).hexdigest(),
        estimates={"mean()": value, "skipmean(10)": value * 1.001},
    )
