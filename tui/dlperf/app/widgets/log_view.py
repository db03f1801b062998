"""A log of any size, live: which file is shown, and how keys and mouse move in it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import events, work
from textual.binding import Binding, BindingType
from textual.worker import get_current_worker

from dlperf.app.logs.opened import OpenLog
from dlperf.app.model.text import printable
from dlperf.app.widgets.log_searching import LogSearching


class LogView(LogSearching, can_focus=True):
    """Shows one log file. Its screen calls ``poll`` on every frame."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_rows(-1)", show=False),
        Binding("down,j", "scroll_rows(1)", show=False),
        Binding("pageup,ctrl+u,b", "scroll_pages(-1)", show=False),
        Binding("pagedown,ctrl+d", "scroll_pages(1)", show=False),
        Binding("home,g", "start", show=False),
        Binding("end,G", "end", show=False),
        Binding("left", "sideways(-16)", show=False),
        Binding("right", "sideways(16)", show=False),
    ]

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.path: Path | None = None
        self._opening = False

    # ------------------------------------------------------------------ files

    def show_log(self, path: Path | None, message: str = "") -> None:
        """Show another log, at its end; while ``path`` does not exist, the message."""
        if path == self.path and (self.log_shown is not None or self._opening):
            return
        self._close()
        self.path, self.message = path, message
        self.left, self.marked = 0, None
        self.poll()
        self.redraw()

    def poll(self) -> None:
        """Look whether the log has appeared or grown."""
        if self.log_shown is not None and self.log_shown.gone:
            self._close()
        if self.log_shown is None:
            self._open()
        elif self.log_shown.changed():
            self._grown(self.log_shown)

    def _open(self) -> None:
        if self.path is None or self._opening or not self.path.is_file():
            return
        if self.path.suffix == ".gz":
            self._opening = True
            self._unpack(self.path)
            return
        try:
            self._opened(self.path, OpenLog(self.path))
        except OSError as error:
            self._cannot_open(self.path, error)

    @work(thread=True, exclusive=True, group="unpack")
    def _unpack(self, path: Path) -> None:
        """Open a packed log: a large one takes seconds to unpack."""
        try:
            log = OpenLog(path)
        except (OSError, EOFError) as error:
            self.call_later(self._cannot_open, path, error)
            return
        if get_current_worker().is_cancelled or not self.call_later(self._opened, path, log):
            log.close()

    def _opened(self, path: Path, log: OpenLog) -> None:
        if path != self.path or self.log_shown is not None:
            log.close()
            return
        self.log_shown, self._opening = log, False
        self.fit()
        if self.only_matching:
            log.show_only(self.only_matching)
            self.match_more()
        self.redraw()

    def _cannot_open(self, path: Path, error: Exception) -> None:
        self.message = printable(f"{path}: {error}")
        self.redraw()

    def _grown(self, log: OpenLog) -> None:
        if log.searched_share < 1:
            self.match_more()
        if log.window.follow:
            self.redraw()
        else:
            self.post_message(self.Changed())

    def _close(self) -> None:
        self.workers.cancel_node(self)
        if self.log_shown is not None:
            self.log_shown.close()
        self.log_shown, self._opening, self.problem, self._request = None, False, "", None
        self.redraw()

    def on_unmount(self) -> None:
        self._close()

    # ---------------------------------------------------------------- moving

    def toggle_follow(self) -> None:
        """Go to the end and stay there, or stop here."""
        if self.log_shown is None:
            return
        if self.log_shown.window.follow:
            self.log_shown.window.scroll(-1)
        else:
            self.log_shown.window.follow, self.marked = True, None
        self.redraw()

    def toggle_wrap(self) -> None:
        if self.log_shown is not None:
            self.log_shown.window.wrap = not self.log_shown.window.wrap
            self.left = 0
            self.redraw()

    def action_scroll_rows(self, rows: int) -> None:
        if self.log_shown is not None:
            self.log_shown.window.scroll(rows)
            self.redraw()

    def action_scroll_pages(self, pages: int) -> None:
        self.action_scroll_rows(pages * max(1, self.size.height - 1))

    def action_start(self) -> None:
        if self.log_shown is not None:
            self.log_shown.window.show_start()
            self.redraw()

    def action_end(self) -> None:
        if self.log_shown is not None:
            self.log_shown.window.follow, self.marked = True, None
            self.redraw()

    def action_sideways(self, cells: int) -> None:
        self.left = max(0, self.left + cells)
        self.redraw()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.action_scroll_rows(-3)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.action_scroll_rows(3)

    def on_click(self, event: events.Click) -> None:
        """The scroll bar goes to a share of the log; a line is marked."""
        if self.log_shown is None:
            return
        window = self.log_shown.window
        if event.x >= self.size.width - 1:
            window.show_share(event.y / max(1, self.size.height - 1))
        elif self.rows and event.y < len(self.rows):
            self.marked = self.rows[event.y].line.start
            if window.follow:
                window.scroll(-1)
                window.scroll(1)
        self.redraw()

    def copied(self) -> str:
        """The marked line, whole, or the text in view."""
        if self.log_shown is None:
            return ""
        if self.marked is not None and (line := self.log_shown.file.line_at(self.marked)):
            return line.data.decode("utf-8", "replace")
        return "\n".join(row.text for row in self.log_shown.window.rows())
