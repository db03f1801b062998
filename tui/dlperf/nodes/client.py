"""The client of one machine's agent: typed requests over a channel that is reopened when it breaks."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import struct
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from dlperf.errors import DlperfError, RefusedError, UnreachableError
from dlperf.messages import Message, message, quoted
from dlperf.nodes import bootstrap
from dlperf.nodes.bootstrap import ANSWER, agent_command, supervisor_archive
from dlperf.nodes.messages import ByteRange, CommandResult, Hello, JobAnswer, NodeFile, NodeReport, Removal
from dlperf.nodes.transport import Channel, Transport

REQUEST_SECONDS = 120.0
FIRST_DELAY_SECONDS = 1.0
LONGEST_DELAY_SECONDS = 30.0
REFUSED_DELAY_SECONDS = 600.0
"""Trying again does not fix a refused key or a wrong host key."""

_BROKEN = (OSError, EOFError, asyncio.IncompleteReadError, TimeoutError)


class NodeClient:
    """The agent of one machine. Safe to use from many tasks: requests take turns on one channel.

    Every operation of the agent is idempotent, so a request whose channel breaks is sent once more over a new one.
    While the machine cannot be reached, requests fail at once until the next attempt is due.
    """

    def __init__(self, name: str, transport: Transport) -> None:
        self.name = name
        """Names the machine in messages."""
        self.unreachable_since: str | None = None
        """ISO 8601, UTC."""
        self._transport = transport
        self._channel: Channel | None = None
        self._turn = asyncio.Lock()
        self._failure: UnreachableError | None = None
        self._delay = FIRST_DELAY_SECONDS
        self._retry_at = 0.0

    async def hello(self) -> Hello:
        if self._channel is None:
            await self._ask("hello")  # so that the time to open the channel does not count as clock offset
        before = time.time()
        answer = await self._ask("hello")
        after = time.time()
        offset, error = answer.pop("clock") - (before + after) / 2, (after - before) / 2
        return Hello(**answer, clock_offset_seconds=offset, clock_error_seconds=error)

    async def put(self, files: Sequence[NodeFile]) -> None:
        """Write files atomically."""
        await self._ask("put", files)

    async def start(self, directory: str, files: Sequence[NodeFile]) -> dict[str, Any]:
        """Start a trial's supervisor, unless it was started before: pid, start_ticks, boot_id."""
        return dict((await self._ask("start", files, directory=directory))["supervisor"])

    async def observe(self, directories: Sequence[str]) -> list[NodeReport]:
        """The states of trials, in the order asked."""
        answer = await self._ask("observe", directories=list(directories))
        return [NodeReport(**report) for report in answer["reports"]]

    async def read(self, ranges: Sequence[ByteRange]) -> list[bytes | None]:
        """Bytes of files, None for an absent file; shorter than asked at the end of a file or of a full answer."""
        answer, raw = await self._request("read", ranges=[asdict(item) for item in ranges])
        return list(_split(raw, answer["sizes"]))

    async def cancel(self, directory: str, grace_seconds: float, state: str, cause: Message) -> None:
        """End a trial, whether or not its supervisor is alive; ``exit.json`` follows."""
        ending: dict[str, Any] = {"grace_seconds": grace_seconds, "state": state, "cause": cause.to_json()}
        await self._ask("cancel", directory=directory, **ending)

    async def clear(self, directory: str) -> None:
        """Remove the containers of a trial that a reboot ended."""
        await self._ask("clear", directory=directory)

    async def check(
        self, container: dict[str, str] | None, files: Sequence[str], addresses: Sequence[str] = ()
    ) -> dict[str, Any]:
        """The facts that a check before a trial needs, with the addresses that the machine cannot resolve."""
        return await self._ask("check", container=container, files=list(files), addresses=list(addresses))

    async def logins(self, addresses: Sequence[str], options: Sequence[str]) -> list[str]:
        """The error of logging in from the machine to each address by ssh; empty where it works."""
        return list((await self._ask("logins", addresses=list(addresses), options=list(options)))["complaints"])

    async def probe(self, container: dict[str, str] | None = None) -> dict[str, Any]:
        """The environment of the machine, as in ``environment.json``."""
        return await self._ask("probe", container=container)

    async def free_port(self, first: int) -> int:
        """A TCP port that nobody uses on the machine."""
        return int((await self._ask("port", first=first))["port"])

    async def slurm(self, argv: Sequence[str], script: bytes = b"") -> CommandResult:
        """Run one of Slurm's commands on the machine."""
        answer, _ = await self._request("slurm", script, argv=list(argv))
        return CommandResult(**answer)

    async def submit(self, directory: str, name: str, files: Sequence[NodeFile]) -> JobAnswer:
        """Write files and queue ``directory``'s batch script as a job of that name, unless there is one already."""
        return _job_answer(await self._ask("submit", files, directory=directory, name=name))

    async def job(self, directory: str, name: str) -> JobAnswer:
        """The job that was queued under that name."""
        return _job_answer(await self._ask("job", directory=directory, name=name))

    async def remove(self, directory: str, archived: Mapping[str, Sequence[str]], discarded: Sequence[str]) -> Removal:
        """Remove the folder of a finished trial, whole or not at all.

        Args:
            archived: path in the folder → SHA-256 of archived contents. Any other file keeps the folder.
            discarded: patterns of files that do not.
        """
        fields: dict[str, Any] = {"archived": dict(archived), "discarded": list(discarded)}
        return Removal(**await self._ask("remove", directory=directory, **fields))

    async def close(self) -> None:
        await self._drop()
        await self._transport.close()

    async def _ask(self, operation: str, written: Sequence[NodeFile] = (), **fields: Any) -> dict[str, Any]:
        """Send a request, with the files that it writes, whose answer has no raw bytes."""
        listed = [{"path": item.path, "mode": item.mode, "size": len(item.data)} for item in written]
        answer, _ = await self._request(
            operation, b"".join(item.data for item in written), **{"files": listed, **fields}
        )
        return answer

    async def _request(self, operation: str, raw: bytes = b"", **fields: Any) -> tuple[dict[str, Any], bytes]:
        request = {"operation": operation, "raw": len(raw), **fields}
        async with self._turn:
            answer, data = await self._exchange_twice(request, raw)
        if "error" in answer:
            raise DlperfError(f"{self.name}: {operation}: {answer['error']}")
        return answer, data

    async def _exchange_twice(self, request: dict[str, Any], raw: bytes) -> tuple[dict[str, Any], bytes]:
        if self._channel is not None:
            with contextlib.suppress(*_BROKEN):
                return await self._exchange(self._channel, request, raw)
        channel = await self._connected()
        try:
            return await self._exchange(channel, request, raw)
        except _BROKEN as error:
            broken = UnreachableError(message("connection_broke", reason=_why(error)), self.name)
            raise self._unreachable(broken) from error

    async def _exchange(self, channel: Channel, request: dict[str, Any], raw: bytes) -> tuple[dict[str, Any], bytes]:
        """Send one frame and receive one; after an error the channel is out of step and is dropped."""
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                body = json.dumps(request).encode()
                await channel.write(struct.pack(">I", len(body)) + body + raw)
                (size,) = struct.unpack(">I", await channel.read_exactly(4))
                answer = json.loads(await channel.read_exactly(size))
                return answer, await channel.read_exactly(answer.pop("raw"))
        except BaseException:
            await self._drop()
            raise

    async def _connected(self) -> Channel:
        if self._failure is not None and time.monotonic() < self._retry_at:
            raise self._failure
        try:
            self._channel = await self._open_agent()
        except UnreachableError as error:
            raise self._unreachable(type(error)(error.cause, self.name)) from error
        self._failure = self.unreachable_since = None
        self._delay = FIRST_DELAY_SECONDS
        return self._channel

    def _unreachable(self, error: UnreachableError) -> UnreachableError:
        """Record the failure and when to try again: back-off with jitter, so that many clients do not come at once."""
        delay = REFUSED_DELAY_SECONDS if isinstance(error, RefusedError) else self._delay
        self._retry_at = time.monotonic() + delay * random.uniform(0.5, 1.0)
        self._delay = min(2 * self._delay, LONGEST_DELAY_SECONDS)
        self._failure = error
        self.unreachable_since = self.unreachable_since or datetime.now(UTC).isoformat(timespec="milliseconds")
        return error

    async def _open_agent(self) -> Channel:
        channel = await self._transport.open(agent_command(self._transport.python))
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                await _start_agent(channel)
        except _BROKEN as error:
            complaint = await channel.complaint()
            await channel.close()
            raise UnreachableError(message("no_agent", reason=complaint or _why(error))) from error
        except BaseException:
            await channel.close()
            raise
        return channel

    async def _drop(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            with contextlib.suppress(OSError):
                await channel.close()


async def _start_agent(channel: Channel) -> None:
    """Answer the bootstrap script until the agent is ready."""
    while line := await channel.read_line():
        _, _, state = line.decode(errors="replace").rpartition(ANSWER)
        match state.strip():
            case bootstrap.READY:
                return
            case bootstrap.SEND:
                await channel.write(supervisor_archive())
            case bootstrap.NO_PYTHON:
                raise RefusedError(message("no_python"))
            case bootstrap.NO_HOME:
                raise RefusedError(message("no_home"))
    raise EOFError


def _job_answer(answer: dict[str, Any]) -> JobAnswer:
    return JobAnswer(answer["job"], answer["code"], answer["err"])


def _split(raw: bytes, sizes: Sequence[int]) -> Iterable[bytes | None]:
    offset = 0
    for size in sizes:
        yield None if size < 0 else raw[offset : offset + size]
        offset += max(size, 0)


def _why(error: BaseException) -> Message:
    match error:
        case TimeoutError():
            return message("no_answer_within", seconds=REQUEST_SECONDS)
        case asyncio.IncompleteReadError() | EOFError():
            return message("closed_there")
    return quoted(str(error) or type(error).__name__)
