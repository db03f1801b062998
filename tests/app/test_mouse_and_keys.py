"""Everything can be reached with the mouse alone, and with the keyboard alone."""

from __future__ import annotations

import asyncio
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from builder import POINTS, CampaignBuilder, finished_campaign, planned, running_campaign, training_log
from driving import driving, press, screen_of, shown, until, until_gone, until_shown
from textual import events
from textual.keys import _character_to_key
from textual.message import Message
from textual.pilot import Pilot
from textual.screen import Screen

from dlperf.app.actions import ACTIONS, PARTS
from dlperf.app.app import PLACES, DlperfApp
from dlperf.app.screens.campaigns import CampaignsScreen
from dlperf.app.screens.choose import ChooseScreen
from dlperf.app.screens.watch import WatchScreen
from dlperf.app.widgets.prompt import Prompt
from dlperf.app.widgets.row_table import RowTable
from dlperf.plan import TrialKey
from dlperf.runs.paths import WorkspacePaths

NARROW = (80, 24)


async def click_text(pilot: Pilot[str], text: str) -> None:
    """Click the first cell of a text that the screen shows."""
    for y, line in enumerate(shown(pilot).splitlines()):
        if text in line:
            await pilot.click(offset=(line.index(text), y))
            return
    raise AssertionError(f"{text!r} is not shown:\n{shown(pilot)}")


def test_the_help_names_every_part_that_has_keys():
    assert {*ACTIONS} == {*PLACES, "trial", "everywhere", *PARTS}


async def test_where_lists_lie_behind_one_another_a_click_on_a_name_shows_one(workspace: WorkspacePaths):
    async with driving(workspace, size=NARROW, start_screen="choose") as pilot:
        await until_shown(pilot, "[Hardware]  Frameworks  Cases", "[ ] local")
        await click_text(pilot, "Cases")
        await until_shown(pilot, "Hardware  Frameworks  [Cases]", "lenet5")
        assert screen_of(pilot, ChooseScreen).focused is not None


async def test_one_click_marks_an_entry_and_another_takes_the_mark_away(workspace: WorkspacePaths):
    async with driving(workspace, size=NARROW, start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] local")
        await click_text(pilot, "[ ] local")
        await until_shown(pilot, "[x] local")
        await click_text(pilot, "[x] local")
        await until_shown(pilot, "[ ] local")


async def test_a_click_on_the_words_of_its_frame_closes_a_page(workspace: WorkspacePaths):
    async with driving(workspace, size=NARROW) as pilot:
        await until_shown(pilot, "? Help")
        await click_text(pilot, "? Help")
        await until_shown(pilot, "On this screen")
        await click_text(pilot, "esc closes")
        await until_gone(pilot, "On this screen")


async def test_a_click_beside_a_page_closes_it_and_one_inside_does_not(workspace: WorkspacePaths):
    async with driving(workspace, size=NARROW, start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] local")
        await click_text(pilot, "p Presets")
        await until_shown(pilot, "enter chooses")
        await click_text(pilot, "what it marks")
        await until_shown(pilot, "enter chooses")
        await pilot.click(offset=(40, 1))
        await until_gone(pilot, "enter chooses")


async def test_a_click_in_the_frame_of_a_page_chooses_the_selected_row(workspace: WorkspacePaths):
    async with driving(workspace, size=NARROW, start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] local")
        await click_text(pilot, "p Presets")
        await until_shown(pilot, "enter chooses")
        await click_text(pilot, "enter chooses")
        await until_gone(pilot, "what it marks")
        await until_shown(pilot, "[x] local")


async def test_a_click_on_the_filter_shows_all_again(workspace: WorkspacePaths):
    running_campaign(workspace)
    finished_campaign(workspace, "before")
    async with driving(workspace, size=NARROW) as pilot:
        await until_shown(pilot, "before", "h200-nightly")
        await pilot.press("slash", *"bef", "enter")
        await until_gone(pilot, "h200-nightly")
        await click_text(pilot, "/bef · esc shows all")
        await until_shown(pilot, "before", "h200-nightly")


async def test_a_click_elsewhere_accepts_what_was_typed(workspace: WorkspacePaths):
    running_campaign(workspace)
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "71/120")
        await pilot.press("slash", *"failed")
        await until_gone(pilot, "71/120")
        await pilot.click("#trials")
        await until(pilot, lambda: not screen_of(pilot, WatchScreen).query_one(Prompt).has_class("-asking"))
        await until_shown(pilot, "/failed · esc shows all")


def listed(pilot: Pilot[str]) -> bool:
    """Whether a list of commands has all that it will have: while they are gathered, they move."""
    return not any(worker.is_running and worker.node is pilot.app.screen for worker in pilot.app.workers)


async def test_every_command_can_be_clicked(workspace: WorkspacePaths):
    running_campaign(workspace)
    async with driving(workspace, start_screen="watch") as pilot:
        await until_shown(pilot, "71/120")
        await click_text(pilot, ": Commands")
        await until(pilot, lambda: listed(pilot) and "Open  (o)" in shown(pilot))
        await pilot.press(*"zoom", "space", *"the")
        await until(
            pilot, lambda: listed(pilot) and "Zoom the log  (m)" in shown(pilot) and "Open  (o)" not in shown(pilot)
        )
        await click_text(pilot, "Zoom the log  (m)")
        await until(pilot, lambda: screen_of(pilot, WatchScreen).maximized is not None)


async def test_keys_move_in_a_long_page_of_a_trial(workspace: WorkspacePaths):
    builder = CampaignBuilder(workspace, "long", [planned(POINTS[0], 1)])
    builder.succeeded(builder.trials[0], 100.0)
    facts = ",".join(f'"fact{number}": {number}' for number in range(60))
    builder.paths.trial(builder.trials[0]).node("h200-01").environment.write_text(f"{{{facts}}}")
    async with driving(workspace, size=NARROW, start_screen="watch") as pilot:
        await until_shown(pilot, "#1")
        await pilot.press("down", "o", "tab", "tab")
        await until_shown(pilot, "fact0 ")
        await pilot.press("end")
        await until_shown(pilot, "fact59")


async def test_a_result_is_opened_with_all_that_is_known_of_it(workspace: WorkspacePaths):
    builder = CampaignBuilder(workspace, "one", [planned(POINTS[0], 3)])
    for number in (1, 2, 3):
        builder.succeeded(TrialKey(POINTS[0].id, number), 1000.0 + number)
    async with driving(workspace, size=NARROW, start_screen="results") as pilot:
        await until_shown(pilot, "1,002 images/s")
        await pilot.press("o")
        await until_shown(pilot, "trials: 1,001  1,002  1,003", "esc closes · y copies")


async def test_screens_are_made_before_their_first_visit(workspace: WorkspacePaths):
    finished_campaign(workspace, "done")
    async with driving(workspace) as pilot:
        await until(pilot, lambda: set(PLACES) <= pilot.app._screen_stacks.keys())
        (made,) = pilot.app._screen_stacks["watch"]
        await until(pilot, lambda: made.query_one("#trials", RowTable).keys)
        await pilot.press("3")
        assert pilot.app.screen is made


async def test_leaving_while_a_screen_is_made_is_no_mistake(workspace: WorkspacePaths, monkeypatch: pytest.MonkeyPatch):
    """Textual mounts nothing more once a program ends, so that a screen misses its own parts."""
    made: list[str] = []

    def leave_and_make(app: DlperfApp, place: str) -> Screen[Any]:
        made.append(place)
        if place == "watch":
            app.exit("left")
        return screen_made(app, place)

    screen_made = DlperfApp._screen_of
    monkeypatch.setattr(DlperfApp, "_screen_of", leave_and_make)
    async with driving(workspace) as pilot:
        await until(pilot, lambda: "watch" in made)
    assert pilot.app.return_code == 0


async def test_keys_that_arrive_at_once_do_what_they_do_one_by_one(workspace: WorkspacePaths):
    finished_campaign(workspace, "trend")
    finished_campaign(workspace, "other")
    async with driving(workspace) as pilot:
        await until_shown(pilot, "trend", "other", "3 ✓")
        for key in ("slash", *"other", "ctrl+u", *"tren", "enter", "w"):
            pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: isinstance(pilot.app.screen, WatchScreen))
        await until_shown(pilot, "trend  finished")


async def test_every_character_of_a_keyboard_can_be_typed(workspace: WorkspacePaths):
    """Also those that are keys of the screen."""
    typed = "".join(map(chr, range(ord("!"), ord("~") + 1)))
    finished_campaign(workspace, "trend")
    async with driving(workspace) as pilot:
        await until_shown(pilot, "trend", "3 ✓")
        await press(pilot, "slash")
        for character in typed:
            pilot.app.post_message(events.Key(_character_to_key(character), character))
        await until(pilot, lambda: pilot.app.screen.query_one(Prompt).value == typed)


@pytest.mark.parametrize(("place", "keys"), [("campaigns", []), ("campaigns", ["tab"]), ("watch", []), ("results", [])])
async def test_a_zoomed_pane_has_the_whole_screen(workspace: WorkspacePaths, place: str, keys: list[str]):
    finished_campaign(workspace, "done")
    async with driving(workspace, start_screen=place) as pilot:
        await until_shown(pilot, "done", "23,0")
        await press(pilot, *keys, "z")
        await until(pilot, lambda: pilot.app.screen.maximized is not None)
        await until(pilot, lambda: pilot.app.screen.maximized.outer_size in ((120, 38), (120, 37)))
        await press(pilot, "z")
        await until(pilot, lambda: pilot.app.screen.query(RowTable).first().outer_size.height < 30)


async def test_the_screen_has_taken_a_typed_text_before_the_next_key(
    workspace: WorkspacePaths, monkeypatch: pytest.MonkeyPatch
):
    async def handle_late(screen: CampaignsScreen, message: Message) -> None:
        if isinstance(message, Prompt.Typed):
            await asyncio.sleep(0.05)
        await handle(screen, message)

    handle = CampaignsScreen._dispatch_message
    monkeypatch.setattr(CampaignsScreen, "_dispatch_message", handle_late)
    finished_campaign(workspace, "trend")
    finished_campaign(workspace, "other")
    async with driving(workspace) as pilot:
        await until_shown(pilot, "trend", "other", "3 ✓")
        for key in ("slash", *"tren", "enter", "w"):
            pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: isinstance(pilot.app.screen, WatchScreen))
        await until_shown(pilot, "trend  finished")


@pytest.mark.parametrize("place", ["campaigns", "watch"])
async def test_an_idle_screen_is_refreshed_less_often(
    workspace: WorkspacePaths, place: str, monkeypatch: pytest.MonkeyPatch
):
    running_campaign(workspace)
    async with driving(workspace, start_screen=place) as pilot:
        app = pilot.app
        assert isinstance(app, DlperfApp)
        await until(pilot, lambda: not app._frames._active.is_set())
        monkeypatch.setattr(
            "dlperf.app.app.ACTIVE_SECONDS", 600.0
        )  # or a busy machine idles again before the next line
        await pilot.press("down")
        assert app._frames._active.is_set()


async def test_a_growing_log_keeps_the_frames_coming(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    async with driving(workspace, start_screen="watch") as pilot:
        app = pilot.app
        assert isinstance(app, DlperfApp)
        await until_shown(pilot, "step=71")
        await until(pilot, lambda: not app._frames._active.is_set())
        builder.log(TrialKey(POINTS[1].id, 2), training_log(3010.0, 1, first=72))
        await until(pilot, lambda: screen_of(pilot, WatchScreen).updates_often)
        app._frame()
        assert app._frames._active.is_set()


async def test_a_frame_a_little_early_is_not_passed_over(workspace: WorkspacePaths, monkeypatch: pytest.MonkeyPatch):
    async with driving(workspace) as pilot:
        screen = screen_of(pilot, CampaignsScreen)
        clock = SimpleNamespace(monotonic=lambda: 0.0)
        monkeypatch.setattr("dlperf.app.screens.base.time", clock)
        found = []
        for milliseconds in (1000, 1099, 1199, 1299, 1399):
            clock.monotonic = partial(float, milliseconds / 1000)
            found.append(screen.is_due(0.201))
    assert found == [True, False, True, False, True]


async def test_a_letter_or_a_click_on_it_goes_to_any_part_of_a_screen(workspace: WorkspacePaths):
    async with driving(workspace, start_screen="choose") as pilot:
        await until_shown(pilot, "[ ] local")
        screen = screen_of(pilot, ChooseScreen)
        await press(pilot, "ctrl+o")
        await until_shown(pilot, " a ", " s ", " g ")
        await press(pilot, "d")
        assert screen.focused is screen.query_one("#cases")
        await press(pilot, "ctrl+o")
        await until_shown(pilot, " g ")
        await click_text(pilot, " s ")
        await until(pilot, lambda: screen.focused is screen.query_one("#frameworks"))
        await press(pilot, "ctrl+o", "escape")
        assert screen.focused is screen.query_one("#frameworks")


async def test_a_letter_on_the_header_of_a_column_sorts_by_it(workspace: WorkspacePaths):
    finished_campaign(workspace, "april", day=9)
    finished_campaign(workspace, "may", day=1)
    async with driving(workspace) as pilot:
        await until_shown(pilot, "april", "may", "3 ✓")
        await press(pilot, "ctrl+o")
        await until_shown(pilot, " a ", " s ", " d ")
        await press(pilot, "d")  # after the two tables
        await until_shown(pilot, "campaign▲")
        await press(pilot, "ctrl+o", "d")
        await until_shown(pilot, "campaign▼")
