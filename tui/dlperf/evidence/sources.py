"""Find the files that may be logs, in folders and by name."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from dlperf.errors import RequestError
from dlperf.evidence.mlperf import is_result

_ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".7z", ".rar")
_NAME_PARTS = 6
"""Last parts of a single file's path from which facts are read."""


@dataclass(frozen=True)
class SourceFile:
    """One file that may be a log."""

    path: Path
    name: str
    """Path from the imported folder's own name on; facts are read from it."""

    @property
    def opened(self) -> Path:
        """The file itself: what the user named may lie behind a link."""
        return self.path.resolve()

    @property
    def shown(self) -> str:
        """The path as the user gave it."""
        return readable(self.path)


@dataclass(frozen=True)
class SkippedFile:
    """A file that is not imported."""

    log: str
    """The path as the user gave it."""
    reason: str
    can_be_confirmed: bool = False
    """Its name suggests the facts that its content lacks."""
    is_log: bool = False
    """It was named, is named as a log, or holds records: not importing it is a failure."""


def find_files(sources: Sequence[Path]) -> tuple[list[SourceFile], list[SkippedFile]]:
    """Find every regular file below the folders and every named file, in name order; links are not followed.

    Raises:
        RequestError: a source does not exist.
    """
    found, skipped = [], []
    for source in sources:
        for path, name in _candidates(source):
            reason = _unfit(path, named=path == source)
            if reason:
                skipped.append(SkippedFile(readable(path), reason, is_log=path == source or is_result(path.absolute())))
            else:
                found.append(SourceFile(path, name))
    return list(dict.fromkeys(found)), skipped


def _candidates(source: Path) -> Iterator[tuple[Path, str]]:
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
    """Return a path as valid UTF-8 text."""
    return os.fsencode(path.as_posix()).decode("utf-8", "replace")


def _unfit(path: Path, named: bool) -> str | None:
    """Return why a file cannot be a log. A link is followed only if it was named itself."""
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
