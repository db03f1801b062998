"""The client of one machine's agent: typed requests over a channel that is reopened when it breaks."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from dlperf.errors import DlperfError, RefusedError, UnreachableError
from dlperf.messages import Message
from dlperf.nodes.agent_channel import BROKEN, AgentChannel, open_agent, why_broken
from dlperf.nodes.answers import sound_report
from dlperf.nodes.messages import (
    Answer,
    ByteRange,
    CommandResult,
    Facts,
    Frame,
    Hello,
    JobAnswer,
    Line,
    NodeFile,
    NodeReport,
    ProcessIdentity,
    ReadAnswer,
    Removal,
    Reports,
    StateNow,
    TrialThere,
    Unreadable,
)
from dlperf.nodes.transport import Transport
from dlperf.opening import open_regular

Item = TypeVar("Item")

RAW_BYTES = 4 * 1024 * 1024
"""Maximum of the bytes in an answer to ``read``."""
FIRST_RAW_BYTES, LEAST_RAW_BYTES = 256 * 1024, 16 * 1024
"""Of what a machine is asked for at first, and where its link is slow."""
READ_SECONDS = 5.0
"""How long an answer to ``read`` should take at most: other requests wait for it."""
ERROR_CHARACTERS = 1000
FIRST_DELAY_SECONDS = 1.0
LONGEST_DELAY_SECONDS = 30.0
REFUSED_DELAY_SECONDS = 600.0
"""Trying again does not fix a refused key or a wrong host key."""


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
        self.read_bytes = FIRST_RAW_BYTES
        """How much is read at once, by the speed of the link."""
        self._transport = transport
        self._channel: AgentChannel | None = None
        self._requests = 0
        self._turn = asyncio.Lock()
        self._waits = False
        """Whether the request in progress is a ``wait`` that was not ended yet."""
        self._failure: UnreachableError | None = None
        self._delay = FIRST_DELAY_SECONDS
        self._retry_at = 0.0

    async def hello(self) -> Hello:
        """Return the machine's identity, clock offset and a free port."""
        if self._channel is None:  # so that opening it does not count as clock offset
            await self._ask("hello", Hello)
        before = time.time()
        answer = await self._ask("hello", Hello)
        after = time.time()
        offset, error = answer.clock - (before + after) / 2, (after - before) / 2
        return replace(answer, clock_offset_seconds=offset, clock_error_seconds=error)

    async def start(self, directory: str, files: Sequence[NodeFile]) -> dict[str, Any]:
        """Start a trial's supervisor, unless it was started before: pid, start_ticks, boot_id."""
        return dict(await self._ask("start", ProcessIdentity, files, directory=directory))

    async def observe(self, directories: Sequence[str]) -> list[NodeReport]:
        """The states of trials, in the order asked."""
        return await self._reports("observe", directories)

    async def wait(self, directories: Sequence[str], seconds: float) -> list[NodeReport] | None:
        """Wait until one of these trials ends, for some seconds at most; any other request ends the wait.

        Returns:
            The states of the trials then; None at once where there is another request.
        """
        if self._turn.locked():
            return None
        self._waits = True
        try:
            return await self._reports("wait", directories, seconds=seconds)
        finally:
            self._waits = False

    async def _reports(self, operation: str, directories: Sequence[str], **fields: Any) -> list[NodeReport]:
        reports = await self._ask(operation, Reports, directories=list(directories), **fields)
        with self._bad_answers():
            return [sound_report(report) for report in _checked_count(reports, directories)]

    async def end_wait(self) -> None:
        if self._waits and self._channel is not None:
            self._waits = False
            with contextlib.suppress(OSError):
                await self._channel.end_wait()

    async def read(self, ranges: Sequence[ByteRange]) -> list[bytes | Unreadable | None]:
        """Bytes of files, None for an absent file; shorter than asked at the end of a file or of a full answer."""
        most = min(sum(item.limit for item in ranges), RAW_BYTES)
        answer, raw = await self._request("read", ReadAnswer, most_raw=most, ranges=[asdict(item) for item in ranges])
        with self._bad_answers():
            _checked_count(answer.reasons, _checked_count(answer.sizes, ranges))
            if any(size > item.limit for size, item in zip(answer.sizes, ranges, strict=True)):
                raise ValueError("more bytes than requested")
            if sum(size for size in answer.sizes if size > 0) != len(raw):
                raise ValueError("sizes that do not match the bytes")
        return list(_split(raw, answer.sizes, answer.reasons))

    async def cancel(self, directory: str, grace_seconds: float, state: str, cause: Message) -> None:
        """End a trial, whether or not its supervisor is alive; ``exit.json`` follows."""
        ending: dict[str, Any] = {"grace_seconds": grace_seconds, "state": state, "cause": cause.to_json()}
        await self._ask("cancel", dict, directory=directory, **ending)

    async def check(
        self, container: dict[str, Any] | None, files: Sequence[str], addresses: Sequence[str] = ()
    ) -> Facts:
        """The facts that a check before a trial needs, with the addresses that the machine cannot resolve."""
        wanted: dict[str, Any] = {"container": container, "files": list(files), "addresses": list(addresses)}
        return await self._ask("check", Facts, **wanted)

    async def now(self) -> StateNow:
        """What the machine does now."""
        return await self._ask("now", StateNow)

    async def logins(self, addresses: Sequence[str], options: Sequence[str]) -> list[str]:
        """The error of logging in from the machine to each address by ssh; empty where it works."""
        errors = await self._ask("logins", list[Line], addresses=list(addresses), options=list(options))
        with self._bad_answers():
            return list(_checked_count(errors, addresses))

    async def command(self, argv: Sequence[str], script: bytes = b"") -> CommandResult:
        """Run a command of the scheduler on the machine."""
        answer, _ = await self._request("command", CommandResult, script, argv=list(argv))
        return answer

    async def submit(
        self, directory: str, find: Sequence[str], queue: Sequence[str], files: Sequence[NodeFile]
    ) -> JobAnswer:
        """Write files and queue ``directory``'s batch script, unless it was queued already.

        Args:
            find: the command that prints the number of the job, if there is one.
            queue: the command that queues the script and prints its number.
        """
        fields: dict[str, Any] = {"find": list(find), "queue": list(queue)}
        return await self._ask("submit", JobAnswer, files, directory=directory, **fields)

    async def job(self, directory: str, find: Sequence[str]) -> JobAnswer:
        """The job that was queued before."""
        return await self._ask("job", JobAnswer, directory=directory, find=list(find))

    async def remove(self, directory: str, archived: Mapping[str, Sequence[str]], discarded: Sequence[str]) -> Removal:
        """Remove the folder of a finished trial, whole or not at all.

        Args:
            archived: path in the folder → SHA-256 of archived contents. Any other file keeps the folder.
            discarded: patterns of files that do not.
        """
        fields: dict[str, Any] = {"archived": dict(archived), "discarded": list(discarded)}
        return await self._ask("remove", Removal, directory=directory, **fields)

    async def trials(self) -> list[TrialThere]:
        """The folders of all trials on the machine, whichever workspace they are of."""
        return await self._ask("trials", list[TrialThere])

    async def tidy(self, caches: bool) -> None:
        """Remove dlperf's own program and lease where no trial's folder is left, and what later trials would reuse.

        No other request may follow.
        """
        await self._ask("tidy", bool, caches=caches)

    async def send_wheels(self, wheels: Mapping[str, Path]) -> None:
        """Send the wheels that the machine does not have, in parts.

        Args:
            wheels: path below ``~/.dlperf``, whose folder is named by the SHA-256, → file here.
        """
        paths = list(wheels)
        held = await self._ask("holds", list[bool], paths=paths)
        with self._bad_answers():
            absent = [path for path, here in zip(paths, _checked_count(held, paths), strict=True) if not here]
        for path in absent:
            await self._send_wheel(path, wheels[path])

    async def _send_wheel(self, path: str, file: Path) -> None:
        upload, offset = uuid4().hex, 0
        part = await asyncio.to_thread(read_part, file, offset)
        while part:
            following = await asyncio.to_thread(read_part, file, offset + len(part))
            fields: dict[str, Any] = {"path": path, "upload": upload, "offset": offset, "last": not following}
            await self._request("store", dict, part, **fields)
            offset, part = offset + len(part), following

    async def close(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            with contextlib.suppress(OSError):
                await channel.close()

    async def _ask(self, operation: str, kind: type[Answer], written: Sequence[NodeFile] = (), **fields: Any) -> Answer:
        """Send a request, with the files that it writes, whose answer has no raw bytes."""
        listed = [{"path": item.path, "mode": item.mode, "size": len(item.data)} for item in written]
        raw = b"".join(item.data for item in written)
        answer, _ = await self._request(operation, kind, raw, **{"files": listed, **fields})
        return answer

    async def _request(
        self, operation: str, kind: type[Answer], raw: bytes = b"", most_raw: int = 0, **fields: Any
    ) -> tuple[Answer, bytes]:
        """Send a request and return the answer: of this kind, with so many raw bytes at most.

        Raises:
            UnreachableError: the machine does not answer, or not as an agent does.
            DlperfError: the operation failed there.
        """
        if operation != "wait":
            await self.end_wait()
        async with self._turn:
            self._requests += 1
            request = {"id": self._requests, "operation": operation, "raw": len(raw), **fields}
            frame, data = await self._exchange_twice(request, raw, kind, most_raw)
            self._failure = self.unreachable_since = None
            self._delay = FIRST_DELAY_SECONDS
        if frame.error is not None or frame.answer is None:
            error = " ".join((frame.error or "no answer").split())[:ERROR_CHARACTERS]
            raise DlperfError(f"{self.name}: {operation}: {error}")
        return frame.answer, data

    async def _exchange_twice(
        self, request: dict[str, Any], raw: bytes, kind: type[Answer], most_raw: int
    ) -> tuple[Frame[Answer], bytes]:
        if self._channel is not None:
            with contextlib.suppress(*BROKEN):
                return await self._exchange(self._channel, request, raw, kind, most_raw)
        channel = await self._connected()
        with self._bad_answers():
            return await self._exchange(channel, request, raw, kind, most_raw)

    async def _exchange(
        self, channel: AgentChannel, request: dict[str, Any], raw: bytes, kind: type[Answer], most_raw: int
    ) -> tuple[Frame[Answer], bytes]:
        """Exchange frames; after an error the channel is out of step and is dropped."""
        began = time.monotonic()
        try:
            frame, data = await channel.exchange(request, raw, kind, most_raw)
        except BaseException:
            self.read_bytes = max(LEAST_RAW_BYTES, self.read_bytes // 4)
            await self.close()
            raise
        self._adapt(len(data), time.monotonic() - began)
        return frame, data

    def _adapt(self, size: int, seconds: float) -> None:
        """Read as much at once as comes within ``READ_SECONDS``, by the last answer that had many bytes."""
        if size >= LEAST_RAW_BYTES:
            fitting = int(size * READ_SECONDS / max(seconds, 0.001))
            self.read_bytes = max(LEAST_RAW_BYTES, min(fitting, 4 * size, RAW_BYTES))

    async def _connected(self) -> AgentChannel:
        if self._failure is not None and time.monotonic() < self._retry_at:
            raise self._failure
        try:
            self._channel = await open_agent(self._transport)
        except UnreachableError as error:
            raise self._unreachable(type(error)(error.cause, self.name)) from error
        except OSError as error:  # this machine can start no process now
            raise self._unreachable(UnreachableError(why_broken(error), self.name)) from error
        return self._channel

    @contextlib.contextmanager
    def _bad_answers(self) -> Iterator[None]:
        """Treat a machine that breaks the channel or contradicts the request as one that does not answer."""
        try:
            yield
        except BROKEN as error:
            raise self._unreachable(UnreachableError(why_broken(error), self.name)) from error

    def _unreachable(self, error: UnreachableError) -> UnreachableError:
        """Record the failure and when to try again: back-off with jitter, so that many clients do not come at once."""
        delay = REFUSED_DELAY_SECONDS if isinstance(error, RefusedError) else self._delay
        self._retry_at = time.monotonic() + delay * random.uniform(0.5, 1.0)
        self._delay = min(2 * self._delay, LONGEST_DELAY_SECONDS)
        self._failure = error
        self.unreachable_since = self.unreachable_since or datetime.now(UTC).isoformat(timespec="milliseconds")
        return error


def read_part(file: Path, offset: int) -> bytes:
    """Return the next bytes of a file to send in one request; none at its end."""
    with open_regular(file) as stream:
        stream.seek(offset)
        return stream.read(RAW_BYTES)


def _checked_count(answers: Sequence[Item], asked: Sequence[object]) -> Sequence[Item]:
    if len(answers) != len(asked):
        raise ValueError(f"{len(answers)} answers to {len(asked)} questions")
    return answers


def _split(raw: bytes, sizes: Sequence[int], reasons: Sequence[str]) -> Iterator[bytes | Unreadable | None]:
    offset = 0
    for size, reason in zip(sizes, reasons, strict=True):
        yield raw[offset : offset + size] if size >= 0 else Unreadable(reason) if reason else None
        offset += max(size, 0)
