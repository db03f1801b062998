"""What a screen shows may vanish at any moment: the screen says so, and the program goes on."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest
from builder import engine_of, finished_campaign, running_campaign
from driving import driving, press, screen_of, until, until_gone, until_said, until_shown

from dlperf.app.dialogs.pages import ListPage
from dlperf.app.screens.campaigns import CampaignsScreen
from dlperf.app.screens.trial import TrialScreen
from dlperf.app.screens.watch import WatchScreen
from dlperf.app.watching import CampaignGoneError
from dlperf.app.widgets.curve_view import CurveView
from dlperf.errors import DlperfError
from dlperf.runs.control import ask
from dlperf.runs.lookup import remove_campaign, rename_campaign, tag_campaign
from dlperf.runs.paths import CampaignPaths, WorkspacePaths

GONE = "done is no longer in this workspace: it was renamed or removed."
Change = Callable[[WorkspacePaths, CampaignPaths], object]


def rename(workspace: WorkspacePaths, paths: CampaignPaths) -> None:
    rename_campaign(workspace, paths, "new")


def destroy(workspace: WorkspacePaths, paths: CampaignPaths) -> None:
    shutil.rmtree(paths.directory)


def replace_by_another(workspace: WorkspacePaths, paths: CampaignPaths) -> None:
    rename(workspace, paths)
    running_campaign(workspace, paths.name)


CHANGES: list[Change] = [rename, remove_campaign, destroy, replace_by_another]


@pytest.mark.parametrize("change", CHANGES)
async def test_a_watched_campaign_that_vanishes_is_said_to_be_gone(workspace: WorkspacePaths, change: Change):
    paths = finished_campaign(workspace, "done").paths
    async with driving(workspace) as pilot:
        await until_shown(pilot, "3 ✓")
        await press(pilot, "enter")
        await until_shown(pilot, "done  finished")
        change(workspace, paths)
        await until_shown(pilot, GONE, "1 or esc lists the campaigns.")
        await press(pilot, "x", "r", "e", "H", "E", "escape")
        screen_of(pilot, CampaignsScreen)


async def test_a_second_click_on_the_frame_of_a_page_closes_nothing_behind_it(workspace: WorkspacePaths):
    async with driving(workspace) as pilot:
        await pilot.app.run_action("screen.dismiss")
        screen_of(pilot, CampaignsScreen)
        assert pilot.app.is_running


async def test_a_key_for_a_trial_that_is_not_drawn_yet_is_passed_over(workspace: WorkspacePaths):
    finished_campaign(workspace, "done")
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "done  finished")
        watch = screen_of(pilot, WatchScreen)
        assert watch.campaign is not None
        trial = TrialScreen(watch.campaign, next(iter(watch.campaign.status.trials)))
        assert await pilot.app.run_action("measured_lines", trial)
        assert await pilot.app.run_action("delete", ListPage("", [], {}))


async def test_a_campaign_renamed_in_the_list_is_watched_by_its_new_name(workspace: WorkspacePaths):
    finished_campaign(workspace, "done")
    async with driving(workspace) as pilot:
        await until_shown(pilot, "3 ✓")
        await press(pilot, "enter")
        await until_shown(pilot, "done  finished")
        await press(pilot, "1", "n", "ctrl+u", *"new", "enter")
        await until_shown(pilot, "new", "3 ✓")
        pilot.app.switch_mode("watch")
        watch = screen_of(pilot, WatchScreen)
        assert watch.campaign is not None
        with pytest.raises(CampaignGoneError) as gone:  # as a frame finds before the screen is told that it is shown
            watch.campaign.refresh()
        watch.report(gone.value)
        await until_shown(pilot, "new  finished")


@pytest.mark.parametrize("change", CHANGES)
async def test_a_trial_whose_campaign_vanishes_closes(workspace: WorkspacePaths, change: Change):
    paths = finished_campaign(workspace, "done").paths
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "done  finished")
        await press(pilot, "down", "o")
        await until(pilot, lambda: isinstance(pilot.app.screen, TrialScreen))
        change(workspace, paths)
        await until(pilot, lambda: isinstance(pilot.app.screen, WatchScreen))
        await until_shown(pilot, GONE)


async def test_what_a_worker_misses_on_a_screen_that_was_closed_is_passed_over(workspace: WorkspacePaths):
    finished_campaign(workspace, "done")
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "done  finished")
        await press(pilot, "down", "o")
        screen = screen_of(pilot, TrialScreen)
        await press(pilot, "escape")
        await until(pilot, lambda: not screen.is_attached)
        worker = screen.run_worker(lambda: screen.query_one(CurveView), thread=True)
        await until(pilot, lambda: worker.is_finished)
        assert pilot.app.is_running
        assert pilot.app.return_code is None


async def test_a_question_about_a_campaign_that_vanishes_can_be_answered(workspace: WorkspacePaths):
    paths = running_campaign(workspace).paths
    with engine_of(paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "running  ")
            watch = screen_of(pilot, WatchScreen)
            await press(pilot, "X")
            await until_shown(pilot, "Cancel all")
            destroy(workspace, paths)
            watch.report(CampaignGoneError(paths))
            await press(pilot, "y")
            await until_said(pilot, "was renamed or removed")
            assert pilot.app.return_code is None


async def test_a_campaign_that_vanished_is_neither_tagged_nor_asked_anything(workspace: WorkspacePaths):
    paths = finished_campaign(workspace, "done").paths
    destroy(workspace, paths)
    for change in (lambda: tag_campaign(paths, "mine"), lambda: ask(paths, "pause")):
        with pytest.raises(DlperfError, match="was renamed or removed"):
            change()
    assert not paths.directory.exists()


async def test_an_error_of_a_file_is_shown_and_its_screen_goes_on(
    workspace: WorkspacePaths, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_words: object) -> None:
        raise PermissionError(13, "Permission denied", "journal.jsonl")

    finished_campaign(workspace, "done")
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "done  finished")
        monkeypatch.setattr("dlperf.app.screens.watch.event_rows", fail)
        await press(pilot, "E")
        await until_shown(pilot, "Permission denied", "done  finished")
        pilot.app.clear_notifications()
        await until_gone(pilot, "Permission denied")
        await press(pilot, "1")
        screen_of(pilot, CampaignsScreen)
