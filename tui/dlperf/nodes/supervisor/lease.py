"""The lease of this machine: one trial at a time, for all users of dlperf.

It is a lock on a file that every user reaches. The supervisor holds it and its payload inherits it, so that it ends
with the last of them and a crash leaves nothing to clean up. The file's text names the owner, for those who wait.
"""

import contextlib
import errno
import fcntl
import json
import os
import pwd
import socket
import stat
import time
from typing import Optional

from .files import Json
from .processes import marked_pids

PATH = os.environ.get("DLPERF_LEASE", "/tmp/dlperf.lease")
TRY_SECONDS = 0.5
"""Others hold the lock for a moment when they look who has it."""
RECORD_BYTES = 4096
FIELDS = ("user", "engine", "trial", "since")


class LeaseHeldError(Exception):
    """Another trial has the machine; its record is the argument."""


def take_lease(mark: str, since: str) -> int:
    """Take the machine for the trial of a mark; nodes of one trial on one machine share it.

    Returns:
        The descriptor that holds the lease until it is closed here and in all children that inherit it.

    Raises:
        LeaseHeldError: another trial has it.
        OSError: the file cannot be used.
    """
    trial = mark.partition("/")[0]
    descriptor = locked(trial)
    if read_owner(descriptor).get("trial") != trial:
        engine = os.environ.get("SSH_CONNECTION", "").partition(" ")[0] or socket.gethostname()
        owner = {"user": user_name(), "engine": engine, "trial": trial, "since": since}
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(owner).encode("ascii"), 0)
    if not lock_shared(descriptor):
        raise LeaseHeldError(read_owner(descriptor))
    return descriptor


def release_lease(descriptor: int, vacant: bool) -> None:
    """Give the machine back.

    Args:
        vacant: nothing of the trial is left, so that its name goes, too, and nobody looks for its processes again.
    """
    if vacant:
        with contextlib.suppress(OSError):  # another node of the trial has the machine
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
    os.close(descriptor)


def lease_owner() -> Optional[Json]:
    """Who has this machine, with ``problem`` where that cannot be known; None where it is free."""
    try:
        os.close(locked(""))
    except LeaseHeldError as error:
        return dict(error.args[0])
    except OSError as error:
        return {"problem": f"{PATH}: {error.strerror}"}
    return None


def locked(trial: str) -> int:
    """The open file with a lock for this trial. Raises LeaseHeldError."""
    give_up = time.monotonic() + TRY_SECONDS
    while True:
        descriptor = open_file()
        owner = lock(descriptor, trial)
        if owner is None and os.path.exists(PATH) and os.path.samestat(os.fstat(descriptor), os.stat(PATH)):
            return descriptor
        os.close(descriptor)
        if time.monotonic() > give_up:
            raise LeaseHeldError(owner or dict.fromkeys(FIELDS, ""))
        time.sleep(0.02)


def open_file() -> int:
    """Open the file; another user may own it, and a link is not followed."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        descriptor = os.open(PATH, flags)  # without O_CREAT, which Linux refuses for another user's file in /tmp
    except FileNotFoundError:
        with contextlib.suppress(FileExistsError):
            created = os.open(PATH, flags | os.O_CREAT | os.O_EXCL, 0o600)
            os.fchmod(created, 0o666)  # whatever the umask is
            os.close(created)
        descriptor = os.open(PATH, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", PATH)
    return descriptor


def lock(descriptor: int, trial: str) -> Optional[Json]:
    """Lock the file for a trial; the record of another trial that has it, or that still has processes here."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = read_owner(descriptor)
        return None if owner["trial"] == trial and lock_shared(descriptor) else owner
    owner = read_owner(descriptor)
    return owner if owner["trial"] not in ("", trial) and marked_pids(owner["trial"] + "/") else None


def lock_shared(descriptor: int) -> bool:
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return True
    return False


def read_owner(descriptor: int) -> Json:
    """The record in the file, which anybody may have written."""
    try:
        found = json.loads(os.pread(descriptor, RECORD_BYTES, 0).decode("ascii"))
    except ValueError:
        found = None
    known = found if isinstance(found, dict) else {}
    return {name: str(known.get(name, ""))[:256] for name in FIELDS}


def user_name() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
