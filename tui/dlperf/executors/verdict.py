"""What the reports of a trial's nodes come to: each node's state, the trial's, and who failed first. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from dlperf.executors.base import NodeObservation, Observation
from dlperf.messages import Message, message, quoted
from dlperf.nodes.messages import NodeReport
from dlperf.runs.records import State
from dlperf.runs.upgrades import stored_message

_BAD = (State.FAILED, State.TIMED_OUT, State.LOST)


@dataclass(frozen=True)
class NodeStanding:
    """One node's share of a trial, with what a verdict needs beside the observation."""

    observation: NodeObservation
    ended: str = ""
    """ISO 8601: when the share ended; for one that was lost, when its supervisor was last heard of."""
    starts: bool = True
    """False where another node's launcher reaches this one: such a share ends when it is told to."""

    @property
    def reachable(self) -> bool:
        return self.observation.unreachable_since is None

    @property
    def bad(self) -> bool:
        return self.starts and self.observation.state in _BAD

    @property
    def finished(self) -> bool:
        return self.observation.state.finished


def standing(node: str, report: NodeReport, starts: bool = True) -> NodeStanding:
    """What a node's report says. Only an answer without process and without exit file is a loss."""
    size = report.streams.get("out.log", 0)
    if report.exit is not None:
        return _ended(NodeObservation(node, State(report.exit["state"]), log_size=size), report, starts)
    if report.alive or report.orphaned:
        return NodeStanding(NodeObservation(node, State.RUNNING, log_size=size), starts=starts)
    heard = datetime.fromtimestamp(report.heartbeat or 0.0, UTC).isoformat()
    return NodeStanding(NodeObservation(node, State.LOST, _why_lost(report), log_size=size), heard, starts)


def _ended(observation: NodeObservation, report: NodeReport, starts: bool) -> NodeStanding:
    told = report.exit or {}
    observation = replace(observation, cause=_cause_of_exit(told), exit_code=told["code"], signal=told["signal"])
    return NodeStanding(observation, told["ended"], starts)


def _cause_of_exit(told: Mapping[str, Any]) -> Message:
    """The cause in ``exit.json``, whichever version of the supervisor wrote it."""
    try:
        return stored_message(told.get("cause"))
    except ValueError:
        return quoted(told.get("cause"))


def _why_lost(report: NodeReport) -> Message:
    if report.supervisor is None:
        return message("unknown_trial")
    if report.rebooted:
        return message("restarted")
    return message("no_exit_file")


def given_up(silent: NodeStanding) -> NodeStanding:
    """A node that was silent for so long that the others wait for it in vain: it failed when it fell silent."""
    since = silent.observation.unreachable_since or ""
    cause = message("unreachable_since", since=since, cause=silent.observation.cause or message("waiting"))
    return replace(silent, observation=replace(silent.observation, state=State.FAILED, cause=cause), ended=since)


def first_failure(nodes: Sequence[NodeStanding]) -> NodeStanding | None:
    """The node that ended badly first; the others' errors are mostly its echo."""
    return min((node for node in nodes if node.bad), key=lambda node: node.ended, default=None)


def trial_observation(trial_id: str, nodes: Sequence[NodeStanding], last_lines: str = "") -> Observation:
    """The state of a trial from its nodes'.

    It goes on while a node goes on. A node that does not answer holds up no verdict that another node has given.
    """
    observations = tuple(node.observation for node in nodes)
    first = first_failure(nodes)
    open_nodes = [node for node in nodes if not node.finished and not (first and not node.reachable)]
    if open_nodes:
        submitted = all(node.observation.state is State.SUBMITTED for node in nodes)
        return Observation(trial_id, State.SUBMITTED if submitted else State.RUNNING, nodes=observations)
    if first is not None:
        cause = _cause(first, nodes, last_lines)
        return Observation(trial_id, first.observation.state, cause, "supervisor", observations)
    ended = [node.observation for node in nodes if node.starts]
    last = next((node for node in ended if node.state is not State.SUCCEEDED), ended[0])
    return Observation(trial_id, last.state, last.cause, "supervisor", observations)


def _cause(first: NodeStanding, nodes: Sequence[NodeStanding], last_lines: str) -> Message | None:
    """Of several nodes, the one that failed first is named, and those that are silent, which may be why it failed;
    then comes the end of its log: it is one of many logs."""
    node = first.observation
    if len(nodes) == 1:
        return node.cause
    cause = message("of_node", node=node.node, cause=node.cause or quoted(node.state))
    for other in nodes if first.reachable else ():
        if not other.reachable:
            cause = message("silent_too", cause=cause, node=other.observation.node)
    return message("last_output", cause=cause, lines=last_lines) if last_lines else cause
