"""Trials in real containers: what runs inside, what is recorded of the image, and who removes them."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from trials import LOCAL, finished, local_nodes, printed, processes_of, run_to_end, shell_trial

from dlperf.executors.base import Trial
from dlperf.plan import Container, Launch, Node
from dlperf.runs.archive import TrialFiles
from dlperf.runs.records import State
from podman_lab import IMAGE, PodmanLab
from waiting import until_async

SLEEP = "trap exit TERM; echo on; sleep 60 & wait"
RUNTIMES = pytest.mark.parametrize("runtime", ["podman", "docker"])


def container_trial(
    folder: Path, script: str, runtime: str, nodes: tuple[Node, ...] = (LOCAL,), image: str = IMAGE, **container
) -> Trial:
    trial = shell_trial(folder, script, nodes)
    return replace(trial, launch=replace(trial.launch, container=Container(image, runtime, **container)))


@RUNTIMES
async def test_a_trial_runs_inside_with_what_was_asked_for(executor, podman: PodmanLab, tmp_path, runtime):
    data = tmp_path / "da,ta"
    data.mkdir()
    (data / "set").write_text("a data set\n")
    trial = container_trial(
        tmp_path,
        "cat /data/set; echo $GREETING; stat -f -c %b*%S /dev/shm; ulimit -n; echo rank > {ranks}/rank.0; pwd",
        runtime,
        mounts={str(data): "/data"},
        shm_size="8m",
        ulimits={"nofile": "512:512", "nproc": "900:900"},
        workdir="/tmp",
    )
    trial = replace(trial, launch=replace(trial.launch, env={"GREETING": "hello 'there' $HOME"}))
    observation = await run_to_end(executor, trial)
    assert (observation.state, str(observation.cause)) == (State.SUCCEEDED, "exit code 0")
    paths = trial.paths.node("here")
    assert paths.log.read_text().splitlines() == ["a data set", "hello 'there' $HOME", "2048*4096", "512", "/tmp"]
    assert (paths.ranks / "rank.0").read_text() == "rank\n"
    assert podman.containers() == []


@RUNTIMES
async def test_the_images_digest_is_recorded_and_equal_on_all_nodes(executor, podman: PodmanLab, tmp_path, runtime):
    trial = container_trial(tmp_path, "true", runtime, local_nodes(2))
    checked = [item for item in await executor.check(trial.launch) if item.check == "image"]
    await run_to_end(executor, trial)
    facts = [json.loads(trial.paths.node(node).environment.read_text())["container"] for node in ("node0", "node1")]
    identifier = podman.command("image", "inspect", "--format", "{{.Id}}", IMAGE)
    digest = podman.command("image", "inspect", "--format", "{{index .RepoDigests 0}}", IMAGE)
    assert digest or identifier
    assert [item.ok for item in checked] == [True, True]
    assert facts[0] == facts[1] == {"runtime": runtime, "image": IMAGE, "digest": digest or identifier}


@RUNTIMES
async def test_a_container_that_ignores_term_is_removed_on_cancel(executor, podman: PodmanLab, tmp_path, runtime):
    trial = container_trial(tmp_path, "trap '' TERM; echo on; while :; do sleep 1; done", runtime)
    await executor.submit(trial)
    await printed(executor, trial, b"on")
    await executor.cancel(trial, grace_seconds=0.5)
    observation = await finished(executor, trial)
    assert (observation.state, str(observation.cause)) == (State.CANCELLED, "cancelled")
    assert processes_of(trial) == []
    assert podman.containers() == []


@RUNTIMES
async def test_a_container_whose_supervisor_was_killed_is_removed(executor, podman_store, home, tmp_path, runtime):
    trial = container_trial(tmp_path, SLEEP, runtime)
    variables = variables_of(podman_store)
    trial = replace(trial, launch=replace(trial.launch, env=variables, runtime_env=tuple(variables)))
    await executor.submit(trial)
    await printed(executor, trial, b"on")
    record = json.loads((home / ".dlperf" / trial.trial_id / "here" / "supervisor.json").read_text())
    os.kill(record["pid"], signal.SIGKILL)
    observation = await finished(executor, trial)
    assert (observation.state, str(observation.cause)) == (State.LOST, "the supervisor died, so the trial was ended")
    assert processes_of(trial) == []
    assert podman_store.containers() == []


@RUNTIMES
async def test_a_container_that_outlived_a_restart_is_removed(executor, podman: PodmanLab, home, tmp_path, runtime):
    trial = container_trial(tmp_path, SLEEP, runtime)
    await executor.submit(trial)
    await printed(executor, trial, b"on")
    record = home / ".dlperf" / trial.trial_id / "here" / "supervisor.json"
    supervisor = json.loads(record.read_text())
    os.kill(supervisor["pid"], signal.SIGKILL)
    record.write_text(json.dumps(supervisor | {"boot_id": "before the restart"}))
    os.utime(record.with_name("heartbeat"), (0, 0))
    podman.command("run", "--detach", "--label", "dlperf.trial=another/here", IMAGE, "sleep", "60")
    observation = await finished(executor, trial)
    assert (observation.state, str(observation.cause)) == (State.LOST, "the machine was restarted while the trial ran")
    assert podman.containers() == ["another/here"]
    podman.command("rm", "--all", "--force", "--time", "0")
    await until_async(lambda: not processes_of(trial), "processes are left")


async def test_containers_of_others_are_left_alone(executor, podman: PodmanLab, tmp_path):
    podman.command("run", "--detach", "--label", "dlperf.trial=another/here", IMAGE, "sleep", "60")
    trial = container_trial(tmp_path, SLEEP, "podman")
    await executor.submit(trial)
    await printed(executor, trial, b"on")
    await executor.cancel(trial, grace_seconds=0.5)
    await finished(executor, trial)
    assert podman.containers() == ["another/here"]
    podman.command("rm", "--all", "--force", "--time", "0")


async def test_an_image_that_is_nowhere_is_said_before_and_in_the_cause(executor, podman: PodmanLab, tmp_path):
    trial = container_trial(tmp_path, "true", "podman", image="localhost/nowhere:1")
    (checked,) = [item for item in await executor.check(trial.launch) if item.check == "image"]
    assert str(checked.message) == "image localhost/nowhere:1 is not on the node and is pulled before the measurement"
    observation = await run_to_end(executor, trial)
    assert observation.state is State.FAILED
    assert str(observation.cause) == "cannot pull image localhost/nowhere:1: exit code 125"
    assert b"localhost/nowhere:1" in trial.paths.node("here").log.read_bytes()


@RUNTIMES
async def test_a_runtime_gets_the_variables_of_the_hardware(executor, podman_store: PodmanLab, tmp_path, runtime):
    variables = variables_of(podman_store)
    secret = {"[secret:STORAGE]": variables["CONTAINERS_STORAGE_CONF"]}
    trial = container_trial(tmp_path, "trap '' TERM; echo on; while :; do sleep 1; done", runtime)
    unset = replace(trial.launch, env=variables)
    known = replace(unset, runtime_env=tuple(variables))
    assert [await has_image(executor, launch) for launch in (unset, known)] == [False, True]
    hidden = replace(known, env=variables | {"CONTAINERS_STORAGE_CONF": "[secret:STORAGE]"})
    trial = replace(trial, launch=hidden)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "secrets.json").write_text(json.dumps(secret))
    await executor.submit(trial)
    await printed(executor, trial, b"on")
    await executor.cancel(trial, grace_seconds=0.5)
    assert (await finished(executor, trial)).state is State.CANCELLED
    await executor.collect(trial)
    assert json.loads(trial.paths.node("here").environment.read_text())["container"]["digest"]
    assert podman_store.containers() == []
    kept = TrialFiles(trial.paths).read(trial.paths.rendered / "here" / "job.json")
    assert json.loads(kept)["container"]["env"]["CONTAINERS_STORAGE_CONF"] == "[secret:STORAGE]"


def variables_of(podman: PodmanLab) -> dict[str, str]:
    """What a catalogue would hold as ``env`` of the hardware."""
    return podman.variables | {"PATH": f"{podman.docker}:{os.environ['PATH']}"}


async def has_image(executor, launch: Launch) -> bool:
    (checked,) = [item for item in await executor.check(launch) if item.check == "image"]
    return bool(checked.data.get("digest"))
