"""What was renamed, tagged or removed is taken back by one key; what was removed long ago is in the trash."""

from __future__ import annotations

import pytest
from builder import finished_campaign
from driving import driving, press, until_gone, until_shown

from dlperf.errors import RequestError
from dlperf.runs.lookup import remove_campaign, restore_campaign, tags_of, trashed_campaigns
from dlperf.runs.paths import WorkspacePaths


async def test_undo_takes_back_one_change_after_the_other(workspace: WorkspacePaths):
    finished_campaign(workspace, "alpha")
    async with driving(workspace) as pilot:
        await until_shown(pilot, "alpha", "3 ✓")
        await press(pilot, "t", *"night", "enter")
        await until_shown(pilot, "alpha #night")
        await press(pilot, "n", "ctrl+u", *"gamma", "enter")
        await until_shown(pilot, "gamma #night")
        await press(pilot, "D", "y")
        await until_gone(pilot, "gamma #night")
        await press(pilot, "u")
        await until_shown(pilot, "gamma is restored.", "gamma #night")
        await press(pilot, "u")
        await until_shown(pilot, "alpha #night")
        await press(pilot, "u")
        await until_shown(pilot, "alpha: no tags")
        await press(pilot, "u")
        await until_shown(pilot, "There is no change to take back.")
    assert tags_of(workspace.campaign("alpha")) == ()


async def test_what_was_removed_in_an_earlier_session_is_restored_from_the_trash(workspace: WorkspacePaths):
    remove_campaign(workspace, finished_campaign(workspace, "基线").paths)
    async with driving(workspace) as pilot:
        await until_shown(pilot, "No campaign is left; the trash holds 1.")
        await press(pilot, "U")
        await until_shown(pilot, "Trash: enter restores", "基线")
        await press(pilot, "enter")
        await until_shown(pilot, "基线", "3 ✓")
    assert trashed_campaigns(workspace) == []


async def test_undo_takes_back_what_was_restored_from_the_trash_and_then_what_removed_it(workspace: WorkspacePaths):
    finished_campaign(workspace, "alpha")
    async with driving(workspace) as pilot:
        await until_shown(pilot, "alpha", "3 ✓")
        await press(pilot, "D", "y")
        await until_shown(pilot, "No campaign is left")
        await press(pilot, "U")
        await until_shown(pilot, "Trash: enter restores")
        await press(pilot, "enter")
        await until_shown(pilot, "alpha is restored.", "3 ✓")
        await press(pilot, "u")
        await until_shown(pilot, "No campaign is left")
        await press(pilot, "u")
        await until_shown(pilot, "alpha is restored.", "3 ✓")


async def test_a_change_that_cannot_be_taken_back_does_not_stand_before_older_ones(workspace: WorkspacePaths):
    first, second = (finished_campaign(workspace, name) for name in ("alpha", "beta"))
    async with driving(workspace) as pilot:
        await until_shown(pilot, "alpha", "beta", "3 ✓")
        for words in ("one", "two"):
            await press(pilot, "home" if words == "one" else "end", "t", *words, "enter")
            await until_shown(pilot, f"#{words}")
        newest = next(paths for paths in (first.paths, second.paths) if tags_of(paths) == ("two",))
        remove_campaign(workspace, newest)
        await press(pilot, "u")
        await until_shown(pilot, "gone:", "removed")
        await press(pilot, "u")
        await until_shown(pilot, "no tags")


async def test_an_empty_trash_says_so(workspace: WorkspacePaths):
    async with driving(workspace) as pilot:
        await until_shown(pilot, "Nothing has been measured")
        await press(pilot, "U")
        await until_shown(pilot, "The trash is empty.")


def test_a_campaign_is_not_restored_over_another_of_its_name(workspace: WorkspacePaths):
    removed = remove_campaign(workspace, finished_campaign(workspace, "alpha").paths)
    finished_campaign(workspace, "alpha")
    with pytest.raises(RequestError, match="rename that campaign, then restore this one"):
        restore_campaign(workspace, removed)
    assert [item.name for item in trashed_campaigns(workspace)] == ["alpha"]
