"""Opening a process on a machine, its stdin and stdout as byte streams: ``local`` here, ``ssh`` in its own module."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dlperf.errors import RequestError
from dlperf.nodes.streams import last_line
from dlperf.plan import Node

BUFFER_BYTES = 1024 * 1024


class Channel(Protocol):
    """A process on a machine. Reading and writing raise OSError or EOFError when the way to it is broken."""

    async def read_exactly(self, size: int) -> bytes:
        """So many bytes of the process's stdout."""

    async def read_line(self) -> bytes:
        """The next line of the process's stdout; empty at its end."""

    async def write(self, data: bytes) -> None:
        """Give bytes to the process, waiting while it is slow to take them."""

    async def complaint(self) -> str:
        """The last line that the process wrote to stderr; empty if none."""

    async def close(self) -> None:
        """Let go of the process: its stdin is closed and whatever else belongs to it."""


class Transport(Protocol):
    """The way to one machine."""

    @property
    def python(self) -> str | None:
        """The interpreter for the agent; None to find one there."""

    async def open(self, argv: Sequence[str]) -> Channel:
        """Start a process.

        Raises:
            UnreachableError: the machine does not answer; trying again may help.
            RefusedError: it answered and refused, or is not the machine that it claims to be.
        """

    async def close(self) -> None: ...


@dataclass(frozen=True)
class Machine:
    """What tells one machine, as one user, from another. Several nodes of a plan may be shares of it."""

    transport: str
    host: str = ""
    port: int | None = None
    user: str | None = None

    def __str__(self) -> str:
        user, port = f"{self.user}@" if self.user else "", f":{self.port}" if self.port else ""
        return f"{user}{self.host}{port}" if self.host else self.transport

    @property
    def login(self) -> str:
        """What a person types to reach it; empty for this machine."""
        port = ("-p", str(self.port)) if self.port else ()
        user = f"{self.user}@" if self.user else ""
        return shlex.join(("ssh", *port, f"{user}{self.host}")) if self.host else ""

    @classmethod
    def of(cls, node: Node) -> Machine:
        """The machine that a node lies on. Raises RequestError for a transport that does not exist."""
        if node.transport == "local":
            return cls("local")
        if node.transport == "ssh":
            return cls("ssh", node.host, node.port, node.user)
        raise RequestError(f"node {node.name}: transport {node.transport!r} is neither local nor ssh")


def transport_to(machine: Machine) -> Transport:
    """The transport that reaches a machine; nothing is opened yet."""
    if machine.transport == "local":
        return LocalTransport()
    from dlperf.nodes.ssh import SshTransport

    return SshTransport(machine.host, machine.port, machine.user)


class LocalTransport:
    """Processes of this machine, in the operator's own environment.

    The folder of the Python that runs dlperf comes first in PATH, as in an activated virtual environment, so that
    training programs find the packages that were installed beside dlperf.
    """

    python: str | None = sys.executable

    async def open(self, argv: Sequence[str]) -> LocalChannel:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            env=os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"},
            limit=BUFFER_BYTES,
        )
        return LocalChannel(process)

    async def close(self) -> None:
        """Nothing is held but the channels."""


class LocalChannel:
    """A subprocess; its own session, so that Ctrl-C at the terminal is for dlperf alone."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._reader = process.stdout
        self._writer = process.stdin
        self._errors = process.stderr
        self._process = process

    async def read_exactly(self, size: int) -> bytes:
        return await self._reader.readexactly(size)

    async def read_line(self) -> bytes:
        return await self._reader.readline()

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def complaint(self) -> str:
        return await last_line(self._errors)

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
