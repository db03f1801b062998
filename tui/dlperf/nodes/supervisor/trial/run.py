"""The supervisor of one trial on this node, from the start of its payload to ``exit.json``.

The trial's folder is the working folder: all file names are relative to it.
"""

import contextlib
import os
import shutil
import subprocess
import textwrap
import threading
import time
from typing import Dict, List, Optional

from ..files import (
    ROOM,
    ROOM_BYTES,
    SCHEMA,
    Json,
    flush,
    json_bytes,
    make_once,
    read_json,
    read_text,
    reserve,
    reserved,
    write_json,
)
from ..host.containers import image_digest, keeps_containers, remove_containers, runtime_variables
from ..host.libraries import Libraries
from ..host.machine import driver_errors, environment, vendor_here
from ..host.telemetry import RowFile, open_telemetry
from ..lease import LeaseHeldError, is_on_path, release_lease, take_lease, take_machine, why_unusable
from ..processes import MARK_VARIABLE, SUPERVISOR_NAME, Variables, identity_of, name_process
from ..scope import adopt_orphans, close_group, group_of, in_group, open_group, reap_orphans
from .endings import (
    DEFAULT_GRACE_SECONDS,
    Ending,
    Moment,
    cancel_request,
    cancelled,
    ending_of,
    exit_record,
    iso,
    limit_reached,
    message,
    now,
    sweep,
    write_end,
)
from .monitor import Monitor, Signals
from .removal import COMPILED, remove_temporary_folder, temporary_folder

LONGEST_COMMAND = 1000
"""Characters of a command in a cause, which is cut between words: the rest of a cut secret would not be found."""


def supervise(directory: str) -> None:
    """Run the trial in a folder to its end, unless another supervisor has it."""
    os.chdir(directory)
    name_process(SUPERVISOR_NAME)
    job = read_json("job.json") or {}
    signals = Signals()  # before the claim: any reader of our record may send a signal
    # Containers are found by their label: without the processes that watch them, they cannot be removed.
    started, group = now(), None if keeps_containers(job.get("container") or {}) else open_group()
    begun = {"started": iso(started.wall), "monotonic": started.monotonic}
    record = dict(identity_of(os.getpid()), schema=SCHEMA, group=group, temporary=temporary_folder(), **begun)
    if claim(record):
        os.makedirs("ranks", 0o700, exist_ok=True)
        Supervisor(directory, job, record, signals, started).run()
        close_group(group)


def claim(record: Json) -> bool:
    """Claim this trial by a file that is made once; False where another supervisor has it."""
    try:
        make_once("supervisor.json", json_bytes(record))  # ``write_environment`` waits for the disk
    except OSError as error:
        remove_temporary_folder(record)  # only a record that is written names it
        close_group(group_of(record))
        if isinstance(error, FileExistsError):
            return False
        raise
    return True


class Supervisor:
    """A claimed trial: its payload, its limits and its end."""

    def __init__(self, directory: str, job: Json, record: Json, signals: Signals, started: Moment) -> None:
        self.directory, self.job, self.record = directory, job, record
        self.signals, self.started = signals, started
        self.mark = str(job["mark"])
        self.container = job["container"] or {}
        self.keeps = keeps_containers(self.container)
        self.adopts = not self.keeps and adopt_orphans()
        self.telemetry = open_telemetry(job["gpu_indices"], self.mark, self.container)
        for name in (reserved("cancel.json"), reserved("exit.json")):
            reserve(name)
        reserve(ROOM, ROOM_BYTES)
        self.monitor = Monitor(self.telemetry, RowFile("telemetry.csv"), Libraries(self.mark), started)
        self.payload: Optional[subprocess.Popen[bytes]] = None
        self.probes: Optional[threading.Thread] = None
        self.facts: Json = {}
        self.waited = 0.0
        """Seconds that the last wait took at most."""
        self.lease: List[int] = []
        """The descriptors that hold the machine."""

    def run(self) -> None:
        self.finish(self.take_machine() or self.build() or self.pull_image() or self.run_payload())

    def take_machine(self) -> Optional[Ending]:
        """Take the lease of this machine; the ending if another trial has it."""
        try:
            self.lease = take_machine(self.mark, iso(self.started.wall))
        except LeaseHeldError as error:
            return Ending("failed", message("lease_lost", trial=error.args[0]["trial"]))
        except OSError as error:
            return Ending("failed", message("lease_unusable", reason=why_unusable(error)))
        return None

    def keep_lease(self) -> None:
        """Make the lease's file again where somebody removed it, so that others learn who has the machine."""
        if self.lease and not any(map(is_on_path, self.lease)):
            with contextlib.suppress(LeaseHeldError, OSError):
                made = take_lease(self.mark, iso(self.started.wall))
                for older in self.lease[2:]:  # the first two are those that the payload has, too
                    os.close(older)
                self.lease[2:] = [made]

    def build(self) -> Optional[Ending]:
        """Build what the trial runs, before the clock starts; the ending if that failed."""
        if not os.path.exists("build.sh"):
            return None
        ending = self.run_process(in_group(self.record["group"], ["bash", "build.sh"]), "ranks/build.log")
        self.restart_clock()
        if ending.state == "failed":
            command = textwrap.shorten(read_text("build.failed"), LONGEST_COMMAND, placeholder=" …") or "build.sh"
            return Ending("failed", message("build_failed", command=command, cause=ending.cause))
        return None if ending.state == "succeeded" else ending

    def restart_clock(self) -> None:
        """Count what follows only."""
        self.started = now()
        self.monitor.restart(self.started)

    def pull_image(self) -> Optional[Ending]:
        """Pull the container's image before the clock starts; the ending if that failed."""
        if not self.keeps or image_digest(self.container):
            return None
        image = self.container["image"]
        ending = self.run_process([self.container["runtime"], "pull", image])
        self.restart_clock()
        if ending.state == "failed":
            return Ending("failed", message("cannot_pull", image=image, cause=ending.cause))
        return None if ending.state == "succeeded" else ending

    def run_payload(self) -> Ending:
        self.monitor.arrivals.start(self.started.monotonic)
        self.probes = threading.Thread(target=self.write_environment)
        self.probes.start()
        command, temporary = self.job["command"], self.record["temporary"]
        if not command:
            return self.watch(None)
        # in a container the folder is not there, and an image that is built or pulled may need more room than it has
        variables = {b"TMPDIR": os.fsencode(temporary)} if temporary and not self.container else {}
        return self.run_process(in_group(self.record["group"], command), variables=variables)

    def write_environment(self) -> None:
        found_by = "group" if self.record["group"] else "descent" if self.adopts else "label" if self.keeps else "mark"
        with contextlib.suppress(OSError):  # the folder was removed, or the disk is full
            flush("supervisor.json")
            self.facts = dict(environment(self.container), processes_found_by=found_by)
            write_json("environment.json", self.facts, durable=False)

    def run_process(self, command: List[str], log: str = "out.log", variables: Variables = None) -> Ending:
        try:
            self.payload = self.start_process(command, log, variables or {})
        except OSError as error:
            return Ending("failed", message("cannot_start", command=command[0], reason=str(error.strerror)))
        return self.watch(self.payload)

    def start_process(self, command: List[str], path: str, given: Dict[bytes, bytes]) -> "subprocess.Popen[bytes]":
        """Start a process in its own session, which writes to the log file directly."""
        variables = {**runtime_variables(self.container), **given}
        variables[MARK_VARIABLE.encode("ascii")] = self.mark.encode("utf-8")
        log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=variables,
                start_new_session=True,
                pass_fds=self.lease,
            )
        finally:
            os.close(log)

    def watch(self, payload: "Optional[subprocess.Popen[bytes]]") -> Ending:
        """Monitor the payload until it ends or must be ended; on a node without one, what others start there."""
        while payload is None or payload.poll() is None:
            requested = self.requested_ending()
            if requested:
                return requested
            if self.monitor.run_due():
                self.keep_lease()
            reap_orphans(payload.pid if payload else 0)
            self.monitor.note_round(self.waited)
            silent_seconds = time.monotonic() - self.monitor.log_grew
            limit = limit_reached(self.job, self.running_seconds(), silent_seconds, self.monitor.log_size)
            if limit:
                return limit
            self.wait()
        self.monitor.note_round(self.waited)
        ending = ending_of(payload.returncode)
        return ending if ending.state == "succeeded" else self.requested_ending() or ending

    def requested_ending(self) -> Optional[Ending]:
        """An ending asked for by a signal, or by a file, which also another machine can write."""
        if self.signals.asked_to_end or os.path.exists("cancel.json"):
            return cancelled()
        if not os.path.exists("supervisor.json"):
            return Ending("failed", message("folder_removed") if os.access(".", os.X_OK) else message("folder_closed"))
        if os.path.exists(self.job.get("ends_with") or ""):
            return Ending("succeeded", message("first_node_ended"))
        return None

    def running_seconds(self) -> float:
        return time.monotonic() - self.started.monotonic

    def wait(self) -> None:
        """Wait until the monitor or the deadline is due, a signal arrives, or telemetry has output."""
        until_deadline = self.job["deadline_seconds"] - self.running_seconds()
        self.waited = max(0.0, min(self.monitor.due - time.monotonic(), until_deadline))
        for source in self.signals.wait(self.telemetry.sources, self.waited):
            self.monitor.receive(source)

    def finish(self, ending: Ending) -> None:
        """End every process of the trial, then write ``exit.json``."""
        grace = cancel_request().get("grace_seconds", DEFAULT_GRACE_SECONDS)
        ended = now()
        # Where another node's launcher starts the processes, they may be older than this supervisor.
        began = self.record["start_ticks"] if self.job["command"] else 0
        left = sweep(self.mark, grace, self.record["group"], began)
        remove_containers(self.container, self.mark)
        code = self.payload.poll() if self.payload else None
        left += self.wait_for_gpus()
        self.telemetry.close()
        if self.probes:
            self.probes.join()
        self.open_folder()
        shutil.rmtree(COMPILED, ignore_errors=True)
        remove_temporary_folder(self.record)
        self.restore_files()
        self.monitor.end()
        for descriptor in self.lease:
            release_lease(descriptor, vacant=not left)
        for name in (ROOM, reserved("cancel.json")):
            with contextlib.suppress(OSError):
                os.unlink(name)
        lost, libraries = self.monitor.table.lost_rows, self.monitor.libraries
        packages = libraries.all_packages()
        if packages and self.facts:
            with contextlib.suppress(OSError):
                write_json("environment.json", dict(self.facts, packages=packages))
        record = exit_record(ending, code, self.started, ended, left)
        record.update(telemetry_rows_lost=lost, libraries=libraries.versions(), modules=libraries.modules)
        record.update(halts=self.monitor.halts)
        write_end(dict(record, driver_errors=driver_errors(vendor_here(), self.started.monotonic)))

    def open_folder(self) -> None:
        """Make a folder usable again whose permissions the payload took away."""
        with contextlib.suppress(OSError):  # it is gone, or another user's
            if not os.access(self.directory, os.R_OK | os.W_OK | os.X_OK):
                os.chmod(self.directory, 0o700)

    def restore_files(self) -> None:
        """Make again what the payload removed: the engine must learn how the trial ended, and that its log is new."""
        with contextlib.suppress(OSError):  # a disk without room for them may have some for ``exit.json``
            if not os.path.exists("supervisor.json"):
                os.makedirs(self.directory, 0o700, exist_ok=True)
                os.chdir(self.directory)
                write_json("job.json", self.job)
                write_json("supervisor.json", self.record)
            elif self.payload and not os.path.lexists("out.log"):
                open("out.log", "ab").close()

    def wait_for_gpus(self) -> List[int]:
        """The trial's processes that are still on a GPU after ten seconds: a driver releases it with a delay."""
        give_up = time.monotonic() + 10.0
        left = self.telemetry.left_on_gpus()
        while left and time.monotonic() < give_up:
            time.sleep(0.5)
            left = self.telemetry.left_on_gpus()
        return left
