"""The lease of this machine: one trial at a time, for all users of dlperf.

It is a lock on a file that every user reaches. The supervisor holds it and its payload inherits it, so that it ends
with the last of them and a crash leaves nothing to clean up. The file's text names the owner, for those who wait.
Anybody may remove a file, so that the holder also has a name in the system's table of sockets, which nobody can.
"""

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import pwd
import socket
import stat
import time
from typing import Dict, List, Optional

from .files import Json, read_text
from .processes import SUPERVISOR_NAME, all_pids, marked_pids


def lease_path() -> str:
    """Where the lease lies: one file, in whatever folder a process works."""
    return os.path.join(os.path.expanduser("~"), os.environ.get("DLPERF_LEASE") or "/tmp/dlperf.lease")


PATH = lease_path()
TRY_SECONDS = 0.5
"""Others hold the lock for a moment when they look who has it."""
RECORD_BYTES = 4096
UNKNOWN = "unknown"
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
    try:
        write_owner(descriptor, trial, since)
        if not lock_shared(descriptor):
            raise LeaseHeldError(read_owner(descriptor))
    except (LeaseHeldError, OSError):
        os.close(descriptor)
        raise
    return descriptor


def write_owner(descriptor: int, trial: str, since: str) -> None:
    if read_owner(descriptor).get("trial") != trial:
        engine = os.environ.get("SSH_CONNECTION", "").partition(" ")[0] or socket.gethostname()
        owner = {"user": user_name(), "engine": engine, "trial": trial, "since": since}
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(owner).encode("ascii"), 0)


def take_machine(mark: str, since: str) -> List[int]:
    """Take the machine by the file and by the name; raise as ``take_lease`` does."""
    descriptor = take_lease(mark, since)
    name = hold_name()
    if name is None and not is_shared(descriptor):  # its holder's file was removed
        os.close(descriptor)
        raise LeaseHeldError(dict.fromkeys(FIELDS, UNKNOWN))
    return [descriptor] if name is None else [descriptor, name]


def is_on_path(descriptor: int) -> bool:
    """Whether the file of a lease is still the one that others find."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(PATH))
    except OSError:
        return False


def hold_name() -> Optional[int]:
    """The socket that has the machine's name; None where another process has it."""
    give_up = time.monotonic() + TRY_SECONDS
    while True:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as holder:
            holder.bind("\0" + socket_name())
            return holder.detach()
        if time.monotonic() > give_up:
            return None
        time.sleep(0.02)


def is_name_held() -> bool:
    return any(line.endswith(f" @{socket_name()}") for line in read_text("/proc/net/unix").splitlines())


def socket_name() -> str:
    return "dlperf.lease." + hashlib.sha256(os.fsencode(PATH)).hexdigest()[:32]


def is_shared(descriptor: int) -> bool:
    """Whether another node of the trial has the lock, too; ours stays."""
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        return False
    return lock_shared(descriptor)


def processes_left(trial: str) -> Dict[int, str]:
    """The processes that keep the machine for a trial whose supervisor has ended, as far as we may see them."""
    pids = {*marked_pids(f"{trial}/"), *filter(has_lease_open, all_pids())}
    found = {pid: read_text(f"/proc/{pid}/comm").strip() for pid in sorted(pids)}
    return {} if SUPERVISOR_NAME in found.values() else found


def has_lease_open(pid: int) -> bool:
    folder, path = f"/proc/{pid}/fd", os.path.realpath(PATH)
    with contextlib.suppress(OSError):
        return any(os.path.realpath(os.path.join(folder, name)) == path for name in os.listdir(folder))
    return False


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


def remove_lease() -> None:
    """Remove the file where nobody holds it and it is ours; who opened it meanwhile finds that it is gone."""
    with contextlib.suppress(LeaseHeldError, OSError):
        descriptor = locked("")
        try:
            os.unlink(PATH)
        finally:
            os.close(descriptor)


def lease_owner() -> Optional[Json]:
    """Who has this machine, with ``problem`` where that cannot be known; None where it is free."""
    try:
        os.close(locked(""))
    except LeaseHeldError as error:
        owner = dict(error.args[0])
        return dict(owner, left=processes_left(owner["trial"]) if owner["trial"] else {})
    except OSError as error:
        return {"problem": why_unusable(error)}
    return dict(dict.fromkeys(FIELDS, UNKNOWN), left={}) if is_name_held() else None


def why_unusable(error: OSError) -> str:
    return f"{PATH}: {error.strerror}"


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
