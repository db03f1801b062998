"""Nodes, containers and prices: read from the catalogue, resolved by the plan, kept in its records.

Dataclasses, so that a viewer of plans does not load pydantic, which validates them when it reads files.
"""

from __future__ import annotations

import datetime
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal

Runtime = Literal["none", "docker", "podman", "apptainer", "pyxis"]
Schema = dict[str, Any]


@dataclass(frozen=True)
class FieldRule:
    """A check by pydantic beyond the type of a value."""

    checks: tuple[tuple[str, object], ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Schema]) -> Schema:
        return handler(source) | dict(self.checks)


class NullIsEmpty:
    """Converts ``null`` in a file to an empty text."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Schema]) -> Schema:
        function = {"type": "no-info", "function": lambda value, check: "" if value is None else check(value)}
        return {"type": "function-wrap", "function": function, "schema": handler(source)}


Word = Annotated[str, FieldRule((("pattern", r"^[^-\s]\S*$"),))]
"""A name that a command line cannot take for an option: host, image."""
AbsolutePath = Annotated[str, FieldRule((("pattern", r"^[/{]"),))]
"""A path on a node, or one that a placeholder begins; a shell's ~ is not expanded."""
Port = Annotated[int, FieldRule((("gt", 0), ("lt", 65536), ("strict", True)))]
Index = Annotated[int, FieldRule((("strict", True),))]
Flag = Annotated[bool, FieldRule((("strict", True),))]
ShellLine = Annotated[str, FieldRule((("pattern", r"^[^\n\x00]+$"),))]
Positive = Annotated[float, FieldRule((("gt", 0),))]
Amount = Annotated[float, FieldRule((("gt", 0), ("strict", True), ("allow_inf_nan", False)))]
Currency = Annotated[str, FieldRule((("pattern", r"^[A-Z]{3}$"),))]
Stated = Annotated[str, FieldRule((("min_length", 1),))]
NO_OTHERS = {"extra": "forbid"}


@dataclass(frozen=True)
class Price:
    """What an hour of one GPU costs, or of one process of a machine without GPUs."""

    amount: Amount
    """For an hour of one GPU."""
    currency: Currency
    """By ISO 4217."""
    source: Stated
    """Where it stands: price list, contract, quotation."""
    date: datetime.date
    """When it was valid."""
    __pydantic_config__: ClassVar[dict[str, str]] = NO_OTHERS

    def __str__(self) -> str:
        return f"{self.amount:g} {self.currency}/GPU-hour ({self.source}, {self.date})"


@dataclass(frozen=True, slots=True)
class Preparation:
    """What a shell does on a node before a program starts."""

    modules: tuple[Word, ...] = ()
    prologue: tuple[ShellLine, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.modules or self.prologue)

    @property
    def lines(self) -> tuple[str, ...]:
        """The same as lines of a shell, for readers."""
        return (*([f"module load {shlex.join(self.modules)}"] if self.modules else ()), *self.prologue)

    def with_texts(self, change: Callable[[str], str]) -> Preparation:
        return replace(self, prologue=tuple(map(change, self.prologue)))


def host_and_port(text: str) -> tuple[str, int | None]:
    """Return host and port of ``HOST[:PORT]``; an IPv6 address, which has several colons, names no port."""
    host, _, port = text.partition(":")
    return (host, int(port)) if port.isdecimal() else (text, None)


@dataclass(frozen=True, slots=True)
class Node:
    """A machine, or a part of one, that runs a trial."""

    name: Annotated[str, FieldRule((("min_length", 1),))]
    """Names the node's folder and its line in a message."""
    transport: Literal["local", "ssh", "openssh"] = "ssh"
    """``local`` for the machine that dlperf runs on, ``openssh`` to connect by the system's own ``ssh``."""
    host: Annotated[Word, NullIsEmpty()] = ""
    """The argument of ``ssh`` (an alias of ~/.ssh/config, a name, an address); the node's name if empty."""
    address: Annotated[Word, NullIsEmpty()] = ""
    """The address for the other nodes (rendezvous, MPI host list); the host if empty."""
    port: Port | None = None
    """Of the ssh server."""
    user: Word | None = None
    """To log in as."""
    gpu_indices: tuple[Index, ...] | None = None
    """The GPUs of the machine that belong to this node; all of them if None. In a plan: the visible ones."""
    interface: str | None = None
    """Network interface for NCCL, Gloo and MPI."""
    __pydantic_config__: ClassVar[dict[str, str]] = NO_OTHERS


@dataclass(frozen=True)
class Container:
    """The container that a framework runs in."""

    image: Word
    """As the runtime pulls it; a path for Apptainer."""
    runtime: Runtime = "docker"
    """``none`` runs the program on the node itself."""
    shm_size: str | None = None
    """Of /dev/shm; the host's IPC namespace if absent."""
    ulimits: dict[str, str] = field(default_factory=dict)
    """Limit → value, such as ``memlock: "-1"``."""
    mounts: dict[AbsolutePath, AbsolutePath] = field(default_factory=dict)
    """Path on the node → path in the container."""
    host_network: Flag = True
    """Use the node's network, which several nodes need."""
    user: str | None = None
    """To run as."""
    workdir: AbsolutePath | None = None
    """Where the program starts."""
    options: tuple[str, ...] = ()
    """Further options of the runtime's command."""
    __pydantic_config__: ClassVar[dict[str, str]] = NO_OTHERS

    def with_texts(self, change: Callable[[str], str]) -> Container:
        return replace(
            self,
            image=change(self.image),
            mounts={change(source): change(target) for source, target in self.mounts.items()},
            workdir=self.workdir and change(self.workdir),
            options=tuple(map(change, self.options)),
        )
