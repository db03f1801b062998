"""Real trials for the tests: short shell commands on the nodes that a test names."""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from collections.abc import Callable
from pathlib import Path

from dlperf.executors.base import Executor, Observation, Trial
from dlperf.nodes.supervisor.processes import marked_pids
from dlperf.plan import Launch, Node
from dlperf.runs.paths import TrialPaths
from waiting import PATIENCE_SECONDS

_numbers = itertools.count(1)

LOCAL = Node("here", "local", "localhost", "localhost")


def local_nodes(count: int) -> tuple[Node, ...]:
    """Several nodes that are shares of this machine."""
    return tuple(Node(f"node{index}", "local", "localhost", "localhost") for index in range(count))


def shell_trial(folder: Path, script: str, nodes: tuple[Node, ...] = (LOCAL,), **limits: float | str) -> Trial:
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
    return Trial(f"test-{folder.name}.{os.getpid()}-{number}", launch, TrialPaths(folder / "runs" / str(number)))


def held(script: str) -> str:
    """A shell script that goes on after ``script`` when there is a file ``go`` in the home folder."""
    return f"{script}; while ! test -e $HOME/go; do sleep 0.05; done"


async def seen(executor: Executor, trial: Trial, condition: Callable[[Observation], object]) -> Observation:
    """The first observation of which the condition is true; logs are tailed meanwhile."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while True:
        (observation,) = await executor.poll([trial])
        await executor.tail([trial])
        if condition(observation):
            return observation
        assert time.monotonic() < give_up, f"never seen; last: {observation}"
        await executor.wait([trial], 0.05)


async def finished(executor: Executor, trial: Trial) -> Observation:
    """The observation with which a submitted trial ends."""
    return await seen(executor, trial, lambda observation: observation.state.finished)


async def run_to_end(executor: Executor, trial: Trial) -> Observation:
    """Submit, wait, collect."""
    await executor.submit(trial)
    observation = await finished(executor, trial)
    await executor.collect(trial)
    return observation


async def printed(executor: Executor, trial: Trial, text: bytes, node: str = "here") -> None:
    """Wait until a node's archived log holds a text."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    path = trial.paths.node(node).log
    while not (path.is_file() and text in path.read_bytes()):
        assert time.monotonic() < give_up, f"{text!r} never came"
        await executor.tail([trial])
        await asyncio.sleep(0.02)


def processes_of(trial: Trial) -> list[int]:
    """Every process that carries the mark of a share of the trial."""
    return [pid for node in trial.launch.nodes for pid in marked_pids(f"{trial.trial_id}/{node.name}")]
