"""The archive at home: a full disk is said, and nothing half-written stays as whole."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from trials import finished, run_to_end, shell_trial

from dlperf.errors import StorageError
from dlperf.executors.base import Trial
from dlperf.executors.logs import append, archived_size, stream_path
from dlperf.runs.paths import NodePaths, TrialPaths


async def test_a_full_disk_is_said_and_a_later_call_goes_on(executor, tmp_path, small_disk):
    trial = shell_trial(tmp_path, "yes 0123456789 | head -c 3000000")
    trial = Trial(trial.trial_id, trial.launch, TrialPaths(small_disk / "trial"))
    await executor.submit(trial)
    with pytest.raises(StorageError, match=r"cannot be written \(No space left on device: .* reserved\)"):
        await run_to_end(executor, trial)
    node = trial.paths.node("here")
    with pytest.raises(StorageError, match="No space left on device"):
        await executor.collect(trial)
    total, _, free = shutil.disk_usage(small_disk)
    assert free >= total // 50
    assert not node.exit.exists()
    assert not [*small_disk.rglob("*.tmp")]
    _enlarge(small_disk)
    await finished(executor, trial)
    await executor.collect(trial)
    assert node.log.read_bytes() == (b"0123456789\n" * 300_000)[:3_000_000]
    assert node.exit.exists()


async def test_the_engine_stops_before_the_disk_is_full(executor, tmp_path, small_disk):
    trial = shell_trial(tmp_path, "echo done")
    trial = Trial(trial.trial_id, trial.launch, TrialPaths(small_disk / "trial"))
    await executor.submit(trial)
    (small_disk / "others").write_bytes(bytes(shutil.disk_usage(small_disk).free - 16384))
    with pytest.raises(StorageError, match=r"cannot be written \(No space left on device: .* reserved\)"):
        await finished(executor, trial)
    assert not trial.paths.node("here").log.exists()
    _enlarge(small_disk)
    await finished(executor, trial)
    await executor.collect(trial)
    assert trial.paths.node("here").log.read_bytes() == b"done\n"


def _enlarge(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=8m", str(disk)], check=True)


@pytest.mark.parametrize("stream", ["ranks/../../exit.json", "ranks/..", "ranks//etc/passwd", "ranks/a/../../../x"])
def test_a_name_that_came_from_a_node_leads_nowhere_else(tmp_path, stream):
    paths = NodePaths(tmp_path / "node")
    path = Path(os.path.normpath(stream_path(paths, stream)))
    assert path.is_relative_to(paths.ranks)


def test_the_size_of_the_file_is_the_offset_to_go_on_from(tmp_path):
    path = tmp_path / "nodes" / "a" / "out.log"
    assert archived_size(path) == 0
    append(path, b"one\n")
    append(path, b"two\n")
    assert archived_size(path) == 8
    assert path.read_bytes() == b"one\ntwo\n"
