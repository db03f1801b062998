"""What takes long in a large log, in threads: finding, showing only what matches, counting lines."""

from __future__ import annotations

from functools import partial

from textual import work
from textual.worker import get_current_worker

from dlperf.app.logs.opened import OpenLog
from dlperf.app.logs.search import Request, error_pattern, pattern_of
from dlperf.app.widgets.log_drawing import LogDrawing
from dlperf.messages import _


class LogSearching(LogDrawing):
    """A thread says what it found by ``call_later``; what it says of a log that is closed by then is dropped."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._request: Request | None = None
        """What is being searched for."""

    def find(self, text: str, jump: bool = True) -> None:
        """Mark what matches a regular expression, and go to the next match from here; for none, stop searching."""
        self.workers.cancel_group(self, "search")
        self._request = None
        self._mark(text)
        if self.pattern is not None and jump:
            self._start_search(Request(self.pattern, self._here()))
        self.redraw()

    def find_again(self, forward: bool) -> None:
        """The next match, or the one before."""
        if self.pattern is not None:
            here = self._here()
            self._start_search(Request(self.pattern, here + 1 if forward else here, not forward))

    def find_first_error(self) -> None:
        """Go to the first line that says that something went wrong."""
        self._start_search(Request(error_pattern(), 0))

    def show_only(self, text: str) -> None:
        """Show only the lines that match a regular expression; all of them for an empty text."""
        self._mark(text)
        self.only_matching = text if self.pattern is not None else ""
        if self.log_shown is not None:
            self.log_shown.show_only(self.only_matching)
            self.match_more()
        self.redraw()

    def _mark(self, text: str) -> None:
        """Mark what matches from now on, where it is a regular expression."""
        self.problem, self.pattern = "", None
        if text:
            try:
                self.pattern = pattern_of(text)
            except ValueError as error:
                self.problem = str(error)

    def go_to(self, start: int) -> None:
        """Mark the line that starts there, and show it."""
        if self.log_shown is not None:
            self.marked = start
            self.log_shown.window.show_line(start)
            self.redraw()

    def show_line_number(self, number: int) -> None:
        """Go to a line by its number, and mark it."""
        if self.log_shown is not None:
            self._go_to_number(self.log_shown, number)

    def count_lines(self) -> None:
        if self.log_shown is not None:
            self._count_lines(self.log_shown)

    def match_more(self) -> None:
        """Search what was written since, where only matching lines are shown."""
        if self.log_shown is not None and self.log_shown.matches is not None:
            self._match(self.log_shown)

    def _here(self) -> int:
        if self.marked is not None:
            return self.marked
        window = self.log_shown.window if self.log_shown else None
        top = window.top if window and not window.follow else None
        return top.line.start if top else 0

    def _start_search(self, request: Request) -> None:
        if self.log_shown is not None:
            self.problem, self._request = _("searching …"), request
            self._search(self.log_shown, request)
            self.redraw()

    def _searched(self, request: Request, share: float) -> None:
        if request is self._request:
            self.problem = _("Searching … {share:.0%}", share=share)
            self.post_message(self.Changed())

    def _broke_off(self, request: Request) -> None:
        """The log was closed meanwhile, which nobody need be told, or it cannot be read."""
        if request is self._request:
            self.problem, self._request = _("the search broke off"), None
            self.redraw()

    def _found(self, log: OpenLog, start: int | None) -> None:
        if log is not self.log_shown:
            return
        self._request = None
        self.problem = "" if start is not None else _("no match further on")
        if start is not None:
            self.go_to(start)
        self.redraw()

    # ---------------------------------------------------------------- threads

    @work(thread=True, exclusive=True, group="search")
    def _search(self, log: OpenLog, request: Request) -> None:
        worker = get_current_worker()
        try:
            found = log.find(request, partial(self.call_later, self._searched, request), lambda: worker.is_cancelled)
        except (OSError, ValueError):
            self.call_later(self._broke_off, request)
            return
        if not worker.is_cancelled:
            self.call_later(self._found, log, found)

    @work(thread=True, exclusive=True, group="search")
    def _go_to_number(self, log: OpenLog, number: int) -> None:
        worker = get_current_worker()
        try:
            start = log.start_of_number(number, lambda: worker.is_cancelled)
        except (OSError, ValueError):
            return  # the log was closed meanwhile
        if not worker.is_cancelled:
            self.call_later(self._found, log, start)

    @work(thread=True, group="matching")
    def _match(self, log: OpenLog) -> None:
        worker = get_current_worker()
        try:
            log.find_matches(lambda: worker.is_cancelled)
        except (OSError, ValueError):
            return  # the log was closed meanwhile

    @work(thread=True, exclusive=True, group="numbers")
    def _count_lines(self, log: OpenLog) -> None:
        worker = get_current_worker()
        try:
            log.numbers.advance(lambda: worker.is_cancelled)
        except (OSError, ValueError):
            return  # the log was closed meanwhile
        self.post_message(self.Changed())
