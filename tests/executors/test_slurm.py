"""Trials under a real Slurm: every way to wait, to end and to be interrupted has its state and its cause."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from trials import finished, printed, processes_of, run_to_end, seen, shell_trial

import slurm_lab
from dlperf.errors import DlperfError
from dlperf.executors.base import Trial
from dlperf.executors.slurm import SlurmExecutor
from dlperf.plan import NodePlan
from dlperf.plan.standins import address, node_name
from dlperf.runs.paths import TrialPaths
from dlperf.runs.records import State


def slurm_trial(folder: Path, script: str, nodes: int = 1, slurm: dict | None = None, **limits) -> Trial:
    """A trial that runs a shell script on nodes that Slurm chooses; this machine is the login node."""
    asked = {"partition": "gpu", "exclusive": True, "extra": [], "nodes": nodes} | (slurm or {})
    trial = shell_trial(folder, script, tuple(_node(rank) for rank in range(nodes)), **limits)
    return replace(trial, launch=replace(trial.launch, executor="slurm", slurm=asked))


def _node(rank: int) -> NodePlan:
    return NodePlan(node_name(rank), "local", "localhost", address(rank), gpu_indices=(0, 1))


def open_executor() -> SlurmExecutor:
    return SlurmExecutor(sibling_grace_seconds=0.2, queue_seconds=0.2, settle_seconds=1.0)


@pytest.fixture
async def executor(home, slurm):
    under_slurm = open_executor()
    yield under_slurm
    await under_slurm.close()


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


async def test_a_trial_over_two_nodes_comes_home(executor, tmp_path):
    script = "echo rank {node_rank} of {hosts} at {master_address}:{master_port} on $SLURMD_NODENAME"
    trial = slurm_trial(tmp_path, script, nodes=2, slurm={"gres": "gpu:{gpus}"})
    observation = await run_to_end(executor, trial)
    assert (observation.state, observation.cause) == (State.SUCCEEDED, "exit code 0")
    logs = [trial.paths.node(f"node{rank}").log.read_text().split() for rank in range(2)]
    assert [words[1] for words in logs] == ["0", "1"]
    assert len({words[7] for words in logs}) == 2
    assert {words[3] for words in logs} == {"127.0.0.1,127.0.0.1"}
    environment = json.loads(trial.paths.node("node1").environment.read_text())
    assert environment["slurm"]["nodename"] == logs[1][7]
    assert (trial.paths.rendered / "batch.sh").read_text().startswith("#!/bin/sh\n#SBATCH --job-name=")
    assert processes_of(trial) == []


async def test_a_failing_node_ends_its_siblings_and_is_named(executor, tmp_path):
    script = "test $SLURM_NODEID = 0 && exec sleep 60; echo broken; exit 3"
    trial = slurm_trial(tmp_path, script, nodes=2)
    observation = await run_to_end(executor, trial)
    assert observation.state is State.FAILED
    assert observation.cause == "node node1: exit code 3; last output: broken"
    assert observation.nodes[0].cause == "cancelled because node node1 failed"
    assert processes_of(trial) == []


async def test_mpirun_finds_its_nodes_by_slurm(executor, tmp_path):
    script = "echo rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE"
    trial = slurm_trial(tmp_path, script, nodes=2, launcher="mpirun")
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    trial = replace(trial, launch=replace(trial.launch, gpus=2, env=root))
    observation = await run_to_end(executor, trial)
    assert observation.state is State.SUCCEEDED
    lines = trial.paths.node("node0").log.read_text().splitlines()
    assert sorted(line for line in lines if line.startswith("rank")) == [f"rank {rank} of 4" for rank in range(4)]


async def test_a_job_that_waits_says_why_and_can_be_cancelled(executor, tmp_path):
    running = slurm_trial(tmp_path, "exec sleep 60", nodes=3)
    waiting = slurm_trial(tmp_path, "echo started", nodes=4)
    await executor.submit(running)
    await seen(executor, running, lambda observation: observation.state is State.RUNNING)
    await executor.submit(waiting)
    pending = await seen(executor, waiting, lambda observation: observation.pending_reason is not None)
    assert (pending.state, pending.pending_reason) == (State.SUBMITTED, "Resources")
    await executor.cancel(waiting)
    ended = await finished(executor, waiting)
    assert (ended.state, ended.cause) == (State.CANCELLED, "cancelled in Slurm")
    await executor.collect(waiting)
    assert not waiting.paths.node("node0").log.exists()
    await executor.cancel(running)
    ended = await finished(executor, running)
    assert (ended.state, ended.cause) == (State.CANCELLED, "cancelled")
    assert processes_of(running) == []


async def test_a_job_cancelled_by_somebody_else_is_cancelled_in_slurm(executor, slurm, tmp_path):
    trial = slurm_trial(tmp_path, "echo on; exec sleep 60")
    reference = await executor.submit(trial)
    await printed(executor, trial, b"on", "node0")
    slurm.command("scancel", reference.data["job"])
    observation = await finished(executor, trial)
    assert (observation.state, observation.cause) == (State.CANCELLED, "cancelled in Slurm")
    assert processes_of(trial) == []


async def test_a_job_that_ignores_term_is_killed_and_has_its_state(executor, tmp_path):
    trial = slurm_trial(tmp_path, "trap '' TERM; echo on; while :; do sleep 0.1; done")
    await executor.submit(trial)
    await printed(executor, trial, b"on", "node0")
    await executor.cancel(trial, grace_seconds=60.0)
    observation = await finished(executor, trial)
    assert observation.state is State.CANCELLED
    assert processes_of(trial) == []


async def test_the_controller_restarts_in_the_middle(executor, slurm, tmp_path):
    release = tmp_path / "release"
    trial = slurm_trial(tmp_path, f"echo before; while ! test -e {release}; do sleep 0.1; done; echo after")
    await executor.submit(trial)
    await printed(executor, trial, b"before\n", "node0")
    slurm.stop("slurmctld")
    silent = await seen(executor, trial, lambda observation: observation.nodes[0].unreachable_since)
    assert silent.state is State.RUNNING
    assert "Unable to contact slurm controller" in silent.nodes[0].cause
    slurm.start_controller()
    release.touch()
    observation = await run_to_end(executor, trial)
    assert (observation.state, observation.nodes[0].unreachable_since) == (State.SUCCEEDED, None)
    assert trial.paths.node("node0").log.read_text() == "before\nafter\n"


async def test_nothing_is_submitted_twice(executor, slurm, tmp_path):
    trial = slurm_trial(tmp_path, "echo started; sleep 1")
    first, second = await asyncio.gather(executor.submit(trial), executor.submit(trial))
    trial.paths.reference.unlink()
    later = open_executor()
    third = await later.adopt(trial)
    (Path(os.environ["HOME"]) / ".dlperf" / trial.trial_id / "slurm.json").unlink()
    trial.paths.reference.unlink()
    fourth = await later.submit(trial)
    assert first == second == third == fourth
    observation = await run_to_end(later, trial)
    await later.close()
    assert observation.state is State.SUCCEEDED
    assert trial.paths.node("node0").log.read_text() == "started\n"
    assert slurm.command("squeue", "-h", "--states=all", f"--name={trial.trial_id}", "-o", "%i").split() == [
        first.data["job"]
    ]


async def test_the_login_node_may_lie_behind_ssh(slurm, sshd, tmp_path):
    settings = sshd.folder / "sshd_config"
    told = f'SetEnv "SLURM_CONF={slurm.configuration}" '
    sshd.stop()
    settings.write_text(settings.read_text().replace("SetEnv ", told))
    sshd.start()
    trial = slurm_trial(tmp_path, "echo on; sleep 0.5; echo off", nodes=2)
    login = tuple(replace(node, transport="ssh", host="node-a") for node in trial.launch.nodes)
    trial = replace(trial, launch=replace(trial.launch, nodes=login))
    remote = open_executor()
    await remote.submit(trial)
    await printed(remote, trial, b"on", "node0")
    sshd.drop_connections()
    observation = await finished(remote, trial)
    await remote.collect(trial)
    await remote.close()
    assert observation.state is State.SUCCEEDED
    assert [trial.paths.node(f"node{rank}").log.read_text() for rank in range(2)] == ["on\noff\n"] * 2
    assert (sshd.home / ".dlperf" / trial.trial_id / "allocation.json").is_file()


async def test_a_trial_that_was_never_submitted_is_not_adopted(executor, tmp_path):
    assert await executor.adopt(slurm_trial(tmp_path, "echo never")) is None


async def test_a_job_that_slurm_forgot_is_told_by_its_exit_file(executor, slurm, tmp_path):
    trial = slurm_trial(tmp_path, "echo done")
    await executor.submit(trial)
    await finished(executor, trial)
    record = json.loads(trial.paths.reference.read_text())
    record["data"]["job"] = "999999"
    trial.paths.reference.write_text(json.dumps(record))
    forgetful = open_executor()
    observation = await finished(forgetful, trial)
    await forgetful.close()
    assert observation.state is State.SUCCEEDED


async def test_a_job_that_slurm_forgot_without_exit_file_is_lost(executor, tmp_path):
    trial = slurm_trial(tmp_path, "echo done")
    executor._write_reference(trial, "999999")
    observation = await finished(executor, trial)
    assert observation.state is State.LOST
    assert "Slurm knows job 999999 no more" in observation.cause


async def test_a_killed_supervisor_is_a_loss(executor, home, tmp_path):
    trial = slurm_trial(tmp_path, "echo on; exec sleep 60")
    await executor.submit(trial)
    await printed(executor, trial, b"on", "node0")
    record = json.loads((home / ".dlperf" / trial.trial_id / "node0" / "supervisor.json").read_text())
    os.kill(record["pid"], signal.SIGKILL)
    observation = await finished(executor, trial)
    assert observation.state is State.LOST
    assert "left no exit file" in observation.cause


async def test_a_requeued_job_is_not_run_over_its_own_files(executor, slurm, tmp_path):
    trial = slurm_trial(tmp_path, "echo on; exec sleep 60", slurm={"extra": ["--requeue"]})
    reference = await executor.submit(trial)
    await printed(executor, trial, b"on", "node0")
    slurm.command("scontrol", "requeue", reference.data["job"])
    observation = await finished(executor, trial)
    assert observation.state is State.LOST
    assert observation.cause == "Slurm put the job back into its queue after it had begun"
    asked = ("squeue", "-h", "--states=all", f"--jobs={reference.data['job']}", "-o", "%T")
    slurm_lab.wait_for(lambda: slurm.command(*asked).strip() == "CANCELLED")
    assert trial.paths.node("node0").log.read_text() == "on\n"


@pytest.mark.parametrize(
    ("partition", "options", "cause"),
    [
        ("spare", [], "preempted by Slurm"),
        ("spare", ["--requeue"], "Slurm put the job back into its queue after it had begun"),
        ("cheap", [], "preempted by Slurm"),
    ],
)
async def test_a_job_that_gives_way_to_a_more_urgent_one_is_lost(executor, slurm, tmp_path, partition, options, cause):
    trial = slurm_trial(tmp_path, "echo on; exec sleep 60", slurm={"partition": partition, "extra": options})
    await executor.submit(trial)
    await printed(executor, trial, b"on", "node0")
    urgent = slurm.command(
        *("sbatch", "--parsable", "--partition=urgent", "--nodes=4", "--exclusive", "--output=/dev/null"),
        "--wrap=sleep 60",
    ).strip()
    observation = await finished(executor, trial)
    slurm.command("scancel", urgent)
    assert (observation.state, observation.cause) == (State.LOST, cause)
    assert processes_of(trial) == []


async def test_no_more_time_is_asked_for_than_the_partition_gives(executor, slurm, tmp_path):
    trial = slurm_trial(tmp_path, "echo done", slurm={"partition": "short"})
    items = {item.check: item for item in await executor.check(trial.launch)}
    assert (items["time_limit"].ok, items["slurm"].ok) == (True, True)
    assert items["time_limit"].message == (
        "partition short gives 2 min at most, a trial may take 6 min: Slurm ends it then"
    )
    assert (await run_to_end(executor, trial)).state is State.SUCCEEDED
    assert "#SBATCH --time=2\n" in (trial.paths.rendered / "batch.sh").read_text()


async def test_more_time_than_the_partition_gives_is_said_before_and_while_the_job_waits(executor, slurm, tmp_path):
    trial = slurm_trial(tmp_path, "echo never", slurm={"partition": "short", "time_limit_minutes": 30})
    items = {item.check: item for item in await executor.check(trial.launch)}
    assert (items["time_limit"].ok, items["time_limit"].message) == (
        False,
        "partition short gives 2 min at most: lower time_limit_minutes (30)",
    )
    await executor.submit(trial)
    pending = await seen(executor, trial, lambda observation: observation.pending_reason is not None)
    word, _, advice = (pending.pending_reason or "").partition(" ")
    assert word in ("PartitionConfig", "PartitionTimeLimit")
    assert re.fullmatch(r"\(asks for more time .*than its partition gives: cancel it, .*\)", advice)
    await executor.cancel(trial)
    assert (await finished(executor, trial)).state is State.CANCELLED


def array_trials(folder: Path, script: str, count: int, **asked) -> list[Trial]:
    """Repeats that are queued together: ids, folders and numbers as the engine gives them."""
    first = slurm_trial(folder, script, slurm={"array": True, **asked})
    numbers = tuple(range(1, count + 1))
    home = TrialPaths(folder / "runs" / "array" / "1")
    return [
        replace(first, trial_id=f"{first.trial_id}.{number}", paths=home.sibling(number), repeats=numbers)
        for number in numbers
    ]


async def test_repeats_are_one_job_array_one_task_after_the_other(executor, slurm, tmp_path):
    script = (
        "echo $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT for $DLPERF_TRIAL; date +%s.%N; sleep 0.5; date +%s.%N"
    )
    trials = array_trials(tmp_path, script, 3)
    references = await asyncio.gather(*(executor.submit(trial) for trial in trials))
    array = {reference.data["job"].partition("_")[0] for reference in references}
    assert [reference.data["job"].partition("_")[2] for reference in references] == ["1", "2", "3"]
    assert len(array) == 1
    await seen(executor, trials[0], lambda observation: observation.state is State.RUNNING)
    waiting = await seen(executor, trials[2], lambda observation: observation.pending_reason)
    assert waiting.pending_reason in ("JobArrayTaskLimit", "Resources", "Priority")
    for trial in trials:
        assert (await finished(executor, trial)).state is State.SUCCEEDED
        await executor.collect(trial)
    logs = [trial.paths.node("node0").log.read_text().splitlines() for trial in trials]
    assert [log[0] for log in logs] == [f"{n} of 3 for {trial.trial_id}/node0" for n, trial in enumerate(trials, 1)]
    moments = [float(moment) for log in logs for moment in log[1:]]
    assert moments == sorted(moments)
    assert "--array=1,2,3%1" in (trials[2].paths.rendered / "batch.sh").read_text()


async def test_one_task_of_an_array_is_cancelled_and_the_others_go_on(executor, slurm, tmp_path):
    trials = array_trials(tmp_path, "echo on; sleep 0.5", 3)
    for trial in trials:
        await executor.submit(trial)
    await executor.cancel(trials[1])
    ended = [await finished(executor, trial) for trial in trials]
    assert [observation.state for observation in ended] == [State.SUCCEEDED, State.CANCELLED, State.SUCCEEDED]
    assert not trials[1].paths.node("node0").log.exists()


async def test_a_later_engine_finds_every_task_of_an_array(executor, slurm, tmp_path):
    trials = array_trials(tmp_path, "echo on; sleep 0.3", 3)
    submitted = await executor.submit(trials[0])
    later = open_executor()
    adopted = [await later.adopt(trial) for trial in trials]
    assert adopted[0] == submitted
    assert [reference.data["job"].partition("_")[2] for reference in adopted if reference] == ["1", "2", "3"]
    assert [(await finished(later, trial)).state for trial in trials] == [State.SUCCEEDED] * 3
    await later.close()


@pytest.mark.parametrize(
    ("slurm_options", "message"),
    [
        ({"partition": "none"}, "Invalid partition name specified"),
        ({"gres": "gpu:9"}, "Requested node configuration is not available"),
        ({"constraint": "no such"}, "Invalid feature specification"),
    ],
)
async def test_what_slurm_refuses_is_said_before_and_at_submission(executor, tmp_path, slurm_options, message):
    trial = slurm_trial(tmp_path, "echo never", slurm=slurm_options)
    items = {item.check: item for item in await executor.check(trial.launch)}
    assert (items["reachable"].ok, items["slurm"].ok) == (True, False)
    assert message in items["slurm"].message
    with pytest.raises(DlperfError, match="sbatch: "):
        await executor.submit(trial)


async def test_a_ready_cluster_says_when_the_job_would_start(executor, tmp_path):
    items = {item.check: item for item in await executor.check(slurm_trial(tmp_path, "echo never").launch)}
    assert items["slurm"].ok
    assert "to start at" in items["slurm"].message


async def test_variables_that_change_slurms_commands_are_not_heeded(executor, tmp_path, monkeypatch):
    monkeypatch.setenv("SBATCH_PARTITION", "none")
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    observation = await run_to_end(executor, slurm_trial(tmp_path, "echo done"))
    assert observation.state is State.SUCCEEDED


async def test_slurms_time_limit_is_told_as_the_cause(executor, limited, monkeypatch):
    folder, trial = limited
    monkeypatch.setenv("HOME", str(folder))
    observation = await finished(executor, trial)
    assert (observation.state, observation.cause) == (State.TIMED_OUT, "Slurm's time limit")
    assert processes_of(trial) == []
