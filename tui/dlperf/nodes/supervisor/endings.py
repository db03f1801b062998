"""How a trial ended, as ``exit.json`` tells it."""

import signal
import time
from typing import List, NamedTuple, Optional, Union

from .files import SCHEMA, Json, read_json


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
    """``exit.json``. The duration comes from the monotonic clock: the wall clock may jump while a trial runs."""
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


def signal_of(code: Optional[int]) -> Optional[int]:
    """The signal that ended a payload, itself or (128 + n, as a shell tells it) the program that it ran."""
    if code is None:
        return None
    number = -code if code < 0 else code - 128
    return number if 0 < number < signal.NSIG else None


def ending_of(code: int) -> Ending:
    """How a payload ended that nobody stopped."""
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


def limit_reached(job: Json, running_seconds: float, silent_seconds: float) -> Optional[Ending]:
    """The limit that a running payload has broken, or None."""
    if running_seconds >= job["deadline_seconds"]:
        return Ending("timed_out", message("deadline", seconds=job["deadline_seconds"]))
    if silent_seconds >= job["stall_seconds"]:
        return Ending("timed_out", message("stall_limit", seconds=job["stall_seconds"]))
    return None


def cancelled() -> Ending:
    """Why the trial is ended: what the request said, or just that somebody asked."""
    request = read_json("cancel.json") or {}
    return Ending(request.get("state", "cancelled"), request.get("cause", message("ended_from_outside")))
