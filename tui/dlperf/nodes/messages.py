"""What a client and an agent tell each other, typed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True)
class Hello:
    """Who answers on a machine."""

    ANSWERED: ClassVar = ("python", "hostname", "boot_id", "home")

    python: str
    hostname: str
    boot_id: str
    home: str
    clock_offset_seconds: float
    """The machine's clock minus ours."""
    clock_error_seconds: float
    """By which the offset may be wrong: half the time that the answer took."""


@dataclass(frozen=True)
class NodeFile:
    """A file to write on a node."""

    path: str
    """Below ``~/.dlperf``, parts joined by ``/``."""
    data: bytes
    mode: int = 0o600


@dataclass(frozen=True)
class ByteRange:
    """A part of a file on a node."""

    path: str
    """Below ``~/.dlperf``."""
    offset: int
    limit: int


@dataclass(frozen=True)
class NodeReport:
    """How one trial stands on one node."""

    supervisor: dict[str, Any] | None
    """pid, start_ticks, boot_id, started; None where the trial was never started."""
    alive: bool
    """The supervisor runs, or the sweeper that took its place."""
    orphaned: bool
    """Neither runs, and processes of the trial still do."""
    rebooted: bool
    """The machine has started anew since the trial began."""
    exit: dict[str, Any] | None
    """``exit.json``."""
    cancelled: bool
    """Somebody asked to end it."""
    heartbeat: float | None
    """When the supervisor last said that it lives; Unix time by the node's clock."""
    streams: dict[str, int]
    """Size in bytes of ``out.log`` and of each log below ``ranks/``."""
    telemetry: int | None = None
    """Size in bytes of ``telemetry.csv``; None where there is none."""

    @classmethod
    def of(cls, answer: dict[str, Any]) -> NodeReport:
        return cls(**answer)


@dataclass(frozen=True)
class CommandResult:
    """What a command of Slurm gave."""

    code: int
    """Exit code; 124 for no answer in time, 127 for a command that is not there."""
    out: str
    err: str


@dataclass(frozen=True)
class JobAnswer:
    """A trial's job in Slurm."""

    job: str | None
    """Its number; None where there is none."""
    code: int
    """Of the command that was to tell it: not 0 where Slurm did not answer or refused."""
    err: str


@dataclass(frozen=True)
class Removal:
    """What came of removing a trial's folder from a node."""

    bytes: int
    """That the folder held."""
    problem: str
    """Why it stays; empty where it is gone."""
