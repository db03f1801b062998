"""Results: the screen, from the list to a comparison and the trial behind a value."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

from builder import NOW, POINTS, CampaignBuilder, clock, engine_of, finished_campaign, planned, running_campaign
from driving import driving, is_reading, press, screen_of, shown, until, until_gone, until_shown

from dlperf.app.app import DlperfApp
from dlperf.app.screens.results import ResultsScreen
from dlperf.app.settings import TerminalSettings
from dlperf.app.widgets.row_table import RowTable
from dlperf.messages import message, quoted
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.records import Event, State


def measure_two_cases(workspace: WorkspacePaths) -> None:
    """Finish a campaign of ResNet-50 and BERT."""
    builder = CampaignBuilder(workspace, "both", [planned(POINTS[0], 1), planned(POINTS[2], 1)])
    for trial in builder.trials:
        builder.succeeded(trial, 20000.0)
    builder.event(Event(clock(900), "campaign_finished"))


async def test_a_narrow_window_says_which_framework_on_which_hardware_gave_a_figure(workspace: WorkspacePaths):
    point = replace(POINTS[0], framework="pytorch-compiled", precision="bf16-pure", hardware="h200-4x")
    builder = CampaignBuilder(workspace, "nightly", [planned(point, 1)])
    builder.succeeded(builder.trials[0], 8719.0)
    async with driving(workspace, size=(80, 24), start_screen="results") as pilot:
        await until_shown(pilot, "pytorch-compiled  bf16-pure    256  1n8g  h200-4x   8,719 img/s")
    async with driving(workspace, size=(80, 24), language="zh", start_screen="results") as pilot:
        await until_shown(pilot, "pytorch-compiled  bf16-pure     256  1n8g    h200-4x  8,719 img/s")


async def test_results_are_listed_sorted_and_filtered(workspace: WorkspacePaths):
    running_campaign(workspace)
    finished_campaign(workspace, "before")
    async with driving(workspace, start_screen="results") as pilot:
        await until_shown(pilot, "Results: 5 of 5", "22,990 images/s", "out of memory", "bert-base")
        await pilot.press("slash", *"paddle", "enter")
        await until_shown(pilot, "Results: 1 of 5", "22,410 images/s")
        await pilot.press("escape")
        await until_shown(pilot, "Results: 5 of 5")
        await pilot.click("#results", offset=(2, 0))
        await until_shown(pilot, "Results: 5 of 5")


async def test_sort_filter_and_selection_outlive_a_change_of_language(workspace: WorkspacePaths):
    running_campaign(workspace)
    finished_campaign(workspace, "before")
    settings = TerminalSettings(workspace, now=lambda: NOW, start_screen="results")
    async with DlperfApp(settings).run_test(size=(120, 40)) as pilot:
        await until_shown(pilot, "Results: 5 of 5")
        await press(pilot, "slash", *"resnet50", "enter", "s", "s", "s", "down", "down", "L")
    async with DlperfApp(settings).run_test(size=(120, 40)) as pilot:
        await until_shown(pilot, "框架▲", "/resnet50")
        await until(pilot, lambda: screen_of(pilot, ResultsScreen).table._cursor == 2)


async def test_two_campaigns_are_compared(workspace: WorkspacePaths):
    finished_campaign(workspace, "old", 20000.0, day=2)
    finished_campaign(workspace, "new", 22000.0, day=1)
    async with driving(workspace, start_screen="results") as pilot:
        await until_shown(pilot, "Results: 2 of 2")
        await pilot.press("end" if screen_of(pilot, ResultsScreen)._items[1].campaign == "new" else "home", "c")
        await until_shown(pilot, "Compare new with", "old", "cannot tell: 1")
        await pilot.press("enter")
        await until_shown(pilot, "new against old", "+10.0 %", "20,040", "22,040", "cannot tell")
        await pilot.press("o")
        await until_shown(pilot, "  figure: 20,040 images/s", "  trials: 22,020  22,040  22,060", "esc closes")
        await pilot.press("escape", "c")
        await until_gone(pilot, "new against old")


async def test_enter_on_a_result_opens_the_trial_that_gave_it_and_escape_leads_back(workspace: WorkspacePaths):
    finished_campaign(workspace, "done")
    async with driving(workspace, start_screen="results") as pilot:
        await until_shown(pilot, "22,990 images/s")
        await press(pilot, "enter")
        await until_shown(pilot, "1n8g · h200 #2", "measured: steps 20 to 120", "figure: 22,990 images/s")
        await press(pilot, "m")
        await until_shown(pilot, "paused at line 24")
        await press(pilot, ">")
        await until_shown(pilot, "1n8g · h200 #3", "figure: 23,010 images/s")
        await press(pilot, "escape")
        await until_shown(pilot, "Results: 1 of 1")


async def test_escape_leaves_a_comparison_and_keeps_the_filter(workspace: WorkspacePaths):
    finished_campaign(workspace, "old", 20000.0, day=2)
    finished_campaign(workspace, "new", 22000.0, day=1)
    async with driving(workspace, start_screen="results") as pilot:
        await until_shown(pilot, "Results: 2 of 2")
        await press(pilot, "slash", *"new", "enter", "c", "enter")
        await until_shown(pilot, "new against old")
        await press(pilot, "V")
        (row,) = csv.DictReader(pilot.app.clipboard.splitlines())
        assert (row["after"], row["before"], row["ratio"]) == ("22040.0", "20040.0", repr(22040 / 20040))
        assert (row["nodes"], row["gpus"], row["unit"]) == ("1", "8", "images/s")
        await press(pilot, "escape")
        await until_shown(pilot, "Results: 1 of 2 /new")
        await press(pilot, "escape")
        await until_shown(pilot, "Results: 2 of 2")


async def test_columns_fit_the_rows_that_a_filter_leaves(workspace: WorkspacePaths):
    measure_two_cases(workspace)
    async with driving(workspace, start_screen="results") as pilot:
        await until_shown(pilot, "bert-base  pytorch", "resnet50   pytorch")
        await press(pilot, "slash", *"resnet50")
        assert shown(pilot).splitlines()[-1].split() == ["resnet50", "filter"]
        await press(pilot, "enter")
        await until_shown(pilot, "resnet50  pytorch")


async def test_a_ratio_of_unlike_settings_is_called_that(workspace: WorkspacePaths):
    measure_two_cases(workspace)
    async with driving(workspace, start_screen="results") as pilot:
        await until_shown(pilot, "Results: 2 of 2")
        await press(pilot, "space", "down", "space", "c")
        await until_shown(pilot, "Side by side", "ratio, unlike settings")


async def test_shown_rows_are_copied_as_markdown_and_csv(workspace: WorkspacePaths):
    finished_campaign(workspace, "done")
    async with driving(workspace, start_screen="results") as pilot:
        await until_shown(pilot, "22,990 images/s")
        await press(pilot, "space", "M")
        assert "●" not in pilot.app.clipboard
        assert pilot.app.clipboard.splitlines()[0].startswith("| case | framework | prec. | batch |")
        assert "| resnet50 | pytorch | amp | 256 | 1n8g | h200 | 22,990 images/s |" in pilot.app.clipboard
        await press(pilot, "V")
        (row,) = csv.DictReader(pilot.app.clipboard.splitlines())
        assert (row["case"], row["value"], row["unit"], row["gpus"]) == ("resnet50", "22990.0", "images/s", "8")
        await press(pilot, "y")
        assert pilot.app.clipboard.startswith("resnet50\tpytorch\tamp\t256\t1n8g\th200\t22,990 img/s\t0.2 %")


async def test_a_campaign_that_shares_nothing_with_others_says_so(workspace: WorkspacePaths):
    finished_campaign(workspace, "alone")
    async with driving(workspace, start_screen="results") as pilot:
        await until_shown(pilot, "Results: 1 of 1")
        await pilot.press("c")
        await until_shown(pilot, "No other campaign has a configuration of alone.")


async def test_a_workspace_without_results_says_so(workspace: WorkspacePaths):
    async with driving(workspace, start_screen="results") as pilot:
        await until_shown(pilot, "No results yet")


async def test_results_of_a_trial_that_is_measured_now_appear_when_the_screen_is_shown_again(workspace: WorkspacePaths):
    async with driving(workspace, start_screen="results") as pilot:
        await until_shown(pilot, "No results yet")
        await pilot.press("1")
        await until_shown(pilot, "Nothing has been measured")
        finished_campaign(workspace, "later")
        await pilot.press("4")
        await until_shown(pilot, "22,990 images/s")
        await until(pilot, lambda: Path(workspace.campaign("later").directory, POINTS[0].id).is_dir())


async def test_what_ended_before_the_first_visit_is_shown_then(workspace: WorkspacePaths):
    async with driving(workspace) as pilot:
        await until_shown(pilot, "Nothing has been measured")
        await until(pilot, lambda: "results" in pilot.app._screen_stacks and not is_reading(pilot))
        finished_campaign(workspace, "later")
        await until_shown(pilot, "later", "3 ✓")
        await press(pilot, "4")
        await until_shown(pilot, "22,990 images/s")


async def test_a_trial_that_ends_while_the_results_are_shown_appears_there(workspace: WorkspacePaths):
    builder = CampaignBuilder(workspace, "live", [planned(POINTS[0], 2)])
    builder.succeeded(builder.trials[0], 20000.0)
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="results") as pilot:
            await until_shown(pilot, "20,000 images/s", "1 running")
            builder.succeeded(builder.trials[1], 30000.0, 400)
            await until_shown(pilot, "25,000 images/s")


async def test_a_configuration_without_a_figure_says_why_in_full(workspace: WorkspacePaths):
    builder = CampaignBuilder(workspace, "broken", [planned(POINTS[0], 1)])
    said = quoted("ValueError: the data set lies elsewhere")
    cause = message("and_more", subject=message("exit_code", code_value=3), more=said)
    builder.state(builder.trials[0], State.FAILED, 60, cause)
    builder.event(Event(clock(900), "campaign_finished"))
    async with driving(workspace, size=(200, 40), start_screen="results") as pilot:
        await until_shown(pilot, "figure: failed: exit code 3: ValueError: the data set lies elsewhere")


async def test_marked_figures_are_compared_side_by_side_and_copied(workspace: WorkspacePaths):
    for name, value in (("first", 20000.0), ("second", 22000.0), ("third", 24000.0)):
        finished_campaign(workspace, name, value)
    async with driving(workspace, start_screen="results") as pilot:
        await until_shown(pilot, "Results: 3 of 3")
        await press(pilot, "space", "down", "space")
        await until_shown(pilot, "● resnet50")
        await press(pilot, "V")
        await until_shown(pilot, "Copied 2 rows")
        rows = csv.DictReader(pilot.app.clipboard.splitlines())
        assert [row["case"] for row in rows] == ["resnet50", "resnet50"]
        await press(pilot, "c")
        await until_shown(pilot, "Side by side", "1.000×", "ratio", "hardware", "y copies")
        await press(pilot, "y")
        assert "| figure | " in pilot.app.clipboard
        await press(pilot, "escape", "escape")
        await until_gone(pilot, "●")


async def test_results_of_one_campaign_are_headed_by_what_they_differ_in(workspace: WorkspacePaths):
    measure_two_cases(workspace)
    async with driving(workspace, start_screen="results") as pilot:
        await until_shown(pilot, "Results: 2 of 2", "space Mark  c Compare")
        await press(pilot, "space", "down", "space", "c")
        await until_shown(pilot, "Side by side", "resnet50 amp batch 256", "bert-base bf16 batch 96")


async def test_peers_are_shown_again_after_the_language_was_switched(workspace: WorkspacePaths):
    finished_campaign(workspace, "old", 20000.0, day=2)
    finished_campaign(workspace, "new", 22000.0)
    async with driving(workspace, start_screen="results") as pilot:
        await until_shown(pilot, "22,040 img/s", "20,040 img/s")
        memory = screen_of(pilot, ResultsScreen).remember()
    settings = TerminalSettings(workspace, "zh", now=lambda: NOW, start_screen="results", memories={"results": memory})
    async with DlperfApp(settings).run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: len(pilot.app.screen.query_one("#peers", RowTable).keys) == 2)


async def test_what_marked_figures_ran_is_chosen_again_with_one_key(workspace: WorkspacePaths):
    measure_two_cases(workspace)
    async with driving(workspace, start_screen="results") as pilot:
        await until_shown(pilot, "Results: 2 of 2")
        await press(pilot, "space", "down", "space", "r")
        await until_shown(pilot, "[x] h200", "[x] resnet50", "--case resnet50,bert-base", "--batch-size 256,96")
