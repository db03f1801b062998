"""Cancel, pause and retry in the Watch screen are requests to the engine."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builder import (
    POINTS,
    CampaignBuilder,
    clock,
    engine_of,
    planned,
    running_campaign,
)
from driving import driving, press, screen_of, shown, until, until_gone, until_shown, watching

from dlperf.app.dialogs.confirm import ConfirmScreen
from dlperf.app.model.trials import TrialGroup
from dlperf.app.screens.watch import WatchScreen
from dlperf.messages import message
from dlperf.plan import TrialKey
from dlperf.plan.model import IMPORTED
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.records import Event, Request
from dlperf.runs.store import read_records

RUNNING = TrialKey(POINTS[1].id, 2)


def requests_of(builder: CampaignBuilder) -> list[tuple[str, str | None]]:
    records, _ = read_records(builder.paths.control, Request)
    return [(record.action, record.trial) for record in records]


async def test_cancelling_says_what_ends_and_asks(workspace: WorkspacePaths):
    async with watching(workspace) as (pilot, builder):
        await pilot.press("x")
        await until_shown(pilot, "Cancel this trial?", "#2  running  h200-01", "TERM now, KILL after 10 s")
        await pilot.press("escape")
        await until_gone(pilot, "Cancel this trial?")
        assert requests_of(builder) == []
        await pilot.press("x")
        await until_shown(pilot, "Cancel this trial?")
        await pilot.press("y")
        await until_shown(pilot, "cancel requested")
        assert requests_of(builder) == [("cancel", str(RUNNING))]


async def test_a_key_typed_ahead_does_not_answer_the_question(
    workspace: WorkspacePaths, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("dlperf.app.dialogs.confirm.PATIENCE_SECONDS", 3600.0)  # however slow this machine is
    async with watching(workspace) as (pilot, builder):
        await pilot.press("x", "y")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        assert requests_of(builder) == []


async def test_cancelling_everything_counts_what_has_not_started(workspace: WorkspacePaths):
    async with watching(workspace) as (pilot, builder):
        await pilot.press("X")
        await until_shown(pilot, "Cancel all of h200-nightly?", "not started yet: 6", "will not start")
        await pilot.click("#yes")
        await until(pilot, lambda: requests_of(builder) == [("cancel", None)])


async def test_pause_and_resume_are_requests(workspace: WorkspacePaths):
    async with watching(workspace) as (pilot, builder):
        await pilot.press("p")
        await until(pilot, lambda: requests_of(builder) == [("pause", None)])
        builder.event(Event(clock(1400), "paused"))
        await until_shown(pilot, "Paused: no new trial starts")
        await pilot.press("p")
        await until(pilot, lambda: requests_of(builder)[1:] == [("resume", None)])


async def test_only_what_ended_without_a_figure_can_be_retried(workspace: WorkspacePaths):
    async with watching(workspace) as (pilot, builder):
        await pilot.press("r")
        assert requests_of(builder) == []
        await pilot.press("slash", *"out of memory", "enter")
        await until_gone(pilot, "71/120")
        await pilot.press("down", "r")
        await until(pilot, lambda: requests_of(builder) == [("retry", f"{POINTS[2].id}/1")])


async def test_what_was_imported_is_not_retried(workspace: WorkspacePaths):
    first = planned(POINTS[0], repeats=1)
    builder = CampaignBuilder(workspace, "theirs", [replace(first, launch=replace(first.launch, executor=IMPORTED))])
    builder.failed(builder.trials[0], message("out_of_memory"))
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "theirs", "1 ✗")
        await pilot.press("r")
        await until_shown(pilot, "was imported")
        assert requests_of(builder) == []


async def test_a_pause_marks_no_trial(workspace: WorkspacePaths):
    async with watching(workspace) as (pilot, builder):
        await pilot.press("p")
        await until(pilot, lambda: builder.paths.control.is_file())
        builder.event(Event(clock(1500), "paused"))
        await until_shown(pilot, "Paused: no new trial starts; R resumes.")
        assert "requested" not in shown(pilot)


async def test_a_group_row_cancels_the_unfinished_trials_of_its_configuration(workspace: WorkspacePaths):
    async with watching(workspace) as (pilot, builder):
        screen_of(pilot, WatchScreen).trials.select(TrialGroup(POINTS[1].id))
        await pilot.press("x")
        await until_shown(pilot, "Cancel these 2 trials?", "not started yet: 1")
        await pilot.press("y")
        keys = [str(TrialKey(POINTS[1].id, number)) for number in (2, 3)]
        await until(pilot, lambda: requests_of(builder) == [("cancel", key) for key in keys])


async def test_a_paused_campaign_offers_to_resume_and_no_pause(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    builder.event(Event(clock(1320), "paused"))
    with engine_of(builder.paths):
        async with driving(workspace, size=(160, 40), start_screen="watch") as pilot:
            await until_shown(pilot, "R Resume")
            assert "p Pause" not in shown(pilot)


async def test_a_group_row_retries_what_failed_of_its_configuration(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    bert = POINTS[2].id
    for number in (2, 3):
        builder.failed(TrialKey(bert, number), message("out_of_memory"), 1400)
    builder.event(Event(clock(1500), "planned", f"{bert}/4", data={"retry_of": 2}))
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "71/120", "0 ✓ 3 ✗ of 4")
            screen_of(pilot, WatchScreen).trials.select(TrialGroup(bert))
            await press(pilot, "r")
            await until(pilot, lambda: requests_of(builder) == [("retry", f"{bert}/{number}") for number in (1, 3)])
