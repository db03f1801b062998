"""The client of one machine's agent: typed requests over a channel that is reopened when it breaks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from dlperf.messages import Message
from dlperf.nodes.answers import sound_report
from dlperf.nodes.connection import RAW_BYTES, AgentConnection
from dlperf.nodes.messages import (
    ByteRange,
    CommandResult,
    Facts,
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
from dlperf.opening import open_regular

Item = TypeVar("Item")


class NodeClient(AgentConnection):
    """The agent of one machine: a method for each of its operations."""

    async def hello(self) -> Hello:
        """Return the machine's identity, clock offset and a free port."""
        if not self.is_open:  # so that opening it does not count as clock offset
            await self.ask("hello", Hello)
        before = time.time()
        answer = await self.ask("hello", Hello)
        after = time.time()
        offset, error = answer.clock - (before + after) / 2, (after - before) / 2
        return replace(answer, clock_offset_seconds=offset, clock_error_seconds=error)

    async def start(self, directory: str, files: Sequence[NodeFile]) -> dict[str, Any]:
        """Start a trial's supervisor, unless it was started before: pid, start_ticks, boot_id."""
        return dict(await self.ask("start", ProcessIdentity, files, directory=directory))

    async def observe(self, directories: Sequence[str]) -> list[NodeReport]:
        """The states of trials, in the order asked."""
        return self._sound(await self.ask("observe", Reports, directories=list(directories)), directories)

    async def wait(self, directories: Sequence[str], seconds: float) -> list[NodeReport] | None:
        """Wait until one of these trials ends, for some seconds at most; any other request ends the wait.

        Returns:
            The states of the trials then; None at once where there is another request.
        """
        reports = await self.ask_if_idle("wait", Reports, directories=list(directories), seconds=seconds)
        return None if reports is None else self._sound(reports, directories)

    def _sound(self, reports: Reports, directories: Sequence[str]) -> list[NodeReport]:
        with self.bad_answers():
            return [sound_report(report) for report in _checked_count(reports, directories)]

    async def read(self, ranges: Sequence[ByteRange]) -> list[bytes | Unreadable | None]:
        """Bytes of files, None for an absent file; shorter than asked at the end of a file or of a full answer."""
        most = min(sum(item.limit for item in ranges), RAW_BYTES)
        answer, raw = await self.request("read", ReadAnswer, most_raw=most, ranges=[asdict(item) for item in ranges])
        with self.bad_answers():
            _checked_count(answer.reasons, _checked_count(answer.sizes, ranges))
            if any(size > item.limit for size, item in zip(answer.sizes, ranges, strict=True)):
                raise ValueError("more bytes than requested")
            if sum(size for size in answer.sizes if size > 0) != len(raw):
                raise ValueError("sizes that do not match the bytes")
        return list(_split(raw, answer.sizes, answer.reasons))

    async def cancel(self, directory: str, grace_seconds: float, state: str, cause: Message) -> None:
        """End a trial, whether or not its supervisor is alive; ``exit.json`` follows."""
        why = cause.to_json()
        await self.ask("cancel", dict, directory=directory, grace_seconds=grace_seconds, state=state, cause=why)

    async def check(
        self, container: dict[str, Any] | None, files: Sequence[str], addresses: Sequence[str] = ()
    ) -> Facts:
        """The facts that a check before a trial needs, with the addresses that the machine cannot resolve."""
        return await self.ask("check", Facts, container=container, files=list(files), addresses=list(addresses))

    async def now(self) -> StateNow:
        """What the machine does now."""
        return await self.ask("now", StateNow)

    async def logins(self, addresses: Sequence[str], options: Sequence[str]) -> list[str]:
        """The error of logging in from the machine to each address by ssh; empty where it works."""
        errors = await self.ask("logins", list[Line], addresses=list(addresses), options=list(options))
        with self.bad_answers():
            return list(_checked_count(errors, addresses))

    async def command(self, argv: Sequence[str], script: bytes = b"") -> CommandResult:
        """Run a command of the scheduler on the machine."""
        answer, _ = await self.request("command", CommandResult, script, argv=list(argv))
        return answer

    async def submit(
        self, directory: str, find: Sequence[str], queue: Sequence[str], files: Sequence[NodeFile]
    ) -> JobAnswer:
        """Write files and queue ``directory``'s batch script, unless it was queued already.

        Args:
            find: the command that prints the number of the job, if there is one.
            queue: the command that queues the script and prints its number.
        """
        return await self.ask("submit", JobAnswer, files, directory=directory, find=list(find), queue=list(queue))

    async def job(self, directory: str, find: Sequence[str]) -> JobAnswer:
        """The job that was queued before."""
        return await self.ask("job", JobAnswer, directory=directory, find=list(find))

    async def remove(self, directory: str, archived: Mapping[str, Sequence[str]], discarded: Sequence[str]) -> Removal:
        """Remove the folder of a finished trial, whole or not at all.

        Args:
            archived: path in the folder → SHA-256 of archived contents. Any other file keeps the folder.
            discarded: patterns of files that do not.
        """
        kept = dict(archived)
        return await self.ask("remove", Removal, directory=directory, archived=kept, discarded=list(discarded))

    async def trials(self) -> list[TrialThere]:
        """The folders of all trials on the machine, whichever workspace they are of."""
        return await self.ask("trials", list[TrialThere])

    async def tidy(self, caches: bool) -> None:
        """Remove dlperf's own program and lease where no trial's folder is left, and what later trials would reuse.

        No other request may follow.
        """
        await self.ask("tidy", bool, caches=caches)

    async def send_wheels(self, wheels: Mapping[str, Path]) -> None:
        """Send the wheels that the machine does not have, in parts.

        Args:
            wheels: path below ``~/.dlperf``, whose folder is named by the SHA-256, → file here.
        """
        paths = list(wheels)
        held = await self.ask("holds", list[bool], paths=paths)
        with self.bad_answers():
            absent = [path for path, here in zip(paths, _checked_count(held, paths), strict=True) if not here]
        for path in absent:
            await self._send_wheel(path, wheels[path])

    async def _send_wheel(self, path: str, file: Path) -> None:
        upload, offset = uuid4().hex, 0
        part = await asyncio.to_thread(read_part, file, offset)
        while part:
            following = await asyncio.to_thread(read_part, file, offset + len(part))
            last = not following
            await self.request("store", dict, part, path=path, upload=upload, offset=offset, last=last)
            offset, part = offset + len(part), following


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
