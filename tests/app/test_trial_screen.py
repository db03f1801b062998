"""A trial beside others: their curves behind its own, and what differs between two of them."""

from __future__ import annotations

from dataclasses import replace

from builder import POINTS, CampaignBuilder, finished_campaign
from driving import driving, press, screen_of, until, until_gone, until_shown

from dlperf.app.model.curve import Series, draw
from dlperf.app.screens.trial import TrialScreen
from dlperf.app.widgets.curve_view import CurveView
from dlperf.app.widgets.row_table import RowTable
from dlperf.measured.model import TrialResult
from dlperf.messages import message
from dlperf.plan import TrialKey
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.records import State
from dlperf.runs.store import read_record_if_whole, write_record


def record(builder: CampaignBuilder, number: int, **fields: object) -> None:
    """Change the result of a trial."""
    path = builder.paths.trial(TrialKey(POINTS[0].id, number)).result
    result = read_record_if_whole(path, TrialResult)
    assert result is not None
    write_record(path, replace(result, **fields))  # type: ignore[arg-type]


async def test_the_curves_of_other_trials_are_drawn_behind_that_of_a_trial(workspace: WorkspacePaths):
    finished_campaign(workspace, "done")
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "22,970 images/s")
        await press(pilot, "o")
        await until_shown(pilot, "warm-up to step 20")
        await press(pilot, "a")
        await until_shown(pilot, "in grey: other trials, 2")
        await press(pilot, "a")
        await until_gone(pilot, "in grey")


def test_a_curve_that_is_not_read_yet_is_not_said_to_be_short():
    view = CurveView()
    view._draw()
    assert "".join(piece.text for piece in view._rows[0]) == "Reading …"


async def test_a_wide_window_shows_the_figure_beside_its_curve(workspace: WorkspacePaths):
    finished_campaign(workspace, "done")
    async with driving(workspace, size=(200, 60), start_screen="watch") as pilot:
        await until_shown(pilot, "22,970 images/s")
        await press(pilot, "o")
        await until_shown(pilot, "warm-up to step 20", "rate(skip=20, take=100)")
        await pilot.resize_terminal(120, 40)
        await until_gone(pilot, "rate(skip=20, take=100)")


async def test_escape_clears_a_search_before_it_leads_back_to_the_results(workspace: WorkspacePaths):
    finished_campaign(workspace, "done")
    async with driving(workspace, start_screen="results") as pilot:
        await until_shown(pilot, "Results: 1 of 1")
        await press(pilot, "enter", "slash", *"step", "enter")
        log = screen_of(pilot, TrialScreen).log_view
        await until(pilot, lambda: log.pattern)
        await press(pilot, "escape")
        await until(pilot, lambda: not log.pattern)
        await until_shown(pilot, "1n8g · h200 #2")
        await press(pilot, "escape")
        await until_shown(pilot, "Results: 1 of 1")


async def test_two_trials_are_set_side_by_side_with_environment_numerics_and_programs(workspace: WorkspacePaths):
    before, after = finished_campaign(workspace, "april", day=9), finished_campaign(workspace, "may", day=1)
    record(before, 2, conditions={"driver": "570.86", "programs.train.py": "0" * 64, "cpu.model": "EPYC"})
    record(after, 1, conditions={"driver": "580.12", "programs.train.py": "1" * 64, "cpu.model": "EPYC"})
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "may", "22,970 images/s")
        await press(pilot, "o", "c")
        await until_shown(pilot, "Compare may #1 with", "may #2", "april #2")
        await press(pilot, "end", "up", "enter")
        await until_shown(
            pilot, "may #1", "april #2", "1.001×", "driver", "580.12", "570.86", "programs.train.py", "1" * 12
        )
        await until_gone(pilot, "EPYC")


async def test_two_trials_in_the_same_environment_are_said_to_be(workspace: WorkspacePaths):
    builder = finished_campaign(workspace, "may")
    for number in (1, 2):
        record(builder, number, conditions={"driver": "570.86"})
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "may", "22,970 images/s")
        await press(pilot, "o", "c", "enter")
        await until_shown(pilot, "Side by side", "may #1", "environment", "the same")


async def test_a_trial_that_failed_is_compared_by_its_conditions(workspace: WorkspacePaths):
    builder = finished_campaign(workspace, "may")
    cause = message("exit_code", code_value=3)
    record(builder, 1, state=State.FAILED.value, value=None, cause=cause, conditions={"os": "Debian 12"})
    record(builder, 2, conditions={"os": "Debian 13"})
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "22,990 images/s")
        await press(pilot, "o", "c", "enter")
        await until_shown(pilot, "exit code 3", "22,990 images/s", "Debian 12", "Debian 13")


async def test_the_curves_of_two_trials_are_drawn_into_one_plot_which_is_zoomed(workspace: WorkspacePaths):
    finished_campaign(workspace, "before", 20000.0, day=2)
    finished_campaign(workspace, "after", 22950.0)
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "after  finished")
        await press(pilot, "down", "o")
        await until_shown(pilot, "step 120")
        await press(pilot, "p")
        await until_shown(pilot, "Compare after #2 with", "before #1")
        screen = pilot.app.screen.query_one(RowTable)
        screen.select(next(key for key in screen.keys if "before #1" in screen.text_of(key)))
        await press(pilot, "enter")
        await until_shown(pilot, "in colour: before #1")
        await press(pilot, "plus")
        await until_gone(pilot, "step 120")
        await until_shown(pilot, "step 90")
        await press(pilot, "full_stop")
        await until_shown(pilot, "step 120")
        await press(pilot, "minus", "minus")
        await until_shown(pilot, "step 120", "in colour: before #1")


def test_a_second_curve_is_drawn_in_a_colour_of_its_own_within_the_same_axes():
    low, high = Series((1.0, 50.0, 100.0), (100.0,) * 3), Series((1.0, 50.0, 100.0), (200.0,) * 3, name="other")
    rows = draw(low, 80, 20, second=high)
    toned = [index for index, row in enumerate(rows) if any(piece.tone == "warn" for piece in row)]
    plain = [index for index, row in enumerate(rows) if any("⠤" in piece.text and not piece.tone for piece in row)]
    assert toned
    assert max(toned) < len(rows) // 2
    assert any("in colour: other" in piece.text for row in rows for piece in row)
    assert not plain or min(plain) > max(toned)


async def test_what_a_trial_ran_is_chosen_again_with_a_change(workspace: WorkspacePaths):
    finished_campaign(workspace, "done")
    async with driving(workspace, size=(140, 50), start_screen="watch") as pilot:
        await until_shown(pilot, "done  finished")
        await press(pilot, "down", "o")
        await until_shown(pilot, "step 120")
        await press(pilot, "r")
        await until_shown(pilot, "[x] h200", "--framework pytorch --case resnet50 --precision amp --batch-size 256")
        await press(pilot, "tab", "tab", "tab", "tab", "a", *"96", "enter")
        await until_shown(pilot, "--batch-size 256,96")
