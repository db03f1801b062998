"""A monkey at the keys: bursts without a gap, the mouse, pastes, resizes, and campaigns that vanish meanwhile.

Nothing that it starts can run: its program's Python is ``false``, so that neither an engine nor a command begins.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from unittest.mock import patch

from driving import driving
from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot

from dlperf.errors import DlperfError
from dlperf.runs.lookup import remove_campaign, rename_campaign
from dlperf.runs.paths import WorkspacePaths

CHARACTERS = tuple(map(chr, range(ord(" "), ord("~") + 1)))
LEAVING = frozenset({"q", "L"})
"""Keys that end the program, or start it anew."""
NAMED = (
    *("up", "down", "left", "right", "home", "end", "pageup", "pagedown", "tab", "shift+tab", "enter", "escape"),
    *("backspace", "delete", "ctrl+o", "ctrl+p", "ctrl+r", "ctrl+u", "ctrl+w", "f1"),
)
KEYS = (*NAMED, *NAMED, *(char for char in CHARACTERS if char not in LEAVING))
SIZES = ((80, 24), (120, 40), (200, 60), (40, 12), (1, 1))
PASTES = ("x", "基线 " * 30, "a\nb\tc", "'; rm -rf /", "\x1b[31m", "(" * 50, "9" * 40)
LONGEST_BURST = 12


class Monkey:
    """Does at random what a person, a terminal and another process may do."""

    def __init__(self, pilot: Pilot[str], workspace: WorkspacePaths, seed: int) -> None:
        self._pilot, self._workspace = pilot, workspace
        self._random = random.Random(seed)
        self.keys = 0
        """How many it has pressed."""

    async def play(self, keys: int) -> None:
        """Press so many keys, with all else in between."""
        others = (self._click, self._click, self._paste, self._resize, self._rename_or_remove, self._visit)
        wanted = self.keys + keys
        while self.keys < wanted and self._pilot.app.is_running:
            self._burst(min(self._random.randint(1, LONGEST_BURST), wanted - self.keys))
            if self._random.random() < 0.3:
                self._random.choice(others)()
            await self._pilot.pause(self._random.choice((0, 0, 0.01)))

    def _burst(self, keys: int) -> None:
        for key in self._random.choices(KEYS, k=keys):
            self.keys += 1
            character = key if len(key) == 1 else None
            self._post(events.Key(_character_to_key(key) if character else key, character))

    def _post(self, event: events.Event) -> None:
        self._pilot.app.post_message(event)

    def _click(self) -> None:
        """Click once or twice somewhere, or turn the wheel there."""
        width, height = self._pilot.app.size
        x, y = self._random.randrange(max(1, width)), self._random.randrange(max(1, height))
        wheel = (events.MouseScrollDown, events.MouseScrollUp)
        kinds = self._random.choice(((events.MouseDown, events.MouseUp) * 2, (events.MouseDown, events.MouseUp), wheel))
        for kind in (events.MouseMove, *kinds):
            self._post(kind(None, x, y, 0, 0, 1, False, False, False, x, y))

    def _paste(self) -> None:
        self._post(events.Paste(self._random.choice(PASTES)))

    def _resize(self) -> None:
        from textual.geometry import Size

        size = Size(*self._random.choice(SIZES))
        self._pilot.app._driver._size = size  # type: ignore[union-attr]
        self._post(events.Resize(size, size))

    def _visit(self) -> None:
        """Go to any screen, so that none is played with less than the others."""
        self._burst_of("escape", "escape", self._random.choice("123456"))

    def _burst_of(self, *keys: str) -> None:
        for key in keys:
            self.keys += 1
            self._post(events.Key(key, key if len(key) == 1 else None))

    def _rename_or_remove(self) -> None:
        """Rename, remove or destroy a campaign as another process does, while copies of it are left."""
        campaigns = self._workspace.campaigns()
        if not campaigns:
            return
        paths = self._random.choice(campaigns)
        changes: tuple[Callable[[], object], ...] = (
            lambda: rename_campaign(self._workspace, paths, f"renamed-{self._random.randrange(1000)}"),
            lambda: remove_campaign(self._workspace, paths),
            lambda: shutil.rmtree(paths.directory),
        )
        copy = self._workspace.runs / f"copy-{self._random.randrange(10**6)}"
        with suppress(DlperfError, OSError):
            shutil.copytree(paths.directory, copy)
            self._random.choice(changes)()


@contextmanager
def harmless() -> Iterator[None]:
    """Let nothing run that the program starts, give the terminal to no other program, and open no browser."""
    with (
        patch("sys.executable", shutil.which("false")),
        patch("dlperf.app.screens.publish.opener_of", lambda *_words: None),
        patch("dlperf.app.screens.base.PlaceScreen.run_program", lambda *_words: None),
    ):
        yield


async def play(workspace: WorkspacePaths, keys: int, seed: int, start_screen: str = "campaigns") -> int:
    """Play with the program until so many keys are pressed; return how many were.

    Raises:
        Exception: what ended the program.
    """
    pressed = 0
    with harmless():
        while pressed < keys:  # a click may leave the program, which starts again then
            async with driving(workspace, start_screen=start_screen) as pilot:
                monkey = Monkey(pilot, workspace, seed + pressed)
                await monkey.play(keys - pressed)
                pressed += monkey.keys
                assert pilot.app.return_value in (None, "left", "again"), f"seed {seed}, after {pressed} keys"
    return pressed
