"""The example of a scheduler that a site adds: trials under a real Grid Engine."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from trials import finished, run_to_end, seen, shell_trial

from dlperf.errors import DlperfError
from dlperf.executors.batch.executor import BatchExecutor
from dlperf.executors.scheduler import find_scheduler
from dlperf.plan import Node
from dlperf.runs.records import State
from dlperf.substitution import node_address
from gridengine_lab import PLUGIN, gridengine, gridengine_cluster

__all__ = ["gridengine", "gridengine_cluster"]


@pytest.fixture
async def executor(home, gridengine):
    under_gridengine = open_executor()
    yield under_gridengine
    await under_gridengine.close()


def open_executor() -> BatchExecutor:
    scheduler = find_scheduler("gridengine")
    return BatchExecutor(scheduler, sibling_grace_seconds=0.2, queue_seconds=0.2, settle_seconds=1.0)


def gridengine_trial(folder, script, *extra, **limits):
    node = Node("node0", "local", "localhost", node_address(0), gpu_indices=())
    trial = shell_trial(folder, script, (node,), **limits)
    asked = {"exclusive": True, "extra": list(extra), "max_nodes": 1}
    return replace(trial, launch=replace(trial.launch, executor="gridengine", queue=asked))


def test_the_example_is_short():
    assert len((PLUGIN / "dlperf_gridengine.py").read_text().splitlines()) < 150


async def test_a_trial_runs_as_a_job_and_comes_home(executor, tmp_path, gridengine):
    trial = gridengine_trial(tmp_path, 'echo "job $JOB_ID $JOB_NAME on $(uname -n)"')
    assert all(item.ok for item in await executor.check(trial.launch))
    observation = await run_to_end(executor, trial)
    reference = json.loads(trial.paths.reference.read_text())
    assert (observation.state, reference["executor"]) == (State.SUCCEEDED, "gridengine")
    assert trial.paths.node("node0").log.read_text().startswith(f"job {reference['data']['job']} d")


async def test_a_second_engine_finds_the_job_of_the_first_and_queues_no_other(executor, tmp_path, gridengine, home):
    trial = gridengine_trial(tmp_path, "sleep 60")
    first = await executor.submit(trial)
    trial.paths.reference.unlink()
    next(home.rglob("queue.json")).unlink()
    other = open_executor()
    assert await other.adopt(trial) == first
    await other.cancel(trial)
    assert (await finished(other, trial)).state is State.CANCELLED
    await other.close()


async def test_a_job_that_cannot_start_waits_with_the_words_of_the_queue_until_it_is_cancelled(executor, tmp_path):
    trial = gridengine_trial(tmp_path, "echo never", "-h")
    await executor.submit(trial)
    waiting = await seen(executor, trial, lambda observation: observation.pending_reason is not None)
    assert (waiting.state, str(waiting.pending_reason)) == (State.SUBMITTED, "hqw")
    await executor.cancel(trial)
    assert (await finished(executor, trial)).state in (State.CANCELLED, State.LOST)


async def test_an_option_that_grid_engine_refuses_is_said_before_and_at_submission(executor, tmp_path):
    trial = gridengine_trial(tmp_path, "echo never", "-l nothing=1")
    items = {item.check: item for item in await executor.check(trial.launch)}
    assert not items["scheduler"].ok
    assert "nothing" in str(items["scheduler"].message)
    with pytest.raises(DlperfError, match=r"qsub: .*nothing"):
        await executor.submit(trial)
