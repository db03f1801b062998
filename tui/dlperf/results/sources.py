"""The files of a folder that somebody hands over: what may be a log, what is not, and why."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from dlperf.errors import RequestError

_ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".7z", ".rar")
_NAME_PARTS = 6
"""Of a single file's path, so many parts are looked at: ``ResNet50V1.5/OtherReports/PyTorch/logs/V100_LOG/a.txt``."""


@dataclass(frozen=True)
class SourceFile:
    """One file that may be a log."""

    path: Path
    name: str
    """Where it lay, from the imported folder's own name on; what the facts of a path are read from."""

    @property
    def shown(self) -> str:
        """Where it lies, as it was asked for."""
        return readable(self.path)


@dataclass(frozen=True)
class SkippedFile:
    """A file that is not imported."""

    log: str
    """Where it lies, as it was asked for."""
    reason: str


def find_files(sources: Sequence[Path]) -> tuple[list[SourceFile], list[SkippedFile]]:
    """Every regular file below the folders and every file named, in name order; links are not followed.

    Raises:
        RequestError: a source does not exist.
    """
    found, skipped = [], []
    for source in sources:
        for path, name in _candidates(source):
            reason = _unfit(path, named=path == source)
            if reason:
                skipped.append(SkippedFile(readable(path), reason))
            else:
                found.append(SourceFile(path, name))
    return list(dict.fromkeys(found)), skipped


def _candidates(source: Path) -> Iterator[tuple[Path, str]]:
    """Files with their names."""
    if source.is_dir():
        root = source.resolve()
        for folder, folders, files in os.walk(source, followlinks=False):
            folders.sort()
            for file in sorted(files):
                path = Path(folder, file)
                yield path, readable(PurePath(root.name, path.relative_to(source)))
    elif source.exists():
        yield source, readable(PurePath(*source.resolve().parts[1:][-_NAME_PARTS:]))
    elif source == Path("-"):
        raise RequestError("-: standard input is not read: write it to a file and name that")
    else:
        raise RequestError(f"{source}: there is no such file or folder")


def readable(path: PurePath) -> str:
    """A path as text that any file can hold, whatever bytes its name has."""
    return os.fsencode(path.as_posix()).decode("utf-8", "replace")


def _unfit(path: Path, named: bool) -> str | None:
    """Why a file cannot be a log; None if it can. A link is followed only where somebody named it."""
    try:
        status = path.stat() if named else path.lstat()
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    if stat.S_ISLNK(status.st_mode):
        return "a link: not followed"
    if not stat.S_ISREG(status.st_mode):
        return "no regular file: write what it gives to a file"
    if path.name.lower().endswith(_ARCHIVES):
        return "an archive: unpack it and name the folder"
    return "empty" if status.st_size == 0 else None
