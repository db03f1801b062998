"""The one door to the files of a workspace: it opens what a name says, and never what a link leads to.

Whoever sends a workspace, or a part of it, may have put a link in place of any file or folder. The path of an open file
is asked of the system and must be the name, so that a link at any part of it is found, whenever it was made.
"""

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from io import BufferedReader
from pathlib import Path

MAX_BYTES = 256 << 20
"""The plan of 100,000 trials takes less."""
MOST_HOLES, LEAST_SPARSE = 200, 4 << 30
"""In how many times its space on the disk a file may be large, and the size up to which every file may be so: one that
is nearly all holes takes hours to read and no space to send."""
LEVELS = 64
"""Of folders within folders that are looked into."""
ATTEMPTS = 1000
"""A file that is replaced while it is opened has no name for a moment; somebody may replace one without a pause."""
_LAST_BYTES = 4096
_PART = 1 << 20
_PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


def read_bytes(path: Path, offset: int = 0) -> bytes:
    """Return the content of a regular file.

    Raises:
        OSError: it cannot be read, is or lies behind a link, or is too large.
    """
    descriptor = descriptor_of(path)
    try:
        size = os.fstat(descriptor).st_size
        if size > MAX_BYTES:
            raise OSError(0, f"larger than {MAX_BYTES >> 20} MiB", str(path))
        if offset:
            os.lseek(descriptor, offset, os.SEEK_SET)
        parts = [os.read(descriptor, size + 1)]  # all of it, unless somebody writes
        while part := os.read(descriptor, _PART):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)


def size_of(path: Path) -> int:
    """Return the size of a file in bytes, 0 where there is none.

    Raises:
        OSError: that cannot be found out.
    """
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def last_line(path: Path) -> str:
    """Return the last line of a regular file that is not blank, of its last 4 KiB; empty where there is none.

    Raises:
        OSError: it cannot be read.
    """
    if not is_regular(path):
        return ""
    end = read_bytes(path, max(0, path.stat().st_size - _LAST_BYTES)).decode(errors="replace")
    return end.rstrip().rpartition("\n")[2]


def open_regular(path: str | Path) -> BufferedReader:
    """Open a regular file to read; a pipe, which would block, and a link are refused.

    Raises:
        OSError: it cannot be read.
    """
    return os.fdopen(descriptor_of(path), "rb")


def descriptor_of(path: str | Path) -> int:
    """Do the same without a buffer, which takes longer than to read a small file; the caller closes it.

    Raises:
        OSError: it cannot be read.
    """
    if is_of_package(path):
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    for _ in range(ATTEMPTS):
        descriptor = open_at_name(path, _READ)
        if descriptor is not None:
            if _is_hollow(os.fstat(descriptor)):
                os.close(descriptor)
                raise OSError(0, "nearly all of it is holes, which take no space", str(path))
            return descriptor
        if not is_plain(os.path.dirname(path) or "."):
            break
    raise linked(path)


def _is_hollow(status: os.stat_result) -> bool:
    return status.st_size > max(LEAST_SPARSE, MOST_HOLES * 512 * status.st_blocks)


def is_of_package(path: str | Path) -> bool:
    """Whether a file came with dlperf."""
    return _absolute(path).startswith(_PACKAGE)


def _absolute(path: str | Path) -> str:
    """Do what ``os.path.abspath`` does, at once for the usual name."""
    name = os.fspath(path)
    is_usual = name.startswith("/") and "//" not in name and "/." not in name and not name.endswith("/")
    return name if is_usual else os.path.abspath(name)


def open_at_name(path: str | Path, flags: int, mode: int = 0o600) -> int | None:
    """Open a regular file; None where the open file is not at its name: behind a link, or just replaced.

    Raises:
        OSError: it cannot be opened, is no regular file, or is a link.
    """
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    except OSError as error:
        raise (linked(path) if error.errno == errno.ELOOP else error) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "not a regular file", str(path))
    if not _is_at(descriptor, path):
        os.close(descriptor)
        return None
    return descriptor


def _is_at(descriptor: int, path: str | Path) -> bool:
    name = _absolute(path)
    if name.startswith(_PACKAGE):
        return True
    if _leads_up(path):  # a name of a record, which must not lead out of its folder
        return False
    try:
        found = os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:  # no /proc, or a very long path
        found = os.path.realpath(path)
    return found == name


def _leads_up(path: str | Path) -> bool:
    name = os.fspath(path)
    return ".." in name and ".." in name.split(os.sep)


def writer(path: str, flags: int, mode: int = 0o666) -> int:
    """Open a file of a workspace to write; an ``opener``.

    Raises:
        OSError: it cannot be opened, or lies behind a link.
    """
    if not is_plain(os.path.dirname(path) or "."):
        raise linked(path)
    descriptor = open_at_name(path, flags | os.O_NONBLOCK, mode)
    if descriptor is None:
        raise linked(path)
    return descriptor


def private_writer(path: str, flags: int) -> int:
    """Do the same for a file that only its owner may read, as it may hold secrets."""
    return writer(path, flags, 0o600)


def is_plain(path: str | Path) -> bool:
    """Whether no part of a path is a link."""
    descriptor = _reach(path)
    if descriptor is None:
        return not _leads_up(path) and os.path.realpath(path) == os.path.abspath(path)
    try:  # what is opened may be the link itself
        return not stat.S_ISLNK(os.fstat(descriptor).st_mode) and _is_at(descriptor, path)
    finally:
        os.close(descriptor)


def make_folder(folder: Path, *, anew: bool = False, within: Path | None = None) -> None:
    """Make a folder of a workspace, and those that it lies in.

    Args:
        anew: it must not exist.
        within: a folder around it that is not made where it is gone.

    Raises:
        OSError: it cannot be made, or would lie behind a link.
    """
    if not is_plain(folder.parent if anew else folder):
        raise linked(folder)
    if within is None:
        folder.mkdir(parents=True, exist_ok=not anew)
        return
    parts = folder.relative_to(within).parts
    for count in range(1, len(parts) + 1):
        within.joinpath(*parts[:count]).mkdir(exist_ok=True)


def is_regular(path: str | Path) -> bool:
    """Whether a regular file has this name, and no part of the name is a link."""
    descriptor = _reach(path)
    if descriptor is None:
        return False
    try:
        return stat.S_ISREG(os.fstat(descriptor).st_mode) and _is_at(descriptor, path)
    finally:
        os.close(descriptor)


def _reach(path: str | Path) -> int | None:
    """A descriptor of a file or folder that is not opened; None where there is none."""
    try:
        return os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (OSError, ValueError):  # a name with a null character
        return None


def linked(path: str | Path) -> OSError:
    """The error of a name that is a link or leads through one."""
    return OSError(errno.ELOOP, "a link, or behind one: links in a workspace are not followed", str(path))


def folders_below(folder: Path, levels: int = LEVELS) -> Iterator[tuple[str, list[os.DirEntry[str]]]]:
    """Yield a folder and those below it, each before those within it, and what it holds; links are not followed."""
    waiting = [(os.fspath(folder), 0)] if is_plain(folder) else []
    while waiting:
        path, level = waiting.pop()
        found = []
        with suppress(OSError), os.scandir(path) as entries:
            found = list(entries)
        yield path, found
        if level < levels:
            waiting += [(entry.path, level + 1) for entry in found if entry.is_dir(follow_symlinks=False)]


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the regular files below a folder, in no order; links are left out, and everything behind them."""
    below = folders_below(folder) if os.path.lexists(folder) else ()  # many trials have none
    for _, entries in below:
        for entry in entries:
            with suppress(OSError):
                if entry.is_file(follow_symlinks=False):
                    yield Path(entry.path)


def copy_file(source: Path, target: Path) -> None:
    """Copy the content of a file of a workspace."""
    with open_regular(source) as content, open(target, "wb", opener=writer) as copy:
        shutil.copyfileobj(content, copy, 1 << 20)


def copy_tree(source: Path, target: Path) -> None:
    """Copy the regular files of a folder of a workspace: by hard links where the disk can."""
    if not is_plain(source):
        raise linked(source)
    target.mkdir(parents=True)
    for file in files_below(source):
        place = target / file.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        link_or_copy(str(file), str(place))


def link_or_copy(source: str, target: str) -> None:
    """Link a file, or copy it where the disk cannot; safe because no build writes into an existing file."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        copy_file(Path(source), Path(target))
