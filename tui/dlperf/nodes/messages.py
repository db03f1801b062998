"""Requests to an agent and its answers, typed. Paths are below ``~/.dlperf``, their parts joined by ``/``.

An agent may answer anything: ``answers`` checks the types, and the bounds given here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, NotRequired, TypeAlias, TypeVar, final

from pydantic import AwareDatetime, ConfigDict, Field, with_config
from typing_extensions import TypeAliasType, TypedDict

from dlperf.errors import DlperfError
from dlperf.messages import Message, message

Answer = TypeVar("Answer")

Size: TypeAlias = Annotated[int, Field(ge=0, lt=1 << 63)]
Small: TypeAlias = Annotated[int, Field(gt=-(1 << 31), lt=1 << 63)]
Real: TypeAlias = Annotated[float, Field(ge=-1e15, le=1e15)]
Seconds: TypeAlias = Annotated[float, Field(ge=0, le=1e11)]
Moment: TypeAlias = Annotated[
    AwareDatetime, Field(ge=datetime(1970, 1, 1, tzinfo=UTC), lt=datetime(9000, 1, 1, tzinfo=UTC))
]
Word: TypeAlias = Annotated[str, Field(max_length=256)]
Line: TypeAlias = Annotated[str, Field(max_length=4096)]
StreamName: TypeAlias = Annotated[
    str, Field(pattern=r"^(out\.log(\.[^/\x00]+)?|ranks(/[^/\x00]+){1,9})$", max_length=2048)
]
Cause = TypeAliasType("Cause", "dict[Word, Line | Small | Real | Cause | list[Cause] | None]")
"""A message as the supervisor writes it."""


class NodeFileError(DlperfError):
    """A file of one trial on a node cannot be read or archived. Other trials are not affected."""

    def __init__(self, node: str, file: str, reason: str) -> None:
        super().__init__(message("bad_file", node=node, file=file, reason=reason))
        self.file, self.reason = file, reason


@with_config(ConfigDict(extra="allow"))
class ProcessIdentity(TypedDict):
    """The supervisor of a trial."""

    pid: Size
    start_ticks: Size
    boot_id: Word


class ExitRecord(TypedDict):
    """What ``exit.json`` must hold."""

    state: Annotated[str, Field(pattern="^(succeeded|failed|timed_out|cancelled|lost)$")]
    code: Small | None
    signal: Small | None
    started: NotRequired[Moment]
    ended: Word
    cause: NotRequired[Line | Cause | None]


class NodeProblem(TypedDict):
    """A file of a trial that the agent cannot read."""

    file: Word
    reason: Line


class Gpu(TypedDict):
    index: Small | None
    name: Word | None
    uuid: Word | None
    driver: Word | None
    utilization_percent: Real | None


class GpuProcess(TypedDict):
    gpu: Word
    pid: Size
    user: Word | None
    name: Word


class Port(TypedDict):
    name: Word
    state: Word
    rate: Word


@final
class Owner(TypedDict):
    """Who has a machine."""

    user: Line
    engine: Line
    trial: Line
    since: Line
    left: dict[Word, Word]
    """The processes that keep it without their supervisor, by their number."""


@final
class Unknown(TypedDict):
    """Why the owner of a machine cannot be known."""

    problem: Line


@with_config(ConfigDict(extra="allow"))
class Facts(TypedDict):
    """What a check before a trial needs to know of a machine."""

    lease: Owner | Unknown | None
    disk_free_bytes: Size
    files_free: Size | None
    disk_problem: Line
    gpus: list[Gpu]
    never_run_vendor: NotRequired[Word | None]
    nvlinks: dict[Word, Size]
    infiniband: list[Port]
    gpu_processes: list[GpuProcess]
    image_digest: Line | None
    runtime_complaint: Line
    cuda: Word | None
    missing: list[Line]
    unresolved: dict[Line, Line]


class GpuNow(TypedDict):
    """What a GPU does now."""

    index: Small | None
    name: Word | None
    utilization_percent: Real | None
    memory_mib: Real | None
    memory_used_mib: Real | None
    power_watts: Real | None
    temperature_celsius: Real | None


class StateNow(TypedDict):
    """What a machine does now."""

    lease: Owner | Unknown | None
    disk_free_bytes: Size
    gpus: list[GpuNow]
    load: Real
    threads: Small | None


@dataclass(frozen=True)
class Frame(Generic[Answer]):
    """What precedes the raw bytes of an answer."""

    id: int
    """The request's."""
    raw: Size
    """Number of raw bytes."""
    answer: Answer | None = None
    error: str | None = None
    """Why there is no answer."""


@dataclass(frozen=True)
class Hello:
    """A machine, its clock, and a TCP port that nobody uses there."""

    python: Word
    hostname: Word
    home: Annotated[str, Field(pattern=r"^/[^\x00\n]*$", max_length=1024)]
    clock: Seconds
    port: Annotated[int, Field(ge=1, le=65535)]
    clock_offset_seconds: float = 0.0
    """The machine's clock minus ours, as the client measured it."""
    clock_error_seconds: float = 0.0
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

    supervisor: ProcessIdentity | None
    """pid, start_ticks, boot_id, started; None where the trial was never started."""
    alive: bool
    """The supervisor runs, or the sweeper that replaced it."""
    orphaned: bool
    """Neither runs, and processes of the trial still do."""
    rebooted: bool
    """The machine was restarted after the trial began."""
    exit: ExitRecord | None
    """``exit.json``."""
    cancelled: bool
    heartbeat: Seconds | None
    """Time of the supervisor's last heartbeat, in Unix seconds by the node's clock."""
    streams: dict[StreamName, Size]
    """Size in bytes of ``out.log`` and of each log below ``ranks/``."""
    telemetry: Size | None = None
    """Size in bytes of ``telemetry.csv``; None where it is absent."""
    arrivals: Size | None = None
    """Size in bytes of ``out.times``; None where it is absent."""
    problem: NodeProblem | None = None
    """The first file of the trial that cannot be read."""
    age: Seconds | None = None
    """For how many seconds the supervisor has run, by a clock that cannot be set; None where it does not."""


@dataclass(frozen=True)
class CommandResult:
    """The result of a command of the scheduler."""

    code: Small
    """Exit code; 124 after a timeout, 127 for an absent command."""
    out: str
    err: str


@dataclass(frozen=True)
class JobAnswer:
    """A trial's job, or why it is not known."""

    job: Annotated[str, Field(pattern=r"^[\w.+\[\]-]{1,64}$")] | None
    """Its number; None where there is none."""
    code: Small
    """Exit code of the command: not 0 where the scheduler did not answer or refused."""
    err: str


@dataclass(frozen=True)
class Removal:
    """The result of removing a trial's folder from a node."""

    bytes: Size
    """Size of the folder."""
    problem: Message | None
    """Why the folder stays; None where it was removed."""


@dataclass(frozen=True)
class TrialThere:
    """The folder of a trial on a node."""

    directory: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,200}$")]
    bytes: Size
    age: Real
    """Seconds since anything in it changed."""
    problem: Message | None
    """Why it must stay; None where nothing of it can run."""


@dataclass(frozen=True)
class Unreadable:
    """Why a file that is on a node cannot be read."""

    reason: str


@dataclass(frozen=True)
class ReadAnswer:
    sizes: list[Annotated[int, Field(ge=-1, lt=1 << 63)]]
    reasons: list[Line]


Reports = list[Annotated[NodeReport | dict[str, Any], Field(union_mode="left_to_right")]]
