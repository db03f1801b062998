"""The jobs in Slurm's queue, and the state of a trial's nodes by its job and their own files."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from dlperf.executors.base import NodeObservation
from dlperf.executors.verdict import node_observation
from dlperf.messages import Message, message, quoted
from dlperf.nodes.client import NodeClient
from dlperf.nodes.messages import NodeReport
from dlperf.runs.records import State

SQUEUE_FORMAT = "JobArrayID:64|,State:64|,RestartCnt:64|,Reason:256|,NodeList:256"
SACCT_FORMAT = "JobID,State,Reason,NodeList"
SILENCE_FACTOR = 5
"""How much longer than usual to wait before asking again when Slurm did not answer."""
GONE = "GONE"
_NO_SUCH_JOB = "Invalid job id"
_NO_ACCOUNTING = "accounting storage is disabled"

_OVER = {
    "COMPLETED": State.LOST,
    "FAILED": State.LOST,
    "CANCELLED": State.CANCELLED,
    "TIMEOUT": State.TIMED_OUT,
    "DEADLINE": State.TIMED_OUT,
    "PREEMPTED": State.LOST,
    "NODE_FAIL": State.LOST,
    "BOOT_FAIL": State.LOST,
    "OUT_OF_MEMORY": State.FAILED,
    "REVOKED": State.LOST,
}
"""Slurm's state of a finished job → the state of a node without an exit file."""
_CAUSES = {
    "CANCELLED": "slurm_cancelled",
    "TIMEOUT": "slurm_time_limit",
    "DEADLINE": "slurm_deadline",
    "PREEMPTED": "slurm_preempted",
    "NODE_FAIL": "slurm_node_failed",
    "BOOT_FAIL": "slurm_no_boot",
    "OUT_OF_MEMORY": "slurm_memory",
}
"""Slurm's state of a finished job → the code of the cause."""
_FROM_OUTSIDE = frozenset({"CANCELLED", "TIMEOUT", "DEADLINE", "PREEMPTED", "NODE_FAIL"})
"""States in which Slurm itself has ended the processes of the job."""
_SIGTERM = 15
_SMALL_NUMBER = re.compile("[0-9]{1,9}")
_STUCK = {
    "PartitionTimeLimit": "slurm_too_long",
    "PartitionNodeLimit": "slurm_too_many_nodes",
    "PartitionConfig": "slurm_too_much",
    "PartitionDown": "slurm_partition_down",
    "PartitionInactive": "slurm_partition_inactive",
    "AssocMaxJobsLimit": "slurm_job_limit",
    "QOSMaxWallDurationPerJobLimit": "slurm_qos_time",
    "JobHeldUser": "slurm_held",
    "JobHeldAdmin": "slurm_held_by_admin",
    "ReqNodeNotAvail": "slurm_node_reserved",
}
"""Pending reasons that need an action → the code of the message that names it."""


@dataclass(frozen=True)
class Job:
    """A job in Slurm."""

    number: str
    state: str
    """Slurm's state, such as PENDING; GONE where Slurm does not know the job any more."""
    reason: str = ""
    nodes: str = ""
    """Slurm's list of its current or former nodes."""
    restarts: int = 0
    """How often Slurm requeued and restarted it."""

    @property
    def over(self) -> bool:
        return self.state in _OVER or self.state == GONE

    @property
    def pending_reason(self) -> Message | None:
        if self.state != "PENDING" or self.reason in ("", "None"):
            return None
        return message(_STUCK[self.reason], word=self.reason) if self.reason in _STUCK else quoted(self.reason)


def parse_squeue(text: str) -> dict[str, Job]:
    """Parse lines in SQUEUE_FORMAT into jobs by number."""
    rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.count("|") == 4]
    return {
        number: Job(number, state, reason, nodes, int(restarts))
        for number, state, restarts, reason, nodes in rows
        if _SMALL_NUMBER.fullmatch(restarts)
    }


def parse_sacct(text: str) -> dict[str, Job]:
    """Parse lines in SACCT_FORMAT into jobs by number; the state ``CANCELLED by 1000`` is CANCELLED."""
    rows = [line.split("|") for line in text.splitlines() if line.count("|") == 3]
    return {
        number: Job(number, state.split()[0], reason, "" if nodes == "None assigned" else nodes)
        for number, state, reason, nodes in rows
        if state.strip()
    }


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
    seen = NodeObservation(node, State.RUNNING, log_size=report.streams.get("out.log", 0), starts=starts)
    if was_requeued(report, job):
        return replace(seen, state=State.LOST, cause=message("slurm_requeued"))
    if report.problem is not None:
        over = report.exit is not None or (job is not None and job.over)
        return node_observation(node, replace(report, alive=not over, orphaned=False), starts)
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
        return message("slurm_forgot", job=job.number)
    if job.state in _CAUSES:
        return message(_CAUSES[job.state])
    code = "slurm_over" if started else "slurm_not_started"
    return message(code, job=job.number, state=job.state, reason=job.reason)


class SlurmQueue:
    """The last known jobs of one cluster, by ``squeue`` for all at once, then ``sacct`` for those that it forgot."""

    def __init__(self, client: NodeClient, seconds: float) -> None:
        """
        Args:
            client: of the login node.
            seconds: between two requests.
        """
        self._client = client
        self._seconds = seconds
        self._ask_at = 0.0
        self._jobs: dict[str, Job] = {}
        self._over_since: dict[str, float] = {}
        self._accounting = True
        self.silent_since: str | None = None
        """When Slurm stopped answering: ISO 8601, UTC."""
        self.error = ""
        """The error of its command then."""

    async def refresh(self, numbers: Iterable[str]) -> None:
        """Ask for these jobs, if it is time. Where Slurm does not answer, the last known jobs stay.

        Raises:
            UnreachableError: the login node does not answer.
        """
        open_jobs = [number for number in numbers if self._may_change(number)]
        if not open_jobs or time.monotonic() < self._ask_at:
            return
        try:
            jobs = await self._ask(open_jobs)
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
        # A job that squeue forgot may still appear in the accounting, which has a delay.
        return known is None or not known.over or known.state == GONE

    async def _ask(self, numbers: Sequence[str]) -> dict[str, Job]:
        """Every job that was asked for; none while Slurm does not answer."""
        options = ["--noheader", "--array", "--states=all", f"--Format={SQUEUE_FORMAT}"]
        answer = await self._client.slurm(["squeue", *options, f"--jobs={','.join(numbers)}"])
        if answer.code != 0 and _NO_SUCH_JOB not in answer.err:
            self.error = (answer.err.strip().splitlines() or [f"exit code {answer.code}"])[-1]
            self.silent_since = self.silent_since or datetime.now(UTC).isoformat(timespec="milliseconds")
            return {}
        self.silent_since = None
        known = parse_squeue(answer.out)
        forgotten = [number for number in numbers if number not in known]
        return {number: Job(number, GONE) for number in forgotten} | await self._account(forgotten) | known

    async def _account(self, numbers: Sequence[str]) -> dict[str, Job]:
        if not numbers or not self._accounting:
            return {}
        options = ["--noheader", "--allocations", "--parsable2", f"--format={SACCT_FORMAT}"]
        answer = await self._client.slurm(["sacct", *options, f"--jobs={','.join(numbers)}"])
        self._accounting = _NO_ACCOUNTING not in answer.err and answer.code != 127
        return parse_sacct(answer.out)
