"""Transports, which open a process on a machine with its stdin and stdout as streams: ``local`` and the interface."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import sys
from asyncio.subprocess import SubprocessStreamProtocol
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from weakref import WeakKeyDictionary

from dlperf.errors import RequestError
from dlperf.plan import Node

BUFFER_BYTES = 1024 * 1024
COMPLAINT_BYTES = 65536
CLOSE_SECONDS = 0.5
SIMULTANEOUS_CONNECTS = 8
"""To one server: OpenSSH's default ``MaxStartups 10:30:100`` begins to drop at ten."""
_gates: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Semaphore]] = WeakKeyDictionary()


class Channel(Protocol):
    """A process on a machine. Reading and writing raise OSError or EOFError when the connection is broken."""

    async def read(self, size: int) -> bytes:
        """Read some bytes of stdout, so many at most; none at its end."""

    async def write(self, data: bytes) -> None:
        """Write to stdin, waiting while the process is slow to read."""

    async def complaint(self) -> str:
        """The last line of stderr; empty if none."""

    async def close(self) -> None:
        """Close stdin and everything else that belongs to the process."""


class Transport(Protocol):
    """Opens processes on one machine."""

    @property
    def python(self) -> str | None:
        """The interpreter for the agent; None to search one there."""

    async def open(self, argv: Sequence[str]) -> Channel:
        """Start a process.

        Raises:
            UnreachableError: the machine does not answer; trying again may help.
            RefusedError: it refuses, or its identity is wrong.
        """


@dataclass(frozen=True)
class Machine:
    """A machine and the user on it. Several nodes of a plan may be parts of it."""

    transport: str
    host: str = ""
    port: int | None = None
    user: str | None = None

    def __str__(self) -> str:
        user, port = f"{self.user}@" if self.user else "", f":{self.port}" if self.port else ""
        return f"{user}{self.host}{port}" if self.host else self.transport

    @property
    def login(self) -> str:
        """The command that logs in to it; empty for this machine."""
        port = ("-p", str(self.port)) if self.port else ()
        user = f"{self.user}@" if self.user else ""
        return shlex.join(("ssh", *port, f"{user}{self.host}")) if self.host else ""

    @classmethod
    def of(cls, node: Node) -> Machine:
        """The machine of a node. Raises RequestError for an unknown transport."""
        if node.transport == "local":
            return cls("local")
        if node.transport in ("ssh", "openssh"):
            return cls(node.transport, node.host, node.port, node.user)
        raise RequestError(f"node {node.name}: transport {node.transport!r} is neither local, ssh nor openssh")


def transport_to(machine: Machine) -> Transport:
    """Return the transport of a machine; nothing is opened yet."""
    if machine.transport == "local":
        return LocalTransport()
    if machine.transport == "openssh":
        from dlperf.nodes.openssh import OpenSshTransport

        return OpenSshTransport(machine.host, machine.port, machine.user)
    from dlperf.nodes.ssh import SshTransport

    return SshTransport(machine.host, machine.port, machine.user)


def connection_gate(server: str) -> asyncio.Semaphore:
    """Limits how many connections to one server are opened at the same time."""
    gates = _gates.setdefault(asyncio.get_running_loop(), {})
    return gates.setdefault(server, asyncio.Semaphore(SIMULTANEOUS_CONNECTS))


class LocalTransport:
    """Processes of this machine, in the operator's own environment.

    The folder of dlperf's own Python comes first in PATH, as in an activated virtual environment, so that training
    programs find the packages that were installed with dlperf.
    """

    python: str | None = sys.executable

    async def open(self, argv: Sequence[str]) -> ProcessChannel:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        return await start_process(argv, os.environ | {"PATH": path})


async def start_process(argv: Sequence[str], env: Mapping[str, str]) -> ProcessChannel:
    """Start a process in its own session: Ctrl-C at the terminal reaches only dlperf, and nothing is asked there."""
    pipe, loop = asyncio.subprocess.PIPE, asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_exec(
        lambda: SubprocessStreamProtocol(BUFFER_BYTES, loop),
        *argv,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        start_new_session=True,
        env=env,
    )
    return ProcessChannel(transport, asyncio.subprocess.Process(transport, protocol, loop))


class ProcessChannel:
    """A process of this machine: an agent, or the ssh client that leads to one."""

    def __init__(self, transport: asyncio.SubprocessTransport, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._reader = process.stdout
        self._writer = process.stdin
        self._errors = process.stderr
        self._transport, self._process = transport, process
        self._peeked = b""

    async def peek(self) -> bytes:
        """Wait for the first bytes of stdout, which the next ``read`` returns; none at its end."""
        self._peeked = await self._reader.read(BUFFER_BYTES)
        return self._peeked

    async def read(self, size: int) -> bytes:
        if self._peeked:
            part, self._peeked = self._peeked[:size], self._peeked[size:]
            return part
        return await self._reader.read(size)

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def complaint(self) -> str:
        return await last_line(self._errors)

    async def complaints(self) -> str:
        """What a process that ends has written to stderr, of a bounded length."""
        found = b""
        with contextlib.suppress(TimeoutError):  # what it started may keep its pipes open
            async with asyncio.timeout(1.0):
                while len(found) < COMPLAINT_BYTES and (part := await self._errors.read(COMPLAINT_BYTES)):
                    found += part
        return found.decode(errors="replace")

    async def close(self) -> None:
        """Close stdin, at which an agent ends, end what goes on, and close the pipes.

        What it started may keep them open, and asyncio would close them when the loop has ended: a traceback on stderr.
        """
        try:
            await self._end()
        finally:
            self._transport.close()

    async def _end(self) -> None:
        self._writer.close()
        for end in (None, self._process.terminate, self._process.kill):
            with contextlib.suppress(ProcessLookupError):
                if end is not None:
                    end()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), CLOSE_SECONDS)
                break
        with contextlib.suppress(OSError, TimeoutError):  # takes the error of a broken pipe, which asyncio would log
            await asyncio.wait_for(self._writer.wait_closed(), CLOSE_SECONDS)


class _Readable(Protocol):
    async def read(self, size: int, /) -> bytes: ...


async def last_line(stream: _Readable, seconds: float = 0.5) -> str:
    """The last line of a stream, read for at most some seconds."""
    try:
        text = (await asyncio.wait_for(stream.read(COMPLAINT_BYTES), seconds)).decode(errors="replace")
    except (TimeoutError, OSError):
        return ""
    return text.strip().splitlines()[-1] if text.strip() else ""
