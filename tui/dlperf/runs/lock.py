"""``engine.lock`` allows one engine for a campaign and holds its process id."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dlperf.errors import DlperfError, RequestError, StorageError
from dlperf.opening import open_regular, writer
from dlperf.runs.paths import CampaignPaths

PATIENCE_SECONDS = 0.5
"""An engine tries again for this long: a viewer that checks for an engine holds the lock for an instant."""
_held: dict[Path, tuple[int, int]] = {}
"""Folders of campaigns whose lock this process has → device and inode of the locked file."""


@contextmanager
def engine_lock(paths: CampaignPaths) -> Iterator[None]:
    """Hold the campaign's lock; the kernel releases it however the process ends.

    Raises:
        RequestError: another engine runs.
    """
    descriptor = _open(paths.lock)
    try:
        _acquire(descriptor, paths)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        _held[paths.directory] = _identity(os.fstat(descriptor))
        held_folder(paths.directory)
        yield
    finally:
        _held.pop(paths.directory, None)
        os.close(descriptor)


def held_folder(path: Path) -> Path | None:
    """Return the folder of the campaign that a path is in, where this process runs it: no write may make it anew.

    Another engine may have taken a campaign that was moved, and in its place is nothing with its plan and its secrets.

    Raises:
        StorageError: the file that this process locked is not in that folder any more.
    """
    for directory, locked in tuple(_held.items()):
        if path.is_relative_to(directory):
            lock = CampaignPaths(directory).lock
            if _found(lock) == locked:
                return directory
            reason = f"it, or {lock.name} in it, was moved or removed while its engine ran"
            raise StorageError(f"{directory}: {reason}: put it back, then run `dlperf resume`")
    return None


def _found(path: Path) -> tuple[int, int] | None:
    try:
        return _identity(path.stat(follow_symlinks=False))
    except OSError:
        return None


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _open(path: Path) -> int:
    try:
        return writer(str(path), os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise DlperfError(f"{path}: {error.strerror}: the engine cannot start") from error


def _acquire(descriptor: int, paths: CampaignPaths) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not _locked_alone(descriptor, paths):
        if time.monotonic() > deadline:
            owner = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
            raise RequestError(f"campaign {paths.name!r}: an engine runs already (process {owner})")
        time.sleep(0.02)


def _locked_alone(descriptor: int, paths: CampaignPaths) -> bool:
    try:
        return _locked(descriptor, fcntl.LOCK_EX)
    except OSError as error:
        advice = "put the workspace on a file system with locks (flock)"
        raise DlperfError(f"{paths.lock}: cannot be locked ({error.strerror}): {advice}") from error


def _locked(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def engine_pid(paths: CampaignPaths) -> int | None:
    """Return the engine's process id: 0 where it is unknown (on another machine), None where no engine runs."""
    try:
        with open_regular(paths.lock) as stream:
            if _locked(stream.fileno(), fcntl.LOCK_SH):
                return None
            text = stream.read(32).strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else 0
