"""Holding on to every process of a trial, also one that left its session, its parent and its environment.

The mark in the environment finds all others. Where we may make a control group (version 2), the payload runs in one,
which outlives the supervisor. The supervisor adopts the payload's orphans in any case.
"""

import contextlib
import importlib
import os
from typing import Any, Collection, List, Optional

from .files import Json, read_text, readable_json
from .processes import all_pids, mark_of, marked_pids, own_payload, process_table, stat_fields

GROUP_PREFIX = "dlperf-"
PR_SET_CHILD_SUBREAPER = 36


def open_group() -> Optional[str]:
    """Make a control group below our own; None where we may not."""
    name = f"{GROUP_PREFIX}{os.getpid()}-{os.urandom(4).hex()}"
    mounts = [line.split()[4] for line in read_text("/proc/self/mountinfo").splitlines() if " - cgroup2 " in line]
    own = [line[3:] for line in read_text("/proc/self/cgroup").splitlines() if line.startswith("0::")]
    try:
        base = mounts[0] + own[0]
        if not os.access(os.path.join(base, "cgroup.procs"), os.W_OK):  # to move a process from there
            return None
        os.mkdir(os.path.join(base, name))
    except (IndexError, OSError):
        return None
    return os.path.join(base, name)


def in_group(group: Optional[str], command: List[str]) -> List[str]:
    """The command that enters the group and then becomes ``command``."""
    if group is None:
        return command
    return ["sh", "-c", '{ echo 0 > "$0"; } 2> /dev/null; exec "$@"', os.path.join(group, "cgroup.procs"), *command]


def group_pids(group: Optional[str]) -> List[int]:
    """Every process in one of our groups and in the groups that the payload made below it."""
    if not group or not os.path.basename(group).startswith(GROUP_PREFIX):
        return []
    texts = [read_text(os.path.join(folder, "cgroup.procs")) for folder, _, _ in os.walk(group)]
    return [int(pid) for text in texts for pid in text.split()]


def group_of(supervisor: Json) -> Optional[str]:
    """The control group in the record of a supervisor."""
    group = supervisor.get("group")
    return group if isinstance(group, str) else None


def close_group(group: Optional[str]) -> None:
    """Remove a group whose processes have ended."""
    for folder, _, _ in os.walk(group or "", topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def load_libc() -> Any:
    """The C library; None where Python is a small one without ctypes."""
    with contextlib.suppress(ImportError, OSError):
        return importlib.import_module("ctypes").CDLL(None)


LIBC = load_libc()
"""Loaded before a supervisor is forked, as every module is."""


def adopt_orphans() -> bool:
    """Become the parent of descendants whose own parent ends; False where that cannot be."""
    with contextlib.suppress(AttributeError):  # no ctypes, or no such call
        return bool(LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    return False


def reap_orphans(payload: int) -> None:
    """Forget adopted processes that ended; the payload and our helpers have their own waiters."""
    with contextlib.suppress(ChildProcessError):
        while True:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            fields = stat_fields(ended.si_pid) if ended and ended.si_pid != payload else []
            if not ended or not fields or int(fields[3]) == os.getsid(0):
                return
            os.waitpid(ended.si_pid, 0)


def trial_pids(mark: str, group: Optional[str] = None, others: Collection[int] = ()) -> List[int]:
    """Every living process of a trial that can be found: by mark, by group, by descent from this process.

    Args:
        others: processes that are known not to be the trial's, and need not be read.
    """
    table = process_table(pid for pid in all_pids() if pid not in others)
    living = [pid for pid in own_payload(table) if table[pid][0] not in "ZX"]
    return sorted({*marked_pids(mark, table), *group_pids(group), *living})


def pids_of(directory: str, supervisor: Optional[Json]) -> List[int]:
    """The processes of a trial on this machine, also where its folder was removed."""
    job = readable_json(os.path.join(directory, "job.json"))
    return trial_pids(mark_of(directory, job), group_of(supervisor or {}))


def strays_of(directory: str, supervisor: Optional[Json], ended: Optional[Json]) -> List[int]:
    """The processes of a trial without a supervisor that its end does not name.

    A supervisor names what it could not end. Where it was killed, the payload may have written an exit file.
    """
    known = (ended or {}).get("processes_left")
    return [pid for pid in pids_of(directory, supervisor) if not (isinstance(known, list) and pid in known)]
