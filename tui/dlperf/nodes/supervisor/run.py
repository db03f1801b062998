"""The supervisor of one trial on this node, from the start of its payload to ``exit.json``.

Its working folder is the trial's: every file is named relative to it.
"""

import os
import subprocess
import threading
import time
from typing import IO, List, Optional

from .containers import KEEPING_RUNTIMES, image_digest, remove_containers
from .duties import Duties
from .endings import Ending, Moment, cancelled, ending_of, exit_record, iso, limit_reached, message, now
from .files import SCHEMA, Json, read_json, write_json
from .probes import environment
from .processes import MARK_VARIABLE, own_identity
from .signals import Signals
from .sweep import sweep
from .telemetry import open_telemetry

DEFAULT_GRACE_SECONDS = 10.0


def supervise(directory: str) -> None:
    """Run the trial of that folder to its end, unless another supervisor has it."""
    os.chdir(directory)
    job = read_json("job.json") or {}
    signals = Signals()  # before the claim: who finds our record may send us one
    started = now()
    if claim(started):
        os.makedirs("ranks", 0o700, exist_ok=True)
        with open("telemetry.csv", "w", 1) as table:
            Supervisor(job, signals, started, table).run()


def claim(started: Moment) -> bool:
    """Make this trial ours; False where another supervisor already has it. A hard link is made once."""
    record = dict(own_identity(), schema=SCHEMA, started=iso(started.wall), monotonic=started.monotonic)
    temporary = f"supervisor.json.{os.getpid()}"
    write_json(temporary, record)
    try:
        os.link(temporary, "supervisor.json")
    except FileExistsError:
        return False
    finally:
        os.unlink(temporary)
    return True


class Supervisor:
    """A trial that is ours: its payload, its limits and its end."""

    def __init__(self, job: Json, signals: Signals, started: Moment, table: IO[str]) -> None:
        self.job, self.signals, self.started = job, signals, started
        self.mark = str(job["mark"])
        self.container = job["container"] or {}
        self.telemetry = open_telemetry(job["gpu_indices"], self.mark, self.container.get("runtime"))
        self.duties = Duties(self.telemetry, table, started)
        self.payload: Optional[subprocess.Popen[bytes]] = None
        self.probes: Optional[threading.Thread] = None

    def run(self) -> None:
        self.finish(self.pull_image() or self.run_payload())

    def pull_image(self) -> Optional[Ending]:
        """Bring the container's image here, before the clock starts; why that failed, or None."""
        runtime, image = self.container.get("runtime", ""), self.container.get("image", "")
        if runtime not in KEEPING_RUNTIMES or image_digest(runtime, image):
            return None
        ending = self.run_process([runtime, "pull", image])
        self.started = now()
        self.duties.begin(self.started)
        if ending.state == "failed":
            return Ending("failed", message("cannot_pull", image=image, cause=ending.cause))
        return None if ending.state == "succeeded" else ending

    def run_payload(self) -> Ending:
        self.probes = threading.Thread(target=self.write_environment)
        self.probes.start()
        return self.run_process(self.job["command"])

    def write_environment(self) -> None:
        write_json("environment.json", environment(self.container))

    def run_process(self, command: List[str]) -> Ending:
        try:
            self.payload = self.start_process(command)
        except OSError as error:
            return Ending("failed", message("cannot_start", command=command[0], reason=str(error.strerror)))
        return self.watch(self.payload)

    def start_process(self, command: List[str]) -> "subprocess.Popen[bytes]":
        """A process in its own session; its output goes to the file itself, not through this process."""
        surroundings = dict(os.environb)
        surroundings[MARK_VARIABLE.encode("ascii")] = self.mark.encode("utf-8")
        log = os.open("out.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=surroundings,
                start_new_session=True,
            )
        finally:
            os.close(log)

    def watch(self, payload: "subprocess.Popen[bytes]") -> Ending:
        """Do the duties of every second until the payload ends or must be ended."""
        while payload.poll() is None:
            told = self.told_to_end()
            if told:
                return told
            self.duties.do_due()
            broken = limit_reached(self.job, self.running_seconds(), self.duties.silent_seconds())
            if broken:
                return broken
            self.wait()
        ending = ending_of(payload.returncode)
        return ending if ending.state == "succeeded" else self.told_to_end() or ending

    def told_to_end(self) -> Optional[Ending]:
        """By a signal, or by a file: who shares our files need not be on this machine."""
        if self.signals.asked_to_end or os.path.exists("cancel.json"):
            return cancelled()
        if os.path.exists(self.job.get("ends_with") or ""):
            return Ending("succeeded", message("first_node_ended"))
        return None

    def running_seconds(self) -> float:
        return time.monotonic() - self.started.monotonic

    def wait(self) -> None:
        """Until a duty or the deadline is due, a signal comes, or telemetry has something to say."""
        until_deadline = self.job["deadline_seconds"] - self.running_seconds()
        seconds = min(self.duties.tick_at - time.monotonic(), until_deadline)
        for source in self.signals.wait(self.telemetry.sources, seconds):
            self.duties.receive(source)

    def finish(self, ending: Ending) -> None:
        """End whatever the trial left, then tell how it ended."""
        grace = (read_json("cancel.json") or self.job).get("grace_seconds", DEFAULT_GRACE_SECONDS)
        ended = now()
        left = sweep(self.mark, grace)
        remove_containers(self.container.get("runtime"), self.mark)
        code = self.payload.poll() if self.payload else None
        left += self.wait_for_gpus()
        self.telemetry.close()
        if self.probes:
            self.probes.join()
        write_json("exit.json", exit_record(ending, code, self.started, ended, left))

    def wait_for_gpus(self) -> List[int]:
        """The trial's processes that a GPU still knows after ten seconds: a driver may take a while to let go."""
        give_up = time.monotonic() + 10.0
        left = self.telemetry.left_on_gpus()
        while left and time.monotonic() < give_up:
            time.sleep(0.5)
            left = self.telemetry.left_on_gpus()
        return left
