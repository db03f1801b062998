"""The schemas of the files under ``runs/``, and the states of trials and campaigns."""

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from statistics import median
from sys import maxsize
from typing import Any

from dlperf.messages import Message
from dlperf.plan import Configuration, Impossible, PlannedConfiguration, Selection, TrialKey
from dlperf.runs.schema import SCHEMA_VERSION


class State(StrEnum):
    """State of a trial."""

    PLANNED = "planned"
    SUBMITTED = "submitted"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    LOST = "lost"

    @property
    def finished(self) -> bool:
        return self not in (State.PLANNED, State.SUBMITTED, State.RUNNING)


@dataclass(frozen=True)
class CampaignRecord:
    """``campaign.json``: selection and plan, never changed after the start."""

    name: str
    token: str
    """Eight hexadecimal digits that distinguish this campaign on a node that serves many workspaces."""
    created: str
    """ISO 8601, UTC."""
    dlperf_version: str
    selection: Selection
    configurations: tuple[PlannedConfiguration, ...]
    trials: tuple[TrialKey, ...]
    """The order of execution; not written where it is that of ``seed``, repeats interleaved."""
    impossible: tuple[Impossible, ...] = ()
    """What was selected and cannot run, with the reason."""
    seed: str = ""
    """Draws the order inside each round of repeats; empty where that is the order of the plan."""
    schema: int = SCHEMA_VERSION

    @property
    def imported(self) -> bool:
        """Whether logs of it came from elsewhere, so that nothing of it can be launched again."""
        return any(item.launch.imported for item in self.configurations)


@dataclass(frozen=True)
class TrialRecord:
    """``trial.json``: identity of a trial."""

    trial_id: str
    """``<campaign>-<token>.<configuration id>.<number>``: names the trial on its nodes."""
    campaign: str
    configuration: Configuration
    number: int
    retry_of: int | None = None
    source: str | None = None
    """Path of an imported log in the imported folder; None for a trial that dlperf ran."""
    log_run: int | None = None
    """Number of the run in a log of several (1-based)."""
    schema: int = SCHEMA_VERSION


_EVENT_DATA: dict[str, type] = {"offset": int, "blamed": dict, "machine": str, "node": str, "action": str}
"""Types of the entries of an event's ``data`` that an engine relies on."""


@dataclass(frozen=True)
class Event:
    """A line of ``journal.jsonl``; the fields of ``data`` depend on ``event``."""

    time: str
    """ISO 8601, UTC, by the engine's clock."""
    event: str
    """campaign_started, campaign_finished, engine_stopped, paused, unpaused, planned, state, measured (again, with
    another figure), node_unreachable, node_reachable, node_left_out, node_taken_back, configuration_stopped, request,
    note."""
    trial: str | None = None
    """``str(TrialKey)``."""
    state: str | None = None
    cause: Message | None = None
    source: str = "engine"
    """engine, supervisor, executor, viewer."""
    data: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse values that no engine wrote: such a line of a journal is skipped."""
        if self.event == "node_left_out" and not {"machine", "node"} <= self.data.keys():
            raise ValueError("node_left_out without machine and node")
        for name, value in self.data.items():
            if not isinstance(value, _EVENT_DATA.get(name, object)):
                raise ValueError(f"{name} of another type")
        if not 0 <= self.data.get("offset", 0) <= maxsize:
            raise ValueError("offset that no file has")


@dataclass(frozen=True)
class Request:
    """A line of ``control.jsonl``: a request of a viewer to the engine."""

    time: str
    action: str
    """cancel, retry, pause, resume, add."""
    trial: str | None = None
    """``str(TrialKey)``; the whole campaign if absent."""
    by: str = ""


@dataclass(frozen=True)
class TrialProgress:
    """One entry of ``progress.json``: progress of a running trial."""

    step: int | None = None
    steps: int | None = None
    value: float | None = None
    """Global throughput, latest record."""
    unit: str = ""
    recent: tuple[float, ...] = ()
    """The last values, oldest first, for a sparkline; at most 32."""
    seconds_left: float | None = None
    unreachable_since: dict[str, str] = field(default_factory=dict)
    """Node → start of its silence."""
    pending_reason: Message | None = None


@dataclass(frozen=True)
class Progress:
    """``progress.json``."""

    updated: str
    trials: dict[str, TrialProgress] = field(default_factory=dict)
    done: int = 0
    total: int = 0
    seconds_left: float | None = None
    schema: int = SCHEMA_VERSION


@dataclass(frozen=True)
class JournaledFigure:
    """A trial's figure as its journal holds it: a copy from ``result.json``, so that viewers read one file."""

    value: float | None = None
    unit: str = ""


@dataclass(frozen=True)
class TrialStatus:
    """A trial's state, folded from the journal."""

    key: TrialKey
    state: State = State.PLANNED
    cause: Message | None = None
    since: str | None = None
    started: str | None = None
    ended: str | None = None
    retry_of: int | None = None
    figure: JournaledFigure | None = None
    """None before its end, and in journals of versions that did not record figures."""

    @property
    def lacks_figure(self) -> bool:
        """Whether it succeeded without a figure."""
        return self.state is State.SUCCEEDED and self.figure is not None and self.figure.value is None


@dataclass(frozen=True)
class CampaignStatus:
    """A campaign's state, folded from plan and journal."""

    name: str
    trials: dict[TrialKey, TrialStatus]
    paused: bool = False
    finished: bool = False
    stopped_configurations: dict[str, Message] = field(default_factory=dict)
    """Configuration id → why no more of it is started."""
    unreachable: dict[str, str] = field(default_factory=dict)
    """Node → since when."""
    silence: dict[str, Message] = field(default_factory=dict)
    """The same nodes → why they do not answer."""
    left_out: dict[str, Message] = field(default_factory=dict)
    """Node → why nothing more is started there."""

    def count(self, *states: State) -> int:
        return sum(status.state in states for status in self.trials.values())


def utc_now() -> str:
    """Return the present time as ISO 8601 in UTC with microseconds: ``2026-05-04T03:02:01.000000Z``."""
    return record_time(datetime.now(UTC))


def record_time(moment: datetime) -> str:
    """Return a time as records hold it; two of them compare as the times do."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def is_until_now(time: str) -> bool:
    """Whether a text that others may have sent begins with a day until now, or until tomorrow, as clocks differ."""
    with suppress(ValueError):
        day = datetime.fromisoformat(time).date()
        return day.isoformat() == time[:10] and day <= (datetime.now(UTC) + timedelta(days=1)).date()
    return False


def seconds_between(start: str, end: str) -> float:
    """Return the seconds from one record's time to another's; negative where the clock was set back, 0 if damaged."""
    with suppress(ValueError, TypeError):
        return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
    return 0.0


def trial_seconds(trials: Iterable[TrialStatus]) -> dict[str, float]:
    """Return the median seconds of the trials that succeeded, by configuration id."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for trial in trials:
        if trial.state is State.SUCCEEDED and trial.started and trial.ended:
            seconds[trial.key.configuration].append(seconds_between(trial.started, trial.ended))
    return {configuration: median(values) for configuration, values in seconds.items()}
