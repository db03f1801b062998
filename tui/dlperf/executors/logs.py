"""Archiving the files of a trial's nodes: logs and telemetry as they grow, the others at the end.

The archived log is the buffer, and its size the offset to continue from.
"""

import asyncio
import errno
import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dlperf.errors import DlperfError, StorageError
from dlperf.executors.tasks import NodeTask
from dlperf.nodes.client import NodeClient
from dlperf.nodes.messages import ByteRange, NodeFileError, NodeReport, Unreadable
from dlperf.opening import make_folder, open_regular, private_writer
from dlperf.runs.lock import held_folder
from dlperf.runs.names import file_name, replaced_log
from dlperf.runs.paths import NodePaths
from dlperf.runs.secrets import redact_for_runs
from dlperf.runs.store import write_atomic

Failed = dict[tuple[str, str], NodeFileError]
"""Key of a task → its file that cannot be archived."""

LEAST_PART_BYTES = 4096
"""Read of a stream at once, where there are many."""
MOST_PARTS = 9
"""Parts that are kept of a log which its program rewrites again and again."""
OVERLAP_BYTES = 256
"""Archived bytes that are read again, to see whether a log is still the same."""
WHOLE_BYTES = 1024 * 1024
"""Size from which a file is not a script or record of ours; four of them fit in an answer."""
RESERVED_BYTES = 256 * 1024 * 1024
"""Free space that is left for the journal and for results, at most a fiftieth of the disk."""
SHORT_READS = 3
"""How often reads may bring less than was announced: a file may be cut in between."""
_UNFIT_NAMES = (errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL)
"""Errors that are due to a name that came from a node, such as a file that became a folder."""


def stream_path(paths: NodePaths, stream: str) -> Path:
    """Where a stream is archived; a name that came from a node never leads out of the node's folder."""
    for path in (paths.log, *paths.tables):
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
        found = path.stat()
    except OSError:  # absent, or of a name that no file can have here
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


def append(path: Path, data: bytes) -> None:
    """Append to an archived log. What a full disk accepts stays: the next offset is the file's size.

    Raises:
        OSError: no file of that name can be made.
        StorageError: the disk is full or the file cannot be written.
    """
    campaign = held_folder(path)
    try:
        make_folder(path.parent, within=campaign)
        with open(path, "ab", buffering=0, opener=private_writer) as stream:
            view = memoryview(data)
            while view:
                view = view[stream.write(view) :]
    except OSError as error:
        if error.errno in _UNFIT_NAMES:
            raise
        raise StorageError(f"{path}: cannot be written ({error.strerror}): free space, then `dlperf resume`") from error


@dataclass(frozen=True)
class _Growth:
    """A stream with bytes that are not archived yet."""

    task: NodeTask
    stream: str
    archived: Path
    offset: int
    missing: int
    """Bytes that the node reported and that may be archived."""
    most: int
    """Bytes that may be archived, also of what the node has got since."""

    @property
    def path(self) -> str:
        return f"{self.task.directory}/{self.stream}"

    @property
    def archived_end(self) -> bytes:
        """The last archived bytes, which the node's log must have before the new ones."""
        if not self.offset:
            return b""
        with open_regular(self.archived) as stream:
            stream.seek(max(0, self.offset - OVERLAP_BYTES))
            return stream.read(OVERLAP_BYTES)


async def tail_machine(client: NodeClient, tasks: Sequence[NodeTask], seen: Sequence[NodeReport] = ()) -> Failed:
    """Append what the tasks on one machine wrote since the last call; return those with a log that cannot be archived.

    Args:
        seen: the newest reports of these tasks; asked for where there are none.
    """
    try:
        reports = seen or await client.observe([task.directory for task in tasks])
        growths, unfit = _growth(tasks, reports)
        _, failed = await _fetch(client, growths, _room(client, growths))
        return failed | unfit
    except StorageError:
        raise
    except DlperfError:
        return {}


def _growth(tasks: Sequence[NodeTask], reports: Sequence[NodeReport], least: int = 1) -> tuple[list[_Growth], Failed]:
    """The streams with so many missing bytes, and the tasks with a log that cannot be archived."""
    found: list[_Growth] = []
    failed: Failed = {}
    for task, report in zip(tasks, reports, strict=True):
        try:
            found += _growth_of(task, report)
        except OSError as error:
            failed[task.key] = NodeFileError(task.node.name, Path(error.filename).name, error.strerror or str(error))
    return [growth for growth in found if growth.missing >= least], failed


def _growth_of(task: NodeTask, report: NodeReport) -> Iterator[_Growth]:
    """The streams of a task, up to its share of bytes, whatever the node has; one that shrank starts again."""
    tables = {task.paths.telemetry.name: report.telemetry, task.paths.arrivals.name: report.arrivals}
    known = {name: size for name, size in tables.items() if size is not None}
    room = task.log_bytes - sum(map(archived_size, task.paths.replaced_logs()))
    for stream, size in (known | report.streams).items():
        archived = stream_path(task.paths, stream)
        if size < archived_size(archived):
            set_aside(archived)
        offset = archived_size(archived)
        yield _Growth(task, stream, archived, offset, min(size, room) - offset, room - offset)
        room -= size


def _room(client: NodeClient, growths: Sequence[_Growth]) -> int:
    """An equal part for every stream of what is read at once, so that a flood on one does not starve the others."""
    return max(client.read_bytes // max(len(growths), 1), LEAST_PART_BYTES) - OVERLAP_BYTES


async def _fetch(client: NodeClient, growths: Sequence[_Growth], room: int) -> tuple[int, Failed]:
    """Append up to ``room`` bytes of each stream; return the number of bytes, and what cannot be archived.

    Each request brings as much as comes in a few seconds, and what it brought is kept whatever happens to the next.
    """
    together = max(client.read_bytes // (room + OVERLAP_BYTES), 1)
    new, failed = 0, Failed()
    for first in range(0, len(growths), together):
        some, unfit = await _fetch_together(client, growths[first : first + together], room)
        new, failed = new + some, failed | unfit
    return new, failed


async def _fetch_together(client: NodeClient, growths: Sequence[_Growth], room: int) -> tuple[int, Failed]:
    require_space(growths[0].archived, sum(min(item.most, room) for item in growths))
    ends = [growth.archived_end for growth in growths]
    ranges = [
        ByteRange(item.path, item.offset - len(end), len(end) + min(item.most, room))
        for item, end in zip(growths, ends, strict=True)
    ]
    new, failed = 0, Failed()
    for growth, end, part in zip(growths, ends, await client.read(ranges), strict=True):
        try:
            new += _archive(growth, end, part)
        except NodeFileError as error:
            failed[growth.task.key] = error
    return new, failed


def _archive(growth: _Growth, end: bytes, part: bytes | Unreadable | None) -> int:
    """Append what follows the archived end; where the log has other bytes there, it was replaced and is read again.

    Raises:
        NodeFileError: the file cannot be read there, or its name cannot be archived here.
        StorageError: the disk is full or the file cannot be written.
    """
    if isinstance(part, Unreadable) and growth.archived in growth.task.paths.tables:
        return 0  # replaced since the report, and absent from the next one
    if isinstance(part, Unreadable):
        raise NodeFileError(growth.task.node.name, growth.stream, part.reason)
    if archived_size(growth.archived) != growth.offset:
        return 0  # a node that was silent answers an old request after a newer one
    part = part or b""
    new = part[len(end) :]
    try:
        if part[: len(end)] != end[: len(part)]:
            set_aside(growth.archived)
            return 0
        if new:
            append(growth.archived, new)
    except OSError as error:
        raise NodeFileError(growth.task.node.name, growth.stream, error.strerror or str(error)) from error
    return len(new)


def require_space(path: Path, size: int) -> None:
    """Raise StorageError unless the journal and the results of what runs now find room after so many bytes."""
    folder = next(folder for folder in path.parents if folder.is_dir())
    total, _, free = shutil.disk_usage(folder)
    reserved = min(RESERVED_BYTES, total // 50)
    if free - size < reserved:
        why = f"{os.strerror(errno.ENOSPC)}: {free >> 20} MiB free, {reserved >> 20} MiB reserved"
        raise StorageError(f"{path}: cannot be written ({why}): free space, then `dlperf resume`")


async def collect_files(client: NodeClient, task: NodeTask, ended: NodeReport | None = None) -> None:
    """Archive everything that a node has of a trial: the rest of the streams, then the other files.

    Args:
        ended: a report from after the end of the trial there, when its streams have their final size.

    Raises:
        UnreachableError: the node does not answer; what is archived stays, and another call continues.
        NodeFileError: a file cannot be read or archived; all others are archived.
        StorageError: a file cannot be written here.
    """
    problem = await _collect_streams(client, task, ended)
    paths = task.paths
    whole = (paths.launch, paths.supervisor, paths.environment, paths.exit)  # exit.json last: it marks the end
    contents = await read_whole(client, [f"{task.directory}/{path.name}" for path in whole])
    found = dict(zip(whole, contents, strict=True))
    await asyncio.to_thread(_write, {path: data for path, data in found.items() if isinstance(data, bytes)})
    for path, part in found.items():
        if isinstance(part, Unreadable):
            raise NodeFileError(task.node.name, path.name, part.reason)
    if problem:
        raise problem


async def _collect_streams(client: NodeClient, task: NodeTask, ended: NodeReport | None) -> NodeFileError | None:
    """Fetch until nothing is missing; return why something is."""
    short_reads = 0
    least = 0  # first also logs that did not grow: they may have been replaced by others of the same size
    reports = [ended] if ended else await client.observe([task.directory])
    while True:
        growths, failed = _growth([task], reports, least)
        if failed or not growths:
            return failed.get(task.key)
        room = _room(client, growths)
        new, failed = await _fetch(client, growths, room)
        is_short = new < sum(min(item.missing, room) for item in growths)
        short_reads += is_short
        if failed or short_reads == SHORT_READS:
            missing = NodeFileError(task.node.name, growths[0].stream, "shorter than the node reports")
            return failed.get(task.key, missing)
        least = 1
        if is_short or not ended:
            reports = await client.observe([task.directory])


def _write(files: Mapping[Path, bytes]) -> None:
    """Write what the node returned; its ``launch.sh`` holds the secrets that the archived one must not.

    The disk is not waited for: a trial that is not sealed is collected again.
    """
    for path, data in files.items():
        write_atomic(path, redact_for_runs(path, data), durable=False, private=True)


async def read_whole(client: NodeClient, paths: Sequence[str]) -> list[bytes | Unreadable | None]:
    """Read up to four small files of a node in one request; None for an absent file."""
    parts = await client.read([ByteRange(path, 0, WHOLE_BYTES) for path in paths])
    large = Unreadable(f"{WHOLE_BYTES} bytes or more")
    return [large if isinstance(part, bytes) and len(part) == WHOLE_BYTES else part for part in parts]
