"""Trials under a real Slurm: they are started once, found again and brought home."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import replace
from pathlib import Path

from slurm_trials import executor, open_executor, slurm_trial
from trials import finished, printed, processes_of, run_to_end, seen

from dlperf.executors.cleaning import clean
from dlperf.runs.archive import TrialFiles, seal
from dlperf.runs.records import State

__all__ = ["executor"]


async def test_a_trial_over_two_nodes_comes_home(executor, tmp_path):
    script = "echo rank {node_rank} of {hosts} at {master_address}:{master_port} on $SLURMD_NODENAME"
    trial = slurm_trial(tmp_path, script, nodes=2, queue={"gres": "gpu:{gpus}"})
    observation = await run_to_end(executor, trial)
    assert (observation.state, str(observation.cause)) == (State.SUCCEEDED, "exit code 0")
    logs = [trial.paths.node(f"node{rank}").log.read_text().split() for rank in range(2)]
    assert [words[1] for words in logs] == ["0", "1"]
    assert len({words[7] for words in logs}) == 2
    assert {words[3] for words in logs} == {"127.0.0.1,127.0.0.1"}
    environment = json.loads(trial.paths.node("node1").environment.read_text())
    assert environment["slurm"]["nodename"] == logs[1][7]
    assert TrialFiles(trial.paths).read(trial.paths.rendered / "batch.sh").startswith(b"#!/bin/sh\n#SBATCH --job-name=")
    assert processes_of(trial) == []


async def test_a_build_runs_once_for_all_nodes_of_a_job(executor, home, tmp_path):
    trial = slurm_trial(tmp_path, "cat {build}/made", nodes=2, launcher="jax")
    lines = ("echo x >>$HOME/builds", "echo $SLURM_JOB_ID >made")
    trial = replace(trial, launch=replace(trial.launch, build=lines))
    assert (await run_to_end(executor, trial)).state is State.SUCCEEDED
    assert (home / "builds").read_text() == "x\n"
    assert len({trial.paths.node(f"node{rank}").log.read_text() for rank in range(2)}) == 1


async def test_a_failing_node_ends_its_siblings_and_is_named(executor, tmp_path):
    script = "test $SLURM_NODEID = 0 && exec sleep 60; echo broken; exit 3"
    trial = slurm_trial(tmp_path, script, nodes=2)
    observation = await run_to_end(executor, trial)
    assert observation.state is State.FAILED
    assert str(observation.cause) == "node node1: exit code 3"
    assert str(observation.nodes[0].cause) == "cancelled because node node1 failed"
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


async def test_the_controller_restarts_in_the_middle(executor, slurm, tmp_path):
    release = tmp_path / "release"
    trial = slurm_trial(tmp_path, f"echo before; while ! test -e {release}; do sleep 0.1; done; echo after")
    await executor.submit(trial)
    await printed(executor, trial, b"before\n", "node0")
    slurm.stop("slurmctld")
    silent = await seen(executor, trial, lambda observation: observation.nodes[0].unreachable_since)
    assert silent.state is State.RUNNING
    assert "Unable to contact slurm controller" in str(silent.nodes[0].cause)
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
    (Path(os.environ["HOME"]) / ".dlperf" / trial.trial_id / "queue.json").unlink()
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


async def test_all_that_a_job_leaves_is_removed_once_it_is_archived(executor, home, tmp_path):
    trial = slurm_trial(tmp_path, "echo done", nodes=2)
    await run_to_end(executor, trial)
    seal(trial.paths)
    (outcome,) = await clean([trial])
    assert outcome.kept is None
    assert trial.trial_id not in os.listdir(home / ".dlperf")


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
    executor._write_reference(trial, {"job": "999999"})
    observation = await finished(executor, trial)
    assert observation.state is State.LOST
    assert "the scheduler has no record of job 999999" in str(observation.cause)


async def test_variables_that_change_slurms_commands_are_not_heeded(executor, tmp_path, monkeypatch):
    monkeypatch.setenv("SBATCH_PARTITION", "none")
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    observation = await run_to_end(executor, slurm_trial(tmp_path, "echo done"))
    assert observation.state is State.SUCCEEDED
