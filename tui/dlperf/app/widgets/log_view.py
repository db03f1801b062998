"""A log of any size, live: which file is shown, how keys and mouse move in it, and searching it in threads."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from textual import events
from textual.worker import get_current_worker

from dlperf.app.guarded import Guarded
from dlperf.app.logs.opened import OpenLog
from dlperf.app.logs.search import Pattern, error_pattern, pattern_of
from dlperf.app.logs.window import MatchingLines
from dlperf.app.widgets.log_drawing import LogDrawing
from dlperf.messages import _, language
from dlperf.opening import is_regular
from dlperf.view.text import percent, printable

Found = TypeVar("Found")


class LogView(Guarded, LogDrawing, can_focus=True, keys="log"):
    """Shows one log file. Its screen calls ``poll`` on every frame.

    Threads report by ``call_later``; what they report of a log that has been closed since is dropped.
    """

    def __init__(self, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.path: Path | None = None
        self._opening = False
        self._wanted: tuple[int, bool] | None = None
        """The offset from which on a match is wanted, or (False) before which."""

    def show_log(self, path: Path | None, message: str = "") -> None:
        """Show another log, at its end; while ``path`` does not exist, the message."""
        if path == self.path and (self.log_shown is not None or self._opening):
            return
        self._close()
        self.path, self.message = path, message
        self.left, self.marked, self.highlighted = 0, None, range(0)
        self.poll()
        self.redraw()

    def poll(self) -> bool:
        """Show what was written since the last call; return whether anything was."""
        if self.log_shown is not None and self.log_shown.gone:
            self._close()
        if self.log_shown is None:
            self._open()
        elif self.log_shown.has_grown():
            self._grown(self.log_shown)
            return True
        return False

    def _open(self) -> None:
        if self.path is None or self._opening or not is_regular(self.path):
            return
        if self.path.suffix == ".gz":  # unpacking a large log takes seconds
            self._opening = True
            self.run_worker(partial(self._unpack, self.path), thread=True, exclusive=True, group="unpack")
            return
        try:
            self._opened(self.path, OpenLog(self.path))
        except OSError as error:
            self._cannot_open(self.path, error)

    def _unpack(self, path: Path) -> None:
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
        self.fit_window()
        if self.only_matching:
            log.show_only(self.only_matching)
            self._advance(log.matches)
        self.redraw()

    def _cannot_open(self, path: Path, error: Exception) -> None:
        self.message = printable(f"{path}{language().colon}{error}")
        self.redraw()

    def _grown(self, log: OpenLog) -> None:
        for matches in (log.matches, log.found):
            if matches is not None and matches.searched_share < 1:
                self._advance(matches)
        self._go_to_wanted()
        if log.window.follow or log.matches is not None:
            self.redraw()
        else:
            self.post_message(self.Changed())

    def _close(self) -> None:
        self.workers.cancel_node(self)
        if self.log_shown is not None:
            self.log_shown.close()
        self.log_shown, self._opening, self.problem, self._wanted = None, False, "", None
        self.redraw()

    def on_unmount(self) -> None:
        self._close()

    def toggle_follow(self) -> None:
        if self.log_shown is not None and self.log_shown.window.follow:
            self.action_scroll_rows(-1)
        else:
            self.action_end()

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
        place = event.get_content_offset(self)
        if self.log_shown is None or place is None:
            return
        window = self.log_shown.window
        if place.x >= self.size.width - 1:
            window.show_share(place.y / max(1, self.size.height - 1))
        elif self.rows and place.y < len(self.rows):
            self.marked = self.rows[place.y][0].start
            if window.follow:
                window.scroll(-1)
                window.scroll(1)
        self.redraw()

    def copied(self) -> str:
        if self.log_shown is None:
            return ""
        if self.marked is not None and (line := self.log_shown.file.line_at(self.marked)):
            return line.data.decode("utf-8", "replace")
        return "\n".join(text for _line, text in self.log_shown.window.rows())

    def find(self, text: str, jump: bool = True) -> None:
        """Highlight what matches a regular expression, and go to the next match; stop searching for an empty text."""
        self._wanted = None
        self._highlight(text)
        if self.log_shown is not None:
            self.log_shown.found = None
        if self.pattern is not None and jump:
            self._search(self.pattern, self._search_start(), forward=True)
        self.redraw()

    def find_again(self, forward: bool) -> bool:
        """Go to the next match, or the one before; return whether anything is looked for."""
        pattern = self.log_shown.found.pattern if self.log_shown and self.log_shown.found else self.pattern
        if pattern is not None:
            start = self._search_start()
            self._search(pattern, start + 1 if forward else start, forward)
        return pattern is not None

    def find_first_error(self) -> None:
        self._search(error_pattern(), 0, forward=True)

    def show_only(self, text: str) -> None:
        """Show only the lines that match a regular expression; all of them for an empty text."""
        self._highlight(text)
        self.only_matching = text if self.pattern is not None else ""
        if self.log_shown is not None:
            self.log_shown.show_only(self.only_matching)
            self._advance(self.log_shown.matches)
        self.redraw()

    def show_lines(self, first: int, last: int) -> None:
        """Go to the first of these lines, and highlight them all."""
        if log := self.log_shown:
            job = partial(log.find_numbers, first, last)
            self._in_thread("numbers", job, partial(self._found_lines, log))

    def _found_lines(self, log: OpenLog, starts: tuple[int | None, int | None]) -> None:
        if log is self.log_shown and starts[0] is not None:
            self.highlighted = range(starts[0], (starts[0] if starts[1] is None else starts[1]) + 1)
            self._go_to(starts[0])

    def count_lines(self) -> None:
        if log := self.log_shown:
            self._in_thread("numbers", log.numbers.advance, lambda _none: self.post_message(self.Changed()))

    def _advance(self, matches: MatchingLines | None) -> None:
        if matches is None or (log := self.log_shown) is None:
            return

        def advance(stop: Callable[[], bool]) -> bool:
            return matches.advance(lambda: stop() or matches not in (log.matches, log.found))

        self._in_thread("matching", advance, self._go_to_wanted)

    def _highlight(self, text: str) -> None:
        self.problem, self.pattern = "", None
        if text:
            try:
                self.pattern = pattern_of(text)
            except ValueError as error:
                self.problem = str(error)

    def _search_start(self) -> int:
        if self.marked is not None:
            return self.marked
        window = self.log_shown.window if self.log_shown else None
        top = window.top if window and not window.follow else None
        return top.line.start if top else 0

    def _search(self, pattern: Pattern, start: int, forward: bool) -> None:
        if log := self.log_shown:
            self._wanted = start, forward
            found = log.search(pattern)
            self._go_to_wanted()
            self._advance(found)

    def _go_to_wanted(self, whole: bool = False) -> None:
        """Go to the match that is wanted, once it is found; ``whole``: the log has been searched to its end."""
        found = self.log_shown.found if self.log_shown else None
        if found is None or self._wanted is None:
            return
        start = found.nearest(*self._wanted)
        if start is not None:
            self._go_to(start)
        elif whole or found.full:
            self.problem, self._wanted = _("no match further on"), None
        else:
            self.problem = _("Searching … {share}", share=percent(found.searched_share, 0))
        self.post_message(self.Changed())

    def _go_to(self, start: int) -> None:
        assert self.log_shown is not None
        self.marked, self.problem, self._wanted = start, "", None
        self.log_shown.window.show_line(start)
        self.redraw()

    def _in_thread(
        self, group: str, job: Callable[[Callable[[], bool]], Found], done: Callable[[Found], object]
    ) -> None:
        def run() -> None:
            worker = get_current_worker()
            try:
                found = job(lambda: worker.is_cancelled)
            except (OSError, ValueError):  # the log was closed meanwhile, or cannot be read
                return
            if not worker.is_cancelled:
                self.call_later(done, found)

        self.run_worker(run, thread=True, group=group)
