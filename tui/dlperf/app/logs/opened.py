"""An open log: its file, the window on it, its line numbers, the lines that match. Knows no terminal."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from dlperf.app.logs.log_file import LineNumbers, LogFile
from dlperf.app.logs.search import Pattern, Request, matching_lines, pattern_of, search
from dlperf.app.logs.window import LogWindow, MatchingLines

REPORT_SECONDS = 0.1


class OpenLog:
    """One log, at its end. Methods with a parameter ``stop`` take long: they are for a thread.

    They raise OSError or ValueError where the log is closed meanwhile.
    """

    def __init__(self, path: Path) -> None:
        self.file = LogFile(path)
        self.window = LogWindow(self.file)
        self.numbers = LineNumbers(self.file)
        self.matches: MatchingLines | None = None
        self._matching: Pattern = None
        self._seen = self._progress()

    def close(self) -> None:
        self.file.close()

    @property
    def gone(self) -> bool:
        """Whether the file was replaced or has become shorter, and must be opened anew."""
        before = self.file.size
        return self.file.replaced or (self.file.refresh() and self.file.size < before)

    def has_grown(self) -> bool:
        """Return whether lines, or matching lines, have come since the last call."""
        before, self._seen = self._seen, self._progress()
        return before != self._seen

    def _progress(self) -> tuple[int, int]:
        return self.file.size, self.matches.searched if self.matches is not None else 0

    def show_only(self, text: str) -> None:
        """Show only lines that match a regular expression, which ``find_matches`` finds; all for an empty text."""
        if text:
            self._matching = pattern_of(text)
            self.matches = MatchingLines(self.file)
            self.window.source = self.matches
        else:
            self.matches = None
            self.window.use(self.file)

    @property
    def searched_share(self) -> float:
        """How much of the log has been searched for lines to show, 0 … 1."""
        if self.matches is None or self.matches.full or not self.file.size:
            return 1.0
        return self.matches.searched / self.file.size

    def find_matches(self, stop: Callable[[], bool]) -> None:
        """Search what has not been searched yet, unless another thread does."""
        matches = self.matches
        if matches is None or not matches.searching.acquire(blocking=False):
            return
        try:
            for batch in matching_lines(self.file, self._matching, matches.searched):
                matches.add(batch.starts, batch.searched)
                if matches.full or stop() or matches is not self.matches:
                    return
        finally:
            matches.searching.release()

    def find(self, request: Request, report: Callable[[float], object], stop: Callable[[], bool]) -> int | None:
        """Return where the next matching line starts; None where there is none.

        ``report`` is called ten times a second with the share of the log that has been searched.
        """
        reported = time.monotonic()
        for batch in search(self.file, request):
            if batch.starts:
                return batch.starts[-1 if request.backwards else 0]
            if stop():
                return None
            if time.monotonic() - reported >= REPORT_SECONDS:
                reported = time.monotonic()
                report(abs(batch.searched - request.start) / max(1, self.file.size))
        return None

    def find_numbers(self, first: int, last: int, stop: Callable[[], bool]) -> tuple[int | None, int | None]:
        """Return where these lines start."""
        self.numbers.advance(stop)
        return self.numbers.offset_of(first), self.numbers.offset_of(last)
