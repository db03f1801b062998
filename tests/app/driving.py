"""Driving the program in a test: starting it, waiting for what it shows, reading its screen."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from builder import NOW, CampaignBuilder, engine_of, running_campaign
from textual._context import visible_screen_stack
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip

from dlperf.app.app import DlperfApp
from dlperf.app.settings import TerminalSettings
from dlperf.messages import Code
from dlperf.runs.paths import WorkspacePaths

PATIENCE_SECONDS = 60.0
READING = frozenset(
    {"campaigns", "catalog", "plan", "open", "results", "preview", "curve"}
    | {"unpack", "search", "matching", "numbers", "telemetry"}
)
"""Groups of workers that read something which the screen then shows; the others wait for a person."""
ScreenType = TypeVar("ScreenType", bound=Screen[Any])


@asynccontextmanager
async def driving(
    workspace: WorkspacePaths,
    size: tuple[int, int] = (120, 40),
    language: Code = "en",
    dark: bool = True,
    plain: bool = False,
    start_screen: str = "campaigns",
) -> AsyncIterator[Pilot[str]]:
    """The program, running without a terminal, with a clock that stands still."""
    settings = TerminalSettings(workspace, language, dark, plain, now=lambda: NOW, start_screen=start_screen)
    async with DlperfApp(settings).run_test(size=size, notifications=True) as pilot:
        yield pilot


@asynccontextmanager
async def watching(workspace: WorkspacePaths) -> AsyncIterator[tuple[Pilot[str], CampaignBuilder]]:
    """A campaign that an engine runs, on the Watch screen, which shows it."""
    builder = running_campaign(workspace)
    with engine_of(builder.paths):
        async with driving(workspace, start_screen="watch") as pilot:
            await until_shown(pilot, "71/120")
            yield pilot, builder


def shown(pilot: Pilot[str]) -> str:
    """What the screen shows, as text."""
    return "\n".join(strip.text.rstrip() for strip in strips_of(pilot))


def strips_of(pilot: Pilot[str]) -> list[Strip]:
    """What the screen shows, line by line, with the screens behind a question, which Textual keeps as drawn here."""
    visible_screen_stack.set(pilot.app._background_screens)
    return pilot.app.screen._compositor.render_strips()


async def until(pilot: Pilot[str], condition: Callable[[], object]) -> None:
    """Wait until something is so: every widget has handled what came, and is drawn, before it is asked again."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"waited {PATIENCE_SECONDS:.0f} s in vain; the screen shows\n{shown(pilot)}"
        await pilot.pause(0.005)


def is_reading(pilot: Pilot[str]) -> bool:
    return any(worker.is_running and worker.group in READING for worker in pilot.app.workers)


async def press(pilot: Pilot[str], *keys: str) -> None:
    """Press keys as a person does: each when what the one before brought is read and drawn. Behind a question, for
    instance, nothing is drawn any more."""
    for key in keys:
        await pilot.press(key)
        await until(pilot, lambda: not is_reading(pilot))
        await pilot.pause()


async def until_said(pilot: Pilot[str], *texts: str) -> None:
    """Wait until a notice says all these texts: where it breaks its lines depends on the length of paths."""
    await until(
        pilot, lambda: any(all(text in notice.message for text in texts) for notice in pilot.app._notifications)
    )


async def until_shown(pilot: Pilot[str], *texts: str) -> None:
    """Wait until the screen shows all these texts."""
    await until(pilot, lambda: all(text in shown(pilot) for text in texts))


async def until_gone(pilot: Pilot[str], text: str) -> None:
    """Wait until the screen does not show a text any more."""
    await until(pilot, lambda: text not in shown(pilot))


def screen_of(pilot: Pilot[str], kind: type[ScreenType]) -> ScreenType:
    """The screen shown, which is of this kind."""
    screen = pilot.app.screen
    assert isinstance(screen, kind)
    return screen
