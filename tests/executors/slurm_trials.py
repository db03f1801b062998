"""Real trials under the Slurm lab, and the executor that runs them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from trials import shell_trial

from dlperf.executors.base import Trial
from dlperf.executors.batch.executor import BatchExecutor
from dlperf.executors.batch.slurm import Slurm
from dlperf.plan import Node
from dlperf.runs.paths import TrialPaths
from dlperf.substitution import node_address


def slurm_trial(folder: Path, script: str, nodes: int = 1, queue: dict | None = None, **limits) -> Trial:
    """A trial that runs a shell script on nodes that Slurm chooses; this machine is the login node."""
    asked = {"partition": "gpu", "exclusive": True, "extra": [], "nodes": nodes} | (queue or {})
    trial = shell_trial(folder, script, tuple(_node(rank) for rank in range(nodes)), **limits)
    return replace(trial, launch=replace(trial.launch, executor="slurm", queue=asked))


def _node(rank: int) -> Node:
    return Node(f"node{rank}", "local", "localhost", node_address(rank), gpu_indices=(0, 1))


def open_executor() -> BatchExecutor:
    return BatchExecutor(Slurm(), sibling_grace_seconds=0.2, queue_seconds=0.2, settle_seconds=1.0)


@pytest.fixture
async def executor(home, slurm):
    under_slurm = open_executor()
    yield under_slurm
    await under_slurm.close()


def array_trials(folder: Path, script: str, count: int, **asked) -> list[Trial]:
    """Repeats that are queued together: ids, folders and numbers as the engine gives them."""
    first = slurm_trial(folder, script, queue={"array": True, **asked})
    numbers = tuple(range(1, count + 1))
    home = TrialPaths(folder / "runs" / "array" / "1")
    return [
        replace(first, trial_id=f"{first.trial_id}.{number}", paths=home.sibling(number), repeats=numbers)
        for number in numbers
    ]
