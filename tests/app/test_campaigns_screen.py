"""The first screen: what runs is offered first, everything else can be found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from builder import (
    OUT_OF_MEMORY,
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
from driving import driving, press, screen_of, shown, until, until_gone, until_said, until_shown

from dlperf.app.model.campaigns_table import about_campaign
from dlperf.app.screens.campaigns import MOST_IN_WORDS, import_words
from dlperf.app.screens.watch import WatchScreen
from dlperf.app.terminal import notification
from dlperf.app.widgets.prompt import Prompt
from dlperf.app.widgets.row_table import RowTable
from dlperf.app.widgets.status_line import StatusLine
from dlperf.errors import RequestError
from dlperf.measured.model import TrialResult
from dlperf.messages.finding import warning
from dlperf.plan import Selection
from dlperf.runs.lookup import remove_campaign, rename_campaign
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.runs.records import Event, State
from dlperf.runs.store import read_campaign, write_campaign, write_record
from dlperf.view.campaigns import CampaignSummary


async def test_an_empty_workspace_says_what_to_do(workspace: WorkspacePaths):
    async with driving(workspace) as pilot:
        await until_shown(pilot, "Nothing has been measured in this workspace yet.", "2 p ", "quickstart")
        await pilot.press("3")
        await until_shown(pilot, "There is no campaign in this workspace yet.")


async def test_logs_are_imported_as_a_campaign(workspace: WorkspacePaths, tmp_path: Path):
    (tmp_path / "a b.log").write_text(training_log(800.0, 60))
    async with driving(workspace) as pilot:
        await until_shown(pilot, "Nothing has been measured")
        await press(pilot, "i")
        pilot.app.screen.query_one(Prompt).value = f"'{tmp_path}/a b.log' -H box -c resnet50 -p amp -b 256 -f pytorch"
        await press(pilot, "enter")
        await until_shown(pilot, "Done.")
        await press(pilot, "escape")
        await until_shown(pilot, "-imported", "1 ✓", "box")


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        ("a.log --dry-run", ["--campaign", "2026-01-02-030405-imported"]),
        ("a.log --campaign=mine", []),
        ("a.log --campaign mine", []),
        ("a.log --report mine", []),
    ],
)
def test_logs_are_imported_under_the_name_that_is_given_or_the_time(typed: str, named: list[str]):
    assert import_words(typed, "2026-01-02T03:04:05Z") == ["import", *typed.split(), *named]


async def test_the_running_campaign_is_offered_first(workspace: WorkspacePaths):
    finished_campaign(workspace, "newer", day=-1)
    builder = running_campaign(workspace)
    with engine_of(builder.paths):
        async with driving(workspace) as pilot:
            await until_shown(pilot, "running", "5/12 1 ✗", "3 ✓", "2h20 left", "1 running")
            lines = shown(pilot).splitlines()
            assert "h200-nightly" in lines[3]
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, WatchScreen))
            await until_shown(pilot, "median 23,072 images/s")


async def test_a_scale_that_cannot_be_read_is_shown_as_it_stands(workspace: WorkspacePaths):
    builder = finished_campaign(workspace, "done")
    scales = ("two nodes", "8")
    write_campaign(builder.paths, replace(builder.record, selection=replace(builder.record.selection, scales=scales)))
    async with driving(workspace, size=(200, 24)) as pilot:
        await until_shown(pilot, "✓ finished", "two nodes, 1n8g")


async def test_a_tall_window_previews_the_results_of_the_selected_campaign(workspace: WorkspacePaths):
    finished_campaign(workspace, "newer", 23000.0, day=4)
    finished_campaign(workspace, "older", 17000.0, day=5)
    async with driving(workspace, size=(120, 40)) as pilot:
        await until_shown(pilot, "Results of newer", "23,040 img/s", "protocol")
        await pilot.press("down")
        await until_shown(pilot, "Results of older", "17,040 img/s")
        await until_gone(pilot, "23,040 img/s")
        await pilot.resize_terminal(80, 24)
        await until_shown(pilot, "Results of older")
        for day in range(6, 15):
            finished_campaign(workspace, f"still-older-{day}", day=day)
        await until_gone(pilot, "Results of older")


async def test_a_preview_of_many_results_has_only_those_in_words_that_a_window_can_show(workspace: WorkspacePaths):
    large_campaign(workspace, MOST_IN_WORDS + 1, repeats=1, running=0)
    async with driving(workspace, size=(120, 40)) as pilot:
        await until_shown(pilot, "Results of large")
        words = str(pilot.app.screen.query_one("#preview-text", StatusLine).content)
        assert words.count("figure: ") == MOST_IN_WORDS
        assert len(pilot.app.screen.query_one("#preview-rows", RowTable).keys) == MOST_IN_WORDS + 1


def test_a_number_of_gpus_is_not_shown_bare():
    summary = CampaignSummary("scaling", selection=Selection(frameworks=("jax",), scales=("1", "4n1g")))
    assert about_campaign(summary, 80) == "jax · 1n1g, 4n1g"


async def test_a_campaign_whose_engine_died_offers_to_resume(workspace: WorkspacePaths):
    running_campaign(workspace)
    async with driving(workspace) as pilot:
        await until_shown(pilot, "! engine stopped", "R starts it again")
        assert pilot.app.screen.check_action("resume", ()) is True


async def test_a_finished_campaign_cannot_be_resumed(workspace: WorkspacePaths):
    finished_campaign(workspace, "done")
    async with driving(workspace) as pilot:
        await until_shown(pilot, "✓ finished")
        assert pilot.app.screen.check_action("resume", ()) is None


async def test_a_finished_campaign_says_how_many_trials_succeeded_failed_and_were_cancelled(workspace: WorkspacePaths):
    builder = CampaignBuilder(workspace, "mixed", [planned(POINTS[0], 6)])
    succeeded, failed, *cancelled = builder.trials
    builder.succeeded(succeeded, 23040.0)
    builder.failed(failed, OUT_OF_MEMORY, 400)
    for key in cancelled:
        builder.state(key, State.CANCELLED, 500)
    builder.event(Event(clock(500), "campaign_finished"))
    async with driving(workspace) as pilot:
        await until_shown(pilot, "mixed", "■ finished", "1 ✓ 1 ✗ 4 –", "8m20", "h200")
        assert "█" not in shown(pilot)
        assert "6/6" not in shown(pilot)


async def test_campaigns_are_sorted_by_a_column_whose_header_says_so(workspace: WorkspacePaths):
    for day, name in enumerate(("alpha", "gamma", "beta")):
        finished_campaign(workspace, name, 20000.0 + day, day=day)
    async with driving(workspace) as pilot:
        await until_shown(pilot, "alpha", "20,040 images/s", "20,042 images/s", "3 ✓")
        await pilot.press("s")
        await until_shown(pilot, "campaign▲")
        assert [row.split()[1] for row in shown(pilot).splitlines()[3:6]] == ["alpha", "beta", "gamma"]
        await pilot.press("S")
        await until_shown(pilot, "campaign▼")
        assert [row.split()[1] for row in shown(pilot).splitlines()[3:6]] == ["gamma", "beta", "alpha"]


async def test_a_campaign_shows_how_it_scales_to_its_largest_number_of_gpus(workspace: WorkspacePaths):
    builder = CampaignBuilder(workspace, "scaling", [planned(point, 1) for point in POINTS[:2]])
    for trial, value in zip(builder.trials, (24000.0, 3200.0), strict=True):
        builder.succeeded(trial, value)
    builder.event(Event(clock(900), "campaign_finished"))
    async with driving(workspace, size=(140, 40)) as pilot:
        await until_shown(pilot, "scaling", "7.5× on 8")


async def test_the_best_result_is_shown_of_a_journal_without_figures(workspace: WorkspacePaths):
    builder = CampaignBuilder(workspace, "early", [planned(POINTS[0], 1)])
    (key,) = builder.trials
    builder.state(key, State.SUCCEEDED, 300)
    write_record(builder.paths.trial(key).result, TrialResult(1, "succeeded", value=21000.0, unit="images/s"))
    builder.event(Event(clock(900), "campaign_finished"))
    async with driving(workspace) as pilot:
        await until_shown(pilot, "early", "21,000 images/s")


async def test_a_best_result_with_caveats_is_marked_as_on_the_site(workspace: WorkspacePaths):
    for name, findings in (("clean", ()), ("doubtful", (warning("contended_cpu", share=0.5),))):
        builder = CampaignBuilder(workspace, name, [planned(POINTS[0], 3)])
        for trial in builder.trials:
            builder.succeeded(trial, 22950.0, findings=findings)
        builder.event(Event(clock(900), "campaign_finished"))
    async with driving(workspace) as pilot:
        await until_shown(pilot, "clean", "doubtful", "22,950 images/s")
        marked = {line.split()[1]: "22,950 images/s †" in line for line in shown(pilot).splitlines()[3:5]}
        assert marked == {"clean": False, "doubtful": True}


async def test_typing_filters_the_campaigns(workspace: WorkspacePaths):
    for name in ("alpha", "beta", "基线"):
        finished_campaign(workspace, name)
    async with driving(workspace) as pilot:
        await until_shown(pilot, "alpha", "beta", "基线")
        await pilot.press("slash", "b", "e", "t")
        await until_gone(pilot, "alpha")
        assert "beta" in shown(pilot)
        await pilot.press("x", "enter")
        await until_shown(pilot, "None of 3 matches betx. esc shows all.")
        await pilot.press("escape")
        await until_shown(pilot, "alpha", "基线")


async def test_a_broken_plan_is_shown_and_the_others_are_read(workspace: WorkspacePaths):
    finished_campaign(workspace, "good")
    (workspace.campaign("bad").directory).mkdir()
    workspace.campaign("bad").plan.write_text("trials: 5\n")
    async with driving(workspace) as pilot:
        await until_shown(pilot, "✗ unreadable", "✓ finished")


async def test_a_campaign_that_starts_meanwhile_appears(workspace: WorkspacePaths):
    async with driving(workspace) as pilot:
        await until_shown(pilot, "Nothing has been measured")
        finished_campaign(workspace, "started-elsewhere")
        await until_shown(pilot, "started-elsewhere", "3 ✓")


async def test_the_wheel_and_clicks_do_what_keys_do(workspace: WorkspacePaths):
    finished_campaign(workspace, "alpha", day=1)
    finished_campaign(workspace, "beta", day=2)
    async with driving(workspace) as pilot:
        await until_shown(pilot, "alpha", "beta", "3 ✓")
        await pilot.click("#campaigns", offset=(5, 3))
        await pilot.click("#campaigns", offset=(5, 3))
        await until(pilot, lambda: isinstance(pilot.app.screen, WatchScreen))
        await until_shown(pilot, "beta  finished")
        assert screen_of(pilot, WatchScreen).campaign is not None


async def test_the_end_of_a_campaign_is_told_with_its_result(
    workspace: WorkspacePaths, monkeypatch: pytest.MonkeyPatch
):
    builder = CampaignBuilder(workspace, "night", [planned(POINTS[0], 1)])
    sent: list[str] = []
    async with driving(workspace, size=(160, 40)) as pilot:
        monkeypatch.setattr(pilot.app._driver, "write", sent.append)
        with engine_of(builder.paths):
            await until_shown(pilot, "▶ running")
            builder.succeeded(builder.trials[0], 23040.0)
            builder.event(Event(clock(400), "campaign_finished"))
        await until_shown(pilot, "night has finished", "1 ✓ · best 23,040 images/s")
    assert any("\x1b]9;night has finished: 1 ✓" in text and "\x1b]777;notify;night" in text for text in sent)


def test_kitty_is_notified_once():
    assert notification("night", "1 ✓").count("\x1b]") == 3
    assert notification("night", "1 ✓", "xterm-kitty") == "\x1b]2;night\x07\x1b]99;;night: 1 ✓\x07"


async def test_one_key_chooses_what_a_campaign_ran(workspace: WorkspacePaths):
    finished_campaign(workspace, "done")
    async with driving(workspace) as pilot:
        await until_shown(pilot, "✓ finished")
        await press(pilot, "r")
        await until_shown(pilot, "[x] h200", "[x] resnet50", "--framework pytorch")


async def test_a_campaign_is_tagged_renamed_and_moved_to_the_trash(workspace: WorkspacePaths):
    finished_campaign(workspace, "alpha", day=1)
    finished_campaign(workspace, "beta", day=2)
    async with driving(workspace) as pilot:
        await until_shown(pilot, "alpha", "beta", "3 ✓")
        await press(pilot, "t", *"night", "enter")
        await until_shown(pilot, "alpha #night")
        await press(pilot, "slash", *"#night", "enter")
        await until_gone(pilot, "beta")
        await press(pilot, "n", *["backspace"] * 5, *"beta", "enter")
        await until_said(pilot, "exists: choose another name")
        await press(pilot, "n", *["backspace"] * 5, *"gamma", "enter")
        await until_shown(pilot, "gamma #night")
        await press(pilot, "D")
        await until_shown(pilot, "Remove gamma?")
        await press(pilot, "y")
        await until_gone(pilot, "gamma #night")
    assert [paths.name for paths in workspace.campaigns()] == ["beta"]
    (removed,) = workspace.trash.iterdir()
    assert read_campaign(CampaignPaths(removed)).name == "gamma"


def test_a_campaign_whose_trials_have_not_ended_keeps_its_name(workspace: WorkspacePaths):
    paths = running_campaign(workspace).paths
    with pytest.raises(RequestError, match="trials have not ended"):
        rename_campaign(workspace, paths, "other")
    with engine_of(paths), pytest.raises(RequestError, match="its engine is running"):
        remove_campaign(workspace, paths)
