"""The interface that every executor keeps. Each method can be called twice without harm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from dlperf.plan import Launch
from dlperf.runs.paths import TrialPaths
from dlperf.runs.records import State
from dlperf.sentences.quoted import LAST_OUTPUT


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
    cause: str | None = None
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
    cause: str | None = None
    source: str = "executor"
    nodes: tuple[NodeObservation, ...] = ()
    pending_reason: str | None = None


@dataclass(frozen=True)
class CheckItem:
    """One line of a pre-flight check."""

    node: str
    check: str
    """reachable, python, gpu_model, gpu_count, gpu_idle, nvlink, infiniband, image, disk, clock, port, files …"""
    ok: bool
    message: str
    data: dict[str, Any] = field(default_factory=dict)
    advice: str = ""
    """What to do about it, where the message does not say so."""

    @property
    def in_words(self) -> str:
        """The message, and what to do about it."""
        return f"{self.message}: {self.advice}" if self.advice else self.message

    @property
    def silent(self) -> bool:
        """The machine did not answer, and may do so later; one that answered and refused will not."""
        return self.check == "reachable" and not self.ok and "refused" not in self.data


UNREACHABLE = "unreachable"
"""A cause that begins so, after the node's name where there are several, says that a machine did not answer."""


def failure_kind(cause: str | None) -> str:
    """A cause without the quoted lines: they hold times and addresses in which two equal failures differ."""
    return (cause or "").partition(LAST_OUTPUT)[0]


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
