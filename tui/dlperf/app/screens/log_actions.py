"""What the keys of a log do, on every screen that shows one."""

from __future__ import annotations

from textual import on
from textual.content import Content
from textual.widget import Widget

from dlperf.app.screens.base import PlaceScreen
from dlperf.app.watching import Stream
from dlperf.app.widgets.log_view import LogView
from dlperf.app.widgets.prompt import Prompt
from dlperf.messages import _
from dlperf.view.text import printable


class LogActions(PlaceScreen):
    """A screen with one ``LogView`` and the streams of one trial."""

    def __init__(self) -> None:
        super().__init__()
        self._streams: list[Stream] = []
        self._stream = 0
        self._why_empty = ""
        self._title = ""

    @property
    def log_view(self) -> LogView:
        return self.query_one(LogView)

    def choose_stream(self, index: int) -> None:
        """Show this one of the next streams."""
        self._streams, self._stream = [], index

    def _shown_stream(self) -> Stream | None:
        return self._streams[self._stream] if self._streams else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("next_stream", "previous_stream"):
            return True if len(self._streams) > 1 else None
        return super().check_action(action, parameters)

    def show_streams(self, streams: list[Stream], why_empty: str, title: str) -> None:
        """Show one of these logs, the one that was shown if it is among them."""
        shown, before = self._shown_stream(), len(self._streams)
        self._streams, self._why_empty, self._title = streams, why_empty, title
        self._stream = streams.index(shown) if shown in streams else min(self._stream, max(0, len(streams) - 1))
        if len(streams) != before:
            self.refresh_bindings()
        stream = self._shown_stream()
        self.log_view.message = why_empty
        self.log_view.show_log(stream.path if stream else None, why_empty)
        self._draw_frame()

    @property
    def _frame_of_log(self) -> Widget:
        panel = self.log_view.parent
        assert isinstance(panel, Widget)
        return panel

    @on(LogView.Changed)
    def _draw_frame(self) -> None:
        """Which log on top, where it stands below; both on top where there is no room for a lower border."""
        if not self._streams:
            return
        stream = self._streams[self._stream]
        many = f" {self._stream + 1}/{len(self._streams)}" if len(self._streams) > 1 else ""
        title, status = f"{printable(stream.label)}{many} · {self._title}", self.log_view.status
        short = self.has_class("-short")
        self._frame_of_log.border_title = Content(f"{status} · {title}" if short and status else title)
        self._frame_of_log.border_subtitle = Content("" if short else status)

    def action_previous_stream(self) -> None:
        self._turn(-1)

    def action_next_stream(self) -> None:
        self._turn(1)

    def _turn(self, by: int) -> None:
        if self._streams:
            self._stream = (self._stream + by) % len(self._streams)
            self.show_streams(self._streams, self._why_empty, self._title)

    def action_follow(self) -> None:
        self.log_view.toggle_follow()

    def action_wrap(self) -> None:
        self.log_view.toggle_wrap()

    def action_first_error(self) -> None:
        self.log_view.find_first_error()

    def action_next_match(self) -> None:
        self.log_view.find_again(forward=True)

    def action_previous_match(self) -> None:
        self.log_view.find_again(forward=False)

    def action_copy_line(self) -> None:
        text = self.log_view.copied()
        self.app.copy_to_clipboard(text)
        self.notify(_("Copied {count} characters to the clipboard.", count=len(text)))

    def action_copy_path(self) -> None:
        if self._streams:
            path = str(self._streams[self._stream].path)
            self.app.copy_to_clipboard(path)
            self.notify(path, title=_("Copied"), markup=False)

    def action_match_lines(self) -> None:
        self.prompt.ask("match", _("show only lines that match"), self.log_view.only_matching)

    def ask_search(self) -> None:
        """Ask what to look for in the log."""
        self.prompt.ask("search", _("find in the log"))

    def clear_search(self) -> None:
        """Show all lines, mark none."""
        self.log_view.show_only("")
        self.log_view.find("")

    def search_typed(self, event: Prompt.Typed) -> None:
        """Take what was typed for a search or a filter of lines."""
        if event.purpose == "match" and event.final:
            self.log_view.show_only(event.text)
        elif event.purpose == "search":
            self.log_view.find(event.text, jump=event.final)
            if event.final:
                self.log_view.focus()
