"""The result of a trial: ``result.json``."""

from dataclasses import dataclass, field
from typing import Literal

from dlperf.catalog.units import Direction, Scope
from dlperf.measured.losses import Losses
from dlperf.messages import Message, message
from dlperf.messages.finding import Finding
from dlperf.runs.schema import SCHEMA_VERSION


@dataclass(frozen=True, slots=True)
class MetricValue:
    """A metric of a trial."""

    id: str
    value: float
    unit: str
    direction: Direction = "higher"
    scope: Scope = "global"
    basis: str = ""
    """What it rests on besides the trial, such as a price with its source and date."""


@dataclass(frozen=True, slots=True)
class TrialResult:
    """``result.json``, derived from the files of the trial."""

    number: int
    state: str
    cause: Message | None = None
    started: str | None = None
    duration_seconds: float | None = None
    value: float | None = None
    """The primary metric: global throughput under the protocol's estimator unless the case names another."""
    value_from_timestamps: float | None = None
    unit: str = ""
    estimator: str = ""
    samples: int = 0
    first_step: int | None = None
    last_step: int | None = None
    first_line: int | None = None
    last_line: int | None = None
    """Lines of ``log`` from which the figure is computed."""
    window_seconds: float | None = None
    """Time from the first to the last record used, by their timestamps; less what a clock was set by meanwhile."""
    drift: float | None = None
    """Change of the speed over the measured window, relative to its start; None if it is unknown or only noise."""
    idle: float | None = None
    """Share of the measured window in which no kernel ran on the GPU that worked least; None if it is unknown."""
    telemetry_samples: int = 0
    """Readings of each GPU in the measured window, of the one with the fewest."""
    log: str | None = None
    """Path of the log, relative to the trial's folder."""
    log_sha256: str | None = None
    estimates: dict[str, float] = field(default_factory=dict)
    """Other estimators' values on the same samples, by name."""
    power_watts: float | None = None
    """Mean over the measured window, all GPUs together: by their energy counters, else of the readings."""
    power_source: Literal["", "counter", "readings"] = ""
    """``readings`` have been averaged; empty where it was not recorded."""
    sm_clock_mhz: float | None = None
    """Mean over the measured window and all GPUs."""
    samples_per_joule: float | None = None
    metrics: tuple[MetricValue, ...] = ()
    """All of the plan that the trial gave, the primary one first; none in plans of 0.1."""
    conditions: dict[str, str] = field(default_factory=dict)
    """Machine, GPUs, program files and loaded libraries, see ``table.conditions``; empty where not recorded."""
    numerics: dict[str, str] = field(default_factory=dict)
    """Data types that a step used, as its program read them from the step; empty where it does not tell."""
    losses: Losses = ()
    """Steps and their loss, see ``measured.losses``."""
    findings: tuple[Finding, ...] = ()
    schema: int = SCHEMA_VERSION

    @property
    def usable(self) -> bool:
        """Whether there is a figure without a finding of severity ``error``."""
        return self.value is not None and not self.errors

    @property
    def why_unusable(self) -> Message:
        """Why there is no figure: the first such finding, which a damaged record may lack."""
        return self.errors[0].message if self.errors else message("no_figure_in_log")

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that keep the value out of medians."""
        return tuple(finding for finding in self.findings if finding.severity == "error")
