"""A trial on this machine, from submit to archive: every way to end has its state and its cause, and leaves nobody."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from trials import LOCAL, finished, held, local_nodes, printed, processes_of, run_to_end, shell_trial

from dlperf.executors.base import Trial
from dlperf.nodes.client import NodeClient
from dlperf.nodes.supervisor.processes import marked_pids
from dlperf.plan import Container, Node
from dlperf.runs.archive import TrialFiles
from dlperf.runs.records import State
from waiting import PATIENCE_SECONDS


@pytest.mark.parametrize(
    ("script", "limits", "state", "cause"),
    [
        ("echo done", {}, State.SUCCEEDED, "exit code 0"),
        ("echo oops; exit 3", {}, State.FAILED, "exit code 3"),
        ("kill -SEGV $$", {}, State.FAILED, "signal 11 (SIGSEGV)"),
        ("sh -c 'kill -KILL $$'; exit $?", {}, State.FAILED, "signal 9 (SIGKILL)"),
        ("no-such-program", {}, State.FAILED, "exit code 127"),
        ("exec sleep 60", {"stall_seconds": 0.5}, State.TIMED_OUT, "no output for 0.5 s (stall limit)"),
        ("exec sleep 60", {"deadline_seconds": 0.5}, State.TIMED_OUT, "deadline of 0.5 s"),
        ("while :; do echo on; sleep 0.1; done", {"deadline_seconds": 1.2}, State.TIMED_OUT, "deadline of 1.2 s"),
    ],
)
async def test_every_end_has_its_state_and_its_cause(executor, tmp_path, script, limits, state, cause):
    trial = shell_trial(tmp_path, script, **limits)
    observation = await run_to_end(executor, trial)
    assert observation.state is state
    assert str(observation.cause).startswith(cause)
    assert processes_of(trial) == []


async def test_everything_comes_home(executor, tmp_path):
    trial = shell_trial(tmp_path, "echo out; echo err >&2; echo rank > ../ranks/worker.0 || echo rank > ranks/worker.0")
    await run_to_end(executor, trial)
    paths = trial.paths.node("here")
    assert paths.log.read_bytes().startswith(b"out\nerr\n")
    assert (paths.ranks / "worker.0").read_bytes() == b"rank\n"
    assert paths.telemetry.read_text().startswith(
        "time,cpu_percent,memory_used_mib,foreign_cpu_percent,cpu_package_millijoules,node_watts\n"
    )
    assert json.loads(paths.environment.read_text())["cpu"]["threads"] == os.cpu_count()
    assert json.loads(paths.exit.read_text())["code"] == 0
    assert paths.launch.read_bytes() == TrialFiles(trial.paths).read(trial.paths.rendered / "here" / "launch.sh")


async def test_telemetry_comes_home_while_a_trial_runs(executor, tmp_path):
    trial = shell_trial(tmp_path, "exec sleep 60")
    await executor.submit(trial)
    home = trial.paths.node("here").telemetry
    while not home.is_file() or home.read_text().count("\n") < 3:
        await executor.tail([trial])
        await asyncio.sleep(0.05)
    early = home.read_bytes()
    await executor.cancel(trial, 0.1)
    await finished(executor, trial)
    await executor.collect(trial)
    assert home.read_bytes().startswith(early)
    assert home.read_text().count("time,") == 1


async def test_the_end_of_a_trial_and_any_other_request_end_a_wait(executor, home, tmp_path):
    trial = shell_trial(tmp_path, held("echo up"))
    await executor.submit(trial)
    await printed(executor, trial, b"up\n")
    async with asyncio.timeout(PATIENCE_SECONDS):
        waiting = asyncio.create_task(executor.wait([trial], 10 * PATIENCE_SECONDS))
        while not waiting.done():
            await executor.poll([trial])
            await asyncio.sleep(0.02)
        waiting = asyncio.create_task(executor.wait([trial], 10 * PATIENCE_SECONDS))
        (home / "go").touch()
        await waiting
        await executor.wait([trial], 10 * PATIENCE_SECONDS)  # it ended before
    (observation,) = await executor.poll([trial])
    assert observation.state is State.SUCCEEDED


async def test_the_end_of_a_trial_is_learnt_and_collected_with_three_requests(executor, home, tmp_path, monkeypatch):
    trial = shell_trial(tmp_path, held("echo up"))
    await executor.submit(trial)
    await printed(executor, trial, b"up\n")
    await executor.poll([trial])
    asked = []
    request = NodeClient.request

    def recorded(client, operation, *given, **fields):
        asked.append(operation)
        return request(client, operation, *given, **fields)

    monkeypatch.setattr(NodeClient, "request", recorded)
    async with asyncio.timeout(PATIENCE_SECONDS):
        waiting = asyncio.create_task(executor.wait([trial], 10 * PATIENCE_SECONDS))
        (home / "go").touch()
        await waiting
    (observation,) = await executor.poll([trial])
    await executor.collect(trial)
    assert observation.state is State.SUCCEEDED
    assert asked == ["wait", "read", "read"]


async def test_a_log_that_changes_after_the_end_was_seen_is_collected_as_it_is(executor, home, tmp_path):
    trial = shell_trial(tmp_path, "echo one; echo two")
    await executor.submit(trial)
    await finished(executor, trial)
    (home / ".dlperf" / trial.trial_id / "here" / "out.log").write_text("three\n")
    await executor.collect(trial)
    assert trial.paths.node("here").log.read_text() == "three\n"


async def test_cancel_ends_what_ignores_term_and_fled_to_other_sessions(executor, tmp_path):
    script = "trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep 61 & sleep 62' & echo up; sleep 63 & wait; wait"
    trial = shell_trial(tmp_path, script)
    await executor.submit(trial)
    await printed(executor, trial, b"up\n")
    await executor.cancel(trial, grace_seconds=0.3)
    observation = await finished(executor, trial)
    assert (observation.state, str(observation.cause)) == (State.CANCELLED, "cancelled")
    assert processes_of(trial) == []
    await executor.cancel(trial)
    assert (await executor.poll([trial]))[0].state is State.CANCELLED


async def test_a_supervisor_that_was_stopped_ends_its_trial_on_cancel(executor, tmp_path):
    trial = shell_trial(tmp_path, "echo up; exec sleep 60")
    reference = await executor.submit(trial)
    os.kill(reference.data["nodes"]["here"]["pid"], signal.SIGSTOP)
    await executor.cancel(trial, 0.1)
    assert (await finished(executor, trial)).state is State.CANCELLED
    assert processes_of(trial) == []


async def test_a_normal_end_leaves_no_stray_process(executor, tmp_path):
    trial = shell_trial(tmp_path, "setsid sleep 64 & echo done")
    observation = await run_to_end(executor, trial)
    assert observation.state is State.SUCCEEDED
    assert processes_of(trial) == []


async def test_processes_without_the_mark_are_never_touched(executor, tmp_path):
    bystander = await asyncio.create_subprocess_exec("sleep", "65", env={**os.environ, "DLPERF_TRIAL": "test-other"})
    trial = shell_trial(tmp_path, "setsid sleep 66 & sleep 67")
    await executor.submit(trial)
    await executor.cancel(trial, grace_seconds=0.1)
    await finished(executor, trial)
    assert bystander.returncode is None
    bystander.kill()
    await bystander.wait()


async def test_bytes_that_are_no_text_come_home_unchanged(executor, tmp_path):
    trial = shell_trial(tmp_path, r"printf 'no newline\000\r50%%\r\377\376 end'")
    observation = await run_to_end(executor, trial)
    assert observation.state is State.SUCCEEDED
    assert trial.paths.node("here").log.read_bytes() == b"no newline\0\r50%\r\xff\xfe end"


async def test_a_flood_comes_home_whole_and_leaves_room_for_others(executor, tmp_path):
    size = 50_000_000
    flood = f"yes 0123456789abcdefghijklmnopqrstuvwxyz | head -c {size}"
    script = f'case "$DLPERF_TRIAL" in */node0) {flood};; *) echo quiet;; esac'
    trial = shell_trial(tmp_path, script, local_nodes(2))
    await executor.submit(trial)
    await printed(executor, trial, b"quiet\n", "node1")
    await finished(executor, trial)
    await executor.collect(trial)
    assert trial.paths.node("node0").log.stat().st_size == size
    assert trial.paths.node("node1").log.read_bytes() == b"quiet\n"


async def test_names_are_data(executor, tmp_path):
    node = Node('it\'s "a" $(node)\n; rm -rf /', "local", "localhost", "localhost")
    trial = shell_trial(tmp_path, 'echo "$DLPERF_TRIAL"', (node,))
    observation = await run_to_end(executor, trial)
    assert observation.state is State.SUCCEEDED
    assert trial.paths.node(node.name).log.read_text() == f"{trial.trial_id}/{node.name}\n"


async def test_the_first_failure_ends_the_siblings_and_is_named(executor, tmp_path):
    script = 'case "$DLPERF_TRIAL" in */node2) echo broken; exit 7;; *) sleep 68;; esac'
    trial = shell_trial(tmp_path, script, local_nodes(4))
    observation = await run_to_end(executor, trial)
    assert observation.state is State.FAILED
    assert str(observation.cause) == "node node2: exit code 7"
    others = [node for node in observation.nodes if node.node != "node2"]
    assert {str(node.cause) for node in others} == {"cancelled because node node2 failed"}
    assert processes_of(trial) == []


async def test_a_node_that_dies_is_lost_and_ends_its_siblings(executor, tmp_path):
    trial = shell_trial(tmp_path, "echo up; exec sleep 69", local_nodes(4))
    reference = await executor.submit(trial)
    await printed(executor, trial, b"up\n", "node1")
    os.kill(reference.data["nodes"]["node1"]["pid"], signal.SIGKILL)
    while pids := marked_pids(f"{trial.trial_id}/node1"):
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(0.01)
    observation = await finished(executor, trial)
    assert observation.state is State.LOST
    assert str(observation.cause).startswith("node node1: the supervisor died")
    assert processes_of(trial) == []


async def test_what_a_killed_supervisor_left_is_ended(executor, tmp_path):
    trial = shell_trial(tmp_path, "mktemp; setsid sleep 70 & sleep 71")
    reference = await executor.submit(trial)
    await printed(executor, trial, b"\n")
    os.kill(reference.data["nodes"]["here"]["pid"], signal.SIGKILL)
    observation = await run_to_end(executor, trial)
    assert observation.state is State.LOST
    assert str(observation.cause).startswith("the supervisor died")
    assert processes_of(trial) == []
    assert not temporary_folder(trial).exists()


@pytest.mark.skipif(os.getuid() != 0, reason="mounting needs root")
async def test_what_a_killed_supervisor_left_is_ended_where_the_home_folder_takes_no_writes_any_more(
    executor, home, tmp_path
):
    trial = shell_trial(tmp_path, "trap '' TERM; echo on; while true; do sleep 0.1; done")
    reference = await executor.submit(trial)
    await printed(executor, trial, b"on")
    with read_only(home):
        os.kill(reference.data["nodes"]["here"]["pid"], signal.SIGKILL)
        observation = await finished(executor, trial)
    assert (observation.state, observation.cause and observation.cause.code) == (State.LOST, "no_exit_file")
    assert processes_of(trial) == []


@contextlib.contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Let no new file be opened for writing in a folder; what is open stays so."""
    subprocess.run(["mount", "--bind", str(folder), str(folder)], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


async def test_what_a_program_leaves_among_temporary_files_is_removed(executor, tmp_path):
    trial = shell_trial(tmp_path, "mktemp; mktemp -d")
    await run_to_end(executor, trial)
    assert not temporary_folder(trial).exists()


def temporary_folder(trial: Trial) -> Path:
    """The folder of the file that the trial made by its first line."""
    folder = Path(trial.paths.node("here").log.read_text().split("\n")[0]).parent
    assert folder.name.startswith("dlperf-")
    return folder


async def test_a_trial_that_was_cancelled_before_its_supervisor_died_is_swept(executor, tmp_path):
    trial = shell_trial(tmp_path, "echo up; sleep 72")
    reference = await executor.submit(trial)
    await printed(executor, trial, b"up\n")
    os.kill(reference.data["nodes"]["here"]["pid"], signal.SIGKILL)
    await executor.cancel(trial, grace_seconds=0.2)
    observation = await finished(executor, trial)
    assert observation.state is State.CANCELLED
    assert processes_of(trial) == []


async def test_where_one_launcher_reaches_all_nodes_the_others_wait_for_it(executor, tmp_path, monkeypatch):
    fake = tmp_path / "bin"
    fake.mkdir()
    (fake / "mpirun").write_text("#!/bin/sh\necho the launcher runs\n")
    (fake / "mpirun").chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake}:{os.environ['PATH']}")
    trial = shell_trial(tmp_path, ":", local_nodes(2), launcher="mpirun")
    observation = await run_to_end(executor, trial)
    assert observation.state is State.SUCCEEDED
    assert trial.paths.node("node0").log.read_bytes() == b"the launcher runs\n"
    assert json.loads(trial.paths.node("node1").exit.read_text())["cause"] == {"code": "first_node_ended"}


async def test_a_machine_is_checked_line_by_line(executor, tmp_path):
    items = await executor.check(shell_trial(tmp_path, ":").launch)
    assert {item.check for item in items} >= {"reachable", "python", "clock", "disk", "port"}
    assert {item.node for item in items} == {LOCAL.name}
    assert all(item.ok for item in items if item.check != "disk")


async def test_a_container_is_removed_by_its_label(executor, tmp_path, monkeypatch):
    fake = tmp_path / "bin"
    fake.mkdir()
    (fake / "docker").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n[ "$1" != ps ] || echo 0123abcd\n')
    (fake / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake}:{os.environ['PATH']}")
    plain = shell_trial(tmp_path, ":")
    trial = replace(plain, launch=replace(plain.launch, container=Container("image", "docker")))
    await run_to_end(executor, trial)
    calls = (tmp_path / "calls").read_text().splitlines()
    assert f"ps -aq --no-trunc --filter label=dlperf.trial={trial.trial_id}/here" in calls
    of_containers = [call for call in calls if not call.startswith("image")]  # facts of the image come at any time
    assert of_containers[-1] == "rm -f 0123abcd"


async def test_a_check_names_the_address_that_a_node_cannot_resolve(executor, tmp_path):
    first, second = local_nodes(2)
    nodes = (replace(first, address="alias-of-the-operator.invalid"), second)
    failed = [item for item in await executor.check(shell_trial(tmp_path, "true", nodes).launch) if not item.ok]
    assert [(item.node, item.check) for item in failed] == [("node0", "address"), ("node1", "address")]
    assert str(failed[1].message).startswith(
        "cannot resolve alias-of-the-operator.invalid, the address of node node0: "
    )
