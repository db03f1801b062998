"""What was renamed, tagged or removed is taken back by one key; what was removed long ago is in the trash."""

from __future__ import annotations

import pytest
from builder import finished_campaign
from driving import driving, press, until_shown

from dlperf.errors import RequestError
from dlperf.runs.lookup import remove_campaign, restore_campaign, tags_of, trashed_campaigns
from dlperf.runs.paths import WorkspacePaths

Step = tuple[tuple[str, ...], tuple[str, ...]]
"""Keys, and what is shown then."""
SHOWN: Step = (), ("alpha", "3 ✓")
TRASH: Step = ("U",), ("Trash: enter restores", "alpha")
REMOVED: Step = ("D", "y"), ("No campaign is left; the trash holds 1.",)
RESTORED = ("alpha is restored.", "3 ✓")
CASES: dict[str, list[Step]] = {
    "one change after the other": [
        SHOWN,
        (("t", *"night", "enter"), ("alpha #night",)),
        (("n", "ctrl+u", *"基线", "enter"), ("基线 #night",)),
        REMOVED,
        (("u",), ("基线 is restored.", "基线 #night")),
        (("u",), ("alpha #night",)),
        (("u",), ("alpha: no tags",)),
        (("u",), ("There is no change to take back.",)),
    ],
    "what was restored from the trash, then what removed it": [
        *(SHOWN, REMOVED, TRASH, (("enter",), RESTORED)),
        (("u",), REMOVED[1]),
        (("u",), RESTORED),
    ],
    "an empty trash": [SHOWN, (("U",), ("The trash is empty.",))],
}


@pytest.mark.parametrize("steps", CASES.values(), ids=CASES)
async def test_a_change_is_taken_back(workspace: WorkspacePaths, steps: list[Step]):
    finished_campaign(workspace, "alpha")
    async with driving(workspace) as pilot:
        for keys, texts in steps:
            await press(pilot, *keys)
            await until_shown(pilot, *texts)
    assert tags_of(workspace.campaign("alpha")) == ()
    assert trashed_campaigns(workspace) == []


async def test_what_was_removed_in_an_earlier_session_is_restored_from_the_trash(workspace: WorkspacePaths):
    remove_campaign(workspace, finished_campaign(workspace, "alpha").paths)
    async with driving(workspace) as pilot:
        for keys, texts in ((), REMOVED[1]), TRASH, (("enter",), RESTORED):
            await press(pilot, *keys)
            await until_shown(pilot, *texts)


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


def test_a_campaign_is_not_restored_over_another_of_its_name(workspace: WorkspacePaths):
    removed = remove_campaign(workspace, finished_campaign(workspace, "alpha").paths)
    finished_campaign(workspace, "alpha")
    with pytest.raises(RequestError, match="rename that campaign, then restore this one"):
        restore_campaign(workspace, removed)
    assert [item.name for item in trashed_campaigns(workspace)] == ["alpha"]
