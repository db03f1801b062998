"""Every way to wait and to end under a real Slurm has its state and its cause."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal

import pytest
from slurm_trials import executor, open_executor, slurm_trial
from trials import finished, printed, processes_of, seen

import slurm_lab
from dlperf.executors.base import Trial
from dlperf.runs.records import State

__all__ = ["executor"]


@pytest.fixture(scope="module", autouse=True)
def limited(slurm_cluster, tmp_path_factory):
    """A trial whose time in Slurm is over; Slurm looks only twice a minute, so it is begun before all others."""
    folder = tmp_path_factory.mktemp("limited")
    trial = slurm_trial(folder, "echo on; exec sleep 600", deadline_seconds=600.0, stall_seconds=600.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.setenv("SLURM_CONF", str(slurm_cluster.configuration))
        job = asyncio.run(_begun(trial))
    slurm_cluster.command("scontrol", "update", f"JobId={job}", "EndTime=now")
    return folder, trial


async def _begun(trial: Trial) -> str:
    executor = open_executor()
    reference = await executor.submit(trial)
    await printed(executor, trial, b"on", "node0")
    await executor.close()
    return str(reference.data["job"])


async def test_a_job_that_waits_says_why_and_can_be_cancelled(executor, tmp_path):
    running = slurm_trial(tmp_path, "exec sleep 60", nodes=3)
    waiting = slurm_trial(tmp_path, "echo started", nodes=4)
    await executor.submit(running)
    await seen(executor, running, lambda observation: observation.state is State.RUNNING)
    await executor.submit(waiting)
    pending = await seen(executor, waiting, lambda observation: observation.pending_reason is not None)
    assert (pending.state, str(pending.pending_reason)) == (State.SUBMITTED, "Resources")
    await executor.cancel(waiting)
    ended = await finished(executor, waiting)
    assert (ended.state, str(ended.cause)) == (State.CANCELLED, "cancelled in the queue")
    await executor.collect(waiting)
    assert not waiting.paths.node("node0").log.exists()
    await executor.cancel(running)
    ended = await finished(executor, running)
    assert (ended.state, str(ended.cause)) == (State.CANCELLED, "cancelled")
    assert processes_of(running) == []


async def test_a_job_is_cancelled_while_it_is_polled(executor, tmp_path):
    trial = slurm_trial(tmp_path, "exec sleep 60")
    await executor.submit(trial)
    await seen(executor, trial, lambda observation: observation.state is State.RUNNING)
    await asyncio.gather(executor.cancel(trial), executor.poll([trial]))
    assert (await finished(executor, trial)).state is State.CANCELLED


async def test_a_job_cancelled_by_somebody_else_is_cancelled_in_slurm(executor, slurm, tmp_path):
    trial = slurm_trial(tmp_path, "echo on; exec sleep 60")
    reference = await executor.submit(trial)
    await printed(executor, trial, b"on", "node0")
    slurm.command("scancel", reference.data["job"])
    observation = await finished(executor, trial)
    assert (observation.state, str(observation.cause)) == (State.CANCELLED, "cancelled in the queue")
    assert processes_of(trial) == []


async def test_a_job_that_ignores_term_is_killed_and_has_its_state(executor, tmp_path):
    trial = slurm_trial(tmp_path, "trap '' TERM; echo on; while :; do sleep 0.1; done")
    await executor.submit(trial)
    await printed(executor, trial, b"on", "node0")
    await executor.cancel(trial, grace_seconds=60.0)
    observation = await finished(executor, trial)
    assert observation.state is State.CANCELLED
    assert processes_of(trial) == []


async def test_a_killed_supervisor_is_a_loss(executor, home, tmp_path):
    trial = slurm_trial(tmp_path, "echo on; exec sleep 60")
    await executor.submit(trial)
    await printed(executor, trial, b"on", "node0")
    record = json.loads((home / ".dlperf" / trial.trial_id / "node0" / "supervisor.json").read_text())
    os.kill(record["pid"], signal.SIGKILL)
    observation = await finished(executor, trial)
    assert observation.state is State.LOST
    assert "left no exit file" in str(observation.cause)
    for pid in processes_of(trial):  # this cluster has no control groups: what is left would keep the node's lease
        os.kill(pid, signal.SIGKILL)
    shutil.rmtree(record["temporary"])  # as the removal of the trial's folder would


async def test_a_requeued_job_is_not_run_over_its_own_files(executor, slurm, tmp_path):
    trial = slurm_trial(tmp_path, "echo on; exec sleep 60", queue={"extra": ["--requeue"]})
    reference = await executor.submit(trial)
    await printed(executor, trial, b"on", "node0")
    slurm.command("scontrol", "requeue", reference.data["job"])
    observation = await finished(executor, trial)
    assert observation.state is State.LOST
    assert str(observation.cause) == "the scheduler requeued the job after it had started"
    asked = ("squeue", "-h", "--states=all", f"--jobs={reference.data['job']}", "-o", "%T")
    slurm_lab.wait_for(lambda: slurm.command(*asked).strip() == "CANCELLED")
    assert trial.paths.node("node0").log.read_text() == "on\n"


@pytest.mark.parametrize(
    ("partition", "options", "cause"),
    [
        ("spare", [], "preempted by the scheduler"),
        ("spare", ["--requeue"], "the scheduler requeued the job after it had started"),
        ("cheap", [], "preempted by the scheduler"),
    ],
)
async def test_a_job_that_gives_way_to_a_more_urgent_one_is_lost(executor, slurm, tmp_path, partition, options, cause):
    trial = slurm_trial(tmp_path, "echo on; exec sleep 60", queue={"partition": partition, "extra": options})
    await executor.submit(trial)
    await printed(executor, trial, b"on", "node0")
    urgent = slurm.command(
        *("sbatch", "--parsable", "--partition=urgent", "--nodes=4", "--exclusive", "--output=/dev/null"),
        "--wrap=sleep 60",
    ).strip()
    observation = await finished(executor, trial)
    slurm.command("scancel", urgent)
    assert (observation.state, str(observation.cause)) == (State.LOST, cause)
    assert processes_of(trial) == []


async def test_slurms_time_limit_is_told_as_the_cause(executor, limited, monkeypatch):
    folder, trial = limited
    monkeypatch.setenv("HOME", str(folder))
    observation = await finished(executor, trial)
    assert (observation.state, str(observation.cause)) == (State.TIMED_OUT, "time limit of the job")
    assert processes_of(trial) == []
