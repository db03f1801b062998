"""The list of commands: what it offers, and Textual's palette that shows it."""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import cast

from textual import events
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider

from dlperf.app.actions import ACTIONS, EVERYWHERE, Action, actions_of
from dlperf.app.guarded import ClosesOnce
from dlperf.app.screens.base import PlaceScreen
from dlperf.messages import _, language


class Actions(Provider):
    @property
    def _place(self) -> str:
        return cast(PlaceScreen, self.screen).place

    @property
    def _actions(self) -> tuple[Action, ...]:
        return tuple(action for action in actions_of(self._place) if action.id != "command_palette")

    @property
    def _elsewhere(self) -> Iterator[tuple[Action, Action]]:
        """Yield the actions that only other screens have, each after the one that shows its screen."""
        here = {action.id for action in actions_of(self._place)}
        for screen in EVERYWHERE:
            if screen.id == "show_screen" and screen.parameter != self._place:
                found = (action for action in ACTIONS[str(screen.parameter)] if action.id not in here)
                yield from ((screen, action) for action in found)

    async def discover(self) -> Hits:
        for action in self._actions:
            yield DiscoveryHit(_title(action), partial(self._run, action), help=_(action.help))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for action in self._actions:
            title = f"{_title(action)} · {_(action.help)}"
            if (score := matcher.match(title)) > 0:
                yield Hit(score, matcher.highlight(title), partial(self._run, action))
        for screen, action in self._elsewhere:
            keys = f"({screen.shown_key} {action.shown_key})"
            title = f"{_(screen.text)}{language().colon}{_(action.text)}  {keys} · {_(action.help)}"
            if (score := matcher.match(title)) > 0:
                yield Hit(score / 2, matcher.highlight(title), partial(self._run, screen, action))

    async def _run(self, *actions: Action) -> None:
        for action in actions:
            await self.app.run_action(action.call, self.app if action in EVERYWHERE else self.app.screen)


def _title(action: Action) -> str:
    return f"{_(action.text)}  ({action.shown_key})"


class Palette(ClosesOnce, CommandPalette):
    """Textual's list of commands."""

    def _on_mount(self, event: events.Mount) -> None:
        """Do nothing where it was closed before it was mounted: Textual would look for the screen behind it."""
        if self.app.screen != self:
            event.prevent_default()

    def _action_command_list(self, action: str) -> None:
        """Pass over keys for a list whose lines are not laid out yet, of which Textual 8.2 misses the place."""
        with suppress(KeyError):
            super()._action_command_list(action)
