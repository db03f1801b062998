"""Payloads that remove their traces: no process of a trial outlives it, and none lives while its trial is over."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from trials import finished, held, printed, processes_of, run_to_end, shell_trial

from dlperf.executors.base import Trial
from dlperf.nodes.supervisor.processes import identity_of, process_stat, running_process
from dlperf.nodes.supervisor.scope import close_group, group_pids, open_group
from dlperf.nodes.supervisor.trial.endings import sweep
from dlperf.runs.records import State
from waiting import until_async

WITHOUT_GROUP = """
import sys
from dlperf.nodes.supervisor.trial import run
run.open_group = lambda: None
run.supervise(sys.argv[1])
"""


def folder_of(home: Path, trial: Trial) -> Path:
    return home / ".dlperf" / trial.trial_id


def is_gone(path: str) -> bool:
    return not Path(path).exists()


def runs(pid: int) -> bool:
    found = process_stat(pid)
    return found is not None and found[0] != "Z"


def test_what_began_before_the_supervisor_is_none_of_the_trial_and_is_not_read():
    environment = os.environ | {"DLPERF_TRIAL": "a.1/here"}
    with subprocess.Popen(["sleep", "82"], env=environment, start_new_session=True) as process:
        began = identity_of(process.pid)["start_ticks"]
        sweep("a.1/here", 1.0, None, began + 1)
        assert process.poll() is None
        sweep("a.1/here", 1.0, None, began)
        assert process.wait() == -signal.SIGTERM


async def test_a_payload_that_removes_its_folder_is_ended_and_fails(executor, home, tmp_path):
    trial = shell_trial(tmp_path, "echo up; rm -rf $HOME/.dlperf/*/here; exec sleep 81")
    observation = await run_to_end(executor, trial)
    assert (observation.state, observation.cause and observation.cause.code) == (State.FAILED, "folder_removed")
    assert processes_of(trial) == []
    assert trial.paths.node("here").exit.is_file()


async def test_a_supervisor_is_found_by_name_and_folder_and_is_no_payload(executor, home, tmp_path):
    trial = shell_trial(tmp_path, held("echo up"))
    reference = await executor.submit(trial)
    await printed(executor, trial, b"up\n")
    folder = folder_of(home, trial) / "here"
    assert running_process(str(folder)) == identity_of(reference.data["nodes"]["here"]["pid"])
    (home / "go").touch()
    await finished(executor, trial)
    await executor.collect(trial)
    assert (folder / "supervisor.log").read_bytes() == b""


async def test_a_trial_without_folder_and_supervisor_is_not_over_while_its_payload_runs(executor, home, tmp_path):
    trial = shell_trial(tmp_path, "echo up; exec sleep 82")
    reference = await executor.submit(trial)
    await printed(executor, trial, b"up\n")
    os.kill(reference.data["nodes"]["here"]["pid"], signal.SIGKILL)
    shutil.rmtree(folder_of(home, trial))
    (first,) = await executor.poll([trial])
    assert first.state is State.RUNNING
    observation = await finished(executor, trial)
    assert (observation.state, observation.cause and observation.cause.code) == (State.LOST, "supervisor_died")
    assert processes_of(trial) == []


async def test_what_a_killed_supervisor_left_is_removed_though_its_payload_ended_before_that_was_seen(
    executor, home, tmp_path
):
    trial = shell_trial(tmp_path, held("echo up"))
    reference = await executor.submit(trial)
    await printed(executor, trial, b"up\n")
    folder = folder_of(home, trial) / "here"
    temporary = json.loads((folder / "supervisor.json").read_text())["temporary"]
    os.kill(reference.data["nodes"]["here"]["pid"], signal.SIGKILL)
    (home / "go").touch()
    await until_async(lambda: processes_of(trial) == [], "its payload runs")
    observation = await finished(executor, trial)
    assert (observation.state, observation.cause and observation.cause.code) == (State.LOST, "supervisor_died")
    assert json.loads((folder / "exit.json").read_text())["state"] == "lost"
    with pytest.raises(FileNotFoundError):
        os.rmdir(temporary)


SUCCEEDED = {"schema": 1, "state": "succeeded", "cause": {"code": "exit_code", "code_value": 0}, "code": 0}
SUCCEEDED |= {"signal": None, "ended": "2026-01-01T00:00:00.000Z", "duration_seconds": 1.0, "processes_left": []}


@pytest.mark.parametrize(("exit_file", "state"), [(SUCCEEDED, State.LOST), ({"state": "odd"}, State.FAILED)])
async def test_an_exit_file_of_a_payload_keeps_nothing_running_that_a_killed_supervisor_left(
    executor, home, tmp_path, exit_file, state
):
    trial = shell_trial(tmp_path, "echo up; exec sleep 88")
    reference = await executor.submit(trial)
    await printed(executor, trial, b"up\n")
    os.kill(reference.data["nodes"]["here"]["pid"], signal.SIGKILL)
    folder = folder_of(home, trial) / "here"
    (folder / "exit.json").write_text(json.dumps(exit_file))
    temporary = json.loads((folder / "supervisor.json").read_text())["temporary"]
    observation = await finished(executor, trial)
    assert observation.state is state
    assert processes_of(trial) == []
    with pytest.raises(FileNotFoundError):
        os.rmdir(temporary)


async def test_a_home_folder_that_lost_everything_heals_itself(executor, home, tmp_path):
    first = shell_trial(tmp_path, "rm -rf $HOME/.dlperf; exec sleep 83")
    observation = await run_to_end(executor, first)
    assert (observation.state, observation.cause and observation.cause.code) == (State.FAILED, "folder_removed")
    shutil.rmtree(home / ".dlperf")
    second = await run_to_end(executor, shell_trial(tmp_path, "echo up"))
    assert second.state is State.SUCCEEDED


async def test_a_process_without_mark_session_and_parent_ends_with_its_trial(executor, home, tmp_path):
    trial = shell_trial(tmp_path, "(env -i setsid sh -c 'echo $$ > '$HOME/hidden'; exec sleep 84' &); sleep 0.2")
    observation = await run_to_end(executor, trial)
    assert observation.state is State.SUCCEEDED
    assert not runs(int((home / "hidden").read_text()))


def test_without_a_control_group_orphans_are_found_by_descent(tmp_path):
    script = "(env -i setsid sh -c 'echo $$ > hidden; exec sleep 85' &); while ! test -s hidden; do sleep 0.01; done"
    job = {"mark": "descent/here", "command": ["sh", "-c", script], "deadline_seconds": 60, "stall_seconds": 60}
    (tmp_path / "job.json").write_text(json.dumps({**job, "container": None, "gpu_indices": []}))
    subprocess.run([sys.executable, "-c", WITHOUT_GROUP, str(tmp_path)], check=True)
    assert json.loads((tmp_path / "environment.json").read_text())["processes_found_by"] == "descent"
    assert json.loads((tmp_path / "exit.json").read_text())["state"] == "succeeded"
    assert not runs(int((tmp_path / "hidden").read_text()))


async def test_a_control_group_finds_what_a_killed_supervisor_left(executor, home, tmp_path):
    group = open_group()
    close_group(group)
    if group is None:
        pytest.skip("no control group may be made here")
    trial = shell_trial(tmp_path, "env -i setsid sh -c 'echo $$ > '$HOME/hidden'; exec sleep 86' & echo up; sleep 87")
    reference = await executor.submit(trial)
    await printed(executor, trial, b"up\n")
    record = json.loads((folder_of(home, trial) / "here" / "supervisor.json").read_text())
    os.kill(reference.data["nodes"]["here"]["pid"], signal.SIGKILL)
    observation = await finished(executor, trial)
    assert observation.state is State.LOST
    assert not runs(int((home / "hidden").read_text()))
    assert group_pids(record["group"]) == []
    assert is_gone(record["group"])
