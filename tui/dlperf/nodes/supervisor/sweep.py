"""Ending what a trial left running, and doing so for a supervisor that was killed."""

import os
import signal
import time
from typing import List, Set

from .containers import remove_containers
from .endings import Moment, cancelled, exit_record, now
from .files import read_json, write_json
from .processes import marked_pids, own_identity, send

UNKILLABLE_SECONDS = 30.0


def sweep(mark: str, grace_seconds: float) -> List[int]:
    """End every process of the trial: TERM, grace, KILL, until two looks find none; those that would not end."""
    told: Set[int] = set()
    kill_at = time.monotonic() + grace_seconds
    empty_looks = 0
    while empty_looks < 2:
        pids = marked_pids(mark)
        moment = time.monotonic()
        if pids and moment > kill_at + UNKILLABLE_SECONDS:
            return pids
        empty_looks = 0 if pids else empty_looks + 1
        for pid in pids:
            if moment >= kill_at:
                send(pid, signal.SIGKILL)
            elif pid not in told:
                send(pid, signal.SIGTERM)
        told.update(pids)
        time.sleep(0.05 if pids else 0.005)
    return []


def sweep_after_dead_supervisor(directory: str) -> None:
    """Do what a supervisor that was killed can do no more. Two at once do no harm."""
    os.chdir(directory)
    write_json("sweeper.json", own_identity())
    job, supervisor, request = (read_json(name) or {} for name in ("job.json", "supervisor.json", "cancel.json"))
    left = sweep(job["mark"], request["grace_seconds"])
    remove_containers((job["container"] or {}).get("runtime"), job["mark"])
    if read_json("exit.json") is None:
        ended = now()
        seconds = ended.monotonic - supervisor["monotonic"]
        started = Moment(ended.wall - seconds, supervisor["monotonic"])
        write_json("exit.json", exit_record(cancelled(), None, started, ended, left))
