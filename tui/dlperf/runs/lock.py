"""``engine.lock`` allows one engine for a campaign and holds its process id."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dlperf.errors import DlperfError, RequestError
from dlperf.opening import open_regular, writer
from dlperf.runs.paths import CampaignPaths

PATIENCE_SECONDS = 0.5
"""An engine tries again for this long: a viewer that checks for an engine holds the lock for an instant."""


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
        yield
    finally:
        os.close(descriptor)


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
