"""Processes of this machine: identify them, find those of a trial, start them detached, run commands."""

import contextlib
import os
import subprocess
import sys
import time
from typing import List, Optional, Tuple

from .files import Json, read_json, read_text

MARK_VARIABLE = "DLPERF_TRIAL"
START_SECONDS = 20.0


def boot_id() -> str:
    return read_text("/proc/sys/kernel/random/boot_id").strip()


def process_stat(pid: int) -> Optional[Tuple[str, int]]:
    """State letter and start time in clock ticks of a process; None where there is none."""
    fields = read_text(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return (fields[0], int(fields[19])) if fields else None


def own_identity() -> Json:
    """What distinguishes this process from a later one with the same pid."""
    _, start_ticks = process_stat(os.getpid()) or ("", 0)
    return {"pid": os.getpid(), "start_ticks": start_ticks, "boot_id": boot_id()}


def is_alive(identity: Optional[Json]) -> bool:
    """Whether exactly that process runs: neither a zombie nor another process with the same pid."""
    if identity is None or identity["boot_id"] != boot_id():
        return False
    found = process_stat(identity["pid"])
    return found is not None and found[0] not in "ZX" and found[1] == identity["start_ticks"]


def has_mark(pid: int, mark: str) -> bool:
    """Whether a process of our user has exactly this trial's mark in its environment (a zombie has none)."""
    try:
        if os.stat(f"/proc/{pid}").st_uid != os.getuid():
            return False
        with open(f"/proc/{pid}/environ", "rb") as stream:
            return f"{MARK_VARIABLE}={mark}".encode() in stream.read().split(b"\0")
    except OSError:
        return False


def marked_pids(mark: str) -> List[int]:
    """Every process of the trial, in any session or process group, except this one."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in pids if pid != os.getpid() and has_mark(pid, mark)]


def send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def start_detached(arguments: List[str], log: str) -> None:
    """Run the file that we were started from as a daemon in a session of its own."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork() == 0:
            descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(descriptor, 1)
            os.dup2(descriptor, 2)
            os.execv(sys.executable, [sys.executable, "-I", "-S", os.path.abspath(sys.argv[0]), *arguments])
    finally:
        os._exit(0)


def wait_for_record(directory: str, name: str) -> Json:
    """The record that a process which was just started writes about itself."""
    give_up = time.monotonic() + START_SECONDS
    while time.monotonic() < give_up:
        record = read_json(os.path.join(directory, name))
        if record is not None:
            return record
        time.sleep(0.002)
    log = read_text(os.path.join(directory, "supervisor.log")).strip().splitlines() or ["no message"]
    raise OSError(f"the supervisor did not start within {START_SECONDS:g} s: {log[-1]}")


def error_of(argv: List[str], timeout: float = 10.0) -> str:
    """Why a command cannot be used: the last line of its stderr; empty where it succeeds."""
    null = subprocess.DEVNULL
    try:
        subprocess.run(argv, stdin=null, stdout=null, stderr=subprocess.PIPE, timeout=timeout, check=True)
    except OSError as error:
        return error.strerror or str(error)
    except subprocess.CalledProcessError as error:
        lines = error.stderr.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {error.returncode}"
    except subprocess.SubprocessError:
        return f"no answer within {timeout:g} s"
    return ""


def output(argv: List[str], timeout: float = 10.0) -> str:
    """What a command prints; nothing where it is missing, fails or hangs: a probe must never break a trial."""
    try:
        printed = subprocess.check_output(argv, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=timeout)
    except (OSError, subprocess.SubprocessError):
        return ""
    return printed.decode("utf-8", "replace")
