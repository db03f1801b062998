"""How a trial ends: the record ``exit.json``, and ending every process that is left."""

import contextlib
import os
import signal
import time
from typing import List, NamedTuple, Optional, Set, Union

from ..files import ROOM, SCHEMA, Json, readable_json, write_json, write_reserved
from ..host.containers import remove_containers
from ..processes import SWEEPER_NAME, attempt, identity_of, mark_of, name_process, older_pids, send
from ..scope import close_group, group_of, strays_of, trial_pids
from .removal import remove_temporary_folder

DEFAULT_GRACE_SECONDS = 10.0
MOST_GRACE_SECONDS = 600.0
UNKILLABLE_SECONDS = 30.0
FLUSHES = 2
"""How often a disk that refuses the last record is flushed."""


class Moment(NamedTuple):
    wall: float
    monotonic: float


class Ending(NamedTuple):
    state: str
    cause: Json
    """A code and its parameters."""


def message(code: str, **parameters: Union[str, int, float, Json]) -> Json:
    """A cause as dlperf stores it: compared by its code, worded where a person reads it."""
    return dict(parameters, code=code)


def now() -> Moment:
    return Moment(time.time(), time.monotonic())


def iso(seconds: float) -> str:
    """A wall-clock time in ISO 8601, UTC, with milliseconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds % 1 * 1000):03d}Z"


def exit_record(ending: Ending, code: Optional[int], started: Moment, ended: Moment, left: List[int]) -> Json:
    """``exit.json``; the duration is by the monotonic clock, because the wall clock may be set meanwhile."""
    number = signal_of(code)
    return {
        "schema": SCHEMA,
        "state": ending.state,
        "cause": ending.cause,
        "code": code if code is None or code >= 0 else None,
        "signal": number,
        "started": iso(started.wall),
        "ended": iso(ended.wall),
        "duration_seconds": round(ended.monotonic - started.monotonic, 3),
        "processes_left": left,
    }


def write_end(record: Json) -> None:
    """Write ``exit.json``. A quota may count what was removed before until the disk is flushed (btrfs)."""
    for _ in range(FLUSHES):
        try:
            write_reserved("exit.json", record)
            return
        except OSError:
            attempt(["sync", "-f", "."])
    write_reserved("exit.json", record)


def signal_of(code: Optional[int]) -> Optional[int]:
    """The signal that ended a payload or, as a shell reports it (128 + n), the program that it ran."""
    if code is None:
        return None
    number = -code if code < 0 else code - 128
    return number if 0 < number < signal.NSIG else None


def ending_of(code: int) -> Ending:
    """The ending of a payload that was not stopped."""
    number = signal_of(code)
    if code == 0:
        return Ending("succeeded", message("exit_code", code_value=0))
    if number is None:
        return Ending("failed", message("exit_code", code_value=code))
    return Ending("failed", message("ended_by_signal", number=number, name=signal_name(number)))


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "real-time signal"


def limit_reached(job: Json, running_seconds: float, silent_seconds: float, log_bytes: int) -> Optional[Ending]:
    """The ending of a payload that exceeds a limit, or None."""
    if running_seconds >= job["deadline_seconds"]:
        return Ending("timed_out", message("deadline", seconds=job["deadline_seconds"]))
    if silent_seconds >= job["stall_seconds"]:
        return Ending("timed_out", message("stall_limit", seconds=job["stall_seconds"]))
    if log_bytes > job.get("log_bytes", log_bytes):
        return Ending("failed", message("log_limit", gigabytes=job["log_bytes"] / 1e9))
    return None


def cancel_request() -> Json:
    """What ``cancel.json`` asks for; nothing where it is absent, or was not written by an agent."""
    request = readable_json("cancel.json")
    kinds = (("grace_seconds", (int, float)), ("state", str), ("cause", dict))
    sound = all(isinstance(request.get(name), kind) for name, kind in kinds)
    # A payload that writes a grace of NaN or of a century must not outlive its deadline by it.
    return request if sound and 0 <= request["grace_seconds"] <= MOST_GRACE_SECONDS else {}


def cancelled() -> Ending:
    """The ending that a request asked for."""
    request = cancel_request()
    return Ending(request.get("state", "cancelled"), request.get("cause", message("ended_from_outside")))


def sweep(mark: str, grace_seconds: float, group: Optional[str] = None, began: int = 0) -> List[int]:
    """End every process of the trial by TERM, grace, KILL; return those that do not end.

    Two empty searches in a row are needed: a process may fork during one.

    Args:
        began: ticks since the boot before which no process of the trial began.
    """
    others = older_pids(began) if began else ()
    terminated: Set[int] = set()
    kill_at = time.monotonic() + grace_seconds
    empty_searches = 0
    while empty_searches < 2:
        pids = trial_pids(mark, group, others)
        moment = time.monotonic()
        if pids and moment > kill_at + UNKILLABLE_SECONDS:
            return pids
        empty_searches = 0 if pids else empty_searches + 1
        for pid in pids:
            if moment >= kill_at:
                send(pid, signal.SIGKILL)
            elif pid not in terminated:
                send(pid, signal.SIGTERM)
        terminated.update(pids)
        if pids:
            time.sleep(0.05)
    close_group(group)
    return []


def sweep_after_dead_supervisor(directory: str) -> None:
    """Finish the trial of a killed supervisor. Concurrent calls are harmless."""
    os.chdir(directory)
    name_process(SWEEPER_NAME)
    with contextlib.suppress(OSError):  # a disk that takes nothing: it is found by its name
        write_json("sweeper.json", identity_of(os.getpid()))
    job, supervisor = readable_json("job.json"), readable_json("supervisor.json")
    mark, grace = mark_of(directory, job), cancel_request().get("grace_seconds", DEFAULT_GRACE_SECONDS)
    strays = strays_of(directory, supervisor, readable_json("exit.json"))
    left = sweep(mark, grace, group_of(supervisor))
    remove_containers(job.get("container") or {}, mark)
    remove_temporary_folder(supervisor)
    if strays or not readable_json("exit.json"):
        with contextlib.suppress(OSError):
            os.unlink(ROOM)
        ended = now()
        begun = supervisor.get("monotonic")
        begun = begun if isinstance(begun, float) else ended.monotonic
        started = Moment(ended.wall - (ended.monotonic - begun), begun)
        write_end(exit_record(cancelled(), None, started, ended, left))
