"""The command palette: every action of the screen shown and of the app, by its words."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from dlperf.app.actions import EVERYWHERE, Action, actions_of
from dlperf.messages import _

if TYPE_CHECKING:
    from dlperf.app.screens.base import PlaceScreen


class Actions(Provider):
    """Reads the table of actions."""

    @property
    def _here(self) -> tuple[Action, ...]:
        place = cast("PlaceScreen", self.screen).place
        return tuple(action for action in actions_of(place) if action.id != "command_palette")

    async def discover(self) -> Hits:
        for action in self._here:
            yield DiscoveryHit(_title(action), partial(self._run, action), help=_(action.help))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for action in self._here:
            title = f"{_title(action)} · {_(action.help)}"
            if (score := matcher.match(title)) > 0:
                yield Hit(score, matcher.highlight(title), partial(self._run, action))

    async def _run(self, action: Action) -> None:
        where = "app" if action in EVERYWHERE else "screen"
        await self.app.run_action(f"{where}.{action.call}")


def _title(action: Action) -> str:
    return f"{_(action.text)}  ({action.shown_key})"
