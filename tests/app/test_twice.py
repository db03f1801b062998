"""One read of the terminal may bring several keys or clicks: what the first one closed does not take the others."""

from __future__ import annotations

import pytest
from builder import finished_campaign
from driving import driving, press, shown, until, until_gone, until_shown
from textual import events
from textual.pilot import Pilot
from textual.screen import ModalScreen

from dlperf.app.screens.base import PlaceScreen
from dlperf.runs.paths import WorkspacePaths

OPENERS = {
    "jump": ("campaigns", ["ctrl+o"]),
    "help": ("campaigns", ["question_mark"]),
    "palette": ("campaigns", ["ctrl+p"]),
    "remove": ("campaigns", ["D"]),
    "presets": ("choose", ["p"]),
    "protocols": ("choose", ["o"]),
    "start": ("choose", ["p", "enter", "s"]),
    "details": ("results", ["o"]),
    "events": ("watch", ["E"]),
    "machine": ("machines", ["n"]),
}
"""Where a screen in front of another is opened, and by which keys."""
KEYS = ("a", "enter", "escape", "space", "y")


def send(pilot: Pilot[str], *keys: str) -> None:
    """Send keys in one go, as one read brings them."""
    for key in keys:
        pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))


@pytest.mark.parametrize("opener", OPENERS)
async def test_a_screen_in_front_bears_any_key_twice(
    workspace: WorkspacePaths, opener: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("dlperf.app.screens.plan_actions.PlanActions._start", lambda *_words: None)
    finished_campaign(workspace, "done")
    finished_campaign(workspace, "other", day=2)
    place, keys = OPENERS[opener]
    async with driving(workspace, start_screen=place) as pilot:
        await until_shown(pilot, {"choose": "[ ] numpy", "results": "22,990", "machines": "local"}.get(place, "3 ✓"))
        await press(pilot, *keys[:-1])
        for key in KEYS:
            await press(pilot, *keys[-1:])
            await until(pilot, lambda: isinstance(pilot.app.screen, ModalScreen))
            send(pilot, key, key)
            await pilot.pause()
            if isinstance(pilot.app.screen, ModalScreen):
                send(pilot, "escape", "escape")
            await until(pilot, lambda: isinstance(pilot.app.screen, PlaceScreen))
            await pilot.app.switch_mode(place)  # where the second key has gone on
            while len(pilot.app.screen_stack) > 1:
                await pilot.app.pop_screen()


async def test_enter_twice_renames_once(workspace: WorkspacePaths):
    finished_campaign(workspace, "done")
    async with driving(workspace) as pilot:
        await until_shown(pilot, "3 ✓")
        await press(pilot, "n", "ctrl+u", *"new")
        send(pilot, "enter", "enter")
        await until(pilot, lambda: [paths.name for paths in workspace.campaigns()] == ["new"])
        assert pilot.app.is_running


async def test_a_double_click_on_a_command_runs_it_once(workspace: WorkspacePaths):
    finished_campaign(workspace, "done")
    async with driving(workspace) as pilot:
        await until_shown(pilot, "3 ✓")
        theme = pilot.app.theme
        await press(pilot, "ctrl+p", *"theme")
        await until_shown(pilot, "Change between dark and light")
        await until(pilot, lambda: not any(worker.is_running for worker in pilot.app.workers))
        place = next((line.index("Theme"), y) for y, line in enumerate(shown(pilot).splitlines()) if "Theme " in line)
        for _click in range(2):
            for kind in (events.MouseDown, events.MouseUp):
                pilot.app.post_message(kind(None, *place, 0, 0, 1, False, False, False, *place))
        await until_gone(pilot, "Change between dark and light")
        await pilot.pause()
        assert pilot.app.theme != theme
