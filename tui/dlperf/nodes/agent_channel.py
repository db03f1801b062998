"""Frames to and from a running agent, with limits of memory and time for what the other side writes."""

from __future__ import annotations

import asyncio
import json
import struct
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dlperf.errors import RefusedError, UnreachableError
from dlperf.messages import Message, message, quoted
from dlperf.nodes import bootstrap
from dlperf.nodes.answers import ANSWER_BYTES, decode
from dlperf.nodes.bootstrap import agent_command, supervisor_archive
from dlperf.nodes.messages import Answer, Frame
from dlperf.nodes.transport import Channel, Transport

REQUEST_SECONDS = 120.0
"""For a request and its answer without the files that they carry."""
SLOWEST_BYTES_PER_SECOND = 4096
"""Of files; whatever comes more slowly counts as no answer."""
PART_BYTES = LINE_BYTES = 1 << 16
PREAMBLE_LINES = 10_000
"""What a machine may print before its agent is ready."""

BROKEN = (OSError, EOFError, TimeoutError, ValueError)
"""A channel that ended, or whose other side is not an agent."""


class BoundedReader:
    """Reads lines and parts of known size from a process that may write anything, without end."""

    def __init__(self, source: Channel) -> None:
        self._source = source
        self._rest = bytearray()

    async def exactly(self, size: int) -> bytes:
        """Read so many bytes. Raises EOFError where there are fewer."""
        while len(self._rest) < size:
            await self._more(max(PART_BYTES, size - len(self._rest)))
        part = bytes(self._rest[:size])
        del self._rest[:size]
        return part

    async def line(self, longest: int) -> bytes:
        """Read a line. Raises EOFError at the end, ValueError for a line that is longer."""
        while (end := self._rest.find(b"\n")) < 0:
            if len(self._rest) > longest:
                raise ValueError(f"a line of more than {longest} bytes")
            await self._more(PART_BYTES)
        return await self.exactly(end + 1)

    async def _more(self, size: int) -> None:
        part = await self._source.read(size)
        if not part:
            raise EOFError
        self._rest += part


@dataclass(frozen=True)
class AgentChannel:
    """A running agent."""

    process: Channel
    output: BoundedReader

    async def exchange(
        self, request: dict[str, Any], raw: bytes, kind: type[Answer], most_raw: int
    ) -> tuple[Frame[Answer], bytes]:
        """Send a request and receive its answer.

        Raises:
            OSError, EOFError, TimeoutError: the connection is broken.
            ValueError: what came is not an answer to the request.
        """
        async with asyncio.timeout(REQUEST_SECONDS + (len(raw) + most_raw) / SLOWEST_BYTES_PER_SECOND):
            body = json.dumps(request).encode()
            await self.process.write(struct.pack(">I", len(body)) + body + raw)
            (size,) = struct.unpack(">I", await self.output.exactly(4))
            if size > ANSWER_BYTES:
                raise ValueError(f"{size} bytes")
            frame = decode(await self.output.exactly(size), kind)
            if frame.id != request["id"]:
                raise ValueError("the answer to another request")
            if frame.raw > most_raw:
                raise ValueError(f"{frame.raw} bytes of files where {most_raw} were requested")
            return frame, await self.output.exactly(frame.raw)

    async def end_wait(self) -> None:
        """Make the agent answer a ``wait`` now. Raises OSError where the connection is broken."""
        await self.process.write(bytes(4))

    async def close(self) -> None:
        await self.process.close()


async def open_agent(transport: Transport) -> AgentChannel:
    """Start an agent.

    Raises:
        UnreachableError: the machine does not answer, or starts no agent.
    """
    process = await transport.open(agent_command(transport.python))
    channel = AgentChannel(process, BoundedReader(process))
    try:
        async with asyncio.timeout(REQUEST_SECONDS):
            await _start_agent(channel)
    except BROKEN as error:
        complaint = await process.complaint()
        await channel.close()
        raise UnreachableError(message("no_agent", reason=complaint or _why(error))) from error
    except BaseException:
        await channel.close()
        raise
    return channel


async def _start_agent(channel: AgentChannel) -> None:
    """Answer the bootstrap script until the agent is ready; a login shell may print something before."""
    for _ in range(PREAMBLE_LINES):
        line = await channel.output.line(LINE_BYTES)
        _, _, state = line.decode(errors="replace").rpartition(bootstrap.ANSWER)
        match state.strip():
            case bootstrap.READY:
                return
            case bootstrap.SEND:
                with suppress(OSError):  # a machine that takes no more of it says why in its next line
                    await channel.process.write(supervisor_archive())
            case bootstrap.NO_PYTHON:
                raise RefusedError(message("no_python"))
            case bootstrap.NO_HOME:
                raise RefusedError(message("no_home"))
    raise ValueError(f"more than {PREAMBLE_LINES} lines before the agent")


def why_broken(error: BaseException) -> Message:
    """Return the cause of a broken channel."""
    code = "bad_answer" if isinstance(error, ValueError) else "connection_broke"
    return message(code, reason=_why(error))


def _why(error: BaseException) -> Message:
    match error:
        case TimeoutError():
            return message("no_answer_within", seconds=REQUEST_SECONDS)
        case EOFError():
            return message("closed_there")
    return quoted(str(error) or type(error).__name__)
