"""The keys of a log, on every screen that shows one."""

import shlex
import time
from collections.abc import Mapping
from pathlib import Path

from textual import on
from textual.content import Content
from textual.widget import Widget

from dlperf.app.screens.base import PlaceScreen
from dlperf.app.watching import WatchStream
from dlperf.app.widgets.log_view import LogView
from dlperf.app.widgets.prompt import Prompt
from dlperf.app.widgets.status_line import set_titles
from dlperf.messages import _
from dlperf.opening import is_regular
from dlperf.view.text import printable

GROWING_SECONDS = 3.0
"""Seconds after its newest lines in which a log is taken to grow on."""
MIN_LOG_CELLS = 55
"""Least width of each of several logs."""


class LogActions(PlaceScreen):
    """A screen with the streams of one trial, one in its first ``LogView``; others may be beside it."""

    read_seconds = 5.0  # of other campaigns it shows only that they run or have ended

    def __init__(self) -> None:
        super().__init__()
        self._streams: list[WatchStream] = []
        self._stream = 0
        self._views: list[LogView] = []
        """The first log and those beside it."""
        self._grew = -GROWING_SECONDS
        """When a shown log last grew."""

    def on_mount(self) -> None:
        self._views = [self.query_one(LogView)]

    @property
    def log_view(self) -> LogView:
        """The log that keys work on: the one with the focus, else the first."""
        return self.focused if isinstance(self.focused, LogView) else self.query_one(LogView)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "turn":
            return True if len(self._streams) > 1 else None
        return super().check_action(action, parameters)

    def forget_stream(self) -> None:
        """Let ``show_streams`` begin with the first stream."""
        self._streams, self._stream = [], 0

    def show_streams(self, streams: list[WatchStream], message: str, title: str, live: bool) -> None:
        """Show one of these logs, preferably the current one; the message while it does not exist."""
        current = self._streams[self._stream] if self._streams else None
        if len(streams) != len(self._streams):
            self.refresh_bindings()
        self._streams = streams
        view = self.query_one(LogView)
        view.message, view.title, view.live = message, title, live
        self._show_stream(streams.index(current) if current in streams else min(self._stream, len(streams) - 1))

    def _show_stream(self, index: int) -> None:
        self._stream = max(0, index)
        view = self.query_one(LogView)
        view.show_log(self._streams[self._stream].path if self._streams else None, view.message)
        self._draw_frames()

    @on(LogView.Changed)
    def _draw_frames(self) -> None:
        """Write the names of logs above and their status below them; both above where there is no lower border."""
        many = f" {self._stream + 1}/{len(self._streams)}" if len(self._streams) > 1 else ""
        name = f"{printable(self._streams[self._stream].label)}{many} · " if self._streams else ""
        short = self.has_class("-short")
        for view in self._views:
            title, status = f"{name}{view.title}", view.status
            title = f"{status} · {title}" if short and status else title
            set_titles(view, Content(title), Content("" if short else status))
            name = ""

    def show_side_logs(self, logs: Mapping[Path, str]) -> None:
        """Show as many of these logs beside the first one, under their titles, as there is room for."""
        first, *views = self._views
        others = [(path, title) for path, title in logs.items() if path != first.path]
        del others[max(0, self.size.width // MIN_LOG_CELLS - 1) :]
        for view in views[len(others) :]:
            view.remove()
        new = [LogView(classes="side-log") for _log in others[len(views) :]]
        if new:
            assert isinstance(first.parent, Widget)
            first.parent.mount(*new, after=views[-1] if views else first)
        self._views = [first, *views[: len(others)], *new]
        for view, (path, title) in zip([*views, *new], others, strict=False):
            view.title = title
            view.show_log(path)

    @property
    def updates_often(self) -> bool:
        return time.monotonic() < self._grew + GROWING_SECONDS

    def poll_logs(self) -> None:
        grown = [view.poll() for view in self._views]
        if any(grown):
            self._grew = time.monotonic()

    def action_turn(self, by: int) -> None:
        if self._streams:
            self._show_stream((self._stream + by) % len(self._streams))

    def action_follow(self) -> None:
        self.log_view.toggle_follow()

    def action_wrap(self) -> None:
        self.log_view.toggle_wrap()

    def action_first_error(self) -> None:
        self.log_view.find_first_error()

    def action_find_again(self, direction: int) -> None:
        if not self.log_view.find_again(forward=direction > 0):
            self.notify(_("Nothing is looked for in the log: / or e begins."), severity="warning", markup=False)

    def action_copy_line(self) -> None:
        text = self.log_view.copied()
        self.app.copy_to_clipboard(text)
        self.notify(_("Copied {count} characters to the clipboard.", count=len(text)))

    def action_copy_path(self) -> None:
        if self._streams:
            self.copy(str(self._streams[self._stream].path))

    def action_page_log(self) -> None:
        path = self._streams[self._stream].path if self._streams else None
        if path is None or not is_regular(path):
            self.notify(_("There is no log to read."), severity="warning", markup=False)
        elif path.suffix == ".gz":
            self.run_program("PAGER", "less", (), f"gzip -dc {shlex.quote(str(path))} | ")
        else:
            self.run_program("PAGER", "less", (path,))

    def action_log_in(self) -> None:
        login = self._streams[self._stream].login if self._streams else ()
        self.run_program(*(("", "ssh", login) if login else ("SHELL", "sh", ())))

    def action_match_lines(self) -> None:
        self.query_one(Prompt).ask("match", _("show only lines that match"), self.log_view.only_matching)

    def ask_search(self) -> None:
        self.query_one(Prompt).ask("search", _("find in the log"))

    def clear_search(self) -> None:
        self.log_view.show_only("")
        self.log_view.find("")

    def search_typed(self, event: Prompt.Typed) -> None:
        if event.purpose == "match" and event.final:
            self.log_view.show_only(event.text)
        elif event.purpose == "search":
            self.log_view.find(event.text, jump=event.final)
            if event.final:
                self.log_view.focus()
