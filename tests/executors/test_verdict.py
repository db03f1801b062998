"""From the reports of the nodes to the state of a trial."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from dlperf.executors.base import NodeObservation, Observation, failure_kind
from dlperf.executors.verdict import begun_at, node_observation, trial_observation
from dlperf.messages import message, quoted
from dlperf.nodes.messages import NodeReport
from dlperf.runs.records import State

SUBMITTED, NOW = "2026-01-01T00:00:01.000000Z", "2026-01-01T00:00:09.000000Z"
SUPERVISOR = {"pid": 7, "start_ticks": 70, "boot_id": "b"}


def _report(**facts) -> NodeReport:
    told = {"supervisor": SUPERVISOR, "alive": False, "orphaned": False, "rebooted": False, "exit": None}
    return NodeReport(**{**told, "cancelled": False, "heartbeat": 1000.0, "streams": {"out.log": 5}, **facts})


EXIT_1 = message("exit_code", code_value=1)


def _exit(state: str, ended: str = "2026-01-01T00:00:09.000Z", cause: object = EXIT_1.to_json()) -> dict:
    return {"state": state, "cause": cause, "code": 1, "signal": None, "ended": ended}


@pytest.mark.parametrize(
    ("facts", "state", "cause"),
    [
        ({"alive": True}, State.RUNNING, None),
        ({"orphaned": True}, State.RUNNING, None),
        ({"alive": True, "exit": _exit("failed")}, State.RUNNING, None),
        ({"exit": _exit("failed")}, State.FAILED, EXIT_1),
        ({"rebooted": True}, State.LOST, message("restarted")),
        ({}, State.LOST, message("no_exit_file")),
        ({"supervisor": None}, State.LOST, message("unknown_trial")),
    ],
)
def test_a_node_is_lost_only_if_it_answers_without_process_and_exit_file(facts, state, cause):
    observation = node_observation("a", _report(**facts))
    assert (observation.state, observation.cause, observation.log_size) == (state, cause, 5)


@pytest.mark.parametrize("cause", [None, 3, [], {}, {"code": 7}])
def test_an_exit_file_without_a_sound_cause_still_ends_the_trial(cause):
    observation = node_observation("a", _report(exit=_exit("failed", cause=cause)))
    assert (observation.state, str(observation.cause)) == (State.FAILED, str(cause))


SILENT = "node a: failed; node b does not answer"


def _node(name: str, state: State, ended: str = "", since: str | None = None, starts: bool = True) -> NodeObservation:
    return NodeObservation(name, state, quoted(state), unreachable_since=since, ended=ended, starts=starts)


@pytest.mark.parametrize(
    ("nodes", "state", "cause"),
    [
        ([_node("a", State.SUBMITTED)], State.SUBMITTED, None),
        ([_node("a", State.RUNNING), _node("b", State.SUCCEEDED)], State.RUNNING, None),
        ([_node("a", State.SUCCEEDED), _node("b", State.SUCCEEDED)], State.SUCCEEDED, "succeeded"),
        ([_node("a", State.FAILED, "2"), _node("b", State.LOST, "1")], State.LOST, "node b: lost"),
        ([_node("a", State.FAILED, "1"), _node("b", State.CANCELLED, "2")], State.FAILED, "node a: failed"),
        ([_node("a", State.FAILED, "1"), _node("b", State.RUNNING)], State.RUNNING, None),
        ([_node("a", State.FAILED, "1"), _node("b", State.RUNNING, since="now")], State.FAILED, SILENT),
        ([_node("a", State.SUCCEEDED), _node("b", State.RUNNING, since="now")], State.RUNNING, None),
        ([_node("a", State.SUCCEEDED), _node("b", State.CANCELLED)], State.CANCELLED, "cancelled"),
        ([_node("a", State.SUCCEEDED), _node("b", State.TIMED_OUT, starts=False)], State.SUCCEEDED, "succeeded"),
    ],
)
def test_a_trial_is_what_its_nodes_come_to(nodes, state, cause):
    observation = trial_observation("t", nodes)
    assert (observation.state, str(observation.cause) if cause else observation.cause) == (state, cause)


def test_only_of_several_nodes_the_failing_one_is_named():
    failed, done = _node("b", State.FAILED, "1"), _node("a", State.SUCCEEDED)
    assert trial_observation("t", [failed]).cause == quoted("failed")
    assert str(trial_observation("t", [done, failed]).cause) == "node b: failed"


def test_equal_failures_are_of_one_kind_whatever_their_logs_say():
    failed = message("of_node", node="b", cause=EXIT_1)
    at_noon, later = (message("last_output", cause=failed, lines=f"{time} Error") for time in ("12:01", "13:02"))
    assert failure_kind(at_noon) == failure_kind(later) == failed
    assert failure_kind(message("silent_too", cause=later, node="c")) == message("silent_too", cause=failed, node="c")
    lacking = message(
        "and_more", subject=failed, more=message("gpu_memory", size="1 GiB", advice=message("larger_gpus"))
    )
    assert failure_kind(lacking) == failed
    assert failure_kind(None) is None


@pytest.mark.parametrize(
    ("started", "begun"),
    [
        (None, None),
        ("2026-01-01T00:00:05Z", "2026-01-01T00:00:05.000000Z"),
        ("2026-01-01T02:00:05+02:00", "2026-01-01T00:00:05.000000Z"),
        ("1970-01-01T00:00:00Z", SUBMITTED),
        ("2031-01-01T00:00:00Z", NOW),
    ],
)
def test_a_trial_that_was_never_seen_running_began_when_its_nodes_say_but_not_before_it_was_submitted(started, begun):
    moment = datetime.fromisoformat(started) if started else None
    nodes = (replace(_node("a", State.SUCCEEDED), started=moment), _node("b", State.SUCCEEDED))
    assert begun_at(Observation("t", State.SUCCEEDED, nodes=nodes), SUBMITTED, NOW) == begun


def test_a_trial_that_is_seen_running_began_now():
    assert begun_at(Observation("t", State.RUNNING), SUBMITTED, NOW) == NOW
