"""Why a trial ended as it did: the cause of the journal, explained by the logs. Pure."""

from __future__ import annotations

from dlperf.evidence.gather import Evidence
from dlperf.measured.causes import diagnosis, explained
from dlperf.measured.error_lines import failed_rank
from dlperf.messages import Message, message
from dlperf.plan import Launch
from dlperf.plan.subject import STARTED_ONCE
from dlperf.runs.records import State, TrialStatus


def cause_of_trial(evidence: Evidence, launch: Launch, status: TrialStatus) -> Message | None:
    """Return the journal's cause, explained by the log of the node that it names, else by that of another."""
    cause = status.cause
    if status.state is State.SUCCEEDED:
        return cause
    parts = cause.chain() if cause else ()
    named = next((part.text_of("node") for part in parts if part.code == "of_node"), "")
    tail = evidence.tails.get(named, evidence.tail)
    found, node = diagnosis(tail), _failed_node(launch, tail)
    if found is None and named:
        found, node = next(
            ((why, other) for other, log in evidence.tails.items() if (why := diagnosis(log))), (None, "")
        )
    if found and named and node not in ("", named):
        found = message("of_node", node=node, cause=found)
    found = found or diagnosis(evidence.job_tail)
    job_tail = "" if evidence.tail or any(evidence.tails.values()) else evidence.job_tail
    return explained(cause, found, tail if status.state in (State.FAILED, State.TIMED_OUT) else "", job_tail)


def _failed_node(launch: Launch, tail: str) -> str:
    """Return the node of the rank that failed, where one launcher started the ranks of all nodes."""
    rank = failed_rank(tail) if launch.launcher in STARTED_ONCE else None
    node = len(launch.nodes) if rank is None else rank // launch.gpus
    return launch.nodes[node].name if node < len(launch.nodes) else ""
