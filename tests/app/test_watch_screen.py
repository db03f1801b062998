"""The Watch screen is a view of a campaign's files, as they change."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime

import pytest
from builder import (
    NOW,
    POINTS,
    CampaignBuilder,
    clock,
    engine_of,
    finished_campaign,
    large_campaign,
    planned,
    running_campaign,
    training_log,
)
from driving import driving, press, screen_of, shown, until, until_gone, until_shown

from dlperf.app.app import DlperfApp
from dlperf.app.model.trials import TrialGroup
from dlperf.app.screens.trial import TrialScreen
from dlperf.app.screens.watch import WatchScreen
from dlperf.app.watching import WatchedCampaign
from dlperf.messages import message, quoted
from dlperf.plan import TrialKey
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.records import Event, State, TrialProgress

RUNNING = TrialKey(POINTS[1].id, 2)


async def test_trials_are_grouped_with_state_step_throughput_and_time_left(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(
                pilot, "71/120", "3,010 images/s", "1m38 left", "4m00", "▶ running", "✗ failed", "about 2h20 left"
            )
            await until_shown(pilot, "pytorch · amp · bs256 · 1n8g · h200  2 ✓ of 3  ★ best  median 23,072 images/s")


async def test_trials_that_did_not_succeed_are_counted_for_themselves(workspace: WorkspacePaths):
    builder = CampaignBuilder(workspace, "mixed", [planned(POINTS[0], 4)])
    builder.succeeded(builder.trials[0], 1000.0)
    for trial, state in zip(builder.trials[1:], (State.FAILED, State.LOST, State.CANCELLED), strict=True):
        builder.state(trial, state, 60)
    builder.event(Event(clock(900), "campaign_finished"))
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "1n8g · h200  1 ✓ 2 ✗ 1 –  median")


async def test_a_trial_that_is_open_does_not_hide_the_campaign_that_is_watched_next(workspace: WorkspacePaths):
    finished_campaign(workspace, "newer", day=4)
    finished_campaign(workspace, "older", day=5)
    async with driving(workspace) as pilot:
        await until_shown(pilot, "newer", "older")
        await press(pilot, "enter", "o")
        await until_shown(pilot, "1n8g · h200 #1", "warm-up to step 20")
        await press(pilot, "1", "down", "enter")
        await until_shown(pilot, "older  finished", "22,970 images/s")


async def test_what_the_engine_writes_appears(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "71/120", "step=71")
            builder.log(RUNNING, training_log(3010.0, 1, first=72))
            builder.progress({RUNNING: TrialProgress(72, 120, 3020.0, "images/s", (3000.0, 3020.0), 96.0)})
            await until_shown(pilot, "72/120", "3,020 images/s", "step=72")
            builder.succeeded(RUNNING, 3011.0, 1302)
            builder.event(Event(clock(1600), "campaign_finished"))
            await until_shown(pilot, "median 3,012 images/s")


async def test_columns_of_running_trials_go_when_the_campaign_has_finished(workspace: WorkspacePaths):
    builder = CampaignBuilder(workspace, "one", [planned(POINTS[0], 1)])
    key = builder.trials[0]
    builder.state(key, State.RUNNING, 1)
    builder.log(key, training_log(1000.0, 20))
    builder.progress({key: TrialProgress(20, 120, 1000.0, "images/s", (990.0, 1000.0), 96.0)})
    with engine_of(builder.paths):
        async with driving(workspace, size=(80, 24), start_screen="watch") as pilot:
            await until_shown(pilot, "20/120", "recent")
            builder.succeeded(key, 1000.0)
            builder.event(Event(clock(100), "campaign_finished"))
            await until_shown(pilot, "finished")
            await until_gone(pilot, "recent")


async def test_the_log_and_the_machines_of_the_selected_trial_are_shown(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "step=71", "597 W", "1410", "5!")
            await pilot.press("slash", *"failed", "enter")
            await until_shown(pilot, "torch.OutOfMemoryError")
            assert "71/120" not in shown(pilot)


async def test_machines_of_a_trial_are_not_taken_for_those_of_the_next(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    following = TrialKey(POINTS[2].id, 2)
    builder.state(following, State.RUNNING, 1310)
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "597 W")
            screen = screen_of(pilot, WatchScreen)
            assert screen.campaign is not None
            assert screen.devices.devices
            screen.devices.show_trial(screen.campaign, following, screen.now)
            assert not screen.devices.devices


async def test_an_unreachable_node_is_named_with_the_time(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    silence = message("goes_on_there", cause=quoted("RuntimeError: rank 3 cannot be reached (timeout)"))
    builder.event(Event(clock(1310), "node_unreachable", cause=silence, data={"node": "h200-01"}))
    progress = TrialProgress(71, 120, 3010.4, "images/s", (), 98.0, {"h200-01": clock(1310)})
    builder.progress({RUNNING: progress})
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, f"h200-01 unreachable since 05-04 10:21: {silence}")
            builder.event(Event(clock(1320), "node_reachable", data={"node": "h200-01"}))
            await until_gone(pilot, "its trials keep running")


async def test_a_trial_that_waits_says_for_what_and_why_it_has_no_log(workspace: WorkspacePaths):
    builder = CampaignBuilder(workspace, "waiting", [planned(POINTS[0], 1)])
    key = builder.trials[0]
    builder.state(key, State.SUBMITTED, 5)
    builder.progress({key: TrialProgress(pending_reason=quoted("Resources (job 4711)"))})
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "waits: Resources (job 4711)", "No log yet: the node has not written anything")


async def test_the_engine_that_died_is_noticed_while_watching(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    async with driving(workspace, start_screen="watch") as pilot:
        with engine_of(builder.paths):
            await until_shown(pilot, "h200-nightly  running")
        await until_shown(pilot, "The engine has stopped before the end. R starts it again")


async def test_a_group_is_folded_and_unfolded(workspace: WorkspacePaths):
    finished_campaign(workspace, "done")
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "#1", "#2", "#3")
        await pilot.press("space")
        await until_gone(pilot, "#2")
        await pilot.press("enter")
        await until_shown(pilot, "#1", "#2", "#3")


async def test_a_trial_opens_with_curve_figure_environment_command_and_log(workspace: WorkspacePaths):
    finished_campaign(workspace, "done")
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "22,970 images/s")
        await pilot.press("o")
        await until(pilot, lambda: isinstance(pilot.app.screen, TrialScreen))
        await until_shown(pilot, "warm-up to step 20", "measured: steps 20 to 120", "axis starts at")
        await pilot.press("tab")
        await until_shown(pilot, "22,970 images/s", "rate(skip=20, take=100)", "mean()", "24 to 124")
        await pilot.press("tab")
        await until_shown(pilot, "Stated by the catalogue", "580.12")
        await pilot.press("tab")
        await until_shown(pilot, "Nothing was sent, or it is not here.", "torchrun")
        await pilot.press("tab")
        await until_shown(pilot, "step=120")
        await pilot.press("m")
        await until_shown(pilot, "paused at line 24")
        lines = [
            log.file.line_at(start)
            for log in [screen_of(pilot, TrialScreen).log_view.log_shown]
            if log
            for start in screen_of(pilot, TrialScreen).log_view.highlighted[
                :: len(screen_of(pilot, TrialScreen).log_view.highlighted) - 1
            ]
        ]
        assert [line.data.split()[2] for line in lines if line] == [b"step=20", b"step=120"]
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, WatchScreen))


async def test_ten_thousand_trials_are_shown_and_walked_through(workspace: WorkspacePaths):
    builder = large_campaign(workspace, configurations=500, repeats=20, running=3)
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "0 of 10,000", "bs1 ")
        trials = screen_of(pilot, WatchScreen).trials
        assert len(trials.keys) == 10_500
        trials.focus()
        await pilot.press("end")
        await until_shown(pilot, "bs500 ", "#20")
        await pilot.press("slash", *"bs77", "enter")
        await until_shown(pilot, "bs77 ")
        builder.event(Event(clock(9), "state", str(builder.trials[0]), "running"))
        await pilot.press("escape")
        await until_shown(pilot, "3 running")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (40, 10)])
async def test_the_screen_can_be_resized_while_it_runs(workspace: WorkspacePaths, size: tuple[int, int]):
    builder = running_campaign(workspace)
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "71/120")
            await pilot.resize_terminal(*size)
            await until_shown(pilot, "dlperf", "resnet50 · pytorch")


async def test_what_ends_while_a_trial_is_looked_at_is_counted_on_return(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "2 ✓ of 3  ★ best  median 23,072 images/s")
            await pilot.press("o")
            await until_shown(pilot, "Environment")
            screen = screen_of(pilot, TrialScreen)
            key = TrialKey(POINTS[0].id, 3)
            builder.succeeded(key, 23200.0, 1400)
            await until(pilot, lambda: screen._campaign.status.trials[key].state is State.SUCCEEDED)
            await pilot.press("escape")
            await until_shown(pilot, "3 ✓  ★ best  median 23,103 images/s")


async def test_the_log_that_is_read_stays_when_others_come(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    builder.log(RUNNING, "rank 0 speaks\n", name="ranks/worker.0")
    builder.log(RUNNING, "rank 1 speaks\n", name="ranks/worker.2")
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "71/120", "h200-01 1/3")
            await pilot.press("]", "]")
            await until_shown(pilot, "worker.2 3/3", "rank 1 speaks")
            builder.log(RUNNING, "another rank\n", name="ranks/worker.1")
            await until_shown(pilot, "worker.2 4/4", "rank 1 speaks")


def written(builder: CampaignBuilder, seconds: float) -> None:
    """What the engine has of the running trial is so old."""
    moment = datetime.fromisoformat(NOW).timestamp() - seconds
    for path in builder.paths.trial(RUNNING).node("h200-01").directory.iterdir():
        os.utime(path, (moment, moment))


async def test_a_node_that_sends_nothing_is_said_not_to_answer_before_the_connection_breaks(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    written(builder, 12)
    with engine_of(builder.paths):
        async with driving(workspace, size=(160, 40), start_screen="watch") as pilot:
            await until_shown(pilot, "h200-01: no answer for 12s", "at least 2h20 left", "2h04 so far", "1h42")
            assert "1m38 left" not in shown(pilot)
            written(builder, 0)
            await until_shown(pilot, "about 2h20 left", "1m38 left")


async def test_the_time_that_a_node_has_not_answered_grows_while_nothing_is_written(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    builder.telemetry(RUNNING)
    node = builder.paths.trial(RUNNING).node("h200-01")
    written(builder, 40)
    with engine_of(builder.paths):
        async with driving(workspace, size=(160, 40), start_screen="watch") as pilot:
            for age in (12, 30):
                moment = datetime.fromisoformat(NOW).timestamp() - age
                os.utime(node.log, (moment, moment))
                said = f"h200-01: no answer for {age}s"
                await until(
                    pilot, lambda said=said: shown(pilot).count(said) == 2
                )  # beside the trial, and its machines


async def test_a_log_that_does_not_grow_is_said_to_be_silent(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    written(builder, 130)
    (builder.paths.trial(RUNNING).node("h200-01").telemetry).touch()
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "silent for 2m10", "at least 2h20 left")


async def test_the_machines_of_a_finished_trial_are_shown_with_their_means(workspace: WorkspacePaths):
    builder = finished_campaign(workspace, "done")
    header = (
        "time,gpu,utilization_percent,memory_used_mib,power_watts,sm_clock_mhz,memory_clock_mhz,temperature_celsius"
    )
    rows = ["1,0,100,10240,600,1980,2619,70", "2,0,80,61440,500,1980,2619,60", "3,0,0,1024,100,345,2619,50"]
    path = builder.paths.trial(builder.trials[0]).node("h200-01").telemetry
    path.write_text("\n".join([header, *rows]) + "\n")
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "Whole trial: means, peak memory and heat", "60 %", "60 GiB", "400 W", "70 °C", "1435")
        await pilot.resize_terminal(80, 24)
        await until_shown(pilot, "h200-01, whole trial: GPU 60 % 60 GiB 400 W 70 °C")


async def test_what_gpus_did_over_time_is_shown_where_there_is_room(workspace: WorkspacePaths):
    builder = finished_campaign(workspace, "done")
    header = "time,gpu,utilization_percent,memory_used_mib,power_watts,sm_clock_mhz"
    rows = [f"{second},0,{50 + second},61440,{100 * second},1980" for second in range(1, 8)]
    path = builder.paths.trial(builder.trials[0]).node("h200-01").telemetry
    path.write_text("\n".join([header, *rows]) + "\n")
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "▂▃▄▄▅▆▇ power", "▇▇▇▇▇▇▇ MHz")
        await pilot.resize_terminal(120, 12)
        await until_gone(pilot, "▂▃▄▄▅▆▇ power")


async def test_events_are_listed_with_time_and_cause(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    silence = message("no_answer", server="h200-01 port 22", seconds=10)
    builder.event(Event(clock(1310), "node_unreachable", cause=silence, data={"node": "h200-01"}))
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "step=71")
        await pilot.press("E")
        await until_shown(
            pilot, "05-04 10:21:50  node lost", "h200-01 port 22", "✗ failed", "campaign started", str(RUNNING)
        )


async def test_the_cursor_stays_where_it_was_moved_until_it_is_to_follow_what_runs_again(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "71/120", "following what runs (F)")
            await press(pilot, "up")
            await until_gone(pilot, "following what runs (F)")
            stays = screen_of(pilot, WatchScreen).trials.selected
            builder.succeeded(RUNNING, 3011.0, 1302)
            following = TrialKey(POINTS[2].id, 2)
            builder.state(following, State.RUNNING, 1600)
            await until_shown(pilot, "3,011 images/s")
            assert screen_of(pilot, WatchScreen).trials.selected == stays
            await press(pilot, "F")
            await until(pilot, lambda: screen_of(pilot, WatchScreen).trials.selected == following)


async def test_only_failed_trials_are_shown_and_all_are_folded_by_one_key_each(workspace: WorkspacePaths):
    running_campaign(workspace)
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "71/120")
        await press(pilot, "exclamation_mark")
        await until_gone(pilot, "71/120")
        await until_shown(pilot, "failed ones only (!)", "✗ failed")
        await press(pilot, "exclamation_mark", "O")
        await until_gone(pilot, "✗ failed")
        await press(pilot, "O")
        await until_shown(pilot, "✗ failed", "71/120")


async def test_the_cursor_follows_the_trial_that_runs(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "71/120")
            builder.succeeded(RUNNING, 3011.0, 1302)
            following = TrialKey(POINTS[2].id, 2)
            builder.state(following, State.RUNNING, 1600)
            await until(pilot, lambda: screen_of(pilot, WatchScreen).trials.selected == following)


async def test_a_log_is_read_in_the_pager_of_the_user(workspace: WorkspacePaths, monkeypatch: pytest.MonkeyPatch):
    finished_campaign(workspace, "done")
    copied = workspace.root / "paged"
    monkeypatch.setenv("PAGER", f"tee {copied} <")
    monkeypatch.setattr(DlperfApp, "suspend", lambda _app: nullcontext())
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "step=120")
        await pilot.press("v")
        await until(pilot, copied.is_file)
        assert "step=120" in copied.read_text()


async def test_each_gpu_shows_what_it_did_over_time(workspace: WorkspacePaths):
    running_campaign(workspace)
    async with driving(workspace, size=(160, 40), start_screen="watch") as pilot:
        await until_shown(pilot, "▇▇▇  97 %")
        await press(pilot, "H")
        await until_shown(pilot, "Machines over time", "busy", "power", "MHz", "memory", "▇▇▇▇▇▇▇▇▇▇")
        await until_shown(pilot, "h200-01", "1410", "595 W", "61 GiB")
        await press(pilot, "end")
        await until_shown(pilot, "0s───", "───2s")


async def test_configurations_are_ranked_while_they_are_measured(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    paddle = POINTS[3]
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "★ best  median 23,072 images/s", "97.1 % of best  median 22,410 images/s")
            await press(pilot, "s")
            trials = screen_of(pilot, WatchScreen).trials
            groups = [key.configuration for key in trials.keys if isinstance(key, TrialGroup)]
            assert groups[:2] == [POINTS[0].id, paddle.id]
            builder.succeeded(TrialKey(paddle.id, 2), 26000.0, 1400)
            await until_shown(pilot, "★ best  median 24,205 images/s", "95.3 % of best")
            assert trials.keys[0] == TrialGroup(paddle.id)


async def test_escape_leads_back_to_the_campaigns_once_nothing_is_filtered(workspace: WorkspacePaths):
    finished_campaign(workspace, "done")
    async with driving(workspace) as pilot:
        await until_shown(pilot, "✓ finished")
        await press(pilot, "enter")
        await until_shown(pilot, "22,970 images/s")
        await press(pilot, "slash", *"none", "enter", "escape")
        await until_shown(pilot, "22,970 images/s")
        await press(pilot, "escape")
        await until_shown(pilot, "✓ finished", "best result")


def test_nobody_logs_in_to_the_machine_that_the_program_runs_on(workspace: WorkspacePaths):
    plan = planned(POINTS[0], 1)
    nodes = tuple(replace(node, transport="local", host="localhost") for node in plan.launch.nodes)
    local = replace(plan, launch=replace(plan.launch, nodes=nodes))
    for item, login in ((plan, plan.launch.nodes[0].host), (local, None)):
        builder = CampaignBuilder(workspace, f"login-{login}", [item])
        (stream,) = WatchedCampaign(builder.paths).streams(builder.trials[0])
        assert (stream.login[-1] if stream.login else None) == login
