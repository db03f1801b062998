"""The connection to one machine's agent: requests over a channel that is reopened when it breaks."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from dlperf.errors import DlperfError, RefusedError, UnreachableError
from dlperf.nodes.agent_channel import BROKEN, AgentChannel, open_agent, why_broken
from dlperf.nodes.messages import Answer, Frame, NodeFile
from dlperf.nodes.transport import Transport

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


class AgentConnection:
    """Safe to use from many tasks: requests take turns on one channel.

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

    @property
    def is_open(self) -> bool:
        return self._channel is not None

    async def ask(self, operation: str, kind: type[Answer], written: Sequence[NodeFile] = (), **fields: Any) -> Answer:
        """Send a request, with the files that it writes, whose answer has no raw bytes."""
        listed = [{"path": item.path, "mode": item.mode, "size": len(item.data)} for item in written]
        raw = b"".join(item.data for item in written)
        answer, _ = await self.request(operation, kind, raw, **{"files": listed, **fields})
        return answer

    async def ask_if_idle(self, operation: str, kind: type[Answer], **fields: Any) -> Answer | None:
        """Send a request that any other one ends; None at once where there is another."""
        if self._turn.locked():
            return None
        self._waits = True
        try:
            return await self.ask(operation, kind, **fields)
        finally:
            self._waits = False

    async def request(
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
        with self.bad_answers():
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
    def bad_answers(self) -> Iterator[None]:
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

    async def end_wait(self) -> None:
        if self._waits and self._channel is not None:
            self._waits = False
            with contextlib.suppress(OSError):
                await self._channel.end_wait()

    async def close(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            with contextlib.suppress(OSError):
                await channel.close()
