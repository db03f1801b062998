"""Speaking with the agent of one machine: typed requests over a channel that is opened again when it breaks."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import struct
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from dlperf.errors import DlperfError, RefusedError, UnreachableError
from dlperf.messages import Message, message, quoted
from dlperf.nodes import bootstrap
from dlperf.nodes.archive import supervisor_archive
from dlperf.nodes.bootstrap import ANSWER, agent_command
from dlperf.nodes.messages import ByteRange, CommandResult, Hello, JobAnswer, NodeFile, NodeReport, Removal
from dlperf.nodes.transport import Channel, Transport

REQUEST_SECONDS = 120.0
FIRST_DELAY_SECONDS = 1.0
LONGEST_DELAY_SECONDS = 30.0
REFUSED_DELAY_SECONDS = 600.0
"""A refused key or a wrong host key is not mended by asking again: ask seldom."""

_BROKEN = (OSError, EOFError, asyncio.IncompleteReadError, TimeoutError)


class NodeClient:
    """The agent of one machine. Safe to use from many tasks: requests take turns on one channel.

    Every operation of the agent can be repeated without harm, so a request whose channel breaks is sent once more
    over a new one. While the machine cannot be reached, requests fail at once until the next attempt is due.
    """

    def __init__(self, name: str, transport: Transport) -> None:
        self.name = name
        """Names the machine in every message."""
        self.unreachable_since: str | None = None
        """ISO 8601, UTC."""
        self._transport = transport
        self._channel: Channel | None = None
        self._turn = asyncio.Lock()
        self._failure: UnreachableError | None = None
        self._delay = FIRST_DELAY_SECONDS
        self._retry_at = 0.0

    async def hello(self) -> Hello:
        """Who answers, and by how much its clock is ahead of ours."""
        if self._channel is None:
            await self._request("hello")  # so that the time to open the channel is not taken for the clock's
        before = time.time()
        answer, _ = await self._request("hello")
        after = time.time()
        offset, error = answer.pop("clock") - (before + after) / 2, (after - before) / 2
        told = {key: answer[key] for key in Hello.ANSWERED}
        return Hello(clock_offset_seconds=offset, clock_error_seconds=error, **told)

    async def put(self, files: Sequence[NodeFile]) -> None:
        """Write files below ``~/.dlperf``, each whole."""
        await self._request("put", _with_contents(files), files=_listed(files))

    async def start(self, directory: str, files: Sequence[NodeFile]) -> dict[str, Any]:
        """Start a trial's supervisor, unless it was started before: pid, start_ticks, boot_id."""
        answer, _ = await self._request("start", _with_contents(files), directory=directory, files=_listed(files))
        return dict(answer["supervisor"])

    async def observe(self, directories: Sequence[str]) -> list[NodeReport]:
        """How trials stand, in the order asked."""
        answer, _ = await self._request("observe", directories=list(directories))
        return [NodeReport.of(report) for report in answer["reports"]]

    async def read(self, ranges: Sequence[ByteRange]) -> list[bytes | None]:
        """Bytes of files, None for a file that is not there; shorter than asked at the end of a file or of the room."""
        asked = [{"path": item.path, "offset": item.offset, "limit": item.limit} for item in ranges]
        answer, raw = await self._request("read", ranges=asked)
        return list(_cut(raw, answer["sizes"]))

    async def cancel(self, directory: str, grace_seconds: float, state: str, cause: Message) -> None:
        """End a trial, whether or not its supervisor lives; ``exit.json`` follows."""
        end = {"state": state, "cause": cause.to_json()}
        await self._request("cancel", b"", directory=directory, grace_seconds=grace_seconds, **end)

    async def clear(self, directory: str) -> None:
        """Remove the containers of a trial that a restart of the machine ended."""
        await self._request("clear", directory=directory)

    async def check(self, container: dict[str, str] | None, files: Sequence[str]) -> dict[str, Any]:
        """What a check before a trial needs to know."""
        return (await self._request("check", container=container, files=list(files)))[0]

    async def logins(self, addresses: Sequence[str], options: Sequence[str]) -> list[str]:
        """What keeps the machine from logging in to each address by ssh; empty where nothing does."""
        return list((await self._request("logins", addresses=list(addresses), options=list(options)))[0]["complaints"])

    async def probe(self, container: dict[str, str] | None = None) -> dict[str, Any]:
        """The environment of the machine, as ``environment.json`` holds it."""
        return (await self._request("probe", container=container))[0]

    async def free_port(self, first: int) -> int:
        """A TCP port that nobody uses on the machine."""
        return int((await self._request("port", first=first))[0]["port"])

    async def slurm(self, argv: Sequence[str], script: bytes = b"") -> CommandResult:
        """Run one of Slurm's commands on the machine."""
        answer, _ = await self._request("slurm", script, argv=list(argv))
        return CommandResult(answer["code"], answer["out"], answer["err"])

    async def submit(self, directory: str, name: str, files: Sequence[NodeFile]) -> JobAnswer:
        """Write files and queue ``directory``'s batch script as a job of that name, unless there is one already."""
        fields = {"directory": directory, "name": name, "files": _listed(files)}
        answer, _ = await self._request("submit", _with_contents(files), **fields)
        return JobAnswer(answer["job"], answer["code"], answer["err"])

    async def job(self, directory: str, name: str) -> JobAnswer:
        """The job that was queued under that name."""
        answer, _ = await self._request("job", directory=directory, name=name)
        return JobAnswer(answer["job"], answer["code"], answer["err"])

    async def remove(self, trials: Sequence[str]) -> list[Removal]:
        """Remove the folders of trials that are over, in the order asked; whatever still runs keeps its folder."""
        answer, _ = await self._request("remove", trials=list(trials))
        return [Removal(**outcome) for outcome in answer["outcomes"]]

    async def close(self) -> None:
        """Let go of the machine."""
        await self._drop()
        await self._transport.close()

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
        """One frame out, one frame in; a channel on which that did not end is out of step and is dropped."""
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                await channel.write(_frame(request, raw))
                return await _read_frame(channel)
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
        """Note the failure and when to try again: back-off with jitter, so that many clients do not come at once."""
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
        _, _, said = line.decode(errors="replace").rpartition(ANSWER)
        match said.strip():
            case bootstrap.READY:
                return
            case bootstrap.SEND:
                await channel.write(supervisor_archive())
            case bootstrap.NO_PYTHON:
                raise RefusedError(message("no_python"))
            case bootstrap.NO_HOME:
                raise RefusedError(message("no_home"))
    raise EOFError


def _frame(request: dict[str, Any], raw: bytes) -> bytes:
    body = json.dumps(request).encode()
    return struct.pack(">I", len(body)) + body + raw


async def _read_frame(channel: Channel) -> tuple[dict[str, Any], bytes]:
    (size,) = struct.unpack(">I", await channel.read_exactly(4))
    answer = json.loads(await channel.read_exactly(size))
    return answer, await channel.read_exactly(answer.pop("raw"))


def _listed(files: Iterable[NodeFile]) -> list[dict[str, Any]]:
    return [{"path": item.path, "mode": item.mode, "size": len(item.data)} for item in files]


def _with_contents(files: Iterable[NodeFile]) -> bytes:
    return b"".join(item.data for item in files)


def _cut(raw: bytes, sizes: Sequence[int]) -> Iterable[bytes | None]:
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
