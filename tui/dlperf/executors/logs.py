"""Archiving the files of a trial's nodes: logs and telemetry as they grow, the others at the end.

The archived log is the buffer, and its size the offset to continue from.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dlperf.errors import StorageError, UnreachableError
from dlperf.executors.tasks import NodeTask
from dlperf.nodes.client import NodeClient
from dlperf.nodes.messages import ByteRange, NodeReport
from dlperf.runs.paths import NodePaths, file_name, replaced_log
from dlperf.runs.secrets import redact_for_runs
from dlperf.runs.store import open_private, write_atomic

TAIL_BYTES = 4 * 1024 * 1024
"""Maximum that one call reads from one machine, so that a flood there leaves time for the others."""
MOST_PARTS = 9
"""Parts that are kept of a log which its program rewrites again and again."""
OVERLAP_BYTES = 256
"""Archived bytes that are read again, to see whether a log is still the same."""
READ_BYTES = 4 * 1024 * 1024
"""Maximum of an agent's answer, all files together."""


def stream_path(paths: NodePaths, stream: str) -> Path:
    """Where a stream is archived; a name that came from a node never leads out of the node's folder."""
    for path in (paths.log, paths.telemetry):
        if stream == path.name:
            return path
    if stream.startswith(f"{paths.log.name}."):
        return paths.directory / file_name(stream)
    return paths.ranks.joinpath(*(file_name(part) for part in stream.split("/")[1:]))


def set_aside(path: Path) -> None:
    """Keep what is archived of a log that was truncated or replaced on its node."""
    parts = [replaced_log(path, number) for number in range(1, MOST_PARTS + 1)]
    path.replace(next((part for part in parts if not part.exists()), parts[-1]))


def archived_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def append(path: Path, data: bytes) -> None:
    """Append to an archived log. What a full disk accepts stays: the next offset is the file's size.

    Raises:
        StorageError: the disk is full or the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "ab", buffering=0, opener=open_private) as stream:
            view = memoryview(data)
            while view:
                view = view[stream.write(view) :]
    except OSError as error:
        raise StorageError(f"{path}: cannot be written ({error.strerror}): free space, then `dlperf resume`") from error


@dataclass(frozen=True)
class _Growth:
    """A stream with bytes that are not archived yet."""

    path: str
    archived: Path
    offset: int
    missing: int

    @property
    def archived_end(self) -> bytes:
        """The last archived bytes, which the node's log must have before the new ones."""
        if not self.offset:
            return b""
        with self.archived.open("rb") as stream:
            stream.seek(max(0, self.offset - OVERLAP_BYTES))
            return stream.read(OVERLAP_BYTES)


async def tail_machine(client: NodeClient, tasks: Sequence[NodeTask]) -> int:
    """Append what the tasks on one machine wrote since the last call; return the number of new bytes."""
    try:
        reports = await client.observe([task.directory for task in tasks])
        return await _fetch(client, _growth(tasks, reports))
    except UnreachableError:
        return 0


def _growth(tasks: Sequence[NodeTask], reports: Sequence[NodeReport], least: int = 1) -> list[_Growth]:
    found = (growth for task, report in zip(tasks, reports, strict=True) for growth in _growth_of(task, report))
    return [growth for growth in found if growth.missing >= least]


def _growth_of(task: NodeTask, report: NodeReport) -> Iterator[_Growth]:
    """The streams of a task, up to its share of bytes, whatever the node has; one that shrank begins anew."""
    telemetry = {} if report.telemetry is None else {task.paths.telemetry.name: report.telemetry}
    room = task.log_bytes - sum(map(archived_size, task.paths.replaced_logs()))
    for stream, size in (telemetry | report.streams).items():
        archived = stream_path(task.paths, stream)
        if size < archived_size(archived):
            set_aside(archived)
        offset = archived_size(archived)
        yield _Growth(f"{task.directory}/{stream}", archived, offset, min(size, room) - offset)
        room -= size


async def _fetch(client: NodeClient, growths: Sequence[_Growth]) -> int:
    if not growths:
        return 0
    # An equal part for every stream, so that a flood on one does not starve the others.
    room = max(TAIL_BYTES // len(growths) - OVERLAP_BYTES, 1)
    ends = [growth.archived_end for growth in growths]
    ranges = [
        ByteRange(item.path, item.offset - len(end), len(end) + min(item.missing, room))
        for item, end in zip(growths, ends, strict=True)
    ]
    parts = await client.read(ranges)
    return sum(_archive(growth, end, part or b"") for growth, end, part in zip(growths, ends, parts, strict=True))


def _archive(growth: _Growth, end: bytes, part: bytes) -> int:
    """Append what follows the archived end; where the log has other bytes there, it was replaced and is read anew."""
    if part[: len(end)] != end[: len(part)]:
        set_aside(growth.archived)
        return 0
    new = part[len(end) :]
    if new:
        append(growth.archived, new)
    return len(new)


async def collect_files(client: NodeClient, task: NodeTask) -> None:
    """Archive everything that a node has of a trial: the rest of the streams, then the other files.

    Raises:
        UnreachableError: the node does not answer; what is archived stays, and another call continues.
        StorageError: a file cannot be written here.
    """
    # First also logs that did not grow: they may have been replaced by others of the same size.
    await _fetch(client, _growth([task], await client.observe([task.directory]), least=0))
    while growth := _growth([task], await client.observe([task.directory])):
        await _fetch(client, growth)
    paths = task.paths
    whole = (paths.launch, paths.supervisor, paths.environment, paths.exit)  # exit.json last: it marks the end
    contents = await read_whole(client, [f"{task.directory}/{path.name}" for path in whole])
    await asyncio.to_thread(_write, dict(zip(whole, contents, strict=True)))


def _write(files: Mapping[Path, bytes | None]) -> None:
    """Write what the node returned; its ``launch.sh`` holds the secrets that the archived one must not."""
    for path, data in files.items():
        if data is not None:
            write_atomic(path, redact_for_runs(path, data))


async def read_whole(client: NodeClient, paths: Sequence[str]) -> list[bytes | None]:
    """Read files of a node, as many per request as fit; None for an absent file."""
    found: dict[str, bytes | None] = dict.fromkeys(paths, b"")
    unread = list(paths)
    while unread:
        parts = await client.read([ByteRange(path, len(found[path] or b""), READ_BYTES) for path in unread])
        room, cut = READ_BYTES, []
        for path, part in zip(unread, parts, strict=True):
            found[path] = None if part is None else (found[path] or b"") + part
            if part is not None and len(part) == room:
                cut.append(path)
            room -= len(part or b"")
        unread = cut
    return list(found.values())
