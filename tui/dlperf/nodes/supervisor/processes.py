"""Processes: which one is which, and which of them belong to a trial."""

import contextlib
import os
import subprocess
from typing import List, Optional, Tuple

from .files import Json, read_text

MARK_VARIABLE = "DLPERF_TRIAL"


def boot_id() -> str:
    return read_text("/proc/sys/kernel/random/boot_id").strip()


def process_stat(pid: int) -> Optional[Tuple[str, int]]:
    """State letter and start time in clock ticks of a process; None where there is none."""
    fields = read_text(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return (fields[0], int(fields[19])) if fields else None


def own_identity() -> Json:
    """What tells this process from any other that may get its number later."""
    _, start_ticks = process_stat(os.getpid()) or ("", 0)
    return {"pid": os.getpid(), "start_ticks": start_ticks, "boot_id": boot_id()}


def is_alive(identity: Optional[Json]) -> bool:
    """Whether that very process runs; a zombie does not, and a number used again is another process."""
    if identity is None or identity["boot_id"] != boot_id():
        return False
    found = process_stat(identity["pid"])
    return found is not None and found[0] not in "ZX" and found[1] == identity["start_ticks"]


def carries(pid: int, mark: str) -> bool:
    """Whether a process of our user has exactly this trial's mark in its environment (a zombie has none)."""
    try:
        if os.stat(f"/proc/{pid}").st_uid != os.getuid():
            return False
        with open(f"/proc/{pid}/environ", "rb") as stream:
            entries = stream.read().split(b"\0")
    except OSError:
        return False
    return mark_entry(mark) in entries


def mark_entry(mark: str) -> bytes:
    return MARK_VARIABLE.encode("ascii") + b"=" + mark.encode("utf-8")


def marked_pids(mark: str) -> List[int]:
    """Every process of the trial, whatever session or group it fled to; never this one."""
    numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in numbers if pid != os.getpid() and carries(pid, mark)]


def send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def complaint(argv: List[str], timeout: float = 10.0) -> str:
    """Why a command cannot be used: the last line that it complained in; empty where it succeeds."""
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=timeout
        )
    except OSError as error:
        return error.strerror or str(error)
    except subprocess.SubprocessError:
        return f"no answer within {timeout:g} s"
    if done.returncode == 0:
        return ""
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else f"exit code {done.returncode}"


def output(argv: List[str], timeout: float = 10.0) -> str:
    """What a command prints; nothing where it is missing, fails or hangs: a probe must never break a trial."""
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=timeout
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
