"""A log that is open: its file, the window on it, its line numbers, the lines that match. Knows no terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Lock

from dlperf.app.logs.line_numbers import LineNumbers
from dlperf.app.logs.log_file import LogFile
from dlperf.app.logs.search import Pattern, matching_lines, never
from dlperf.app.logs.source import AllLines, MatchingLines
from dlperf.app.logs.window import LogWindow


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
        self._pattern: Pattern | None = None
        self._searching = Lock()
        """A thread that was told to stop may still be at it when the next begins."""
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

    def show_only(self, pattern: Pattern | None) -> None:
        """Show only the lines that match, of which ``find_matches`` finds more; all lines for None."""
        self._pattern = pattern
        if pattern is None:
            self.matches = None
            self.window.use(AllLines(self.file))
        else:
            self.matches = MatchingLines(self.file)
            self.window.source = self.matches

    @property
    def searched_share(self) -> float:
        """How much of the log has been searched for lines to show, 0 … 1."""
        if self.matches is None or self.matches.full or not self.file.size:
            return 1.0
        return self.matches.searched / self.file.size

    def find_matches(self, stop: Callable[[], bool] = never) -> None:
        """Search what has not been searched yet.

        Raises:
            OSError, ValueError: the log was closed meanwhile.
        """
        matches, pattern = self.matches, self._pattern
        if matches is None or pattern is None:
            return
        with self._searching:
            for starts, searched in matching_lines(self.file, pattern, matches.searched, stop=stop):
                if matches.full:
                    return
                matches.add(starts, searched)

    # ----------------------------------------------------------- line numbers

    def start_of_number(self, number: int, stop: Callable[[], bool] = never) -> int | None:
        """Where the line of this number starts; None where there is none.

        Raises:
            OSError, ValueError: the log was closed meanwhile.
        """
        self.numbers.advance(stop)
        return self.numbers.offset_of(number)
