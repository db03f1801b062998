"""What the engine runs, in which order and when, on machines that do what the test says."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace

from driving_engine import A, events, run, states, until
from scripted import QUICK, Script, ScriptedExecutor, campaign, planned

from dlperf.campaign.rules import exit_code
from dlperf.errors import DlperfError, ExitCode, UnreachableError
from dlperf.executors.base import Trial
from dlperf.measured.model import TrialResult
from dlperf.messages import message
from dlperf.plan import TrialKey
from dlperf.runs.archive import TrialFiles
from dlperf.runs.control import ask
from dlperf.runs.journal import campaign_status
from dlperf.runs.records import Progress, State, seconds_between, utc_now
from kept_records import read_record
from waiting import PATIENCE_SECONDS


async def test_repeats_are_interleaved_and_a_machine_has_one_trial_at_a_time(tmp_path):
    paths, executor = campaign(tmp_path, planned("a"), planned("b")), ScriptedExecutor()
    assert await run(paths, executor) is None
    order = executor.called("submit")
    assert order == ["a.1", "b.1", "a.2", "b.2"]
    assert executor.most_at_once == 1
    assert set(states(paths).values()) == {"succeeded"}
    assert exit_code(campaign_status(paths)) is ExitCode.DONE


async def test_the_next_trial_does_not_wait_for_one_that_has_ended(tmp_path):
    executor = ScriptedExecutor()
    await run(campaign(tmp_path, planned("a")), executor)
    assert set(executor.waits) == {1}


async def test_machines_work_side_by_side(tmp_path):
    executor = ScriptedExecutor({name: Script(polls=20) for name in ("a.1", "b.1")})
    await run(campaign(tmp_path, planned("a", "m1"), planned("b", "m2")), executor)
    assert executor.most_at_once == 2


async def test_a_trial_is_archived_sealed_and_measured_before_it_is_said_to_have_ended(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=1))
    await run(paths, ScriptedExecutor())
    trial = paths.trial(TrialKey(A, 1))
    assert TrialFiles(trial).problems() == []
    result = read_record(trial.result, TrialResult)
    assert (result.value, result.unit) == (320.0, "images/s")
    assert read_record(paths.progress, Progress).done == 1


async def test_a_machine_rests_between_trials_as_the_protocol_asks(tmp_path):
    paths, executor, polls = campaign(tmp_path, planned("a", pause=0.3)), ScriptedExecutor(), []

    def note_poll() -> None:
        if executor.called("submit") == ["a.1"]:
            polls.append(utc_now())

    executor.on_poll = note_poll
    await run(paths, executor)
    (_, second) = [event.time for event in events(paths, "state") if event.state == "submitted"]
    assert seconds_between(polls[-1], second) >= 0.3


class SeenCollecting(ScriptedExecutor):
    """Collects the first trial when the second has been submitted, or will not be."""

    async def collect(self, trial: Trial) -> None:
        if self.called("collect") == []:
            with suppress(TimeoutError):
                await asyncio.wait_for(until(lambda: "a.2" in self.called("submit")), self.patience)
        await super().collect(trial)

    patience = PATIENCE_SECONDS


async def test_the_next_trial_starts_while_the_files_of_one_that_succeeded_are_collected(tmp_path):
    paths, executor = campaign(tmp_path, planned("a")), SeenCollecting()
    await run(paths, executor)
    assert [call for call, _ in executor.calls][:4] == ["submit", "submit", "collect", "collect"]
    assert set(states(paths).values()) == {"succeeded"}


async def test_a_machine_is_kept_while_it_archives_its_own_trial(tmp_path):
    item = planned("a")
    (node,) = item.launch.nodes
    here = replace(item, launch=replace(item.launch, nodes=(replace(node, transport="local"),)))
    executor = SeenCollecting()
    executor.patience = 0.1
    await run(campaign(tmp_path, here), executor)
    assert [call for call, _ in executor.calls][:3] == ["submit", "collect", "submit"]


async def test_a_failed_trial_keeps_its_machine_until_it_is_known_what_follows(tmp_path):
    executor = SeenCollecting(
        {name: Script(State.FAILED, message("exit_code", code_value=1)) for name in ("a.1", "a.2")}
    )
    executor.patience = 0.1
    await run(campaign(tmp_path, planned("a")), executor)
    assert [call for call, _ in executor.calls][:3] == ["submit", "collect", "submit"]


async def test_a_machine_that_is_not_ready_starts_nothing(tmp_path):
    paths = campaign(tmp_path, planned("a"))
    executor = ScriptedExecutor({"x": Script(not_ready="0.1 GiB free")})
    await run(paths, executor)
    assert executor.called("submit") == []
    assert str(campaign_status(paths).trials[TrialKey(A, 1)].cause) == "not ready: m1: disk: 0.1 GiB free"


async def test_a_trial_that_ended_before_it_was_seen_running_has_begun_too(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=1))
    await run(paths, ScriptedExecutor({"a.1": Script(polls=0, blames=True)}))
    (trial,) = campaign_status(paths).trials.values()
    submitted, running, succeeded = events(paths, "state")
    assert (trial.started, trial.ended) == (running.time, succeeded.time)
    assert submitted.time <= running.time <= succeeded.time
    assert read_record(paths.trial(trial.key).result, TrialResult).started == trial.started


async def test_busy_gpus_are_waited_for(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=1))
    await run(paths, ScriptedExecutor({"a.1": Script(busy=3)}), replace(QUICK, busy=60.0))
    assert [event.state for event in events(paths, "state")] == ["submitted", "running", "succeeded"]


async def test_gpus_that_stay_busy_are_given_up(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=1))
    await run(paths, ScriptedExecutor({"a.1": Script(busy=1000)}))
    assert states(paths) == {"a.1": "failed", "a.2": "failed"}


async def test_a_machine_that_falls_silent_at_the_start_is_asked_again_for_the_same_trial(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=1))
    executor = ScriptedExecutor({"a.1": Script(unreachable=3)})
    await run(paths, executor)
    assert executor.called("submit") == ["a.1"] * 4
    assert states(paths) == {"a.1": "succeeded"}
    assert len(events(paths, "note")) == 1


async def test_silence_while_a_trial_runs_is_a_flag_and_never_a_state(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=1))
    await run(paths, ScriptedExecutor({"a.1": Script(silent=3)}))
    assert [event.data["node"] for event in events(paths, "node_unreachable")] == ["m1"]
    assert [event.data["node"] for event in events(paths, "node_reachable")] == ["m1"]
    assert states(paths) == {"a.1": "succeeded"}


async def test_a_trial_whose_files_cannot_be_collected_has_not_succeeded(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=1))
    await run(paths, ScriptedExecutor({"a.1": Script(collect_error=DlperfError("telemetry.csv vanished"))}))
    assert str(events(paths, "note")[0].cause) == "some files were not collected: telemetry.csv vanished"
    assert states(paths) == {"a.1": "failed"}


async def test_a_trial_is_cancelled_whose_machine_died_before_its_log_was_collected(tmp_path):
    class DeadAtItsEnd(ScriptedExecutor):
        async def collect(self, trial: Trial) -> None:
            ask(paths, "cancel")
            await super().collect(trial)

    paths = campaign(tmp_path, planned("a", repeats=1))
    await run(paths, DeadAtItsEnd({"a.1": Script(collect_error=UnreachableError("nothing listens", "m1"))}))
    assert states(paths) == {"a.1": "cancelled"}
    assert "nothing listens" in str(events(paths, "state")[-1].cause)


async def test_repeats_of_a_job_array_are_submitted_together_without_those_that_were_cancelled(tmp_path):
    item = planned("a", repeats=4)
    array = replace(item, launch=replace(item.launch, executor="slurm", queue={"array": True, "max_nodes": 1}))
    paths = campaign(tmp_path, array, replace(array, configuration=planned("b").configuration))
    ask(paths, "cancel", TrialKey(A, 2))
    executor = ScriptedExecutor({"a.1": Script(polls=30)})
    await run(paths, executor)
    assert [name for name in executor.called("submit") if name[0] == "a"] == ["a.1", "a.3", "a.4"]
    assert executor.together["a.1"] == executor.together["a.4"] == (1, 3, 4)
    assert [name for name, state in states(paths).items() if state != "succeeded"] == ["a.2"]
    submitted = [event for event in events(paths, "state") if event.state == "submitted"]
    of_a = [event.trial for event in submitted if event.trial and event.trial.startswith(f"{A}/")]
    assert of_a == [f"{A}/1", f"{A}/3", f"{A}/4"]
