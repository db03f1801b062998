"""From the reports of a trial's nodes to the state of each and of the trial, and whether it is overdue. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import inf

from dlperf.executors.base import NodeObservation, Observation
from dlperf.messages import Message, message, quoted
from dlperf.nodes.messages import ExitRecord, NodeFileError, NodeProblem, NodeReport
from dlperf.plan import Launch
from dlperf.runs.paths import LOG
from dlperf.runs.records import State, TrialStatus, record_time


def node_observation(node: str, report: NodeReport, starts: bool = True) -> NodeObservation:
    """The state of a node by its report. It is lost only if it answers without process and without exit file.

    While its supervisor runs, an exit file is not its last word: the payload may have written it. A file that cannot be
    read fails the node, whatever its exit file says.
    """
    seen = NodeObservation(node, State.RUNNING, log_size=report.streams.get(LOG, 0), age=report.age, starts=starts)
    if report.alive or report.orphaned:
        return seen
    if report.problem is not None:
        return replace(seen, state=State.FAILED, cause=cause_of_problem(node, report.problem), ended=_heartbeat(report))
    if report.exit is not None:
        ended = report.exit
        seen = replace(seen, exit_code=ended["code"], signal=ended["signal"])
        seen = replace(seen, started=ended.get("started"), ended=ended["ended"])
        return replace(seen, state=State(ended["state"]), cause=_cause_of_exit(ended))
    return replace(seen, state=State.LOST, cause=_why_lost(report), ended=_heartbeat(report))


def is_unswept(report: NodeReport) -> bool:
    """Whether a supervisor died without an exit file: what it made is still there, also where no process is."""
    return not report.alive and not report.rebooted and report.supervisor is not None and report.exit is None


def cause_of_problem(node: str, problem: NodeProblem) -> Message:
    return NodeFileError(node, problem["file"], problem["reason"]).message


def _heartbeat(report: NodeReport) -> str:
    return datetime.fromtimestamp(report.heartbeat or 0.0, UTC).isoformat()


def _cause_of_exit(ended: ExitRecord) -> Message:
    """The cause in ``exit.json``, or whatever stands there as a text."""
    try:
        return Message.from_json(ended.get("cause"))
    except ValueError:
        return quoted(ended.get("cause"))


def _why_lost(report: NodeReport) -> Message:
    if report.supervisor is None:
        return message("unknown_trial")
    return message("restarted" if report.rebooted else "no_exit_file")


def fail_silent(silent: NodeObservation) -> NodeObservation:
    """Return a node that was silent for too long as failed, at the time when its silence began."""
    since = silent.unreachable_since or ""
    cause = message("unreachable_since", since=since, cause=silent.cause or message("waiting"))
    return replace(silent, state=State.FAILED, cause=cause, ended=since)


def first_failure(nodes: Sequence[NodeObservation]) -> NodeObservation | None:
    """The node that failed first; the errors of the others mostly follow from it."""
    return min((node for node in nodes if node.failed), key=lambda node: node.ended, default=None)


def begun_at(observation: Observation, submitted: str | None, now: str) -> str | None:
    """Return when a trial began that is first seen running or ended; None if it did not begin.

    A short trial may end before it is seen running. The clocks of its nodes may be wrong: no trial begins before it
    is submitted, or after its end is seen.
    """
    if observation.state is State.RUNNING:
        return now
    started = min((node.started for node in observation.nodes if node.started), default=None)
    if started is None:
        return None
    return min(max(record_time(started), submitted or ""), now)


def trial_observation(trial_id: str, nodes: Sequence[NodeObservation]) -> Observation:
    """The state of a trial: running while a node runs, unless another failed and that node does not answer."""
    every = tuple(nodes)
    first = first_failure(nodes)
    if any(not node.finished and not (first and not node.reachable) for node in nodes):
        submitted = all(node.state is State.SUBMITTED for node in nodes)
        return Observation(trial_id, State.SUBMITTED if submitted else State.RUNNING, nodes=every)
    if first is not None:
        return Observation(trial_id, first.state, _cause(first, nodes), "supervisor", every)
    ended = [node for node in nodes if node.starts]
    last = next((node for node in ended if node.state is not State.SUCCEEDED), ended[0])
    return Observation(trial_id, last.state, last.cause, "supervisor", every)


def _cause(first: NodeObservation, nodes: Sequence[NodeObservation]) -> Message | None:
    """Of several nodes, name the first that failed and the silent ones, which may be why."""
    if len(nodes) == 1:
        return first.cause
    cause = message("of_node", node=first.node, cause=first.cause or quoted(first.state))
    for other in nodes if first.reachable else ():
        if not other.reachable:
            cause = message("silent_too", cause=cause, node=other.node)
    return cause


def is_overdue(late: float, silent_seconds: float, patience: float) -> bool:
    """Whether a machine was silent for ``patience`` seconds, and the trial's deadline passed as long ago.

    Before that a payload may still run there; a supervisor ends it at its deadline.
    """
    return silent_seconds >= patience and late >= patience


def seconds_late(launch: Launch, status: TrialStatus, seconds_since: Callable[[str], float]) -> float:
    """Return how long ago the deadline of a trial passed; negative before it, or where its beginning is not known.

    The wait in a queue, and for an image or a build, which have deadlines of their own, do not count.

    Args:
        seconds_since: returns the age of a record's time.
    """
    begun = status.started or (None if launch.queued else status.since)
    if begun is None:
        return -inf
    pull_seconds = launch.deadline_seconds if launch.container else 0.0
    return seconds_since(begun) - pull_seconds - launch.longest_seconds


def why_overdue(cause: Message, patience: float) -> Message:
    return message("overdue", cause=cause, minutes=patience / 60)


def overdue(observation: Observation, patience: float) -> Observation:
    """Return the trial with its silent machines given up."""
    nodes = [fail_silent(node) if _is_silent(node) else node for node in observation.nodes]
    ended = trial_observation(observation.trial_id, nodes)
    return replace(ended, cause=why_overdue(ended.cause, patience)) if ended.cause else ended


def has_silent_machine(observation: Observation) -> bool:
    return not observation.state.finished and any(map(_is_silent, observation.nodes))


def _is_silent(node: NodeObservation) -> bool:
    return not node.reachable and not node.finished


def silence(node: NodeObservation, patience: float) -> Message | None:
    """Why a machine does not answer, and what follows; None where it answers."""
    if node.reachable:
        return None
    cause = node.cause or message("waiting")
    if cause.code == "job_silent":
        return message("goes_on_there", cause=cause)
    return message("waited_past_deadline", cause=cause, minutes=patience / 60)
