"""A log that is open: its file, the window on it, its line numbers, the lines that match. Knows no terminal."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from dlperf.app.logs.line_numbers import LineNumbers
from dlperf.app.logs.log_file import LogFile
from dlperf.app.logs.search import Pattern, Request, matching_lines, pattern_of, search
from dlperf.app.logs.source import AllLines, MatchingLines
from dlperf.app.logs.window import LogWindow

TELL_SECONDS = 0.1


class OpenLog:
    """One log, at its end. What takes long is meant for a thread, and may be told to stop."""

    def __init__(self, path: Path) -> None:
        """
        Raises:
            OSError: the file cannot be opened.
        """
        self.file = LogFile(path)
        self.window = LogWindow(AllLines(self.file))
        self.numbers = LineNumbers(self.file)
        self.matches: MatchingLines | None = None
        """The lines that are shown alone, as far as they have been found."""
        self._matching: Pattern = None
        self._seen = self._size_and_searched()

    def close(self) -> None:
        self.file.close()

    @property
    def gone(self) -> bool:
        """Another file has taken its place, or it has become shorter: it must be opened anew."""
        before = self.file.size
        return self.file.replaced or (self.file.refresh() and self.file.size < before)

    def changed(self) -> bool:
        """Whether lines, or matching lines, have come since this was asked last."""
        before, self._seen = self._seen, self._size_and_searched()
        return before != self._seen

    def _size_and_searched(self) -> tuple[int, int]:
        return self.file.size, self.matches.searched if self.matches is not None else 0

    # --------------------------------------------------------- matching lines

    def show_only(self, text: str) -> None:
        """Show only the lines that match a regular expression, of which ``find_matches`` finds more; all for none."""
        if text:
            self._matching = pattern_of(text)
            self.matches = MatchingLines(self.file)
            self.window.source = self.matches
        else:
            self.matches = None
            self.window.use(AllLines(self.file))

    @property
    def searched_share(self) -> float:
        """How much of the log has been searched for lines to show, 0 … 1."""
        if self.matches is None or self.matches.full or not self.file.size:
            return 1.0
        return self.matches.searched / self.file.size

    def find_matches(self, stop: Callable[[], bool]) -> None:
        """Search what has not been searched yet, unless another thread is at it.

        Raises:
            OSError, ValueError: the log was closed meanwhile.
        """
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

    def find(self, request: Request, tell: Callable[[float], object], stop: Callable[[], bool]) -> int | None:
        """Where the next line starts that is looked for; None where there is none.

        Args:
            request: what to look for.
            tell: is told ten times a second how much of the log has been searched, 0 … 1.
            stop: whether nobody wants to know any more.

        Raises:
            OSError, ValueError: the log was closed meanwhile.
        """
        told = time.monotonic()
        for batch in search(self.file, request):
            if batch.starts:
                return batch.starts[-1 if request.backwards else 0]
            if stop():
                return None
            if time.monotonic() - told >= TELL_SECONDS:
                told = time.monotonic()
                tell(abs(batch.searched - request.start) / max(1, self.file.size))
        return None

    # ----------------------------------------------------------- line numbers

    def start_of_number(self, number: int, stop: Callable[[], bool]) -> int | None:
        """Where the line of this number starts; None where there is none.

        Raises:
            OSError, ValueError: the log was closed meanwhile.
        """
        self.numbers.advance(stop)
        return self.numbers.offset_of(number)
