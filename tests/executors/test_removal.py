"""Removing what trials left on their nodes: only what is over goes, and nothing else below ~/.dlperf."""

from __future__ import annotations

import asyncio

import pytest
from trials import LOCAL, finished, local_nodes, printed, run_to_end, shell_trial

from dlperf.errors import DlperfError
from dlperf.nodes.client import NodeClient
from dlperf.nodes.transport import Machine, transport_to


@pytest.fixture
async def client(home):
    node = NodeClient("node here", transport_to(Machine.of(LOCAL)))
    yield node
    await node.close()


async def test_a_trial_that_is_over_is_removed_whole(executor, client, home, tmp_path):
    trial = shell_trial(tmp_path, "echo done", local_nodes(2))
    await run_to_end(executor, trial)
    (outcome,) = await client.remove([trial.trial_id])
    assert outcome.problem == ""
    assert outcome.bytes > len("done\n") * 2
    assert [folder.name for folder in (home / ".dlperf").iterdir()] == ["bin"]
    assert trial.paths.node("node0").log.read_text() == "done\n"


async def test_a_trial_that_runs_stays(executor, client, home, tmp_path):
    trial = shell_trial(tmp_path, "echo on; exec sleep 60")
    await executor.submit(trial)
    await printed(executor, trial, b"on\n")
    (outcome,) = await client.remove([trial.trial_id])
    assert outcome.problem == "it left no exit file: its processes may still run"
    assert (home / ".dlperf" / trial.trial_id / "here" / "out.log").exists()
    await executor.cancel(trial, grace_seconds=0.1)
    await finished(executor, trial)


async def test_a_trial_with_a_process_that_outlived_its_exit_file_stays(executor, client, home, tmp_path):
    trial = shell_trial(tmp_path, "echo done")
    await run_to_end(executor, trial)
    survivor = await asyncio.create_subprocess_exec("sleep", "60", env={"DLPERF_TRIAL": f"{trial.trial_id}/here"})
    outcomes = await client.remove([trial.trial_id])
    survivor.kill()
    await survivor.wait()
    assert [outcome.problem for outcome in outcomes] == ["processes of it still run"]


async def test_nothing_else_is_removed(executor, client, home, tmp_path):
    await run_to_end(executor, shell_trial(tmp_path, "echo done"))
    outcomes = await client.remove(["bin", "no-such-trial"])
    assert [outcome.problem for outcome in outcomes] == ["nothing of it is here"] * 2
    assert list((home / ".dlperf" / "bin").iterdir())
    with pytest.raises(DlperfError, match="does not stay below"):
        await client.remove(["../.ssh"])
