"""Repeats as one job array of a real Slurm."""

from __future__ import annotations

import asyncio

import pytest
from slurm_trials import array_trials, executor, open_executor
from trials import finished, held, seen

from dlperf.executors.batch.jobs import array_of
from dlperf.runs.archive import TrialFiles
from dlperf.runs.records import State

__all__ = ["executor"]


async def test_repeats_are_one_job_array_one_task_after_the_other(executor, home, tmp_path):
    script = (
        held("echo $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT for $DLPERF_TRIAL; date +%s.%N")
        + "; sleep 0.1; date +%s.%N"
    )
    trials = array_trials(tmp_path, script, 3)
    references = await asyncio.gather(*(executor.submit(trial) for trial in trials))
    array = {reference.data["job"].partition("_")[0] for reference in references}
    assert [reference.data["job"].partition("_")[2] for reference in references] == ["1", "2", "3"]
    assert len(array) == 1
    await seen(executor, trials[0], lambda observation: observation.state is State.RUNNING)
    waiting = await seen(executor, trials[2], lambda observation: observation.pending_reason)
    assert str(waiting.pending_reason) in ("JobArrayTaskLimit", "Resources", "Priority")
    (home / "go").touch()
    for trial in trials:
        assert (await finished(executor, trial)).state is State.SUCCEEDED
        await executor.collect(trial)
    logs = [trial.paths.node("node0").log.read_text().splitlines() for trial in trials]
    assert [log[0] for log in logs] == [f"{n} of 3 for {trial.trial_id}/node0" for n, trial in enumerate(trials, 1)]
    moments = [float(moment) for log in logs for moment in log[1:]]
    assert moments == sorted(moments)
    assert b"--array=1,2,3%1" in TrialFiles(trials[2].paths).read(trials[2].paths.rendered / "batch.sh")


@pytest.mark.parametrize(("exclusive", "at_once"), [(True, 4), (False, 1)])
def test_repeats_run_at_once_on_nodes_of_their_own_only(tmp_path, exclusive, at_once):
    trials = array_trials(tmp_path, ":", 5, max_nodes=4, exclusive=exclusive)
    array = array_of(trials[0])
    assert array is not None
    assert array.tasks == f"1,2,3,4,5%{at_once}"


async def test_one_task_of_an_array_is_cancelled_and_the_others_go_on(executor, home, tmp_path):
    trials = array_trials(tmp_path, held("echo on"), 3)
    for trial in trials:
        await executor.submit(trial)
    await executor.cancel(trials[1])
    (home / "go").touch()
    ended = [await finished(executor, trial) for trial in trials]
    assert [observation.state for observation in ended] == [State.SUCCEEDED, State.CANCELLED, State.SUCCEEDED]
    assert not trials[1].paths.node("node0").log.exists()


async def test_a_later_engine_finds_every_task_of_an_array(executor, slurm, tmp_path):
    trials = array_trials(tmp_path, "echo on; sleep 0.3", 3)
    submitted = await executor.submit(trials[0])
    later = open_executor()
    adopted = [await later.adopt(trial) for trial in trials]
    assert adopted[0] == submitted
    assert [reference.data["job"].partition("_")[2] for reference in adopted if reference] == ["1", "2", "3"]
    assert [(await finished(later, trial)).state for trial in trials] == [State.SUCCEEDED] * 3
    await later.close()
