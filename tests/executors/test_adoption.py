"""A trial that was submitted before is found and not started again."""

from __future__ import annotations

from trials import finished, held, printed, shell_trial

from dlperf.executors.base import TrialReference
from dlperf.executors.direct import DirectExecutor
from dlperf.runs.archive import TrialFiles, seal
from dlperf.runs.records import State
from kept_records import read_record


async def test_a_second_submit_starts_nothing(executor, tmp_path):
    trial = shell_trial(tmp_path, "echo started; sleep 0.3")
    first = await executor.submit(trial)
    second = await executor.submit(trial)
    trial.paths.reference.unlink()
    third = await executor.submit(trial)
    trial.paths.reference.write_text('{"executor": "dir')
    fourth = await executor.submit(trial)
    await finished(executor, trial)
    await executor.collect(trial)
    assert first == second
    assert first.data["nodes"] == third.data["nodes"] == fourth.data["nodes"]
    assert trial.paths.node("here").log.read_bytes() == b"started\n"


async def test_a_second_submit_finds_a_supervisor_whose_record_the_payload_spoiled(executor, tmp_path):
    trial = shell_trial(tmp_path, held("echo started; rm supervisor.json; mkdir supervisor.json; echo spoiled"))
    first = await executor.submit(trial)
    await printed(executor, trial, b"started\nspoiled\n")
    trial.paths.reference.unlink()
    second = await executor.submit(trial)
    assert second.data["nodes"]["here"].items() <= first.data["nodes"]["here"].items()
    await executor.cancel(trial, 0.1)
    await finished(executor, trial)
    assert trial.paths.node("here").log.read_bytes() == b"started\nspoiled\n"


async def test_the_reference_is_on_disk_before_submit_returns(executor, tmp_path):
    trial = shell_trial(tmp_path, ":")
    reference = await executor.submit(trial)
    assert read_record(trial.paths.reference, TrialReference) == reference
    await finished(executor, trial)


async def test_another_executor_adopts_a_running_trial(executor, tmp_path):
    trial = shell_trial(tmp_path, "echo first; sleep 0.6; echo second")
    reference = await executor.submit(trial)
    await executor.close()
    trial.paths.reference.unlink()
    later = DirectExecutor()
    adopted = await later.adopt(trial)
    observation = await finished(later, trial)
    await later.close()
    assert adopted is not None
    assert adopted.data["nodes"] == reference.data["nodes"]
    assert observation.state is State.SUCCEEDED


async def test_a_trial_that_was_sealed_and_not_journaled_is_found_without_its_node(executor, tmp_path):
    trial = shell_trial(tmp_path, "echo once")
    reference = await executor.submit(trial)
    await finished(executor, trial)
    await executor.collect(trial)
    seal(trial.paths)
    assert not trial.paths.reference.exists()
    assert await executor.adopt(trial) == await executor.submit(trial) == reference
    await executor.collect(trial)
    seal(trial.paths)
    assert TrialFiles(trial.paths).problems() == []
    assert trial.paths.node("here").log.read_bytes() == b"once\n"


async def test_a_trial_that_no_node_knows_is_not_adopted(executor, tmp_path):
    assert await executor.adopt(shell_trial(tmp_path, ":")) is None
