"""Real trials for the tests: short shell commands on the nodes that a test names."""

from __future__ import annotations

import asyncio
import itertools
import time
from pathlib import Path

from dlperf.executors.base import Executor, Observation, Trial
from dlperf.nodes.supervisor.processes import marked_pids
from dlperf.plan import Launch, NodePlan
from dlperf.runs.paths import TrialPaths

_numbers = itertools.count(1)

LOCAL = NodePlan("here", "local", "localhost", "localhost")


def local_nodes(count: int) -> tuple[NodePlan, ...]:
    """Several nodes that are shares of this machine."""
    return tuple(NodePlan(f"node{index}", "local", "localhost", "localhost") for index in range(count))


def shell_trial(folder: Path, script: str, nodes: tuple[NodePlan, ...] = (LOCAL,), **limits: float | str) -> Trial:
    """A trial that runs a shell script on each of its nodes."""
    launch = Launch(
        executor="direct",
        nodes=nodes,
        gpus=1,
        launcher=str(limits.pop("launcher", "plain")),
        interpreter=(),
        command=("sh", "-c", script),
        deadline_seconds=float(limits.pop("deadline_seconds", 60.0)),
        stall_seconds=float(limits.pop("stall_seconds", 60.0)),
    )
    number = next(_numbers)
    return Trial(f"test-{folder.name}.{number}", launch, TrialPaths(folder / "runs" / str(number)))


async def finished(executor: Executor, trial: Trial, seconds: float = 30.0) -> Observation:
    """The observation with which a submitted trial ends; its logs are tailed meanwhile."""
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        (observation,) = await executor.poll([trial])
        await executor.tail([trial])
        if observation.state.finished:
            return observation
        await asyncio.sleep(0.05)
    raise AssertionError(f"not finished within {seconds} s: {observation}")


async def run_to_end(executor: Executor, trial: Trial, seconds: float = 30.0) -> Observation:
    """Submit, wait, collect."""
    await executor.submit(trial)
    observation = await finished(executor, trial, seconds)
    await executor.collect(trial)
    return observation


async def printed(executor: Executor, trial: Trial, text: bytes, node: str = "here", seconds: float = 15.0) -> None:
    """Wait until a node's archived log holds a text."""
    give_up = time.monotonic() + seconds
    path = trial.paths.node(node).log
    while not (path.is_file() and text in path.read_bytes()):
        assert time.monotonic() < give_up, f"{text!r} never came"
        await executor.tail([trial])
        await asyncio.sleep(0.02)


def processes_of(trial: Trial) -> list[int]:
    """Every process that carries the mark of a share of the trial."""
    return [pid for node in trial.launch.nodes for pid in marked_pids(f"{trial.trial_id}/{node.name}")]
