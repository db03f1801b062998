"""What is drawn, and when: as little as possible, at once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest
from builder import engine_of, finished_campaign, running_campaign
from driving import driving, is_reading, until, until_shown
from textual.pilot import Pilot

from dlperf.app.app import PLACES
from dlperf.app.screens.base import PlaceScreen
from dlperf.app.screens.watch import TELEMETRY_SECONDS
from dlperf.runs.paths import WorkspacePaths


@contextmanager
def drawings(pilot: Pilot[str]) -> Iterator[list[object]]:
    """What is sent to the terminal meanwhile."""
    sent: list[object] = []
    display = pilot.app._display

    def recorded(screen: object, picture: object) -> None:
        sent.append(picture)
        display(screen, picture)  # type: ignore[arg-type]

    with patch.object(pilot.app, "_display", recorded):
        yield sent


OPENED: list[str] = []
"""Files that this process has opened, since there is an audit hook, which cannot be removed; to look at a name, as
``opening.is_regular`` does, opens nothing that could be read."""
sys.addaudithook(
    lambda event, of: OPENED.append(str(of[0])) if event == "open" and not (of[2] or 0) & os.O_PATH else None
)


@contextmanager
def opened_files() -> Iterator[list[str]]:
    """The files that are opened meanwhile."""
    OPENED.clear()
    yield OPENED


async def two_looks(pilot: Pilot[str]) -> None:
    """Each file is looked at twice, and what is looked at once a second at least as often."""
    screen = pilot.app.screen
    assert isinstance(screen, PlaceScreen)
    looking = patch.object(screen, "check_files", wraps=screen.check_files)
    with patch.object(screen, "read_seconds", 1.1 * TELEMETRY_SECONDS), looking as looks:
        await until(pilot, lambda: looks.call_count >= 2)


@pytest.mark.parametrize("place", ["watch", "campaigns"])
async def test_a_running_campaign_with_nothing_new_to_say_is_not_drawn_again(workspace: WorkspacePaths, place: str):
    with engine_of(running_campaign(workspace).paths):
        async with driving(workspace, start_screen=place) as pilot:
            await until_shown(pilot, "running")
            await two_looks(pilot)
            with drawings(pilot) as sent:
                await two_looks(pilot)
            assert not sent


@pytest.mark.parametrize("place", [place for place in PLACES if place != "campaigns"])
async def test_the_first_visit_of_a_screen_draws_it_once_and_at_once(workspace: WorkspacePaths, place: str):
    finished_campaign(workspace, "nightly")
    async with driving(workspace) as pilot:
        app = pilot.app
        await until(pilot, lambda: set(PLACES) <= set(app._screen_stacks) and not is_reading(pilot))
        await two_looks(pilot)
        with drawings(pilot) as sent:
            app.switch_mode(place)
            assert not app._batch_count
            await until(pilot, lambda: sent and not is_reading(pilot))
            await pilot.pause()
        whole = [picture for picture in sent if type(picture).__name__ == "LayoutUpdate"]
        assert len(whole) == 1


async def test_files_that_nobody_writes_are_not_read_again(workspace: WorkspacePaths):
    builder = running_campaign(workspace)
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "running")
            await two_looks(pilot)
            with opened_files() as opened:
                await two_looks(pilot)
            assert not [path for path in opened if path.startswith(str(workspace.runs)) and not path.endswith(".lock")]
