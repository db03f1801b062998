"""What Slurm's words come to: read from squeue and sacct, weighed against a node's own exit file."""

from __future__ import annotations

import pytest

from dlperf.executors.batch.jobs import GONE, Job, observation_in_job
from dlperf.executors.batch.slurm import parse_sacct, parse_squeue
from dlperf.nodes.messages import NodeReport
from dlperf.runs.records import State

RUNNING = Job("7", "RUNNING", "None", "n1")


def report(started: bool = True, cancelled: bool = False, **exit_record) -> NodeReport:
    supervisor = {"pid": 1, "start_ticks": 1, "boot_id": "another machine's"} if started else None
    ended = {"cause": "its cause", "code": None, "signal": None, "ended": "2026-01-01T00:00:00.000Z"} | exit_record
    return NodeReport(supervisor, False, False, True, ended if exit_record else None, cancelled, None, {"out.log": 5})


def standing(node_report: NodeReport, job: Job | None, settled: bool = True) -> tuple[State, str | None]:
    seen = observation_in_job("node0", node_report, True, job, settled)
    return seen.state, str(seen.cause) if seen.cause else None


def test_squeue_tells_state_restarts_reason_and_nodes():
    text = "12   |PENDING |0 |Resources |\n13|RUNNING|2|None|n[1-2]\nslurm_load_jobs error: Invalid job id\n"
    assert parse_squeue(text) == {
        "12": Job("12", "PENDING", "Resources"),
        "13": Job("13", "RUNNING", "None", "n[1-2]", 2),
    }


def test_sacct_names_who_cancelled_and_that_nothing_was_assigned():
    assert parse_sacct("12|CANCELLED by 1000|None|None assigned\n13|TIMEOUT|None|n1\n") == {
        "12": Job("12", "CANCELLED", "None"),
        "13": Job("13", "TIMEOUT", "None", "n1"),
    }


def test_only_a_waiting_job_has_a_reason_to_wait():
    assert str(Job("1", "PENDING", "Priority").pending_reason) == "Priority"
    assert Job("1", "PENDING", "None").pending_reason is None
    assert Job("1", "RUNNING", "Priority").pending_reason is None


@pytest.mark.parametrize(
    ("job", "state", "cause"),
    [
        (Job("7", "PENDING", "Priority"), State.SUBMITTED, None),
        (RUNNING, State.SUBMITTED, None),
        (Job("7", "CANCELLED"), State.CANCELLED, "cancelled in the queue"),
        (Job("7", "FAILED", "NonZeroExitCode", "n1"), State.FAILED, "is the home folder shared"),
        (Job("7", "BOOT_FAIL", "None", "n1"), State.LOST, "did not boot"),
        (Job("7", GONE), State.LOST, "the scheduler has no record of job 7"),
        (Job("7_2", GONE), State.CANCELLED, "cancelled in the queue"),
        (None, State.SUBMITTED, None),
    ],
)
def test_a_share_that_never_started(job, state, cause):
    told_state, told = standing(report(started=False), job)
    assert told_state is state
    assert (told is None) if cause is None else (cause in (told or ""))


@pytest.mark.parametrize(
    ("job", "state", "cause"),
    [
        (RUNNING, State.RUNNING, None),
        (None, State.RUNNING, None),
        (Job("7", "PREEMPTED", "None", "n1"), State.LOST, "preempted by the scheduler"),
        (Job("7", "NODE_FAIL", "None", "n1"), State.LOST, "a node of the job failed"),
        (Job("7", "OUT_OF_MEMORY", "None", "n1"), State.FAILED, "the job ran out of memory"),
        (Job("7", "TIMEOUT", "None", "n1"), State.TIMED_OUT, "time limit of the job"),
        (Job("7", "PENDING", "BeginTime", "", 1), State.LOST, "the scheduler requeued the job"),
    ],
)
def test_a_share_that_left_no_exit_file(job, state, cause):
    told_state, told = standing(report(), job)
    assert told_state is state
    assert (told is None) if cause is None else (told or "").startswith(cause)


def test_a_shared_file_system_has_time_to_show_the_exit_file():
    over = Job("7", "COMPLETED", "None", "n1")
    assert standing(report(), over, settled=False) == (State.RUNNING, None)
    assert standing(report(), over)[0] is State.LOST


def test_an_exit_file_is_believed_whatever_slurm_says():
    over = report(state="succeeded", code=0)
    for job in (RUNNING, Job("7", "FAILED", "None", "n1"), Job("7", GONE), None):
        assert standing(over, job, settled=False) == (State.SUCCEEDED, "its cause")


def test_what_slurm_ended_has_slurms_cause():
    by_term = report(state="failed", signal=15)
    assert standing(by_term, Job("7", "TIMEOUT", "None", "n1")) == (State.TIMED_OUT, "time limit of the job")
    assert standing(by_term, RUNNING, settled=False) == (State.RUNNING, None)
    assert standing(by_term, Job("7", "COMPLETED", "None", "n1")) == (State.FAILED, "its cause")


def test_what_dlperf_cancelled_has_its_own_cause():
    asked = report(cancelled=True, state="cancelled")
    assert standing(asked, Job("7", "CANCELLED", "None", "n1")) == (State.CANCELLED, "its cause")
