"""What takes long in a large log, in threads: finding, showing only what matches, counting lines."""

from __future__ import annotations

import re

from textual import work
from textual.worker import get_current_worker

from dlperf.app.logs.opened import OpenLog
from dlperf.app.logs.search import ERRORS, Pattern, next_match, pattern_of, previous_match
from dlperf.app.widgets.log_drawing import LogDrawing
from dlperf.app.words import say


class LogSearching(LogDrawing):
    """A thread says what it found by ``call_later``; what it says of a log that is closed by then is dropped."""

    def find(self, text: str, jump: bool = True) -> None:
        """Mark what matches a regular expression, and go to the next match from here."""
        self.pattern = self._compiled(text)
        if self.pattern is not None and jump:
            self._start_search(self.pattern, forward=True, start=self._here())
        self.redraw()

    def find_again(self, forward: bool) -> None:
        """The next match, or the one before."""
        if self.pattern is not None:
            here = self._here()
            self._start_search(self.pattern, forward, here + 1 if forward else here)

    def find_first_error(self) -> None:
        """Go to the first line that says that something went wrong."""
        self._start_search(ERRORS, forward=True, start=0)

    def show_only(self, text: str) -> None:
        """Show only the lines that match a regular expression; all of them for an empty text."""
        pattern = self._compiled(text)
        self.only_matching = text if pattern else ""
        if self.log_shown is not None:
            if pattern is not None:
                self.pattern = pattern
            self.log_shown.show_only(pattern)
            self.match_more()
        self.redraw()

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

    def _compiled(self, text: str) -> Pattern | None:
        self.problem = ""
        if not text:
            return None
        try:
            return pattern_of(text)
        except re.error as error:
            self.problem = say("no regular expression: {reason}", reason=error.msg)
            return None

    def _start_search(self, pattern: Pattern, forward: bool, start: int) -> None:
        if self.log_shown is not None:
            self.problem = say("searching …")
            self._search(self.log_shown, pattern, forward, start)
            self.redraw()

    def _found(self, log: OpenLog, start: int | None) -> None:
        if log is not self.log_shown:
            return
        self.problem = "" if start is not None else say("no match further on")
        if start is not None:
            self.go_to(start)
        self.redraw()

    # ---------------------------------------------------------------- threads

    @work(thread=True, exclusive=True, group="search")
    def _search(self, log: OpenLog, pattern: Pattern, forward: bool, start: int) -> None:
        worker = get_current_worker()
        search = next_match if forward else previous_match
        try:
            found = search(log.file, pattern, start, lambda: worker.is_cancelled)
        except (OSError, ValueError):
            return  # the log was closed meanwhile
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

    @work(thread=True, exclusive=True, group="matching")
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
