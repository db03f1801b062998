"""From the reports of the nodes to the state of a trial."""

from __future__ import annotations

import pytest

from dlperf.executors.base import NodeObservation, failure_kind
from dlperf.executors.verdict import NodeStanding, standing, trial_observation
from dlperf.nodes.messages import NodeReport
from dlperf.runs.records import State
from dlperf.sentences.quoted import printable_end

SUPERVISOR = {"pid": 7, "start_ticks": 70, "boot_id": "b"}


def _report(**facts) -> NodeReport:
    told = {"supervisor": SUPERVISOR, "alive": False, "orphaned": False, "rebooted": False, "exit": None}
    return NodeReport.of({**told, "cancelled": False, "heartbeat": 1000.0, "streams": {"out.log": 5}, **facts})


def _exit(state: str, ended: str = "2026-01-01T00:00:09.000Z", cause: str = "exit code 1") -> dict:
    return {"state": state, "cause": cause, "code": 1, "signal": None, "ended": ended}


@pytest.mark.parametrize(
    ("facts", "state", "cause"),
    [
        ({"alive": True}, State.RUNNING, None),
        ({"orphaned": True}, State.RUNNING, None),
        ({"alive": True, "exit": _exit("failed")}, State.FAILED, "exit code 1"),
        ({"rebooted": True}, State.LOST, "the machine was restarted while the trial ran"),
        ({}, State.LOST, "supervisor and processes are gone and left no exit file"),
        ({"supervisor": None}, State.LOST, "the node knows nothing of the trial"),
    ],
)
def test_a_node_is_lost_only_if_it_answers_without_process_and_exit_file(facts, state, cause):
    observation = standing("a", _report(**facts)).observation
    assert (observation.state, observation.cause, observation.log_size) == (state, cause, 5)


SILENT = "node a: failed; node b does not answer"


def _node(name: str, state: State, ended: str = "", since: str | None = None, starts: bool = True) -> NodeStanding:
    return NodeStanding(NodeObservation(name, state, f"{state}", unreachable_since=since), ended, starts)


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
    assert (observation.state, observation.cause) == (state, cause)


def test_only_of_several_nodes_the_failing_one_is_named_with_the_end_of_its_log():
    failed, done = _node("b", State.FAILED, "1"), _node("a", State.SUCCEEDED)
    assert trial_observation("t", [failed], "12:01 Error").cause == "failed"
    assert trial_observation("t", [done, failed], "12:01 Error").cause == "node b: failed; last output: 12:01 Error"


def test_equal_failures_are_of_one_kind_whatever_their_logs_say():
    kinds = {failure_kind(f"node b: exit code 1; last output: {time} Error") for time in ("12:01", "13:02")}
    assert kinds == {"node b: exit code 1"}
    assert failure_kind(None) == ""


def test_the_end_of_a_log_becomes_one_line_that_is_safe_to_show():
    log = b"first\nsecond\n\x1b[31mError:\x1b[0m out of\tmemory\r50%\r100%\n\n\xff\n"
    assert printable_end(log) == "50% | 100% | \ufffd"
    assert "\x1b" not in printable_end(log, lines=9)
