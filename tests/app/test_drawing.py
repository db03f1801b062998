"""What is drawn, and when: as little as possible, at once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest
from builder import engine_of, finished_campaign, running_campaign
from driving import driving, is_reading, until, until_shown
from textual.pilot import Pilot

from dlperf.app.app import PLACES, DlperfApp
from dlperf.runs.paths import Workspace

TWO_LOOKS = 25
"""Frames in which each file is looked at twice."""


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
"""Files that this process has opened, since there is an audit hook, which cannot be removed."""
sys.addaudithook(lambda event, of: OPENED.append(str(of[0])) if event == "open" else None)


@contextmanager
def opened_files() -> Iterator[list[str]]:
    """The files that are opened meanwhile."""
    OPENED.clear()
    yield OPENED


async def frames(pilot: Pilot[str], count: int) -> None:
    app = pilot.app
    assert isinstance(app, DlperfApp)
    last = app._frame_number + count
    await until(pilot, lambda: app._frame_number >= last)


@pytest.mark.parametrize("place", ["watch", "campaigns"])
async def test_a_running_campaign_with_nothing_new_to_say_is_not_drawn_again(workspace: Workspace, place: str):
    with engine_of(running_campaign(workspace).paths):
        async with driving(workspace, start_screen=place) as pilot:
            await until_shown(pilot, "running")
            await frames(pilot, TWO_LOOKS)
            with drawings(pilot) as sent:
                await frames(pilot, TWO_LOOKS)
            assert not sent


@pytest.mark.parametrize("place", [place for place in PLACES if place != "campaigns"])
async def test_the_first_visit_of_a_screen_draws_it_once_and_at_once(workspace: Workspace, place: str):
    finished_campaign(workspace, "nightly")
    async with driving(workspace) as pilot:
        app = pilot.app
        await until(pilot, lambda: set(PLACES) <= set(app._screen_stacks) and not is_reading(pilot))
        await frames(pilot, TWO_LOOKS)
        with drawings(pilot) as sent:
            app.switch_mode(place)
            assert not app._batch_count
            await until(pilot, lambda: sent and not is_reading(pilot))
            await pilot.pause()
        whole = [picture for picture in sent if type(picture).__name__ == "LayoutUpdate"]
        assert len(whole) == 1


async def test_files_that_nobody_writes_are_not_read_again(workspace: Workspace):
    builder = running_campaign(workspace)
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "running")
            await frames(pilot, TWO_LOOKS)
            with opened_files() as opened:
                await frames(pilot, TWO_LOOKS)
            assert not [path for path in opened if path.startswith(str(workspace.runs)) and not path.endswith(".lock")]
