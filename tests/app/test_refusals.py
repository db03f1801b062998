"""A key that does not apply says why; an end that is none to be glad of is announced as what it is."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest
from builder import (
    OUT_OF_MEMORY,
    POINTS,
    CampaignBuilder,
    clock,
    engine_of,
    finished_campaign,
    planned,
    running_campaign,
)
from driving import driving, press, until, until_shown
from textual.widgets._toast import Toast

from dlperf.app.model.campaigns_table import how_ended, look_of
from dlperf.app.settings import recall
from dlperf.app.widgets.row_table import RowTable
from dlperf.messages import message
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.records import Event, State
from dlperf.view.campaigns import CampaignSummary, Standing


async def test_keys_that_do_not_apply_to_a_running_campaign_say_why(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    with engine_of(builder.paths):
        async with driving(workspace) as pilot:
            await until_shown(pilot, "▶ running")
            for key, words in {
                "n": "Its engine is running: it can be renamed",
                "D": "Its engine is running: it can be removed",
                "R": "It is not paused, and its engine has not",
                "u": "There is no change to take back.",
            }.items():
                await press(pilot, key)
                await until_shown(pilot, words)
            await press(pilot, "t", *"night", "enter")
            await until_shown(pilot, "#night")


@pytest.mark.parametrize(
    ("place", "ready", "keys", "words"),
    [
        ("choose", "[ ] numpy", "s", "Nothing is marked that can run"),
        ("choose", "[ ] numpy", "P", "Nothing is marked that a preset could hold."),
        ("choose", "[ ] numpy", "r", "There is no campaign yet that could be repeated."),
        ("watch", "There is no campaign", "x", "No campaign is shown: 1 lists those that can be watched."),
        ("results", "No results yet", "c", "There are no results yet."),
        ("publish", "No site yet", "o", "There is no site yet: b builds it."),
    ],
)
async def test_a_key_that_does_not_apply_says_why(
    workspace: WorkspacePaths, place: str, ready: str, keys: str, words: str
):
    async with driving(workspace, start_screen=place) as pilot:
        await until_shown(pilot, ready)
        await press(pilot, keys)
        await until_shown(pilot, words)


@pytest.mark.parametrize(
    ("succeeded", "bad", "cancelled", "words", "severity", "look"),
    [
        (3, 0, 0, "{name} has finished", "information", ("✓", "finished", "good")),
        (2, 1, 0, "{name} has finished, not all trials succeeded", "warning", ("■", "finished", "warn")),
        (0, 3, 0, "{name} has failed: no trial succeeded", "error", ("✗", "failed", "bad")),
        (0, 1, 2, "{name} has failed: no trial succeeded", "error", ("✗", "failed", "bad")),
        (0, 0, 3, "{name} was cancelled", "warning", ("–", "cancelled", "warn")),
    ],
)
def test_an_end_is_announced_and_listed_as_what_it_is(
    succeeded: int, bad: int, cancelled: int, words: str, severity: str, look: tuple[str, str, str]
):
    total = succeeded + bad + cancelled
    summary = CampaignSummary("x", Standing.FINISHED, done=total, total=total, bad=bad, cancelled=cancelled)
    assert how_ended(summary) == (words, severity)
    assert look_of(summary) == look


async def test_why_a_trial_left_no_log_is_read_in_full(workspace: WorkspacePaths):
    builder = CampaignBuilder(workspace, "night", [planned(POINTS[0], 1)])
    reason = message("no_address", address="node-a", other="node-a", reason="Name or service not known")
    builder.state(builder.trials[0], State.FAILED, 300, reason)
    builder.event(Event(clock(400), "campaign_finished"))
    async with driving(workspace, size=(80, 24), start_screen="watch") as pilot:
        await until_shown(pilot, "night  failed", "The trial left no log", "(Name or service not known)")


async def test_the_notice_of_an_end_is_taken_away_by_a_key(workspace: WorkspacePaths, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("dlperf.app.app.LEAST_NOTICE_SECONDS", 0.0)
    builder = CampaignBuilder(workspace, "night", [planned(POINTS[0], 1)])
    async with driving(workspace) as pilot:
        with engine_of(builder.paths):
            await until_shown(pilot, "▶ running")
            builder.state(builder.trials[0], State.FAILED, 300, OUT_OF_MEMORY)
            builder.event(Event(clock(400), "campaign_finished"))
        await until_shown(pilot, "night has failed: no trial succeeded")
        await press(pilot, "down")
        await until(pilot, lambda: not len(pilot.app._notifications))


def stopped(workspace: WorkspacePaths, lines: Sequence[str]) -> None:
    builder = running_campaign(workspace)
    builder.paths.engine_log.write_text("\n".join(lines) + "\n")


async def test_why_the_engine_stopped_is_shown(workspace: WorkspacePaths):
    file = "local_numpy_lenet5_fp32_bs128_1n1g/1/nodes/local/out.times"
    full = "cannot be written (No space left on device: 0 MiB free): free space"
    folder = workspace.campaign("h200-nightly").directory
    stopped(workspace, ["campaign night: runs/night", f"dlperf: {folder}/{file}: {full}"])
    shown = (
        "The engine has stopped:",
        f" {file}: cannot be written",
        "(No space left on device: 0 MiB free)",
        "R starts",
    )
    async with driving(workspace, size=(80, 24)) as pilot:
        await until_shown(pilot, *shown)
        await press(pilot, "w")
        await until_shown(pilot, "71/120", *shown)


async def test_an_engine_that_was_killed_has_not_said_why(workspace: WorkspacePaths):
    stopped(workspace, ["campaign night: runs/night", "dlperf: No space left", "campaign night: runs/night"])
    async with driving(workspace, size=(160, 40)) as pilot:
        await until_shown(pilot, "The engine has stopped before the end. R starts it again")


@pytest.mark.parametrize("start_screen", ["campaigns", "watch"])
async def test_damaged_lines_of_a_journal_are_counted(workspace: WorkspacePaths, start_screen: str):
    builder = finished_campaign(workspace, "done")
    lines = builder.paths.journal.read_text().splitlines()
    lines[2:4] = ["{damaged", "\0\0\0"]
    builder.paths.journal.write_text("\n".join(lines) + "\n")
    async with driving(workspace, size=(160, 40), start_screen=start_screen) as pilot:
        await until_shown(pilot, "Damaged lines of journal.jsonl: 2; trials may be missing here.")


async def test_without_colours_the_focus_is_seen_by_its_frame(
    workspace: WorkspacePaths, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NO_COLOR", "1")
    finished_campaign(workspace, "done")
    async with driving(workspace) as pilot:
        await until_shown(pilot, "3 ✓")
        table = pilot.app.screen.query_one("#campaigns", RowTable)
        assert table.styles.border_top[0] == "heavy"
        assert table._style("focused").reverse


async def test_theme_and_language_are_remembered(workspace: WorkspacePaths, tmp_path):
    file = tmp_path / "home" / "tui.json"
    async with driving(workspace) as pilot:
        pilot.app.settings.remembered = file
        await until_shown(pilot, "Nothing has been measured")
        await press(pilot, "T")
        assert recall(file) == {"language": "en", "dark": False}
        await pilot.press("L")
    assert recall(file) == {"language": "zh", "dark": False}
    file.write_text("{damaged")
    assert recall(file) == {}


async def test_a_saved_preset_is_deleted(workspace: WorkspacePaths):
    async with driving(workspace, start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] numpy")
        await press(pilot, "p", "enter", "P", *"mine", "enter")
        await press(pilot, "p")
        await until_shown(pilot, "D deletes", "mine")
        await press(pilot, "D")
        await until_shown(pilot, "mine is deleted.")
    assert workspace.presets.read_text() == "{}\n"


async def test_a_site_that_is_older_than_the_results_says_so(workspace: WorkspacePaths):
    index = workspace.site_html / "index.html"
    index.parent.mkdir(parents=True)
    index.write_text("<p>site</p>")
    os.utime(index, (1e9, 1e9))
    async with driving(workspace, start_screen="publish") as pilot:
        await until_shown(pilot, "The site lies in")
        finished_campaign(workspace, "later")
        await until_shown(pilot, "Results have come since then")


async def test_a_notice_that_is_over_before_it_is_drawn_goes_and_the_program_goes_on(workspace: WorkspacePaths):
    async with driving(workspace) as pilot:
        pilot.app.notify("late")
        await until(pilot, lambda: pilot.app._notifications)
        (notice,) = pilot.app._notifications
        notice.raised_at -= 3600
        await pilot.app.screen.mount(Toast(notice))
        await until(pilot, lambda: all(toast._notification is not notice for toast in pilot.app.screen.query(Toast)))
