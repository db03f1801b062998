"""A node's logs as they come home: the archived file is the buffer, its size the offset to go on from."""

from __future__ import annotations

from pathlib import Path

from dlperf.errors import StorageError
from dlperf.runs.paths import NodePaths, file_name


def stream_path(paths: NodePaths, stream: str) -> Path:
    """Where a node's stream is archived; a name that came from a node never leads out of the node's folder."""
    if stream == paths.log.name:
        return paths.log
    return paths.ranks.joinpath(*(file_name(part) for part in stream.split("/")[1:]))


def archived_size(path: Path) -> int:
    """How many bytes are home."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def append(path: Path, data: bytes) -> None:
    """Add bytes to an archived log. What a full disk lets through stays: the next offset is the file's size.

    Raises:
        StorageError: the disk is full or the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab", buffering=0) as stream:
            view = memoryview(data)
            while view:
                view = view[stream.write(view) :]
    except OSError as error:
        raise StorageError(f"{path}: cannot be written ({error.strerror}): free space, then `dlperf resume`") from error
