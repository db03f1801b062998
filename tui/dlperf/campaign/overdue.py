"""When a trial is past its deadline whose supervisor ends it no more: dead, stopped, or on a silent machine. Pure."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from dlperf.executors.base import NodeObservation, Observation
from dlperf.executors.verdict import given_up, trial_observation
from dlperf.messages import Message, message
from dlperf.plan import Launch
from dlperf.runs.clock import seconds_between
from dlperf.runs.records import TrialStatus


def is_overdue(launch: Launch, status: TrialStatus, now: str, silent_seconds: float, patience: float) -> bool:
    """Whether a machine was silent for ``patience`` seconds, and the trial's deadline passed as long ago.

    Before that a payload may still run there; a supervisor ends it at its deadline.
    """
    return silent_seconds >= patience and seconds_late(launch, status, now) >= patience


def seconds_late(launch: Launch, status: TrialStatus, now: str) -> float:
    """Return how long ago the deadline of a trial passed; negative before it, or where its beginning is not known.

    The wait in a queue, and for an image or a build, which have deadlines of their own, do not count.
    """
    begun = status.started or (None if launch.queued else status.since)
    if begun is None:
        return -inf
    pull_seconds = launch.deadline_seconds if launch.container else 0.0
    return seconds_between(begun, now) - pull_seconds - launch.longest_seconds


def why_overdue(cause: Message, patience: float) -> Message:
    return message("overdue", cause=cause, minutes=patience / 60)


def overdue(observation: Observation, patience: float) -> Observation:
    """Return the trial with its silent machines given up."""
    nodes = [given_up(node) if _is_silent(node) else node for node in observation.nodes]
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
    if cause.code == "slurm_silent":
        return message("goes_on_there", cause=cause)
    return message("waited_past_deadline", cause=cause, minutes=patience / 60)
