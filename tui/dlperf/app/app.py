"""The app: screens as modes, themes, the frame that everything is drawn by, and a quiet way out."""

from __future__ import annotations

import asyncio
import os
import signal
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from textual import events
from textual.app import App
from textual.binding import BindingType
from textual.command import CommandPalette, Provider
from textual.filter import LineFilter
from textual.geometry import Size
from textual.screen import Screen

from dlperf.app.actions import bindings_of
from dlperf.app.ascii import AsciiFilter
from dlperf.app.campaigns import CampaignBook
from dlperf.app.driver import TerminalDriver
from dlperf.app.palette import Actions
from dlperf.app.screens.base import PlaceScreen
from dlperf.app.settings import Settings
from dlperf.messages import CODES, _, use_language

CRASHED = 70
"""Exit code after a mistake of this program (EX_SOFTWARE of sysexits.h)."""
HUNG_UP = 128 + signal.SIGHUP
"""Exit code where the terminal was closed, as a shell has it."""
LEAST_SIZE = Size(80, 24)
"""What the screens are made for; in less, what matters least is left out."""
DARK, LIGHT = "textual-dark", "textual-light"


def _campaigns() -> Screen[Any]:
    from dlperf.app.screens.campaigns import CampaignsScreen

    return CampaignsScreen()


def _watch() -> Screen[Any]:
    from dlperf.app.screens.watch import WatchScreen

    return WatchScreen()


def _choose() -> Screen[Any]:
    from dlperf.app.screens.choose import ChooseScreen

    return ChooseScreen()


def _results() -> Screen[Any]:
    from dlperf.app.screens.results import ResultsScreen

    return ResultsScreen()


def _publish() -> Screen[Any]:
    from dlperf.app.screens.publish import PublishScreen

    return PublishScreen()


class DlperfApp(App[str]):
    """A view of a workspace. Ends with ``again`` when it shall be drawn anew in another language."""

    CSS_PATH = "app.tcss"
    TITLE = "dlperf"
    ENABLE_COMMAND_PALETTE = True
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 - as Textual declares it
    VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-tall")]  # noqa: RUF012
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {Actions}
    BINDINGS: ClassVar[list[BindingType]] = bindings_of("everywhere")
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {
        "campaigns": _campaigns,
        "choose": _choose,
        "watch": _watch,
        "results": _results,
        "publish": _publish,
    }

    def __init__(self, settings: Settings) -> None:
        use_language(settings.language)
        super().__init__(driver_class=TerminalDriver, watch_css=False)
        self.settings = settings
        self.book = CampaignBook(settings.workspace)
        self.watched: str | None = None
        """The campaign of the Watch screen."""
        self.theme = DARK if settings.dark else LIGHT
        self._frame_number = 0
        self._small = False

    def on_mount(self) -> None:
        self.switch_mode(self.settings.start_screen)
        self.set_interval(1 / self.settings.frames_per_second, self._frame)
        self.app_resume_signal.subscribe(self, lambda _app: self.screen.refresh(layout=True))
        self._leave_on_signals()

    def on_resize(self, event: events.Resize) -> None:
        """Where the window becomes smaller than the screens are made for, say so once."""
        small = event.size.width < LEAST_SIZE.width or event.size.height < LEAST_SIZE.height
        if small and not self._small:
            self.notify(_("This window is small: from {size} on there is room for everything.", size="80 × 24"))
        self._small = small

    def get_line_filters(self) -> list[LineFilter]:
        """Textual's own, and the one for terminals that know ASCII alone."""
        return [*super().get_line_filters(), *([AsciiFilter()] if self.settings.plain else [])]

    def _frame(self) -> None:
        self._frame_number += 1
        if not self.is_running:  # closing: the screens lose their widgets one by one
            return
        if not (self.is_headless or os.isatty(0)):  # hung up, and started so as not to be told
            self.exit("left", HUNG_UP)
        if isinstance(self.screen, PlaceScreen) and self.screen.is_mounted:
            self.screen.frame(self._frame_number)

    # ---------------------------------------------------------------- actions

    async def action_show_screen(self, place: str) -> None:
        await self.switch_mode(place)

    def watch_campaign(self, name: str) -> None:
        """Show a campaign on the Watch screen."""
        self.watched = name
        self.switch_mode("watch")

    def action_switch_theme(self) -> None:
        self.settings.dark = not self.settings.dark
        self.theme = DARK if self.settings.dark else LIGHT

    def action_switch_language(self) -> None:
        following = CODES[(CODES.index(self.settings.language) + 1) % len(CODES)]
        self.settings.language = following
        self.settings.start_screen = self.current_mode
        self.exit("again")

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, CommandPalette):
            self.push_screen(CommandPalette(placeholder=_("Type a command …"), id="--command-palette"))

    def action_help(self) -> None:
        from dlperf.app.screens.help import HelpScreen

        if isinstance(self.screen, PlaceScreen) and self.screen.is_mounted:
            self.push_screen(HelpScreen(self.screen.place, self.screen.about))

    def action_leave(self) -> None:
        self.exit("left")

    def action_help_quit(self) -> None:
        """What ctrl+c does where nothing is selected."""
        self.notify(_("q leaves this window; what runs goes on. x on the Watch screen cancels a trial."))

    # ---------------------------------------------------------------- the end

    def _leave_on_signals(self) -> None:
        """A closed terminal or a ``kill`` leaves the terminal as it was found."""
        if self.is_headless:
            return
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, partial(self.exit, "left", 128 + number))

    def _fatal_error(self) -> None:
        """Textual would print a traceback with every local variable; ours goes to a file, without them."""
        report = Path.home() / ".dlperf" / "dlperf-tui-crash.txt"
        try:
            report.parent.mkdir(parents=True, exist_ok=True)
            report.write_text(traceback.format_exc())
        except OSError:
            report = Path("-")
        error = traceback.format_exc().strip().splitlines()[-1]
        self._exit_renderables.append(
            _(
                "dlperf-tui: {error}\nWhat runs goes on. A report of this mistake lies in {file}.",
                error=error,
                file=report,
            )
        )
        self._return_code = CRASHED
        self._close_messages_no_wait()
