"""What every screen shares: the bars, the prompt, the frame that looks at the files."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.screen import Screen

from dlperf.app.actions import actions_of
from dlperf.app.settings import Settings
from dlperf.app.widgets.bars import KeyBar, TopBar
from dlperf.app.widgets.prompt import Prompt
from dlperf.runs.paths import Workspace

if TYPE_CHECKING:
    from dlperf.app.app import DlperfApp


class PlaceScreen(Screen[None]):
    """A screen of the program; ``place`` names it in ``actions.ACTIONS``.

    Threads and workers tell it what they found by ``call_later``: what comes after the screen was closed is dropped.
    """

    place: ClassVar[str] = ""
    about: ClassVar[str] = ""
    """What the screen is for, for the help."""
    AUTO_FOCUS = ""

    @property
    def main(self) -> DlperfApp:
        """The app, by its own type."""
        return cast("DlperfApp", self.app)

    @property
    def settings(self) -> Settings:
        return self.main.settings

    @property
    def workspace(self) -> Workspace:
        return self.settings.workspace

    def compose(self) -> ComposeResult:
        yield TopBar(self.place)
        yield KeyBar(actions_of(self.place))
        yield Prompt()
        yield from self.body()

    def body(self) -> ComposeResult:
        """The widgets between the bars."""
        yield from ()

    def frame(self, number: int) -> None:
        """Look at the files and draw what has changed; called on every frame while the screen is shown."""

    @property
    def prompt(self) -> Prompt:
        return self.query_one(Prompt)

    def every(self, seconds: float, number: int) -> bool:
        """Whether this frame is one of those that come every so many seconds."""
        return number % max(1, round(seconds * self.settings.frames_per_second)) == 0
