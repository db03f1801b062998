"""The Watch screen is a view of a campaign's files, as they change."""

from __future__ import annotations

import pytest
from builder import (
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
from driving import driving, press, screen_of, until, until_gone, until_shown, watching

from dlperf.app.model.events import event_columns
from dlperf.app.model.table import columns_that_fit
from dlperf.app.model.trials import TrialGroup
from dlperf.app.screens.trial import TrialScreen
from dlperf.app.screens.watch import WatchScreen
from dlperf.messages import message
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
            await until_shown(pilot, "pytorch · amp · bs256 · 1n8g · h200  2 ✓ of 3  best  median 23,072 images/s")


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
    async with watching(workspace) as (pilot, _builder):
        await pilot.resize_terminal(*size)
        await until_shown(pilot, "dlperf", "resnet50 · pytorch")


async def test_what_ends_while_a_trial_is_looked_at_is_counted_on_return(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "2 ✓ of 3  best  median 23,072 images/s")
            await pilot.press("o")
            await until_shown(pilot, "Environment")
            screen = screen_of(pilot, TrialScreen)
            key = TrialKey(POINTS[0].id, 3)
            builder.succeeded(key, 23200.0, 1400)
            await until(pilot, lambda: screen._campaign.status.trials[key].state is State.SUCCEEDED)
            await pilot.press("escape")
            await until_shown(pilot, "3 ✓  best  median 23,103 images/s")


async def test_events_are_listed_with_time_and_cause(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    silence = message("no_answer", server="h200-01 port 22", seconds=10)
    builder.event(Event(clock(1310), "node_unreachable", str(RUNNING), cause=silence, data={"node": "h200-01"}))
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "step=71")
        await pilot.press("E")
        await until_shown(
            pilot, "05-04 10:21:50  node lost         h200-01 · #2 ", "h200-01 port 22", "✗ failed", "campaign started"
        )


def test_events_name_their_trial_in_a_narrow_window():
    assert [index for index, _width in columns_that_fit(event_columns(), 70, (14, 19, 40, 60))] == [0, 1, 2, 3]


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
    async with watching(workspace) as (pilot, builder):
        builder.succeeded(RUNNING, 3011.0, 1302)
        following = TrialKey(POINTS[2].id, 2)
        builder.state(following, State.RUNNING, 1600)
        await until(pilot, lambda: screen_of(pilot, WatchScreen).trials.selected == following)


async def test_configurations_are_ranked_while_they_are_measured(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    paddle = POINTS[3]
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "best  median 23,072 images/s", "97.1 % of best  median 22,410 images/s")
            await press(pilot, "s")
            trials = screen_of(pilot, WatchScreen).trials
            groups = [key.configuration for key in trials.keys if isinstance(key, TrialGroup)]
            assert groups[:2] == [POINTS[0].id, paddle.id]
            builder.succeeded(TrialKey(paddle.id, 2), 26000.0, 1400)
            await until_shown(pilot, "best  median 24,205 images/s", "95.3 % of best")
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
