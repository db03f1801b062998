"""What the engine makes of trials and machines that fail: again, stopped, left out, repeated."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from driving_engine import A, events, run, states, until
from scripted import QUICK, Script, ScriptedExecutor, campaign, planned, short

from dlperf.campaign.create import trial_id
from dlperf.campaign.rules import exit_code
from dlperf.cli.running.text import left_out_lines
from dlperf.errors import ExitCode
from dlperf.executors.base import Trial
from dlperf.measured.model import TrialResult
from dlperf.messages import message
from dlperf.plan import Launch, TrialKey
from dlperf.runs.control import ask
from dlperf.runs.journal import campaign_status
from dlperf.runs.paths import CampaignPaths
from dlperf.runs.records import Event, State
from dlperf.runs.store import append_records, read_campaign
from kept_records import read_record


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
    failing = {f"a.{number}": failed(7) for number in range(1, 5)}
    paths, executor = campaign(tmp_path, planned("a", repeats=4), planned("b", repeats=4)), ScriptedExecutor(failing)
    await run(paths, executor)
    assert executor.called("submit") == ["a.1", "b.1", "a.2", "b.2", "b.3", "b.4"]
    assert [states(paths)[name] for name in ("a.1", "a.2", "a.3", "a.4")] == ["failed"] * 2 + ["cancelled"] * 2
    cause = campaign_status(paths).trials[TrialKey(A, 4)].cause
    assert cause is not None
    assert cause.code == "configuration_stopped"


async def test_failures_of_different_kinds_do_not_stop_a_configuration(tmp_path):
    scripts = {
        "a.1": failed(7),
        "a.2": failed(8),
    }
    paths = campaign(tmp_path, planned("a", repeats=3))
    await run(paths, ScriptedExecutor(scripts))
    assert states(paths) == {"a.1": "failed", "a.2": "failed", "a.3": "succeeded"}


def failed(code: int) -> Script:
    return Script(State.FAILED, message("exit_code", code_value=code))


def left_out(paths: CampaignPaths) -> dict[str, str]:
    return {node: str(cause) for node, cause in campaign_status(paths).left_out.items()}


LOST = Script(State.LOST, message("no_exit_file"), blames=True)


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
    why = "failed 2 times in a row: the supervisor and its processes have ended without an exit file"
    assert left_out(paths) == {"m1": why}
    assert str(status.trials[TrialKey(A, 2)].cause) == f"node m1 is excluded: {why}"
    assert left_out_lines(status) == [f"node m1 is left out: {why}: fix it, then `dlperf retry try`"]


async def test_a_machine_that_did_its_work_in_between_stays(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=3))
    await run(paths, ScriptedExecutor({"a.1": replace(LOST), "a.3": replace(LOST)}))
    assert campaign_status(paths).left_out == {}
    assert states(paths) == {
        f"a.{n}": state for n, state in enumerate(["lost", "succeeded", "lost", *["succeeded"] * 2], 1)
    }


class LateCollecting(ScriptedExecutor):
    """Collects one trial only after the end of the next one is in the journal."""

    def __init__(self, paths: CampaignPaths, first: str, then: str, scripts: dict[str, Script]) -> None:
        super().__init__(scripts)
        self.late, self.ended = first, lambda: states(paths)[then] == "lost"

    async def collect(self, trial: Trial) -> None:
        if short(trial) == self.late:
            await until(self.ended)
        await super().collect(trial)


async def test_a_failure_counts_though_the_success_before_it_is_archived_later(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=4))
    await run(paths, LateCollecting(paths, "a.1", "a.2", {f"a.{number}": replace(LOST) for number in (2, 3)}))
    assert [states(paths)[f"a.{number}"] for number in (1, 2, 3, 4)] == ["succeeded", "lost", "lost", "cancelled"]
    assert left_out(paths).keys() == {"m1"}


async def test_a_success_counts_before_it_is_archived(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=3))
    await run(paths, LateCollecting(paths, "a.2", "a.3", {f"a.{number}": replace(LOST) for number in (1, 3)}))
    assert [states(paths)[f"a.{number}"] for number in (1, 2, 3)] == ["lost", "succeeded", "lost"]
    assert left_out(paths) == {}


async def test_a_machine_that_is_unfit_twice_is_left_out_after_two_checks(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=5))
    await run(paths, ScriptedExecutor({"x": Script(not_ready="0.1 GiB free")}))
    assert left_out(paths) == {"m1": "failed 2 times in a row: disk: 0.1 GiB free"}
    assert list(states(paths).values()) == ["failed"] * 2 + ["cancelled"] * 3


async def test_a_machine_that_does_not_answer_for_a_while_is_waited_for_and_the_others_go_on(tmp_path):
    paths = campaign(tmp_path, planned("a", "m1", repeats=1), planned("b", "m2", repeats=3))
    executor = ScriptedExecutor(deaf={"m1": 10**6})

    def answer_when_the_others_are_done() -> None:
        if "b.3" in executor.called("submit"):
            executor.deaf.clear()

    executor.on_poll = answer_when_the_others_are_done
    await run(paths, executor, replace(QUICK, silence=600.0))
    assert executor.called("submit") == ["b.1", "b.2", "b.3", "a.1"]
    assert set(states(paths).values()) == {"succeeded"}
    assert [event.data for event in events(paths, "node_unreachable")] == [{"node": "m1"}]
    assert len(events(paths, "node_reachable")) == 1
    assert campaign_status(paths).unreachable == {}


async def test_a_machine_that_never_answered_is_waited_for_only_shortly(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=3))
    executor = ScriptedExecutor(deaf={"m1": 10**6})
    await run(paths, executor, replace(QUICK, silence=10**6, first_answer=0.05))
    assert left_out(paths) == {"m1": "failed 2 times in a row: unreachable: no route to host"}
    (silence,) = events(paths, "node_unreachable")
    assert str(silence.cause) == "no route to host; no answer yet after 0.05 s of attempts"


@pytest.mark.parametrize("engines", [1, 2])
async def test_a_machine_that_answered_before_is_waited_for_also_by_the_next_engine(tmp_path, engines):
    paths = campaign(tmp_path, planned("a", repeats=2))
    executor = ScriptedExecutor(deaf={"m1": 0})

    def fall_silent() -> None:
        executor.deaf = {"m1": 20}
        executor.on_poll = lambda: None
        if engines == 2:
            os.kill(os.getpid(), signal.SIGTERM)

    executor.on_poll = fall_silent
    for _ in range(engines):
        await run(paths, executor, replace(QUICK, silence=600.0, first_answer=0.01))
    assert states(paths) == {"a.1": "succeeded", "a.2": "succeeded"}
    (silence,) = events(paths, "node_unreachable")
    assert str(silence.cause) == "no route to host; waiting for up to 10 min"


async def test_a_machine_that_stays_silent_is_left_out_in_the_end(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=3))
    await run(paths, ScriptedExecutor(deaf={"m1": 10**6}))
    assert left_out(paths) == {"m1": "failed 2 times in a row: unreachable: no route to host"}
    assert list(campaign_status(paths).unreachable) == ["m1"]


SILENT = Script(silent=10**9)
BOUNDED = replace(QUICK, silence=0.12)


async def test_a_trial_ends_after_its_deadline_though_its_machine_is_silent_and_the_next_one_starts(tmp_path):
    short, other = (planned(name, repeats=1) for name in "ab")
    paths = campaign(tmp_path, replace(short, launch=replace(short.launch, deadline_seconds=0.05)), other)
    executor = ScriptedExecutor(scripts={f"a.{number}": SILENT for number in (1, 2, 3)})
    await run(paths, executor, BOUNDED)
    assert states(paths) == {"a.1": "failed", "b.1": "succeeded", "a.2": "failed", "a.3": "failed"}
    first, *_ = events(paths, "node_unreachable")
    assert str(first.cause) == "waiting for an answer; waiting until 0.002 min after the trial's deadline"
    cause = str(campaign_status(paths).trials[TrialKey(short.configuration.id, 1)].cause)
    assert cause.startswith("unreachable since 2026-01-01T00:00:00Z: waiting for an answer; given up 0.002 min after")


async def test_before_its_deadline_a_trial_is_waited_for_however_long_its_machine_is_silent(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=1))
    executor = ScriptedExecutor(scripts={"a.1": Script(silent=60)})
    await run(paths, executor, replace(QUICK, silence=0.01))
    assert states(paths) == {"a.1": "succeeded"}


async def test_a_submission_that_is_never_answered_ends_after_the_deadline(tmp_path):
    item = planned("a", repeats=1)
    paths = campaign(tmp_path, replace(item, launch=replace(item.launch, deadline_seconds=0.05)))
    executor = ScriptedExecutor(scripts={f"a.{number}": Script(unreachable=10**9) for number in (1, 2, 3)})
    await run(paths, executor, BOUNDED)
    causes = [str(trial.cause) for trial in campaign_status(paths).trials.values()]
    assert causes[0].startswith("unreachable: node n: no route to host; given up 0.002 min after the trial's deadline")
    assert set(states(paths).values()) == {"failed"}


async def test_a_machine_that_answers_and_refuses_is_not_waited_for(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=3))
    await run(paths, ScriptedExecutor(refusing={"m1"}), replace(QUICK, silence=600.0))
    assert left_out(paths) == {"m1": "failed 2 times in a row: unreachable: wrong key"}
    assert campaign_status(paths).unreachable == {}


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
        (CONTENDED, "disturbed: other processes used GPU m1:0 while the trial was measured"),
        (THROTTLED, "disturbed: hardware thermal slowdown on GPU m1:0, in 100 % of the samples"),
    ],
)
async def test_a_disturbed_trial_is_repeated_once_and_both_stay(tmp_path, telemetry, cause):
    paths = campaign(tmp_path, planned("a", repeats=1))
    executor = ScriptedExecutor({f"a.{number}": Script(telemetry=telemetry) for number in range(1, 5)})
    await run(paths, executor)
    (planned_again,) = events(paths, "planned")
    assert (str(planned_again.cause), planned_again.data) == (cause, {"retry_of": 1})
    assert states(paths) == {"a.1": "succeeded", "a.2": "succeeded"}
    results = [read_record(paths.trial(TrialKey(A, number)).result, TrialResult) for number in (1, 2)]
    assert [result.value for result in results] == [320.0, 320.0]


async def test_a_repeat_is_next_so_that_two_sides_still_alternate(tmp_path):
    sides = [planned(name, repeats=3) for name in "ab"]
    here = [replace(each, launch=on_this_machine(each.launch)) for each in sides]  # it is measured before the next one
    executor = ScriptedExecutor({"a.2": Script(telemetry=CONTENDED)})
    await run(campaign(tmp_path, *here), executor)
    assert executor.called("submit") == ["a.1", "b.1", "a.2", "a.4", "b.2", "a.3", "b.3"]


def on_this_machine(launch: Launch) -> Launch:
    return replace(launch, nodes=tuple(replace(node, transport="local") for node in launch.nodes))


async def test_a_power_cap_disturbs_nothing(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=1))
    await run(paths, ScriptedExecutor({"a.1": Script(telemetry=TELEMETRY.replace("%s", "0x4,0"))}))
    assert states(paths) == {"a.1": "succeeded"}


async def test_a_repeat_whose_machine_failed_is_tried_again_but_not_repeated(tmp_path):
    paths = campaign(tmp_path, planned("a", repeats=1))
    disturbed = Script(telemetry=CONTENDED)
    await run(paths, ScriptedExecutor({"a.1": disturbed, "a.2": Script(State.LOST), "a.3": disturbed}))
    assert states(paths) == {"a.1": "succeeded", "a.2": "lost", "a.3": "succeeded"}


async def test_a_trial_that_its_machines_do_not_end_after_its_deadline_is_given_up(tmp_path):
    item = planned("a", repeats=1)
    paths = campaign(tmp_path, replace(item, launch=replace(item.launch, deadline_seconds=0.01)))
    executor = ScriptedExecutor({"a.1": Script(polls=-1)})
    await run(paths, executor, replace(QUICK, late=0.05))
    assert states(paths) == {"a.1": "timed_out"}
    assert set(executor.called("time_out")) == {"a.1"}


async def test_a_trial_that_is_seen_only_long_after_its_deadline_has_time_to_say_how_it_ended(tmp_path):
    executor = ScriptedExecutor({"a.1": Script(polls=9, age=1e6)})
    paths = campaign(tmp_path, planned("a", repeats=1))
    await run(paths, executor)
    assert states(paths) == {"a.1": "succeeded"}
    assert executor.called("time_out")


async def test_no_trial_is_late_by_what_its_machine_said_before_the_engine_was_stopped(tmp_path):
    executor = ScriptedExecutor({"a.1": Script(polls=9, stale=9, age=1e6)})
    paths = campaign(tmp_path, planned("a", repeats=1))
    await run(paths, executor, replace(QUICK, late=0.001))
    assert states(paths) == {"a.1": "succeeded"}
    assert executor.called("time_out") == []


async def test_a_clock_that_was_set_forward_between_two_engines_ends_no_trial(tmp_path):
    paths, long_ago = campaign(tmp_path, planned("a", repeats=1)), "2001-01-01T00:00:00.000000Z"
    append_records(paths.journal, [Event(long_ago, "state", f"{A}/1", state) for state in ("submitted", "running")])
    executor = ScriptedExecutor({"a.1": Script(polls=9, age=5.0)})
    executor.nodes[trial_id(read_campaign(paths), TrialKey(A, 1))] = "running"
    await run(paths, executor)
    assert states(paths) == {"a.1": "succeeded"}
    assert executor.called("time_out") == []


async def test_a_clock_that_is_set_forward_ends_no_trial(tmp_path, monkeypatch):
    paths, executor = campaign(tmp_path, planned("a", repeats=1)), ScriptedExecutor({"a.1": Script(polls=9)})

    def set_clock() -> None:
        if "running" in {event.state for event in events(paths, "state")}:
            for module in ("engine", "running"):
                monkeypatch.setattr(f"dlperf.campaign.{module}.utc_now", lambda: "2999-01-01T00:00:00.000000Z")

    executor.on_poll = set_clock
    await run(paths, executor)
    assert states(paths) == {"a.1": "succeeded"}
    assert executor.called("time_out") == []
