"""The state of a trial on this machine, from its records, processes and logs."""

import os
import time
from typing import List, Optional

from ..files import Json, log_streams, modified, problem, read_json, regular_size
from ..processes import SWEEPER_NAME, age_of, boot_id, is_alive, is_identity, running_process
from ..scope import strays_of
from .monitor import HEARTBEAT_SECONDS

STILL_SECONDS = 4 * HEARTBEAT_SECONDS
"""For how long the heartbeat of a supervisor that runs may be still; hardly a machine restarts faster."""

NO_REPORT: Json = {
    **dict.fromkeys(("supervisor", "age", "exit", "heartbeat", "telemetry", "arrivals", "problem")),
    **dict.fromkeys(("alive", "orphaned", "rebooted", "cancelled"), False),
    "streams": {},
}


class Records:
    """The records in a trial's folder. One that cannot be read counts as absent and is a problem of the trial."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.problems: List[Json] = []

    def read(self, name: str) -> Optional[Json]:
        try:
            return read_json(os.path.join(self.directory, name))
        except OSError as error:
            self.problems.append(problem(name, error))
            return None

    def process(self, name: str) -> Optional[Json]:
        """The identity of a process that it wrote itself."""
        record = self.read(name)
        if record is None or is_identity(record):
            return record
        self.problems.append({"file": name, "reason": "not the identity of a process"})
        return None

    def supervisor(self) -> Optional[Json]:
        """The record of the supervisor; where it is gone or of another process, what the process itself shows."""
        record = self.process("supervisor.json")
        known = record and (is_alive(record) or self.read("exit.json"))
        return record if known else running_process(self.directory) or record


def report_or_problem(directory: str) -> Json:
    """The state of one trial; one that cannot be read is a problem of that trial alone."""
    try:
        return report(directory)
    except OSError as error:
        running = running_process(directory)
        return dict(NO_REPORT, supervisor=running, alive=bool(running), problem=problem(".", error))


def report(directory: str) -> Json:
    """The state of one trial on this machine."""
    records = Records(directory)
    supervisor = records.supervisor()
    # Check liveness before reading exit.json, or an exit in between looks lost.
    alive = is_alive(supervisor) or is_alive(records.process("sweeper.json"))
    ended = records.read("exit.json")
    alive = alive or (not ended and bool(running_process(directory, SWEEPER_NAME)))
    here = bool(supervisor and supervisor["boot_id"] == boot_id())
    elsewhere = bool(supervisor and not here and not ended) and beats(directory)
    alive = alive or elsewhere
    orphaned = not alive and bool(strays_of(directory, supervisor, ended))
    streams = log_streams(directory, records.problems)
    return {
        "supervisor": supervisor,
        "age": age_of(supervisor) if supervisor and is_alive(supervisor) else None,
        "alive": alive,
        "orphaned": orphaned,
        "rebooted": bool(supervisor and not here and not elsewhere),
        "exit": ended,
        "cancelled": os.path.exists(os.path.join(directory, "cancel.json")),
        "heartbeat": modified(os.path.join(directory, "heartbeat")),
        "streams": streams,
        "telemetry": regular_size(os.path.join(directory, "telemetry.csv")),
        "arrivals": regular_size(os.path.join(directory, "out.times")),
        "problem": records.problems[0] if records.problems else None,
    }


def beats(directory: str) -> bool:
    """Whether a supervisor touches its heartbeat, on another machine with this home folder where it is not ours.

    An address may lead to several machines.
    """
    beat = modified(os.path.join(directory, "heartbeat"))
    return beat is not None and abs(time.time() - beat) < STILL_SECONDS
