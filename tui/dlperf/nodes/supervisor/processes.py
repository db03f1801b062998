"""Processes of this machine: identify them, find those of a trial, read what commands print."""

import contextlib
import os
import signal
import subprocess
import urllib.parse
from typing import IO, Dict, Iterable, List, NamedTuple, Optional, Set, Tuple

from .files import Json, read_json, read_text

MARK_VARIABLE = "DLPERF_TRIAL"
SUPERVISOR_NAME, SWEEPER_NAME = "dlperf-trial", "dlperf-sweep"
"""The names of a supervisor's process and of what ends a trial after it, in 15 bytes at most."""
PROCESS_BYTES = 1 << 17
KTHREADD = 2
"""The parent of the kernel's threads, of which a large machine has thousands."""
KERNEL_THREAD = 0x200000
"""A flag in ``stat_fields``."""

Variables = Optional[Dict[bytes, bytes]]


def boot_id() -> str:
    return read_text("/proc/sys/kernel/random/boot_id").strip()


def read_process(pid: int, name: str) -> bytes:
    """A file of a process in ``/proc``; empty where it cannot be read.

    Searches read two of each process on the machine, so this asks the system no more than it must.
    """
    try:
        descriptor = os.open(f"/proc/{pid}/{name}", os.O_RDONLY)
    except OSError:
        return b""
    try:
        return b"".join(iter(lambda: os.read(descriptor, PROCESS_BYTES), b""))
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def stat_fields(pid: int) -> List[str]:
    """The fields of ``/proc/<pid>/stat`` from the state letter on; none where there is no such process."""
    return read_process(pid, "stat").rpartition(b")")[2].decode("ascii").split()


def process_stat(pid: int) -> Optional[Tuple[str, int]]:
    """State letter and start time in clock ticks of a process; None where there is none."""
    fields = stat_fields(pid)
    return (fields[0], int(fields[19])) if fields else None


def all_pids() -> List[int]:
    """Every process; no threads of the kernel where it lists them, which it may not do in a container."""
    threads = set(kernel_threads())
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) not in threads]


def kernel_threads() -> List[int]:
    fields = stat_fields(KTHREADD)
    is_kernel = bool(fields) and int(fields[6]) & KERNEL_THREAD
    return [int(pid) for pid in read_process(KTHREADD, f"task/{KTHREADD}/children").split()] if is_kernel else []


def process_table(pids: Iterable[int]) -> Dict[int, List[str]]:
    """These processes, as far as they run, with their ``stat_fields``."""
    found = ((pid, stat_fields(pid)) for pid in pids)
    return {pid: fields for pid, fields in found if fields}


def older_pids(start_ticks: int) -> Set[int]:
    """Every process that began before a moment in ticks since the boot."""
    return {pid for pid, fields in process_table(all_pids()).items() if int(fields[19]) < start_ticks}


def own_payload(table: Dict[int, List[str]]) -> Set[int]:
    """Our descendants that are in sessions of their own: the payload's processes, and none of our helpers."""
    children: Dict[int, List[int]] = {}
    for pid, fields in table.items():
        children.setdefault(int(fields[1]), []).append(pid)
    session, found, unseen = os.getsid(0), set(), [os.getpid()]
    while unseen:
        new = [pid for pid in children.get(unseen.pop(), []) if int(table[pid][3]) != session]
        found.update(new)
        unseen += new
    return found


def identity_of(pid: int) -> Json:
    """What distinguishes a process from a later one with the same pid."""
    _, start_ticks = process_stat(pid) or ("", 0)
    return {"pid": pid, "start_ticks": start_ticks, "boot_id": boot_id()}


def is_identity(record: Json) -> bool:
    """Whether a record that was read identifies a process."""
    kinds = (("pid", int), ("start_ticks", int), ("boot_id", str))
    return all(isinstance(record.get(name), kind) for name, kind in kinds)


def is_alive(identity: Optional[Json]) -> bool:
    """Whether exactly that process runs: neither a zombie nor another process with the same pid."""
    if identity is None or identity["boot_id"] != boot_id():
        return False
    found = process_stat(identity["pid"])
    return found is not None and found[0] not in "ZX" and found[1] == identity["start_ticks"]


def age_of(identity: Json) -> float:
    """For how many seconds a living process has run, whatever the clock was set to meanwhile."""
    uptime = float(read_text("/proc/uptime").split()[0])
    ticks: int = identity["start_ticks"]
    return max(0.0, uptime - ticks / os.sysconf("SC_CLK_TCK"))


def open_process(identity: Optional[Json]) -> Optional[int]:
    """A descriptor that is readable once a process has ended; None where it has, or the system is too old for that."""
    open_pid = getattr(os, "pidfd_open", None)  # Python 3.9 and Linux 5.3
    try:
        descriptor = open_pid(identity["pid"]) if open_pid and identity else None
    except OSError:
        return None
    if descriptor is None or is_alive(identity):
        return descriptor
    os.close(descriptor)
    return None


def name_process(name: str) -> None:
    """Give this process the name by which ``running_process`` finds it."""
    with contextlib.suppress(OSError), open("/proc/self/comm", "w") as stream:
        stream.write(name)


def running_process(directory: str, name: str = SUPERVISOR_NAME) -> Optional[Json]:
    """The identity of the process that supervises or ends a trial, found by the folder that it works in.

    The folder itself may be gone, or its disk may have taken no record.
    """
    folder = os.path.realpath(directory)
    named = [pid for pid in all_pids() if read_text(f"/proc/{pid}/comm").strip() == name]
    pids = [pid for pid in named if working_folder(pid) in (folder, folder + " (deleted)")]
    return identity_of(pids[0]) if pids else None


def working_folder(pid: int) -> str:
    """Where a process works; empty where that cannot be known."""
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def has_mark(pid: int, mark: str) -> bool:
    """Whether a process of our user has exactly this mark in its environment (a zombie has none).

    A mark that ends with a slash is that of a trial: the marks of all its nodes begin with it.
    """
    try:
        if os.stat(f"/proc/{pid}").st_uid != os.getuid():
            return False
    except OSError:
        return False
    end = "" if mark.endswith("/") else "\0"
    return f"\0{MARK_VARIABLE}={mark}{end}".encode() in b"\0" + read_process(pid, "environ") + b"\0"


def mark_of(directory: str, job: Json) -> str:
    """The mark of what runs in a folder; that of its trial where the payload removed the folder."""
    trial = os.path.basename(os.path.dirname(directory))
    return str(job.get("mark") or f"{urllib.parse.unquote(trial)}/")


def marked_pids(mark: str, pids: Optional[Iterable[int]] = None) -> List[int]:
    """Every process of the trial, of these or of all, in any session or process group, except this one."""
    return [pid for pid in (all_pids() if pids is None else pids) if pid != os.getpid() and has_mark(pid, mark)]


def send(pid: int, number: int) -> None:
    """Send a signal; a process that is gone or another user's is left alone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def claimed(directory: str) -> Optional[Json]:
    """The record of a trial's supervisor; what the process itself shows where the payload spoiled it."""
    path = os.path.join(directory, "supervisor.json")
    try:
        record = read_json(path)
        if record is None or is_identity(record):
            return record
        problem = OSError(0, "not the identity of a process", path)
    except OSError as error:
        problem = error
    running = running_process(directory)
    if running is None:
        raise problem
    return running


def attempt(argv: List[str], timeout: float = 10.0, env: Variables = None) -> Tuple[str, str]:
    """What a command prints, and why it cannot be used: the last line of its stderr; one of them is empty."""
    pipe = subprocess.PIPE
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, timeout=timeout, env=env)
    except OSError as error:
        return "", error.strerror or str(error)
    except subprocess.SubprocessError:
        return "", f"no answer within {timeout:g} s"
    if done.returncode == 0:
        return done.stdout.decode("utf-8", "replace"), ""
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return "", lines[-1] if lines else f"exit code {done.returncode}"


def output(argv: List[str], timeout: float = 10.0, env: Variables = None) -> str:
    """What a command prints; nothing where it is missing, fails or hangs: a probe must never break a trial."""
    return attempt(argv, timeout, env)[0]


class Stream(NamedTuple):
    """A program that prints one document after the other until it is killed."""

    command: List[str]
    end: bytes
    """Follows each document."""


class Documents:
    """What a program prints, document by document."""

    def __init__(self, stream: Stream) -> None:
        null, pipe = subprocess.DEVNULL, subprocess.PIPE
        self.child = subprocess.Popen(stream.command, stdin=null, stdout=pipe, stderr=null, preexec_fn=os.setpgrp)
        self.source: IO[bytes] = self.child.stdout  # type: ignore[assignment]
        self.end, self.rest = stream.end, b""

    def receive(self) -> Tuple[List[str], bool]:
        """The documents that are complete now, and whether more may come."""
        data = os.read(self.source.fileno(), 65536)
        *whole, self.rest = (self.rest + data).split(self.end)
        return [text.decode("utf-8", "replace") for text in whole], bool(data)

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()


def repeated(command: List[str], seconds: float) -> Stream:
    """The stream of a command that prints one document and ends."""
    loop = f'while :; do "$@"; printf "\\f"; sleep {seconds:g}; done'
    return Stream(["sh", "-c", loop, "sh", *command], b"\f")
