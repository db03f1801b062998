"""Results of configurations: the rows of ``dlperf results`` and of every page."""

from dataclasses import dataclass, field, fields
from typing import Any, Literal

from dlperf.catalog.axes import ONE_WHERE_ABSENT, AxisValue, Configuration
from dlperf.catalog.units import Direction
from dlperf.measured.findings.program_faults import FAULTS, PADDING, UNFAIR
from dlperf.measured.model import MetricValue, TrialResult
from dlperf.messages import ENGLISH, Language, Message, message
from dlperf.messages.finding import Finding

SUPERSEDED = "superseded"
"""Tag of a campaign that was measured anew, and the code of the caveat that its results have."""
LONGEST_CAUSE = 160
"""Characters of a cause in a status."""


@dataclass(frozen=True, slots=True)
class MetricResult(MetricValue):
    """A metric of a configuration, from its trials."""

    spread: float | None = None
    """(max - min) / median of the trials."""
    n: int | None = None
    needs: tuple[str, ...] = ()
    """What a fair comparison of it needs, as ``catalog.metrics.Metric``."""


STATUSES = (
    *("measured", "imported", "published", "not_run", "not_published", "running", "out_of_memory", "not_supported"),
    *("failed", "timed_out", "cancelled", "lost"),
)
"""An imported value is of logs of others; the last four are how the last trial ended."""


@dataclass(frozen=True, slots=True)
class Status:
    """Status of a configuration's figure, or why there is none."""

    code: str
    """One of ``STATUSES``."""
    cause: Message | None = None

    def __str__(self) -> str:
        return self.text()

    def as_data(self) -> str:
        """Return the status for JSON output."""
        return self.text()

    @property
    def in_full(self) -> Message:
        """The status and its full cause as one message."""
        kind = message(self.code)
        return message("and_more", subject=kind, more=self.cause) if self.cause else kind

    def text(self, language: Language = ENGLISH) -> str:
        """Return the text of the code and, after a colon, the cause."""
        return language.colon.join(part for part in (self.kind(language), self.reason(language)) if part)

    def kind(self, language: Language = ENGLISH) -> str:
        """Return the text of the code."""
        return language.render(message(self.code))

    def reason(self, language: Language = ENGLISH) -> str:
        """Return the cause in one line, truncated."""
        line = " ".join(language.render(self.cause).split()) if self.cause else ""
        return line if len(line) <= LONGEST_CAUSE else line[: LONGEST_CAUSE - 1] + "…"


@dataclass(frozen=True, slots=True)
class ConfigurationResult(Configuration):
    """A configuration and its results: one row of ``dlperf results --json``."""

    campaign: str
    unit: str
    metric: str = "throughput"
    direction: Direction = "higher"
    value: float | None = None
    spread: float | None = None
    """(max - min) / median of the trials."""
    n: int | None = None
    speedup: float | None = None
    efficiency: float | None = None
    mfu: float | None = None
    protocol: str | None = None
    status: Status = Status("not_run")
    trials: tuple[TrialResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    samples_per_joule: float | None = None
    source: str = ""
    """Where the value, or the log of an imported one, was published."""
    date: str = ""
    """When that was, or when the campaign began that measured it; empty where nobody states it."""
    pauses: Literal["", "with", "without"] = ""
    """Whether the value holds evaluations, checkpoints and stalls; empty where that is not known."""
    printed: str = ""
    """A published figure as printed."""
    numerics: dict[str, str] = field(default_factory=dict)
    """Data types of a step and loss scaling, as the trials report them, else as planned."""
    tuning: str = ""
    """``stock`` or ``tuned``, as the recipe states; empty where it does not."""
    options: dict[str, Any] = field(default_factory=dict)
    """What its program does whatever is chosen, as planned."""
    variant: int = 1
    """Number of the figure where a report prints several for one configuration."""
    metrics: tuple[MetricResult, ...] = ()
    """All metrics, the primary one first."""
    basis: str = ""
    """What the value rests on besides the trials; empty for primary metrics."""

    def as_data(self) -> dict[str, Any]:
        """Return the fields for JSON output."""
        caveats = [str(finding.message) for finding in self.caveats]
        return {name: self.cell(name) for name in COLUMNS} | {"axes": dict(self.axes), "caveats": caveats}

    def cell(self, column: str) -> Any:
        """Return the value of one of ``COLUMNS``."""
        return self.id if column == "configuration" else getattr(self, column)

    def setting(self, name: str) -> AxisValue | None:
        """Return the value of an axis, or what a program without that axis does; None if it is not stated."""
        absent = 1 if name in ONE_WHERE_ABSENT else None
        found: AxisValue | None = dict(self.axes).get(name, self.options.get(name, absent))
        return found

    @property
    def needs(self) -> tuple[str, ...]:
        """What a fair comparison of its metric needs."""
        return next((metric.needs for metric in self.metrics if metric.id == self.metric), ())

    @property
    def score(self) -> float:
        """Higher for better: the value, or its inverse where lower values are better; 0 without a value."""
        if not self.value or self.direction == "higher":
            return self.value or 0.0
        return 1 / self.value

    @property
    def caveats(self) -> tuple[Finding, ...]:
        """The findings that accompany the value wherever it is shown: all but notes."""
        return tuple(finding for finding in self.findings if finding.severity != "note")

    @property
    def program_faults(self) -> frozenset[str]:
        """The codes of the known faults of its programs for which it is left out."""
        return FAULTS.intersection(finding.code for finding in self.findings)

    @property
    def stands(self) -> bool:
        """Whether it counts where results are ranked: it is not superseded, and its program has no known fault."""
        return not self.program_faults and all(finding.code != SUPERSEDED for finding in self.findings)

    @property
    def program_caveats(self) -> frozenset[str]:
        """The codes of all known faults of its programs, also of those that only withdraw claims."""
        return (FAULTS | UNFAIR).intersection(finding.code for finding in self.findings)

    @property
    def padding(self) -> float:
        """The share of the value that counts padding, as far as it is known."""
        return max((PADDING.get(finding.code, 0.0) for finding in self.findings), default=0.0)

    @property
    def values(self) -> tuple[float, ...]:
        """The figures of the trials from which ``value`` was computed."""
        return tuple(trial.value for trial in self.usable_trials if trial.value is not None)

    @property
    def usable_trials(self) -> tuple[TrialResult, ...]:
        return tuple(trial for trial in self.trials if trial.usable)

    @property
    def reported_numerics(self) -> frozenset[str]:
        """The names of ``numerics`` that the program of each usable trial reports; the others are as planned."""
        reports = [frozenset(trial.numerics) for trial in self.usable_trials]
        return frozenset.intersection(*reports) if reports else frozenset()

    @property
    def is_third_party(self) -> bool:
        """Whether the value was published by others."""
        return self.status.code == "published"


_FURTHER = tuple(item.name for item in fields(ConfigurationResult) if item.name not in ("campaign", "options"))
COLUMNS = ("campaign", "configuration", *_FURTHER)
"""The id of the configuration, and the fields, in the order of tables and files."""
