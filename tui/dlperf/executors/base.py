"""The interface of executors. Every method is idempotent."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from dlperf.messages import Message, Value, message
from dlperf.plan import Launch
from dlperf.runs.paths import TrialPaths
from dlperf.runs.records import State


@dataclass(frozen=True)
class Trial:
    """A planned trial."""

    trial_id: str
    launch: Launch
    paths: TrialPaths
    repeats: tuple[int, ...] = ()
    """Numbers of the trials that are queued as one job array with this one, itself included."""

    @property
    def number(self) -> str:
        """Its number among the trials of its configuration, which ends its id."""
        return self.trial_id.rpartition(".")[2]

    @property
    def deadline(self) -> Message:
        """The cause of a trial that takes too long."""
        return message("deadline", seconds=self.launch.deadline_seconds)


@dataclass(frozen=True)
class TrialReference:
    """Where a submitted trial runs; written to ``ref.json`` before ``submit`` returns."""

    executor: str
    data: dict[str, Any]
    """direct: port, and node → pid, start ticks, boot id. slurm: job id."""


@dataclass(frozen=True)
class NodeObservation:
    """The state of a trial on one node."""

    node: str
    state: State
    cause: Message | None = None
    exit_code: int | None = None
    signal: int | None = None
    log_size: int = 0
    unreachable_since: str | None = None
    """Set when the node does not answer; the state is then the last one known."""
    started: datetime | None = None
    """When the payload began, by the node's clock; known once it has ended."""
    ended: str = ""
    """ISO 8601: when the node's part ended or, if it was lost, the last heartbeat of its supervisor."""
    age: float | None = None
    """For how many seconds it has run, by the node's uptime; None where that is not known."""
    starts: bool = True
    """False where another node's launcher reaches this one: such a node ends on request."""

    @property
    def reachable(self) -> bool:
        return self.unreachable_since is None

    @property
    def finished(self) -> bool:
        return self.state.finished

    @property
    def failed(self) -> bool:
        return self.starts and self.state in (State.FAILED, State.TIMED_OUT, State.LOST)


@dataclass(frozen=True)
class Observation:
    """The state of a trial."""

    trial_id: str
    state: State
    cause: Message | None = None
    source: str = "executor"
    nodes: tuple[NodeObservation, ...] = ()
    pending_reason: Message | None = None
    stale: bool = False
    """Whether a machine was asked and has not answered yet, so that its state is an earlier one."""


@dataclass(frozen=True)
class CheckItem:
    """One line of a pre-flight check."""

    node: str
    check: str
    """reachable, lease, python, gpu_model, gpu_count, gpu_idle, nvlink, infiniband, image, disk, clock, port, ssh …"""
    ok: bool
    message: Message
    data: dict[str, Any] = field(default_factory=dict)
    advice: Message | None = None
    """What to do, where the message does not say so."""
    hardware: str = ""
    """Entry of the catalogue for which it was checked."""
    caution: bool = False
    """A trial may start, and what the message says may end it."""

    @property
    def title(self) -> Message:
        return Message(f"check_{self.check}")

    @property
    def message_with_advice(self) -> Message:
        return Message("and_more", {"subject": self.message, "more": self.advice}) if self.advice else self.message

    @property
    def silent(self) -> bool:
        """Whether the machine did not answer, and may do so later; one that refused will not."""
        return self.check == "reachable" and not self.ok and "refused" not in self.data


UNREACHABLE = ("unreachable", "unreachable_since")
"""Codes of the causes of a machine that did not answer."""


def failure_kind(cause: Message | None) -> Message | None:
    """Remove what equal failures differ in: quoted log lines with times and addresses, and sizes of missing memory."""
    if cause is None:
        return None
    inner, more = cause.parameters.get("cause"), cause.parameters.get("more")
    if isinstance(more, Message) and more.code == "gpu_memory":
        inner = cause.parameters["subject"]
    if isinstance(inner, Message) and cause.code in ("last_output", "and_more"):
        return failure_kind(inner)
    parameters: dict[str, Value] = {
        name: (failure_kind(value) or value) if isinstance(value, Message) else value
        for name, value in cause.parameters.items()
    }
    return Message(cause.code, parameters)


class Executor(Protocol):
    """Runs trials. A transport error never changes a trial's state."""

    async def check(self, launch: Launch) -> list[CheckItem]:
        """Check whether the machines are ready, one item per node and check."""

    async def submit(self, trial: Trial) -> TrialReference:
        """Start the trial; a second call returns the first call's reference."""

    async def poll(self, trials: Sequence[Trial]) -> list[Observation]:
        """Observe many trials, with one request per machine."""

    async def wait(self, trials: Sequence[Trial], seconds: float) -> None:
        """Wait until a trial has probably ended, for some seconds at most."""

    async def tail(self, trials: Sequence[Trial]) -> None:
        """Append to the archived logs what the nodes had at the last ``poll``, or have now."""

    async def cancel(self, trial: Trial, grace_seconds: float = 10.0) -> None:
        """Ask every node to end the trial: TERM, grace, KILL, removal of the container."""

    async def time_out(self, trial: Trial) -> None:
        """Ask the nodes to end a trial that is past its deadline."""

    async def collect(self, trial: Trial) -> None:
        """Archive every file of the trial, also after a failure."""

    async def adopt(self, trial: Trial) -> TrialReference | None:
        """Return the reference of a trial that an earlier engine started, or None if no node has a record of it."""

    async def close(self) -> None:
        """Close the connections; what runs on the machines continues."""
