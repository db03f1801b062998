"""What Slurm says of jobs, and what it comes to for a trial's nodes beside their own files. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dlperf.executors.base import NodeObservation
from dlperf.executors.verdict import NodeStanding, standing
from dlperf.messages import Message, message, quoted
from dlperf.nodes.messages import NodeReport
from dlperf.runs.records import State

SQUEUE_FORMAT = "JobArrayID:64|,State:64|,RestartCnt:64|,Reason:256|,NodeList:256"
SACCT_FORMAT = "JobID,State,Reason,NodeList"

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
"""Slurm's states of a job that is over → the state of a node's share that left no exit file."""
_CAUSES = {
    "CANCELLED": "slurm_cancelled",
    "TIMEOUT": "slurm_time_limit",
    "DEADLINE": "slurm_deadline",
    "PREEMPTED": "slurm_preempted",
    "NODE_FAIL": "slurm_node_failed",
    "BOOT_FAIL": "slurm_no_boot",
    "OUT_OF_MEMORY": "slurm_memory",
}
"""Slurm's states of a job that is over → the code of the cause."""
_FROM_OUTSIDE = frozenset({"CANCELLED", "TIMEOUT", "DEADLINE", "PREEMPTED", "NODE_FAIL"})
"""States in which Slurm itself has told every process of the job to end."""
_SIGTERM = 15
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
"""Reasons to wait that do not pass by themselves → the code of the message that says what to do."""
REQUEUED = message("slurm_requeued")


@dataclass(frozen=True)
class Job:
    """A job as Slurm knows it."""

    number: str
    state: str
    """Slurm's word, such as PENDING; GONE where Slurm knows nothing of it any more."""
    reason: str = ""
    nodes: str = ""
    """Slurm's list of the nodes that it has or had; empty if it never had any."""
    restarts: int = 0
    """How often Slurm put it back into the queue and started it again."""

    @property
    def over(self) -> bool:
        return self.state in _OVER or self.state == GONE

    @property
    def is_task(self) -> bool:
        """A task of an array. One that is cancelled while it waits leaves no trace where there is no accounting."""
        return "_" in self.number

    @property
    def pending_reason(self) -> Message | None:
        """Why it still waits: Slurm's word, and what to do about one that does not pass by itself."""
        if self.state != "PENDING" or self.reason in ("", "None"):
            return None
        return message(_STUCK[self.reason], word=self.reason) if self.reason in _STUCK else quoted(self.reason)


GONE = "GONE"


def parse_squeue(text: str) -> dict[str, Job]:
    """Jobs by number, from lines in SQUEUE_FORMAT."""
    rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.count("|") == 4]
    return {number: Job(number, state, reason, nodes, int(restarts)) for number, state, restarts, reason, nodes in rows}


def parse_sacct(text: str) -> dict[str, Job]:
    """Jobs by number, from lines in SACCT_FORMAT. Of ``CANCELLED by 1000`` one word is the state."""
    rows = [line.split("|") for line in text.splitlines() if line.count("|") == 3]
    return {
        number: Job(number, state.split()[0], reason, "" if nodes == "None assigned" else nodes)
        for number, state, reason, nodes in rows
    }


def share_standing(node: str, report: NodeReport, starts: bool, job: Job | None, settled: bool) -> NodeStanding:
    """A node's share from its own files and from what Slurm says of its job.

    The exit file is believed before Slurm, but that Slurm ended the share explains it better than "TERM" does.

    Args:
        node: names the node.
        report: the trial's folder, as seen from the login node: what it says of processes is of no use.
        starts: whether the node has something to start.
        job: None while Slurm does not answer.
        settled: the job has been over for so long that every file of it must be visible on the login node.
    """
    if report.exit is not None and not requeued(report, job):
        return _ended(standing(node, report, starts), report, job, settled)
    size = report.streams.get("out.log", 0)
    if requeued(report, job):
        return NodeStanding(NodeObservation(node, State.LOST, REQUEUED, log_size=size), "", starts)
    never_ran = report.supervisor is None and job is not None and not job.nodes and job.state != GONE
    if job is None or not job.over or not (settled or never_ran):
        state = State.SUBMITTED if report.supervisor is None else State.RUNNING
        return NodeStanding(NodeObservation(node, state, log_size=size), starts=starts)
    if job.state == GONE and job.is_task and report.supervisor is None:
        return NodeStanding(NodeObservation(node, State.CANCELLED, message(_CAUSES["CANCELLED"])), "", starts)
    state = _OVER.get(job.state, State.LOST)
    if state is State.LOST and job.state in ("FAILED", "COMPLETED") and report.supervisor is None:
        state = State.FAILED
    return NodeStanding(NodeObservation(node, state, why_over(job, report), log_size=size), "", starts)


def requeued(report: NodeReport, job: Job | None) -> bool:
    """Whether Slurm took the job from its nodes after the share had begun: what it is to do again is another trial."""
    unfinished = report.exit is None or _ended_from_outside(report)
    return job is not None and job.restarts > 0 and report.supervisor is not None and unfinished


def _ended(ended: NodeStanding, report: NodeReport, job: Job | None, settled: bool) -> NodeStanding:
    if not _ended_from_outside(report):
        return ended
    if job is not None and job.state in _FROM_OUTSIDE:
        told = replace(ended.observation, state=_OVER[job.state], cause=message(_CAUSES[job.state]))
        return replace(ended, observation=told)
    if settled:
        return ended
    waiting = NodeObservation(ended.observation.node, State.RUNNING, log_size=ended.observation.log_size)
    return NodeStanding(waiting, starts=ended.starts)


def _ended_from_outside(report: NodeReport) -> bool:
    """Whether the share was told to end by nobody that left a request: by Slurm, or by a hand on the node."""
    told = report.exit or {}
    unasked = told["state"] == State.CANCELLED and not report.cancelled
    return unasked or (told["state"] == State.FAILED and told["signal"] == _SIGTERM)


def why_over(job: Job, report: NodeReport) -> Message:
    """Why a share without an exit file is over."""
    if job.state == GONE:
        return message("slurm_forgot", job=job.number)
    if job.state in _CAUSES:
        return message(_CAUSES[job.state])
    key = "slurm_not_started" if report.supervisor is None else "slurm_over"
    return message(key, job=job.number, state=job.state, reason=job.reason)
