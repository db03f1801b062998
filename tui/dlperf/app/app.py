"""The app: screens as modes, themes, the timer that refreshes the screen shown, and the exit."""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any, ClassVar, cast

from rich.text import Text
from textual import constants, events, work
from textual._context import active_message_pump
from textual.app import App
from textual.command import CommandPalette, Provider
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.filter import LineFilter
from textual.geometry import Size
from textual.notifications import Notify, SeverityLevel
from textual.screen import Screen
from textual.widgets import Input
from textual.worker import WorkerFailed, get_current_worker

from dlperf.app.actions import character_of
from dlperf.app.campaigns import CampaignBook
from dlperf.app.command_palette import Actions, Palette
from dlperf.app.guarded import UNREADABLE, Guarded, is_closing, is_on_removed, wait_until_handled
from dlperf.app.notices import EndedCampaigns, Notice, ended_text, report_mistake
from dlperf.app.screens.base import PlaceScreen
from dlperf.app.screens.sorted_table import SortedTableScreen
from dlperf.app.settings import TerminalSettings
from dlperf.app.terminal import AsciiFilter, TerminalDriver, is_hung_up, notification, on_signals
from dlperf.app.widgets.row_table import RowTable
from dlperf.catalog.palette import palette
from dlperf.messages import CODES, _, use_language

CRASHED = 70
"""Exit code after an internal error (EX_SOFTWARE of sysexits.h)."""
HUNG_UP = 128 + signal.SIGHUP
"""Exit code after a closed terminal, as a shell reports it."""
NOTICE_SECONDS, LEAST_NOTICE_SECONDS = 8.0, 2.0
"""In which a notice is shown, and after which any key takes it away."""
ACTIVE_SECONDS, IDLE_INTERVAL = 1.0, 0.5
"""Seconds of full frame rate after a key; then, unless the screen updates often, seconds between frames."""
MIN_SIZE = Size(80, 24)
"""Below this, the screens leave out what matters least."""
PLACES = ("campaigns", "choose", "watch", "results", "publish", "machines")
DARK, LIGHT = "textual-dark", "textual-light"
USED_BY_SCREENS = (*("table.load", "view.here", "app.model.options", "app.model.planned", "plan", "render.preview"),)
"""What screens import when they are used."""


class DlperfApp(Guarded, App[str], keys="everywhere"):
    """A view of a workspace. Ends with ``again`` to be started anew in another language."""

    CSS_PATH = "app.tcss"
    TITLE = "dlperf"
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {Actions}

    def __init__(self, settings: TerminalSettings) -> None:
        use_language(settings.language)
        super().__init__(driver_class=None if constants.DRIVER else TerminalDriver, watch_css=False)
        self.settings = settings
        self.book = CampaignBook(settings.workspace)
        self.theme = DARK if settings.dark else LIGHT
        self._idle_at = 0.0
        """When the full frame rate after a key ends, unless the screen updates often."""
        self._notified_version = 0
        self._ended = EndedCampaigns()
        self._small = self._crashed = False
        self.animation_level = "none"
        for place in PLACES:
            self.add_mode(place, partial(self._screen_of, place))

    def on_mount(self) -> None:
        self.switch_mode(self.settings.start_screen)
        self._frames = self.set_interval(1 / self.settings.frames_per_second, self._frame)
        self._idle_at = time.monotonic() + ACTIVE_SECONDS
        self.set_interval(IDLE_INTERVAL, self._frame)
        self.app_resume_signal.subscribe(self, lambda _app: self.screen.refresh(layout=True))
        if not self.is_headless:
            on_signals(lambda code: self.exit("left", 128 + code))
        self.call_after_refresh(self._prepare_screens)

    @work(group="prepare")
    async def _prepare_screens(self) -> None:
        """Import and mount what the first visit of a screen needs, so that no key waits for it."""
        for module in (*(f"app.screens.{place}" for place in (*PLACES, "trial")), *USED_BY_SCREENS):
            await asyncio.to_thread(import_module, f"dlperf.{module}")
        await asyncio.to_thread(palette)
        for place in PLACES:
            if place not in self._screen_stacks:  # privately: in public a mode is mounted only by showing it
                screen, mounted = self._get_screen(self._screen_of(place))
                self._screen_stacks = {**self._screen_stacks, place: [screen]}
                await mounted
                screen.post_message(events.Resize(self.size, self.size))
                screen.post_message(events.ScreenResume())

    def _screen_of(self, place: str) -> Screen[Any]:
        module = import_module(f"dlperf.app.screens.{place}")
        screen: Screen[Any] = getattr(module, f"{place.capitalize()}Screen")()
        # privately: mounting styles it, and Textual would parse all styles anew
        screen._css_update_count = self._css_update_count
        return screen

    def on_resize(self, event: events.Resize) -> None:
        small = event.size.width < MIN_SIZE.width or event.size.height < MIN_SIZE.height
        if small and not self._small:
            self.notify(_("This window is small: from {size} on there is room for everything.", size="80 × 24"))
        self._small = small

    def get_line_filters(self) -> list[LineFilter]:
        return [*super().get_line_filters(), *([AsciiFilter()] if self.settings.plain else [])]

    def _frame(self) -> None:
        if not self.is_running:  # closing: the screens lose their widgets one by one
            return
        if not self.is_headless and is_hung_up(self.is_web):  # hung up, and started with SIGHUP ignored
            self.exit("left", HUNG_UP)
        if isinstance(self.screen, PlaceScreen) and self.screen.is_mounted:
            self.screen.frame()
            self._notify_ended_campaigns()
            if self.screen.updates_often or time.monotonic() < self._idle_at:
                self._frames.resume()
            else:
                self._frames.pause()

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.InputEvent):
            if self._exit or not self.screen_stack:  # of the read that also brought the key that ends the program
                return
            if isinstance(event, events.MouseDown) and is_on_removed(self.screen, event):
                return
            self._idle_at = time.monotonic() + ACTIVE_SECONDS
            self._frames.resume()
            newest = max((item.raised_at for item in self._notifications), default=None)
            if newest is not None and time.time() > newest + LEAST_NOTICE_SECONDS:  # notices that could be read
                self.clear_notifications()
        await super().on_event(event)

    async def run_action(
        self,
        action: str | tuple[str, str, tuple[Any, ...]],
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Say of an action that is not possible why it is not; a screen that is being made or closed does nothing."""
        target, name, parameters = self._parse_action(action, default_namespace or self, namespaces)
        if isinstance(target, PlaceScreen) and (not target.is_mounted or is_closing(target)):
            return True
        try:
            if await super().run_action(action, default_namespace, namespaces):
                return True
        except NoMatches:
            if isinstance(target, Screen) and not target.is_mounted:  # a page whose parts are not made yet
                return True
            raise
        return isinstance(target, PlaceScreen) and target.refuse(name, parameters)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        seconds = self.NOTIFICATION_TIMEOUT if timeout is None else timeout
        self.post_message(Notify(Notice(message, title, severity, seconds, markup)))

    async def _check_bindings(self, key: str, priority: bool = False) -> bool:
        """Handle a key completely before the next.

        Textual forwards queued keys to a focused field before it has handled the earlier ones. Private to it, as there
        is no public hook.
        """
        if not priority:
            return await super()._check_bindings(key)
        if await super()._check_bindings(key, priority=True):
            return True
        field = self.focused if isinstance(self.focused, Input) else None
        if field is None:
            return await super()._check_bindings(key)
        if field.check_consume_key(key, character_of(key)):
            return False
        screen = self.screen
        await wait_until_handled(field, screen)
        found = await super()._check_bindings(key)
        await wait_until_handled(field, screen)
        return found

    def _notify_ended_campaigns(self) -> None:
        """Notify of campaigns whose engine has ended since the last look."""
        if self._notified_version == self.book.version:
            return
        self._notified_version = self.book.version
        for summary in self._ended.since_last_look(self.book.summaries):
            title, result, severity = ended_text(summary)
            self.notify(result, title=title, severity=severity, markup=False, timeout=NOTICE_SECONDS)
            self.bell()
            driver = self._driver  # private: in public one only rings and copies
            if driver is not None and not self.settings.plain:
                driver.write(notification(title, result, os.environ.get("TERM", "")))

    def delay_update(self, delay: float = 0.0) -> None:
        """Draw a screen at once: Textual would wait 50 ms for its parts, which are mounted here before it is shown."""

    async def action_show_screen(self, place: str) -> None:
        await self.switch_mode(place)

    def show_campaigns(self, matching: str) -> None:
        """Show only campaigns that hold these words."""
        self.switch_mode("campaigns")
        screen = self.screen
        if isinstance(screen, SortedTableScreen):
            screen.show_view(replace(screen.view, matching=matching))

    def watch_campaign(self, name: str) -> None:
        """Show a campaign on the Watch screen, whose trial that is open is closed."""
        self.settings.watched = name
        self.switch_mode("watch")
        while len(self.screen_stack) > 1:
            self.pop_screen()

    def action_jump(self) -> None:
        from dlperf.app.dialogs.jump import JumpScreen

        if isinstance(screen := self.screen, PlaceScreen) and screen.is_mounted:
            self.push_screen(JumpScreen(screen.places()), lambda jump: jump() if jump else None)

    def action_zoom(self) -> None:
        if self.screen.maximized is not None:
            self.screen.minimize()
        elif self.screen.focused is not None:
            self.screen.maximize(self.screen.focused)
        for table in self.screen.query(RowTable):
            table.limit_height()

    def action_switch_theme(self) -> None:
        self.settings.dark = not self.settings.dark
        self.theme = DARK if self.settings.dark else LIGHT
        self.settings.remember()

    def action_switch_language(self) -> None:
        self.settings.language = CODES[(CODES.index(self.settings.language) + 1) % len(CODES)]
        self.settings.remember()
        self.settings.start_screen = self.current_mode
        screen = cast(PlaceScreen, self.screen_stack[0])
        self.settings.memories[screen.place] = screen.remember()
        self.exit("again")

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, CommandPalette):
            self.push_screen(Palette(placeholder=_("Type a command …")))

    def action_help(self) -> None:
        from dlperf.app.dialogs.pages import help_page

        if isinstance(self.screen, PlaceScreen) and self.screen.is_mounted:
            self.push_screen(help_page(self.screen.place, self.screen.help_text()))

    def action_leave(self) -> None:
        self.exit("left")

    def action_help_quit(self) -> None:
        self.notify(_("q leaves this window; what runs goes on. x on the Watch screen cancels a trial."))

    def _handle_exception(self, error: Exception) -> None:
        """Pass over what a screen or its worker misses that is closing, or was being made as the program ended."""
        cause: BaseException = error
        part = active_message_pump.get()
        if isinstance(error, WorkerFailed):
            cause, part = error.error, get_current_worker().node
        if isinstance(cause, NoMatches) and (self._exit or not self.is_running or is_closing(part)):
            return
        if isinstance(cause, UNREADABLE):  # of a worker or a timer, which goes on
            self.report(cause)
        else:
            super()._handle_exception(error)

    def report(self, error: Exception) -> None:
        """Let the screen that is shown say why a file cannot be read."""
        for screen in reversed(self.screen_stack if self.is_running else []):
            if isinstance(screen, PlaceScreen):
                screen.report(error)
                return

    def _fatal_error(self) -> None:  # there is no public hook for mistakes
        """Report the first of several mistakes, from which others may follow, and end."""
        self.exit("left", CRASHED, None if self._crashed else Text(report_mistake()))
        self._crashed = True
