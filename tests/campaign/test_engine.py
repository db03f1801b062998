"""The engine's decisions, against machines that do what the test says."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from scripted import QUICK, Script, ScriptedExecutor, campaign, planned

from dlperf.campaign.engine import run_campaign
from dlperf.campaign.outcome import exit_code
from dlperf.cli.campaign_text import left_out_lines
from dlperf.errors import DlperfError, ExitCode, RequestError, StorageError
from dlperf.plan import TrialKey
from dlperf.results.model import TrialResult
from dlperf.runs.checksums import checksum_problems
from dlperf.runs.control import ask
from dlperf.runs.journal import campaign_status
from dlperf.runs.lock import engine_lock
from dlperf.runs.paths import CampaignPaths
from dlperf.runs.records import Event, Progress, State
from dlperf.runs.store import append_records, read_record, read_records

A, B = "on-m1_a_case_fp32_bs32_1n1g", "on-m1_b_case_fp32_bs32_1n1g"


async def run(paths: CampaignPaths, executor: ScriptedExecutor) -> str | None:
    return await asyncio.wait_for(run_campaign(paths, executor.means, QUICK), 20)


async def until(condition: Callable[[], object]) -> None:
    for _ in range(2000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came")


def states(paths: CampaignPaths) -> dict[str, str]:
    """``a.1`` → state."""
    trials = campaign_status(paths).trials
    return {f"{key.configuration.split('_')[1]}.{key.number}": str(trial.state) for key, trial in trials.items()}


def events(paths: CampaignPaths, name: str) -> list[Event]:
    return [event for event in read_records(paths.journal, Event)[0] if event.event == name]


async def test_repeats_are_interleaved_and_a_machine_has_one_trial_at_a_time(tmp_path):
    paths, executor = campaign(tmp_path, planned("a"), planned("b")), ScriptedExecutor()
    assert await run(paths, executor) is None
    assert executor.called("submit") == ["a.1", "b.1", "a.2", "b.2"]
    assert executor.most_at_once == 1
    assert set(states(paths).values()) == {"succeeded"}
    assert exit_code(campaign_status(paths)) is ExitCode.DONE


async def test_machines_work_side_by_side(tmp_path):
    executor = ScriptedExecutor({name: Script(polls=20) for name in ("a.1", "b.1")})
    await run(campaign(tmp_path, planned("a", "m1"), planned("b", "m2")), executor)
    assert executor.most_at_once == 2


async def test_a_trial_is_archived_sealed_and_measured_before_it_is_said_to_have_ended(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=1))
    await run(paths, ScriptedExecutor())
    trial = paths.trial(TrialKey(A, 1))
    assert checksum_problems(trial) == []
    result = read_record(trial.result, TrialResult)
    assert (result.value, result.unit) == (320.0, "images/s")
    assert read_record(paths.progress, Progress).done == 1


async def test_a_machine_rests_between_trials_as_the_protocol_asks(tmp_path):
    paths = campaign(tmp_path, planned("a", pause=0.3))
    await run(paths, ScriptedExecutor())
    (first, second) = [event.time for event in events(paths, "state") if event.state == "submitted"]
    ended = next(event.time for event in events(paths, "state") if event.state == "succeeded")
    assert first < ended < second
    assert float(second[17:26]) - float(ended[17:26]) >= 0.3 or second[:17] != ended[:17]


async def test_a_lost_trial_is_tried_again_twice_and_then_its_configuration_is_stopped(tmp_path):
    scripts = {f"a.{number}": Script(State.LOST) for number in range(1, 9)}
    paths, executor = campaign(tmp_path, planned("a", repeats=1), planned("b", repeats=1)), ScriptedExecutor(scripts)
    await run(paths, executor)
    assert states(paths) == {"a.1": "lost", "b.1": "succeeded", "a.2": "lost", "a.3": "lost"}
    assert [event.data["retry_of"] for event in events(paths, "planned")] == [1, 2]
    assert list(campaign_status(paths).stopped_configurations) == [A]
    assert exit_code(campaign_status(paths)) is ExitCode.MEASURED_FAILED


async def test_a_retry_that_succeeds_makes_good_for_the_trial(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=1))
    await run(paths, ScriptedExecutor({"a.1": Script(State.LOST)}))
    assert states(paths) == {"a.1": "lost", "a.2": "succeeded"}
    assert exit_code(campaign_status(paths)) is ExitCode.DONE


async def test_a_configuration_that_failed_twice_the_same_way_is_stopped_and_the_rest_goes_on(tmp_path):
    failing = {f"a.{number}": Script(State.FAILED, "exit code 7") for number in range(1, 5)}
    paths, executor = campaign(tmp_path, planned("a", repeats=4), planned("b", repeats=4)), ScriptedExecutor(failing)
    await run(paths, executor)
    assert executor.called("submit") == ["a.1", "b.1", "a.2", "b.2", "b.3", "b.4"]
    assert [states(paths)[name] for name in ("a.1", "a.2", "a.3", "a.4")] == ["failed"] * 2 + ["cancelled"] * 2
    assert "configuration stopped" in (campaign_status(paths).trials[TrialKey(A, 4)].cause or "")


async def test_failures_of_different_kinds_do_not_stop_a_configuration(tmp_path):
    scripts = {"a.1": Script(State.FAILED, "exit code 7"), "a.2": Script(State.FAILED, "exit code 8")}
    paths = campaign(tmp_path, planned("a", repeats=3))
    await run(paths, ScriptedExecutor(scripts))
    assert states(paths) == {"a.1": "failed", "a.2": "failed", "a.3": "succeeded"}


async def test_a_machine_that_is_not_ready_starts_nothing(tmp_path):
    paths = campaign(tmp_path, planned("a"))
    executor = ScriptedExecutor({"x": Script(not_ready="0.1 GiB free")})
    await run(paths, executor)
    assert executor.called("submit") == []
    assert campaign_status(paths).trials[TrialKey(A, 1)].cause == "not ready: m1: disk: 0.1 GiB free"


async def test_busy_gpus_are_waited_for(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=1))
    await run(paths, ScriptedExecutor({"a.1": Script(busy=3)}))
    assert [event.state for event in events(paths, "state")] == ["submitted", "running", "succeeded"]


async def test_gpus_that_stay_busy_are_given_up(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=1))
    await run(paths, ScriptedExecutor({"a.1": Script(busy=1000)}))
    assert states(paths) == {"a.1": "failed", "a.2": "failed"}


LOST = Script(State.LOST, "supervisor and processes are gone and left no exit file", blames=True)


async def test_a_machine_that_failed_twice_in_a_row_is_left_out_and_the_rest_goes_on(tmp_path):
    paths = campaign(tmp_path, planned("a", "m1", repeats=3), planned("b", "m2", repeats=3), planned("c", "m1"))
    executor = ScriptedExecutor({"a.1": replace(LOST), "c.1": replace(LOST)})
    await run(paths, executor)
    assert [name for name in executor.called("submit") if not name.startswith("b")] == ["a.1", "c.1"]
    assert {name: state for name, state in states(paths).items() if state == "succeeded"}.keys() == {
        "b.1",
        "b.2",
        "b.3",
    }
    status = campaign_status(paths)
    why = "failed 2 times in a row: supervisor and processes are gone and left no exit file"
    assert status.left_out == {"m1": why}
    assert status.trials[TrialKey(A, 2)].cause == f"node m1: left out, {why}"
    assert left_out_lines(status) == [f"node m1 is left out: {why}: mend it, then `dlperf retry try`"]


async def test_a_machine_that_did_its_work_in_between_stays(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=3))
    await run(paths, ScriptedExecutor({"a.1": replace(LOST), "a.3": replace(LOST)}))
    assert campaign_status(paths).left_out == {}
    assert states(paths) == {
        f"a.{n}": state for n, state in enumerate(["lost", "succeeded", "lost", *["succeeded"] * 2], 1)
    }


async def test_a_machine_that_is_unfit_twice_is_left_out_after_two_checks(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=5))
    await run(paths, ScriptedExecutor({"x": Script(not_ready="0.1 GiB free")}))
    assert campaign_status(paths).left_out == {"m1": "failed 2 times in a row: disk: 0.1 GiB free"}
    assert list(states(paths).values()) == ["failed"] * 2 + ["cancelled"] * 3


async def test_a_machine_that_is_left_out_stays_so_for_the_next_engine_until_somebody_asks_for_its_trials(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=1))
    await run(paths, ScriptedExecutor({"a.1": replace(LOST), "a.2": replace(LOST)}))
    assert states(paths) == {"a.1": "lost", "a.2": "lost"}
    await run(paths, ScriptedExecutor())
    assert list(campaign_status(paths).left_out) == ["m1"]
    ask(paths, "retry")
    await run(paths, ScriptedExecutor({"a.3": replace(LOST)}))
    assert campaign_status(paths).left_out == {}
    assert states(paths) == {"a.1": "lost", "a.2": "lost", "a.3": "lost"}


TELEMETRY = "time,gpu,utilization_percent,throttle_reasons,foreign_processes\n" + "".join(
    f"{datetime(2026, 1, 1, tzinfo=UTC).timestamp() + second:.1f},0,99,%s\n" for second in range(15)
)
CONTENDED = TELEMETRY.replace("%s", "0x0,1")
THROTTLED = TELEMETRY.replace("%s", "0x40,0")


@pytest.mark.parametrize(
    ("telemetry", "cause"),
    [
        (CONTENDED, "disturbed: other processes were on GPU m1:0 while the trial was measured"),
        (THROTTLED, "disturbed: hardware thermal slowdown on GPU m1:0, in 100% of the samples"),
    ],
)
async def test_a_disturbed_trial_is_repeated_once_and_both_stay(tmp_path, telemetry, cause):
    paths = campaign(tmp_path, planned("a", repeats=1))
    executor = ScriptedExecutor({f"a.{number}": Script(telemetry=telemetry) for number in range(1, 5)})
    await run(paths, executor)
    (planned_again,) = events(paths, "planned")
    assert (planned_again.cause, planned_again.data) == (cause, {"retry_of": 1})
    assert states(paths) == {"a.1": "succeeded", "a.2": "succeeded"}
    results = [read_record(paths.trial(TrialKey(A, number)).result, TrialResult) for number in (1, 2)]
    assert [result.value for result in results] == [320.0, 320.0]


async def test_a_power_cap_disturbs_nothing(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=1))
    await run(paths, ScriptedExecutor({"a.1": Script(telemetry=TELEMETRY.replace("%s", "0x4,0"))}))
    assert states(paths) == {"a.1": "succeeded"}


async def test_a_repeat_whose_machine_failed_is_tried_again_but_not_repeated(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=1))
    disturbed = Script(telemetry=CONTENDED)
    await run(paths, ScriptedExecutor({"a.1": disturbed, "a.2": Script(State.LOST), "a.3": disturbed}))
    assert states(paths) == {"a.1": "succeeded", "a.2": "lost", "a.3": "succeeded"}


async def test_a_trial_that_waits_for_its_machine_can_be_cancelled(tmp_path):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor({"a.1": Script(busy=10**6)})
    engine = asyncio.create_task(run_campaign(paths, executor.means, replace(QUICK, busy=60.0)))
    await until(lambda: executor.scripts["a.1"].busy < 10**6)
    ask(paths, "cancel")
    await asyncio.wait_for(engine, 20)
    assert (states(paths), executor.called("submit")) == ({"a.1": "cancelled"}, [])


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


async def test_what_cannot_be_collected_is_noted_and_the_trial_ends(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=1))
    await run(paths, ScriptedExecutor({"a.1": Script(collect_error=DlperfError("telemetry.csv vanished"))}))
    assert events(paths, "note")[0].cause == "not everything was collected: telemetry.csv vanished"
    assert states(paths) == {"a.1": "succeeded"}


async def test_cancelling_a_campaign_ends_what_runs_and_starts_nothing_more(tmp_path):
    paths, executor = campaign(tmp_path, planned("a"), planned("b")), ScriptedExecutor({"a.1": Script(polls=-1)})
    engine = asyncio.create_task(run(paths, executor))
    await until(lambda: executor.called("submit"))
    ask(paths, "cancel")
    await engine
    assert executor.called("cancel") == ["a.1"]
    assert executor.called("submit") == ["a.1"]
    assert set(states(paths).values()) == {"cancelled"}


async def test_a_trial_that_proves_lost_while_it_is_cancelled_is_not_tried_again(tmp_path):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor({"a.1": Script(polls=-1)})
    executor.on_poll = lambda: executor.nodes.clear() if executor.called("cancel") else None
    engine = asyncio.create_task(run(paths, executor))
    await until(lambda: executor.called("submit"))
    ask(paths, "cancel")
    await engine
    assert states(paths) == {"a.1": "lost"}


async def test_repeats_of_a_job_array_are_submitted_together_without_those_that_were_cancelled(tmp_path):
    item = planned("a", repeats=4)
    array = replace(item, launch=replace(item.launch, executor="slurm", slurm={"array": True, "max_nodes": 1}))
    paths = campaign(tmp_path, array, replace(array, configuration=planned("b").configuration))
    ask(paths, "cancel", TrialKey(A, 2))
    executor = ScriptedExecutor({"a.1": Script(polls=30)})
    await run(paths, executor)
    assert executor.called("submit")[:3] == ["a.1", "a.3", "a.4"]
    assert executor.together["a.1"] == executor.together["a.4"] == (1, 3, 4)
    assert [name for name, state in states(paths).items() if state != "succeeded"] == ["a.2"]
    submitted = [event for event in events(paths, "state") if event.state == "submitted"]
    assert [event.trial for event in submitted[:3]] == [f"{A}/1", f"{A}/3", f"{A}/4"]


async def test_one_trial_is_cancelled_and_the_others_run(tmp_path):
    paths, executor = campaign(tmp_path, planned("a"), planned("b")), ScriptedExecutor()
    ask(paths, "cancel", TrialKey(A, 2))
    await run(paths, executor)
    assert states(paths) == {"a.1": "succeeded", "b.1": "succeeded", "a.2": "cancelled", "b.2": "succeeded"}


async def test_a_paused_campaign_starts_nothing_until_it_is_resumed(tmp_path):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor()
    ask(paths, "pause")
    engine = asyncio.create_task(run(paths, executor))
    await until(lambda: events(paths, "paused"))
    await asyncio.sleep(0.05)
    assert executor.called("submit") == []
    ask(paths, "resume")
    await engine
    assert states(paths) == {"a.1": "succeeded"}


async def test_a_retry_is_run_once_however_often_it_is_asked_for(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=1))
    await run(paths, ScriptedExecutor({"a.1": Script(State.FAILED, "exit code 7")}))
    for _ in range(3):
        ask(paths, "retry", TrialKey(A, 1))
    await run(paths, ScriptedExecutor())
    assert states(paths) == {"a.1": "failed", "a.2": "succeeded"}
    refused = [event.cause for event in events(paths, "request") if event.cause]
    assert len(refused) == 2
    assert "was run again already" in refused[0]


async def test_what_succeeded_is_not_run_again(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=1))
    await run(paths, ScriptedExecutor())
    ask(paths, "retry", TrialKey(A, 1))
    ask(paths, "retry", TrialKey("nobody", 1))
    ask(paths, "levitate")  # type: ignore[arg-type]
    await run(paths, ScriptedExecutor())
    assert [event.cause for event in events(paths, "request")] == [
        f"trial {A}/1 succeeded: a result is not replaced by another try",
        "no trial 'nobody/1' in this campaign",
        "unknown action 'levitate'",
    ]


async def test_a_second_engine_is_refused(tmp_path):
    paths = campaign(tmp_path, planned("a"))
    with engine_lock(paths), pytest.raises(RequestError, match=f"runs already \\(process {os.getpid()}\\)"):
        await run(paths, ScriptedExecutor())


async def test_a_signal_leaves_the_trials_alone_and_the_next_engine_adopts_them(tmp_path):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor({"a.1": Script(polls=-1)})
    engine = asyncio.create_task(run(paths, executor))
    await until(lambda: executor.polled)
    os.kill(os.getpid(), signal.SIGINT)
    assert await engine == "SIGINT"
    assert executor.called("cancel") == []
    assert states(paths) == {"a.1": "running"}
    executor.scripts["a.1"].polls = 0
    assert await run(paths, executor) is None
    assert (executor.called("submit"), executor.called("adopt")) == (["a.1"], ["a.1"])
    assert states(paths) == {"a.1": "succeeded"}


async def test_a_cancel_that_an_engine_did_not_live_to_carry_out_is_carried_out_by_the_next(tmp_path):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor({"a.1": Script(polls=-1)})
    engine = asyncio.create_task(run(paths, executor))
    await until(lambda: states(paths) == {"a.1": "running"})
    engine.cancel()
    await asyncio.gather(engine, return_exceptions=True)
    append_records(paths.journal, [Event("t", "request", data={"action": "cancel", "offset": 0})])
    await run(paths, executor)
    assert states(paths) == {"a.1": "cancelled"}


async def test_a_trial_that_was_never_started_is_started_by_the_next_engine(tmp_path):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor()
    append_records(paths.journal, [Event("t", "state", f"{A}/1", "submitted")])
    await run(paths, executor)
    assert executor.called("submit") == ["a.1"]
    assert states(paths) == {"a.1": "succeeded"}


async def test_a_running_trial_that_no_node_knows_any_more_is_lost_and_tried_again(tmp_path):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor()
    append_records(paths.journal, [Event("t", "state", f"{A}/1", "running")])
    await run(paths, executor)
    assert states(paths) == {"a.1": "lost", "a.2": "succeeded"}


async def test_a_full_disk_ends_the_engine_and_the_next_one_collects(tmp_path, monkeypatch):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor()

    def full(*_: object) -> None:
        raise StorageError("SHA256SUMS: cannot be written (No space left on device)")

    with monkeypatch.context() as patch:
        patch.setattr("dlperf.campaign.stages.write_checksums", full)
        with pytest.raises(StorageError, match="No space left"):
            await run(paths, executor)
    assert states(paths) == {"a.1": "running"}
    await run(paths, executor)
    assert executor.called("submit") == ["a.1"]
    assert states(paths) == {"a.1": "succeeded"}


async def test_a_full_disk_while_tailing_ends_the_engine(tmp_path, monkeypatch):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor()

    async def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", "out.log")

    monkeypatch.setattr(executor, "tail", full)
    with pytest.raises(StorageError, match=r"out\.log: No space left on device"):
        await run(paths, executor)
    assert states(paths)["a.1"] == "submitted"
