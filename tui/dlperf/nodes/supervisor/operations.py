"""The operations of the agent. Every operation can be repeated without harm.

An operation takes a request and the raw bytes that came with it, and returns an answer and raw bytes.
"""

import contextlib
import fcntl
import os
import platform
import select
import signal
import socket
import subprocess
import time
from typing import Any, Optional, Tuple

from .detached import start_detached, wait_for
from .files import (
    ROOT,
    Json,
    confined,
    open_regular,
    read_json,
    readable_json,
    stream_path,
    write_atomic,
    write_reserved,
)
from .host.containers import remove_containers
from .host.machine import free_port, readiness, state_now
from .job_queue import find_job, record_job, run_command
from .processes import SWEEPER_NAME, boot_id, claimed, is_alive, open_process, running_process, send
from .scope import pids_of, strays_of
from .trial.endings import sweep_after_dead_supervisor
from .trial.removal import remove_program, remove_trial, trials_here
from .trial.report import Records, report_or_problem
from .trial.run import supervise
from .wheels import holds, store

READ_LIMIT = 4 * 1024 * 1024

Answer = Tuple[Any, bytes]
"""What JSON can hold, and raw bytes."""


def hello(request: Json, raw: bytes) -> Answer:
    return {
        "python": platform.python_version(),
        "hostname": socket.gethostname(),
        "clock": time.time(),
        "home": os.path.expanduser("~"),
        "port": free_port(),
    }, b""


def put(request: Json, raw: bytes) -> None:
    """Write files atomically: ``files`` lists path, mode and size; the raw bytes are their contents in order.

    What a crash of the machine may damage is sent again: no trial survives it.
    """
    offset = 0
    for entry in request["files"]:
        path = confined(entry["path"])
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        write_atomic(path, raw[offset : offset + entry["size"]], entry["mode"], durable=False)
        os.chmod(path, entry["mode"])
        offset += entry["size"]


def start(request: Json, raw: bytes) -> Answer:
    """Write a trial's files and start its supervisor, unless that was done before."""
    directory = confined(request["directory"])
    if claimed(directory) is None:
        os.makedirs(directory, 0o700, exist_ok=True)
        put(request, raw)
        start_detached(supervise, directory)
    try:
        record = wait_for(claimed, directory)
    except TimeoutError:  # one that was killed before it claimed the trial; of two, one gets it
        start_detached(supervise, directory)
        record = wait_for(claimed, directory)
    return record, b""


def observe(request: Json, raw: bytes) -> Answer:
    return [report_or_problem(confined(directory)) for directory in request["directories"]], b""


def wait(request: Json, raw: bytes) -> Answer:
    """Observe after the supervisor of one of these trials ends, the client sends something, or some seconds pass."""
    found = [Records(confined(directory)) for directory in request["directories"]]
    opened = [(records, open_process(records.supervisor())) for records in found]
    processes = [descriptor for _, descriptor in opened if descriptor is not None]
    if not any(descriptor is None and records.read("exit.json") for records, descriptor in opened):
        select.select([0, *processes], [], [], request["seconds"])
    for descriptor in processes:
        os.close(descriptor)
    return observe(request, raw)


def read(request: Json, raw: bytes) -> Answer:
    """Read byte ranges of many files, READ_LIMIT bytes at most in total.

    The answer has a size for each, -1 for an absent file, and a reason where a file cannot be read.
    """
    parts, sizes, reasons, room = [], [], [], READ_LIMIT
    for entry in request["ranges"]:
        part, reason = read_range(confined(entry["path"]), entry["offset"], min(entry["limit"], room))
        sizes.append(-1 if part is None else len(part))
        reasons.append(reason)
        parts.append(part or b"")
        room -= len(parts[-1])
    return {"sizes": sizes, "reasons": reasons}, b"".join(parts)


def read_range(path: str, offset: int, limit: int) -> Tuple[Optional[bytes], str]:
    """Bytes of a file, or None and why there are none."""
    try:
        with open(open_regular(stream_path(path)), "rb") as stream:
            stream.seek(offset)
            return stream.read(limit), ""
    except FileNotFoundError:
        return None, ""
    except OSError as error:
        return None, error.strerror or str(error)


def cancel(request: Json, raw: bytes) -> Answer:
    """End a trial through its supervisor, or sweep its processes where that is dead. The first request counts."""
    directory = confined(request["directory"])
    records = Records(directory)
    supervisor, ended = records.supervisor(), records.read("exit.json")
    alive = is_alive(supervisor)
    if not alive and (ended or not supervisor) and not strays_of(directory, supervisor, ended):
        return {}, b""
    note_ending(directory, {key: request[key] for key in ("grace_seconds", "state", "cause")})
    if supervisor and alive:
        send(supervisor["pid"], signal.SIGTERM)
        send(supervisor["pid"], signal.SIGCONT)  # it may have been stopped
    elif supervisor and supervisor["boot_id"] != boot_id():  # a container daemon may have kept or restarted some
        job = records.read("job.json")
        if job:
            remove_containers(job["container"] or {}, job["mark"])
    elif not is_alive(records.process("sweeper.json") or running_process(directory, SWEEPER_NAME)):
        start_detached(sweep_after_dead_supervisor, directory)
        wait_for(sweeping, directory)
    return {}, b""


def sweeping(directory: str) -> Optional[Json]:
    """The record of what ends a trial, also where no disk took it; an empty one where nothing is left to end."""
    recorded = read_json(os.path.join(directory, "sweeper.json")) or running_process(directory, SWEEPER_NAME)
    return recorded if recorded or pids_of(directory, None) else {}


def note_ending(directory: str, wanted: Json) -> None:
    """Write ``cancel.json``, unless it is there. Where it cannot be written, the signal alone ends the trial."""
    path = os.path.join(directory, "cancel.json")
    with contextlib.suppress(OSError):
        os.makedirs(directory, 0o700, exist_ok=True)
        if not os.access(directory, os.R_OK | os.W_OK | os.X_OK):
            os.chmod(directory, 0o700)
    with contextlib.suppress(OSError):
        if not readable_json(path):
            write_reserved(path, wanted)


def check(request: Json, raw: bytes) -> Answer:
    os.makedirs(ROOT, 0o700, exist_ok=True)
    return readiness(request["container"] or {}, request["files"], request["addresses"]), b""


def now(request: Json, raw: bytes) -> Answer:
    return state_now(), b""


def logins(request: Json, raw: bytes) -> Answer:
    """Try to log in to other machines by ssh, as a launcher would: ssh's error for each address."""
    ssh = ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", *request["options"]]
    children = [
        subprocess.Popen([*ssh, address, "true"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for address in request["addresses"]
    ]
    errors = [child.communicate()[1].decode("utf-8", "replace").strip() for child in children]
    return [(error or "no message") if child.returncode else "" for child, error in zip(children, errors)], b""


def command(request: Json, raw: bytes) -> Answer:
    """Run a command of the scheduler; the raw bytes are its stdin."""
    return run_command(request["argv"], raw), b""


def submit(request: Json, raw: bytes) -> Answer:
    """Write a trial's files and queue its job, unless it has one. Concurrent requests queue one job."""
    directory = confined(request["directory"])
    os.makedirs(directory, 0o700, exist_ok=True)
    with open(os.path.join(directory, "submit.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = find_job(directory, request["find"])
        if found["job"] is not None or found["code"] != 0:
            return found, b""
        put(request, raw)
        with open(os.path.join(directory, "batch.sh"), "rb") as script:
            answer = run_command(request["queue"], script.read())
        return (record_job(directory, answer) if answer["code"] == 0 else dict(answer, job=None)), b""


def job(request: Json, raw: bytes) -> Answer:
    return find_job(confined(request["directory"]), request["find"]), b""


def remove(request: Json, raw: bytes) -> Answer:
    directory = confined(request["directory"])
    return remove_trial(directory, request["archived"], request["discarded"]), b""


def trials(request: Json, raw: bytes) -> Answer:
    return trials_here(), b""


def tidy(request: Json, raw: bytes) -> Answer:
    """The last request to a machine: it removes the program itself."""
    remove_program(request["caches"])
    return True, b""


OPERATIONS = {
    operation.__name__: operation
    for operation in (
        *(hello, start, observe, wait, read, cancel, check, now, logins),
        *(command, submit, job, remove, trials, tidy, holds, store),
    )
}
