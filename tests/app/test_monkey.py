"""No key ends the program, whatever was pressed, clicked, pasted or removed before it."""

from __future__ import annotations

import pytest
from builder import finished_campaign, running_campaign
from playing import play

from dlperf.app.app import PLACES
from dlperf.runs.paths import WorkspacePaths

KEYS = 200


@pytest.mark.parametrize("place", PLACES)
async def test_a_monkey_does_not_end_the_program(workspace: WorkspacePaths, place: str):
    running_campaign(workspace)
    for day, name in enumerate(("alpha", "beta", "基线")):
        finished_campaign(workspace, name, day=day + 1)
    assert await play(workspace, KEYS, seed=len(place), start_screen=place) >= KEYS
