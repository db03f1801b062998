"""The job of a trial: what it asks for, its place in the queue, and the state of the nodes in it."""

import time
import tomllib
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from dlperf.executors.base import NodeObservation, Trial
from dlperf.executors.verdict import node_observation
from dlperf.messages import Message, message, quoted
from dlperf.nodes.bootstrap import PYTHONS, supervisor_name
from dlperf.nodes.messages import NodeReport
from dlperf.plan import Launch
from dlperf.render.batch import Batch
from dlperf.runs.names import file_name
from dlperf.runs.paths import LOG
from dlperf.runs.records import State

SILENCE_FACTOR = 5
"""How much longer than usual to wait before asking again when Slurm did not answer."""
GONE = "GONE"
_WORDS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_OVER = {state: State(ends) for state, ends in _WORDS["over"].items()}
_CAUSES, _STUCK = _WORDS["causes"], _WORDS["stuck"]
_FROM_OUTSIDE = frozenset({"CANCELLED", "TIMEOUT", "DEADLINE", "PREEMPTED", "NODE_FAIL"})
"""States in which Slurm itself has ended the processes of the job."""
_SIGTERM = 15


@dataclass(frozen=True)
class JobArray:
    """A job array whose tasks are the repeats of a configuration."""

    stem: str
    """The common part of the trials' ids: ``<stem>.<number>``."""
    numbers: tuple[int, ...]
    at_once: int
    """How many of its tasks may run at the same time."""

    @property
    def tasks(self) -> str:
        """The value of ``sbatch --array``."""
        return f"{','.join(map(str, self.numbers))}%{self.at_once}"


def nodes_at_once(launch: Launch) -> int:
    """How many nodes jobs of one campaign may have at the same time."""
    nodes, asked = len(launch.nodes), launch.queue or {}
    # Slurm may put jobs that share their nodes on the same one, where they would disturb each other.
    return max(nodes, int(asked.get("max_nodes") or nodes)) if asked.get("exclusive", True) else nodes


def array_of(trial: Trial) -> JobArray | None:
    """The array of a trial; None for a trial with a job of its own."""
    if not trial.repeats:
        return None
    at_once = nodes_at_once(trial.launch) // len(trial.launch.nodes)
    return JobArray(trial.trial_id.rpartition(".")[0], trial.repeats, at_once)


def trials_of_job(trial: Trial) -> list[Trial]:
    """All trials of the job that a trial belongs to."""
    array = array_of(trial)
    if array is None:
        return [trial]
    return [
        replace(trial, trial_id=f"{array.stem}.{number}", paths=trial.paths.sibling(number)) for number in array.numbers
    ]


def job_name(trial: Trial) -> str:
    """The name of the job, and of its folder on the login node."""
    array = array_of(trial)
    return f"{array.stem}.array" if array else trial.trial_id


def job_number(trial: Trial, job: str) -> str:
    """The trial's own number in the queue; ``job`` may be the number of its array, or of any task of it."""
    return f"{job.partition('_')[0]}_{trial.number}" if trial.repeats else job


def batch_of(name: str, home: str, most_minutes: int | None, array: JobArray | None = None) -> Batch:
    """The parameters of a batch script.

    Args:
        name: of the job.
        home: the home folder on the cluster.
        most_minutes: the time limit of the partition, where it is known.
        array: the job array, if the job is one.
    """
    root = f"{home}/.dlperf"
    array_fields = {"tasks": array.tasks, "stem": f"{root}/{file_name(array.stem)}"} if array else {}
    supervisor = f"{root}/bin/{supervisor_name()}"
    return Batch(name, f"{root}/{file_name(name)}", supervisor, PYTHONS, most_minutes, **array_fields)


@dataclass(frozen=True)
class Job:
    """A job of a scheduler, in the words of Slurm, in which others say theirs."""

    number: str
    state: str
    """PENDING, RUNNING, COMPLETED, FAILED, CANCELLED, TIMEOUT and so on; GONE where it is not known any more."""
    reason: str = ""
    nodes: str = ""
    """Slurm's list of its current or former nodes."""
    restarts: int = 0
    """How often it was requeued and started again."""

    @property
    def over(self) -> bool:
        return self.state in _OVER or self.state == GONE

    @property
    def pending_reason(self) -> Message | None:
        if self.state != "PENDING" or self.reason in ("", "None"):
            return None
        return message(_STUCK[self.reason], word=self.reason) if self.reason in _STUCK else quoted(self.reason)


def observation_in_job(node: str, report: NodeReport, starts: bool, job: Job | None, settled: bool) -> NodeObservation:
    """The state of a node by its own files and by the state of its job.

    The exit file takes precedence, but that Slurm ended the job explains it better than "TERM" does.

    Args:
        node: its name.
        report: the trial's folder as seen from the login node, where its facts on processes mean nothing.
        starts: whether the node has a payload to start.
        job: None while Slurm does not answer.
        settled: the job has been over for so long that the login node must see all of its files.
    """
    started = report.supervisor is not None
    seen = NodeObservation(node, State.RUNNING, log_size=report.streams.get(LOG, 0), starts=starts)
    if was_requeued(report, job):
        return replace(seen, state=State.LOST, cause=message("job_requeued"))
    report = replace(report, alive=False, orphaned=False)
    if report.problem is not None:
        over = report.exit is not None or (job is not None and job.over)
        return node_observation(node, report, starts) if over else seen
    if report.exit is not None:
        ended = node_observation(node, report, starts)
        if not _ended_from_outside(report):
            return ended
        if job is not None and job.state in _FROM_OUTSIDE:
            return replace(ended, state=_OVER[job.state], cause=message(_CAUSES[job.state]))
        return ended if settled else seen
    never_ran = not started and job is not None and not job.nodes and job.state != GONE
    if job is None or not job.over or not (settled or never_ran):
        return seen if started else replace(seen, state=State.SUBMITTED)
    if job.state == GONE and "_" in job.number and not started:
        # Without accounting, a task of an array that is cancelled while it waits leaves no trace.
        return replace(seen, state=State.CANCELLED, cause=message(_CAUSES["CANCELLED"]))
    if report.cancelled and job.state in (GONE, "FAILED", "COMPLETED"):  # ended by force before it could write more
        return replace(seen, state=State.CANCELLED, cause=message("cancelled"))
    failed = job.state in ("FAILED", "COMPLETED") and not started
    state = State.FAILED if failed else _OVER.get(job.state, State.LOST)
    return replace(seen, state=state, cause=_why_over(job, started))


def was_requeued(report: NodeReport, job: Job | None) -> bool:
    """Whether Slurm requeued the job after the node had begun: running it again would be another trial."""
    unfinished = report.exit is None or _ended_from_outside(report)
    return job is not None and job.restarts > 0 and report.supervisor is not None and unfinished


def _ended_from_outside(report: NodeReport) -> bool:
    """Whether the payload was ended without a request of ours: by Slurm, or by somebody on the node."""
    ended = report.exit
    if ended is None:
        return False
    unasked = ended["state"] == State.CANCELLED and not report.cancelled
    return unasked or (ended["state"] == State.FAILED and ended["signal"] == _SIGTERM)


def _why_over(job: Job, started: bool) -> Message:
    if job.state == GONE:
        return message("job_forgot", job=job.number)
    if job.state in _CAUSES:
        return message(_CAUSES[job.state])
    code = "job_over" if started else "job_not_started"
    return message(code, job=job.number, state=job.state, reason=job.reason)


class SilentSchedulerError(Exception):
    """The scheduler did not answer; the text is what its command said."""


class JobQueue:
    """The last known jobs of one cluster."""

    def __init__(self, ask: Callable[[Sequence[str]], Awaitable[dict[str, Job]]], seconds: float) -> None:
        """
        Args:
            ask: returns the jobs of these numbers; see ``Scheduler.jobs``.
            seconds: between two requests.
        """
        self._ask = ask
        self._seconds = seconds
        self._ask_at = 0.0
        self._jobs: dict[str, Job] = {}
        self._over_since: dict[str, float] = {}
        self.silent_since: str | None = None
        """When the scheduler stopped answering: ISO 8601, UTC."""
        self.error = ""
        """The error of its command then."""

    async def refresh(self, numbers: Iterable[str]) -> None:
        """Ask for these jobs, if it is time. Where the scheduler does not answer, the last known jobs stay.

        Raises:
            UnreachableError: the login node does not answer.
        """
        open_jobs = [number for number in numbers if self._may_change(number)]
        if not open_jobs or time.monotonic() < self._ask_at:
            return
        try:
            jobs = {number: Job(number, GONE) for number in open_jobs} | await self._ask(open_jobs)
            self.silent_since = None
        except SilentSchedulerError as error:
            jobs, self.error = {}, str(error)
            self.silent_since = self.silent_since or datetime.now(UTC).isoformat(timespec="milliseconds")
        finally:
            factor = 1 if self.silent_since is None else SILENCE_FACTOR
            self._ask_at = time.monotonic() + self._seconds * factor
        self._jobs |= jobs
        for number, job in jobs.items():
            if job.over:
                self._over_since.setdefault(number, time.monotonic())

    def job(self, number: str) -> Job | None:
        return self._jobs.get(number)

    def over_for(self, number: str) -> float:
        """Seconds since the job was first seen to be over; 0.0 while it is not."""
        since = self._over_since.get(number)
        return 0.0 if since is None else time.monotonic() - since

    def _may_change(self, number: str) -> bool:
        known = self._jobs.get(number)
        # A job that the queue forgot may still appear in the accounting, which has a delay.
        return known is None or not known.over or known.state == GONE
