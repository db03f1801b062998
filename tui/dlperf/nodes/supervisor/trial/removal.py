"""Remove what an ended trial left on this node: the whole folder, if all of it is archived, or nothing."""

import contextlib
import fnmatch
import hashlib
import os
import re
import shutil
import tempfile
import time
from typing import Any, Dict, Iterator, List, Optional, Sequence

from ..files import ROOM, ROOT, Json, escaped, readable_json, regular_size, reserved
from ..lease import remove_lease
from ..processes import is_alive, is_identity, running_process
from ..scope import pids_of

OWN_FILES = frozenset(
    [
        *("job.json", "heartbeat", "supervisor.log", "sweeper.json", "cancel.json"),
        *("submit.lock", "queue.json", "allocation.json", "payload.sh"),
        *("build.sh", "build.failed"),
        *(reserved("cancel.json"), reserved("exit.json"), ROOM),
    ]
)
"""Files of the supervisor and of Slurm jobs, which are not archived or change after they were sent."""
COMPILED = ".compiled"
"""Folder of a node's folder in which its trial keeps what it compiles, if it begins without."""
TEMPORARY = "dlperf-"
"""How the name of a folder begins in which a trial has its temporary files."""
PROGRAM = ("bin",)
CACHES = ("builds", "caches", "wheels")
"""Folders that make later trials start faster."""
TRIAL_NAME = re.compile(r"[A-Za-z0-9._-]{1,200}$")
LISTED = 5
"""Names of unarchived files in a message."""


def remove_trial(directory: str, archived: Dict[str, List[str]], discarded: Sequence[str]) -> Json:
    """Remove the folder of a finished trial: its size in bytes, and the problem that kept it, as a code, if any.

    Args:
        archived: path relative to the folder → SHA-256 of its contents in the archive.
        discarded: patterns of files and folders below a node's folder that may be lost.
    """
    folders = node_folders(directory)
    problem = None if folders else {"code": "kept_absent"}  # type: Optional[Json]
    problem = next(filter(None, map(removal_problem, folders)), problem)
    try:
        paths = [] if problem else list(entries(directory))
        size = sum(regular_size(path) or 0 for path in paths)
        problem = problem or unarchived_problem(directory, paths, archived, discarded)
        if not problem:
            supervisors = [readable_json(os.path.join(folder, "supervisor.json")) for folder in folders]
            remove_whole(paths)
            for supervisor in supervisors:  # of a node that lost its power
                remove_temporary_folder(supervisor)
    except OSError as error:
        problem = {"code": "kept_unreadable", "file": str(error.filename), "reason": str(error.strerror)}
        return {"bytes": 0, "problem": problem}
    return {"bytes": size, "problem": problem}


def temporary_folder() -> Optional[str]:
    """Make a folder for the temporary files of one trial: torchrun, and what is killed, leave some. None: no room."""
    with contextlib.suppress(OSError):
        return tempfile.mkdtemp(prefix=TEMPORARY)
    return None


def remove_temporary_folder(supervisor: Json) -> None:
    """Remove the folder that is in the supervisor's record, in which a payload may have written another one."""
    path = supervisor.get("temporary")
    if isinstance(path, str) and os.path.basename(path).startswith(TEMPORARY):
        shutil.rmtree(path, ignore_errors=True)


def trials_here() -> List[Json]:
    """Each trial's folder on this machine: its name, bytes, seconds since its last change, and why it must stay."""
    found = []
    for name in sorted(os.listdir(ROOT) if os.path.isdir(ROOT) else []):
        directory = os.path.join(ROOT, name)
        folders = node_folders(directory)
        if folders and TRIAL_NAME.match(name):
            facts = [os.lstat(path) for path in entries(directory)]
            problem = next(filter(None, map(removal_problem, folders)), None)
            age = max(0.0, time.time() - max(fact.st_mtime for fact in facts))
            size = sum(fact.st_size for fact in facts)
            found.append({"directory": name, "bytes": size, "age": age, "problem": problem})
    return found


def remove_program(caches: bool) -> None:
    """Remove what serves trials, where no folder of a trial is left: the program, the lease and, if wanted, caches."""
    if os.path.isdir(ROOT) and not any(node_folders(os.path.join(ROOT, name)) for name in os.listdir(ROOT)):
        for name in PROGRAM + CACHES * caches:
            shutil.rmtree(os.path.join(ROOT, name), ignore_errors=True)
        remove_lease()
        with contextlib.suppress(OSError):  # something else lies there
            os.rmdir(ROOT)


def node_folders(directory: str) -> List[str]:
    """The folders of the trial's nodes that are on this machine."""
    names = os.listdir(directory) if os.path.isdir(directory) else []
    folders = [os.path.join(directory, name) for name in names]
    return [folder for folder in folders if os.path.exists(os.path.join(folder, "job.json"))]


def removal_problem(folder: str) -> Optional[Json]:
    """Why one node's folder must stay; None where nothing of it can run, also if it never started."""
    path, ended = os.path.join(folder, "supervisor.json"), os.path.lexists(os.path.join(folder, "exit.json"))
    recorded = readable_json(path)
    supervisor = recorded if is_identity(recorded) else running_process(folder)
    if (os.path.lexists(path) or supervisor) and not ended:
        return {"code": "kept_without_exit"}
    return {"code": "kept_running"} if is_alive(supervisor) or pids_of(folder, supervisor) else None


def entries(directory: str) -> Iterator[str]:
    """Everything in a folder, links included and not followed, contents before folders; last the folder itself."""
    for folder, folders, names in os.walk(directory, topdown=False, onerror=fail):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in names + links:
            yield os.path.join(folder, name)
        yield folder


def fail(error: Any) -> None:
    raise error


def unarchived_problem(
    directory: str, paths: Sequence[str], archived: Dict[str, List[str]], discarded: Sequence[str]
) -> Optional[Json]:
    """Which files keep the folder: those that are neither in the archive nor to be discarded."""
    files = [path for path in paths if os.path.islink(path) or not os.path.isdir(path)]
    names = [
        name
        for path, name in ((path, os.path.relpath(path, directory)) for path in files)
        if not (is_own(name) or is_empty_log(path, name) or is_discarded(name, discarded))
        and not is_archived(path, archived.get(escaped(name), ()))
    ]
    if not names:
        return None
    shown = ", ".join(map(escaped, sorted(names)[:LISTED]))
    more = len(names) - LISTED
    if more > 0:
        return {"code": "kept_unarchived_more", "files": shown, "count": more}
    return {"code": "kept_unarchived", "files": shown}


def is_own(name: str) -> bool:
    parts = name.split(os.sep)
    compiled = "__pycache__" in parts[:-1] and name.endswith(".pyc")
    return compiled or parts[1:2] == [COMPILED] or (len(parts) <= 2 and parts[-1] in OWN_FILES)


def is_empty_log(path: str, name: str) -> bool:
    """Whether it is a log in which nothing was written, which is not archived."""
    parts = name.split(os.sep)[1:]
    return (parts == ["out.log"] or parts[:1] == ["ranks"]) and regular_size(path) == 0


def is_discarded(name: str, patterns: Sequence[str]) -> bool:
    """Whether a pattern matches the file, or a folder that holds it, by its path in the node's folder."""
    parts = name.split(os.sep)[1:]
    wholes = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    return any(fnmatch.fnmatchcase(whole, pattern) for whole in wholes for pattern in patterns)


def is_archived(path: str, digests: Sequence[str]) -> bool:
    if not digests or regular_size(path) is None:
        return False
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        for part in iter(lambda: stream.read(1 << 20), b""):
            digest.update(part)
    return digest.hexdigest() in digests


def remove_whole(paths: Sequence[str]) -> None:
    """Remove all paths, contents before folders, or put all of them back and raise OSError."""
    aside = tempfile.mkdtemp(prefix=".removed-", dir=ROOT)  # the same file system: a move copies nothing
    moved: List[Any] = []
    try:
        for path in paths:
            target = os.path.join(aside, str(len(moved)))
            os.rename(path, target)
            moved.append((path, target))
    except OSError:
        for path, target in reversed(moved):
            os.rename(target, path)
        os.rmdir(aside)
        raise
    shutil.rmtree(aside, ignore_errors=True)
