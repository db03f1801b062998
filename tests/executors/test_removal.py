"""Removing what trials left on their nodes: only what is over goes, and nothing else below ~/.dlperf."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from dataclasses import replace

import pytest
from trials import LOCAL, finished, local_nodes, printed, run_to_end, shell_trial

from dlperf.errors import DlperfError
from dlperf.executors.cleaning import archived_digests
from dlperf.nodes.client import NodeClient
from dlperf.nodes.transport import Machine, transport_to
from dlperf.runs.archive import seal


@pytest.fixture
async def client(home):
    node = NodeClient("node here", transport_to(Machine.of(LOCAL)))
    yield node
    await node.close()


async def archived_run(executor, trial):
    """Run a trial to its end, and return what of it is archived then."""
    await run_to_end(executor, trial)
    seal(trial.paths)
    return archived_digests(trial.paths)


async def test_a_trial_that_is_over_is_removed_whole(executor, client, home, tmp_path):
    trial = shell_trial(tmp_path, "echo done; echo more > 'ranks/rank 0%.log'", local_nodes(2))
    archived = await archived_run(executor, trial)
    kept = json.loads((home / ".dlperf" / trial.trial_id / "node0" / "supervisor.json").read_text())["temporary"]
    os.mkdir(kept)  # as on a node that lost its power
    outcome = await client.remove(trial.trial_id, archived, ())
    assert outcome.problem is None
    with pytest.raises(FileNotFoundError):
        os.rmdir(kept)
    assert outcome.bytes > len("done\n") * 2
    assert [folder.name for folder in (home / ".dlperf").iterdir()] == ["bin"]
    assert trial.paths.node("node0").log.read_text() == "done\n"


async def test_empty_logs_and_what_a_build_left_do_not_keep_the_folder(executor, client, tmp_path):
    trial = shell_trial(tmp_path, ": >ranks/0.log")
    trial = replace(trial, launch=replace(trial.launch, build=("true",)))
    assert (await client.remove(trial.trial_id, await archived_run(executor, trial), ())).problem is None


async def test_a_trial_that_runs_stays(executor, client, home, tmp_path):
    trial = shell_trial(tmp_path, "echo on; exec sleep 60")
    await executor.submit(trial)
    await printed(executor, trial, b"on\n")
    outcome = await client.remove(trial.trial_id, {}, ())
    assert str(outcome.problem) == "it left no exit file: its processes may still run"
    assert (home / ".dlperf" / trial.trial_id / "here" / "out.log").exists()
    await executor.cancel(trial, grace_seconds=0.1)
    await finished(executor, trial)


async def test_a_trial_with_a_process_that_outlived_its_exit_file_stays(executor, client, home, tmp_path):
    trial = shell_trial(tmp_path, "echo done")
    await run_to_end(executor, trial)
    survivor = await asyncio.create_subprocess_exec("sleep", "60", env={"DLPERF_TRIAL": f"{trial.trial_id}/here"})
    outcome = await client.remove(trial.trial_id, {}, ("*",))
    survivor.kill()
    await survivor.wait()
    assert str(outcome.problem) == "processes of it still run"


@pytest.mark.parametrize("content", ["{}", "[]", '{"pid": "1"}'])
async def test_a_trial_whose_payload_spoiled_the_supervisor_s_record_is_removed_when_it_is_named(
    executor, client, home, tmp_path, content
):
    trial = shell_trial(tmp_path, "echo done")
    archived = await archived_run(executor, trial)
    (home / ".dlperf" / trial.trial_id / "here" / "supervisor.json").write_text(content)
    assert (
        str((await client.remove(trial.trial_id, archived, ())).problem) == "not in the archive: here/supervisor.json"
    )
    assert (await client.remove(trial.trial_id, archived, ("supervisor.json",))).problem is None


async def test_nothing_else_is_removed(executor, client, home, tmp_path):
    await run_to_end(executor, shell_trial(tmp_path, "echo done"))
    outcomes = [await client.remove(name, {}, ("*",)) for name in ("bin", "no-such-trial")]
    assert [str(outcome.problem) for outcome in outcomes] == ["nothing of it is here"] * 2
    assert list((home / ".dlperf" / "bin").iterdir())
    with pytest.raises(DlperfError, match="does not stay below"):
        await client.remove("../.ssh", {}, ())


LEAVES_FILES = """
mkdir ckpt __pycache__
echo weights > ckpt/last.pt
echo compiled > __pycache__/a.pyc
echo weights > model.pt
ln -s /etc/hostname link
echo done
"""


async def test_files_that_were_never_archived_keep_the_whole_folder_until_all_are_named(
    executor, client, home, tmp_path
):
    trial = shell_trial(tmp_path, LEAVES_FILES)
    archived, folder = await archived_run(executor, trial), home / ".dlperf" / trial.trial_id
    before = sorted(folder.rglob("*"))
    kept = await client.remove(trial.trial_id, archived, ())
    assert str(kept.problem) == "not in the archive: here/ckpt/last.pt, here/link, here/model.pt"
    kept = await client.remove(trial.trial_id, archived, ("ckpt", "link", "*.txt"))
    assert str(kept.problem) == "not in the archive: here/model.pt"
    assert sorted(folder.rglob("*")) == before
    outcome = await client.remove(trial.trial_id, archived, ("ckpt", "link", "*.pt"))
    assert outcome.problem is None
    assert [path.name for path in (home / ".dlperf").iterdir()] == ["bin"]


async def test_a_file_of_the_same_size_with_another_content_keeps_the_folder(executor, client, home, tmp_path):
    trial = shell_trial(tmp_path, "echo done")
    archived = await archived_run(executor, trial)
    (home / ".dlperf" / trial.trial_id / "here" / "out.log").write_text("DONE\n")
    kept = await client.remove(trial.trial_id, archived, ())
    assert str(kept.problem) == "not in the archive: here/out.log"


def chattr(change, path) -> bool:
    return subprocess.run(["chattr", change, path], capture_output=True, check=False).returncode == 0


async def test_one_file_that_cannot_be_removed_keeps_all_the_others(executor, client, home, tmp_path):
    trial = shell_trial(tmp_path, "mkdir -m 750 ckpt; echo weights > ckpt/last.pt; echo done")
    archived, folder = await archived_run(executor, trial), home / ".dlperf" / trial.trial_id
    fixed = folder / "here" / "ckpt" / "last.pt"
    if not chattr("+i", fixed):
        pytest.skip("no file can be made immutable here")
    before = {path: path.stat().st_mode for path in folder.rglob("*")}
    try:
        kept = await client.remove(trial.trial_id, archived, ("ckpt",))
    finally:
        chattr("-i", fixed)
    assert str(kept.problem) == f"{fixed}: Operation not permitted"
    assert {path: path.stat().st_mode for path in folder.rglob("*")} == before
