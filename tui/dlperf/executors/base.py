"""The interface that every executor keeps. Each method can be called twice without harm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from dlperf.messages import Message, Value
from dlperf.plan import Launch
from dlperf.runs.paths import TrialPaths
from dlperf.runs.records import State


@dataclass(frozen=True)
class Trial:
    """A planned trial, as an executor gets it."""

    trial_id: str
    launch: Launch
    paths: TrialPaths
    repeats: tuple[int, ...] = ()
    """Numbers of the trials that are queued together with this one, itself among them; none for most."""


@dataclass(frozen=True)
class Reference:
    """Where a submitted trial lives; written to ``ref.json`` before ``submit`` returns."""

    executor: str
    data: dict[str, Any]
    """direct: node → pid, start ticks, boot id. slurm: cluster, job id."""


@dataclass(frozen=True)
class NodeObservation:
    """What one node says of its share of a trial."""

    node: str
    state: State
    cause: Message | None = None
    exit_code: int | None = None
    signal: int | None = None
    log_size: int = 0
    unreachable_since: str | None = None
    """Set when the node does not answer; the state is then the last one known."""


@dataclass(frozen=True)
class Observation:
    """What is known of a trial now."""

    trial_id: str
    state: State
    cause: Message | None = None
    source: str = "executor"
    nodes: tuple[NodeObservation, ...] = ()
    pending_reason: Message | None = None


@dataclass(frozen=True)
class CheckItem:
    """One line of a pre-flight check."""

    node: str
    check: str
    """reachable, python, gpu_model, gpu_count, gpu_idle, nvlink, infiniband, image, disk, clock, port, files …"""
    ok: bool
    message: Message
    data: dict[str, Any] = field(default_factory=dict)
    advice: Message | None = None
    """What to do about it, where the message does not say so."""

    @property
    def title(self) -> Message:
        """The name of the check."""
        return Message(f"check_{self.check}")

    @property
    def message_with_advice(self) -> Message:
        return Message("and_more", {"told": self.message, "more": self.advice}) if self.advice else self.message

    @property
    def silent(self) -> bool:
        """The machine did not answer, and may do so later; one that answered and refused will not."""
        return self.check == "reachable" and not self.ok and "refused" not in self.data


UNREACHABLE = ("unreachable", "unreachable_since")
"""Codes of causes by which a machine did not answer."""


def failure_kind(cause: Message | None) -> Message | None:
    """Return a cause without the quoted log lines, in which two equal failures differ by times and addresses."""
    if cause is None:
        return None
    inner = cause.parameters.get("cause")
    if cause.code == "last_output" and isinstance(inner, Message):
        return failure_kind(inner)
    return Message(cause.code, {name: _kind_of_value(value) for name, value in cause.parameters.items()})


def _kind_of_value(value: Value) -> Value:
    return failure_kind(value) or value if isinstance(value, Message) else value


class Executor(Protocol):
    """Runs trials. A transport error never changes a trial's state."""

    async def check(self, launch: Launch) -> list[CheckItem]:
        """Whether the machines are ready, one item per node and check."""

    async def submit(self, trial: Trial) -> Reference:
        """Start the trial, or find it started: a second call returns the first call's reference."""

    async def poll(self, trials: Sequence[Trial]) -> list[Observation]:
        """The state of many trials at once, one request per machine."""

    async def tail(self, trials: Sequence[Trial]) -> int:
        """Append what the nodes wrote since the last call to the archived logs; the number of new bytes."""

    async def cancel(self, trial: Trial, grace_seconds: float = 10.0) -> None:
        """Ask every node to end the trial: TERM, grace, KILL, container removed."""

    async def collect(self, trial: Trial) -> None:
        """Bring every file of the trial home, whole; also after failure."""

    async def adopt(self, trial: Trial) -> Reference | None:
        """The reference of a trial that an earlier engine started, or None if no node knows it."""

    async def close(self) -> None:
        """Let go of the machines; what runs there goes on."""
