"""Executors on this machine, with a home folder of their own."""

from __future__ import annotations

import pytest

from dlperf.executors.direct import DirectExecutor
from node_lab import node_lab
from podman_lab import podman, podman_store
from slurm_lab import slurm, slurm_cluster
from sshd import sshd

__all__ = ["node_lab", "podman", "podman_store", "slurm", "slurm_cluster", "sshd"]


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The nodes' home folder."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # a node that a test kills leaves its temporary files
    return folder


@pytest.fixture
async def executor(home):
    direct = DirectExecutor(sibling_grace_seconds=0.2)
    yield direct
    await direct.close()


@pytest.fixture
async def remote(sshd):
    """An executor whose machine is behind a real ssh server."""
    direct = DirectExecutor(sibling_grace_seconds=0.2)
    yield direct
    await direct.close()
