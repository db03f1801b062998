"""Requests to an agent and its answers, typed. Paths are below ``~/.dlperf``, their parts joined by ``/``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Hello:
    """The identity and the clock of a machine."""

    python: str
    hostname: str
    boot_id: str
    home: str
    clock_offset_seconds: float
    """The machine's clock minus ours."""
    clock_error_seconds: float
    """The maximum error of the offset: half the round trip time."""


@dataclass(frozen=True)
class NodeFile:
    """A file to write on a node."""

    path: str
    data: bytes
    mode: int = 0o600


@dataclass(frozen=True)
class ByteRange:
    """A part of a file on a node."""

    path: str
    offset: int
    limit: int


@dataclass(frozen=True)
class NodeReport:
    """The state of one trial on one node."""

    supervisor: dict[str, Any] | None
    """pid, start_ticks, boot_id, started; None where the trial was never started."""
    alive: bool
    """The supervisor runs, or the sweeper that replaced it."""
    orphaned: bool
    """Neither runs, and processes of the trial still do."""
    rebooted: bool
    """The machine was restarted after the trial began."""
    exit: dict[str, Any] | None
    """``exit.json``."""
    cancelled: bool
    heartbeat: float | None
    """Time of the supervisor's last heartbeat, in Unix seconds by the node's clock."""
    streams: dict[str, int]
    """Size in bytes of ``out.log`` and of each log below ``ranks/``."""
    telemetry: int | None = None
    """Size in bytes of ``telemetry.csv``; None where it is absent."""


@dataclass(frozen=True)
class CommandResult:
    """The result of a Slurm command."""

    code: int
    """Exit code; 124 after a timeout, 127 for an absent command."""
    out: str
    err: str


@dataclass(frozen=True)
class JobAnswer:
    """A trial's job in Slurm, or why it is not known."""

    job: str | None
    """Its number; None where there is none."""
    code: int
    """Exit code of the Slurm command: not 0 where Slurm did not answer or refused."""
    err: str


@dataclass(frozen=True)
class Removal:
    """The result of removing a trial's folder from a node."""

    bytes: int
    """Size of the folder."""
    problem: str
    """Why the folder stays; empty where it was removed."""
