"""What every test shares."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from counting_workspace import Counting, counting_workspace
from dlperf.runs.paths import WorkspacePaths
from made_once import made_once

SOURCE = Path(__file__).parents[1] / "tui"
# how long an example takes tells of the machine, not of the code
settings.register_profile("dlperf", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("dlperf")
# iptables, tc, runc, slurmctld: many a shell does not look for them there, and what is not found is not tested
os.environ["PATH"] += ":/usr/sbin:/sbin"
os.environ["PATH"] = f"{Path(__file__).parent}/bin:{os.environ['PATH']}"  # an ssh that takes its files from HOME


def pytest_xdist_auto_num_workers() -> int:
    """For ``-n auto``: many tests wait more than they compute, so two processes more than there are cores."""
    return len(os.sched_getaffinity(0)) + 2


gc.set_threshold(100_000)  # as in dlperf.cli and dlperf.app, whose parts most tests call without their main functions


def pytest_collection_finish() -> None:
    """Let the collector pass over all modules and tests, which stay: that took a fifth of the time of tests."""
    gc.freeze()


SLOW = (
    *("cli/test_versions.py", "campaign/test_crashes.py", "campaign/test_clean.py", "table/test_any_change.py"),
    *("workloads/test_parallel.py", "workloads/test_language_models.py", "workloads/test_programs.py"),
    *("workloads/test_vision.py", "campaign/test_chaos.py", "campaign/test_training_over_nodes.py"),
)
"""Files that take minutes, begun first: else the last of them runs alone while the other processes have ended."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {Path(__file__).parent / name: place for place, name in enumerate(SLOW)}
    items.sort(key=lambda item: places.get(item.path, len(SLOW)))


@pytest.fixture(autouse=True, scope="session")
def _children_find_dlperf():
    """``python -m dlperf`` in a child process is the code under test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(SOURCE))
        yield


@pytest.fixture(autouse=True, scope="session")
def _leases_of_this_process(tmp_path_factory):
    """Tests in other processes use this machine at the same time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DLPERF_LEASE", str(tmp_path_factory.mktemp("leases") / "lease"))
        yield


@pytest.fixture(autouse=True, scope="session")
def _what_was_checked_by_this_process(tmp_path_factory):
    """The user's cache of results that were recomputed is not that of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DLPERF_CHECKED", str(tmp_path_factory.mktemp("checked")))
        yield


@pytest.fixture
def small_disk(tmp_path: Path):
    """A file system of one MiB."""
    if os.getuid() != 0:
        pytest.skip("mounting a small disk needs root")
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip(f"this machine mounts nothing: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def full_quota(tmp_path: Path):
    """A file system of btrfs, which writes nothing in place, with a quota that a program can fill."""
    if os.getuid() != 0 or shutil.which("mkfs.btrfs") is None:
        pytest.skip("a quota of btrfs needs root and btrfs-progs")
    folder, image = tmp_path / "quota", tmp_path / "quota.img"
    folder.mkdir()
    with image.open("wb") as stream:
        stream.truncate(1 << 30)
    subprocess.run(["mkfs.btrfs", "-q", str(image)], check=True, capture_output=True)
    if subprocess.run(["mount", "-o", "loop", str(image), str(folder)], check=False).returncode != 0:
        pytest.skip("this machine mounts no btrfs")
    for words in (("quota", "enable", str(folder)), ("qgroup", "limit", "100M", "0/5", str(folder))):
        subprocess.run(["btrfs", *words], check=True)
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def few_files(tmp_path: Path):
    """A file system that takes some files only, however small they are."""
    if os.getuid() != 0:
        pytest.skip("mounting a small disk needs root")
    folder = tmp_path / "few"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,nr_inodes=60", "tmpfs", str(folder)], check=False)
    if mounted.returncode != 0:
        pytest.skip("this machine mounts nothing")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def counting(tmp_path):
    """A workspace of short real trials on this machine; see ``counting_workspace``."""
    workspace = counting_workspace(tmp_path)
    yield workspace
    for path in workspace.home.glob("hold-*"):
        path.unlink()


@pytest.fixture(scope="session")
def _measured_once(tmp_path_factory):
    words = ["run", "-H", "local", "-f", "counting", "-c", "lenet5", "-b", "32,64", "--repeats", "1", "--name", "try"]
    return made_once(tmp_path_factory, "measured", lambda folder: counting_workspace(folder).dlperf(*words))


@pytest.fixture
def measured(_measured_once, tmp_path):
    """The same with a finished campaign ``try`` of batch sizes 32 and 64."""
    shutil.copytree(_measured_once, tmp_path, dirs_exist_ok=True)
    return Counting(WorkspacePaths(tmp_path / "workspace"), tmp_path / "home")
