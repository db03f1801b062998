"""Bringing a trial's files home: logs and telemetry as they grow, the rest whole at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dlperf.errors import UnreachableError
from dlperf.executors.archive import append, archived_size, stream_path
from dlperf.executors.shares import Share
from dlperf.nodes.client import NodeClient
from dlperf.nodes.messages import ByteRange, NodeReport
from dlperf.runs.store import write_atomic

TAIL_BYTES = 4 * 1024 * 1024
"""What one call brings home from one machine at most: a flood there leaves time for the others."""
READ_BYTES = 4 * 1024 * 1024
"""That a node gives in one answer, of all files together."""


@dataclass(frozen=True)
class _Growth:
    """A stream with bytes that are not home yet."""

    path: str
    archived: Path
    offset: int
    missing: int


async def tail_machine(client: NodeClient, shares: Sequence[Share]) -> int:
    """Append what the shares of one machine wrote since the last call; the number of new bytes, 0 if it is silent."""
    try:
        reports = await client.observe([share.directory for share in shares])
        return await _fetch(client, _growth(shares, reports))
    except UnreachableError:
        return 0


def _growth(shares: Sequence[Share], reports: Sequence[NodeReport]) -> list[_Growth]:
    found = []
    for share, report in zip(shares, reports, strict=True):
        for stream, archived, size in _streams(share, report):
            offset = archived_size(archived)
            found.append(_Growth(f"{share.directory}/{stream}", archived, offset, size - offset))
    return [growth for growth in found if growth.missing > 0]


def _streams(share: Share, report: NodeReport) -> Iterator[tuple[str, Path, int]]:
    """What grows on a node while a trial runs: its name there, its file here, its size there."""
    for stream, size in report.streams.items():
        yield stream, stream_path(share.paths, stream), size
    if report.telemetry is not None:
        yield share.paths.telemetry.name, share.paths.telemetry, report.telemetry


async def _fetch(client: NodeClient, growths: Sequence[_Growth]) -> int:
    """One request: an equal part of the room for every stream, so that a flood on one does not starve the others."""
    if not growths:
        return 0
    room = max(TAIL_BYTES // len(growths), 1)
    parts = await client.read([ByteRange(item.path, item.offset, min(item.missing, room)) for item in growths])
    for growth, part in zip(growths, parts, strict=True):
        if part:
            append(growth.archived, part)
    return sum(len(part or b"") for part in parts)


async def collect_share(client: NodeClient, share: Share) -> None:
    """Everything that a node has of a trial: the rest of its logs and telemetry, then the other files, each whole.

    Raises:
        UnreachableError: the node does not answer; what is home already stays, and another call goes on from there.
        StorageError: a file cannot be written here.
    """
    while True:
        (report,) = await client.observe([share.directory])
        growth = _growth([share], [report])
        if not growth:
            break
        await _fetch(client, growth)
    paths = share.paths
    whole = (paths.launch, paths.supervisor, paths.environment, paths.exit)
    contents = await read_whole(client, [f"{share.directory}/{path.name}" for path in whole])
    await asyncio.to_thread(_write, dict(zip(whole, contents, strict=True)))


def _write(files: Mapping[Path, bytes | None]) -> None:
    """One after the other: ``exit.json`` comes last."""
    for path, data in files.items():
        if data is not None:
            write_atomic(path, data)


async def read_whole(client: NodeClient, paths: Sequence[str]) -> list[bytes | None]:
    """Files of a node, as many in one request as there is room for; None for one that is not there."""
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


async def log_end(client: NodeClient, share: Share, size: int, length: int = 4096) -> bytes:
    """The last bytes of a share's out.log, for a message."""
    path = f"{share.directory}/{share.paths.log.name}"
    (part,) = await client.read([ByteRange(path, max(0, size - length), length)])
    return part or b""
