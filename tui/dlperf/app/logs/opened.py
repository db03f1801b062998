"""An open log: its file, the window on it, its line numbers, the lines that match. Knows no terminal."""

from collections.abc import Callable
from pathlib import Path

from dlperf.app.logs.log_file import LineNumbers, LogFile
from dlperf.app.logs.search import Pattern, pattern_of
from dlperf.app.logs.window import LogWindow, MatchingLines


class OpenLog:
    """One log, at its end. Methods with a parameter ``stop`` take long: they are for a thread.

    They raise OSError or ValueError where the log is closed meanwhile.
    """

    def __init__(self, path: Path) -> None:
        self.file = LogFile(path)
        self.window = LogWindow(self.file)
        self.numbers = LineNumbers(self.file)
        self.matches: MatchingLines | None = None
        """The only lines shown; None: all."""
        self.found: MatchingLines | None = None
        """What a search finds."""
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

    def _progress(self) -> tuple[int, ...]:
        return self.file.size, *(matches.searched for matches in (self.matches, self.found) if matches is not None)

    def search(self, pattern: Pattern) -> MatchingLines:
        """Return the lines that match, as far as ``advance`` has found them."""
        if self.found is None or self.found.pattern is not pattern:
            self.found = MatchingLines(self.file, pattern)
        return self.found

    def show_only(self, text: str) -> None:
        """Show only lines that match a regular expression, which ``advance`` finds; all for an empty text."""
        if text:
            self.matches = MatchingLines(self.file, pattern_of(text))
            self.window.source = self.matches
        else:
            self.matches = None
            self.window.use(self.file)

    def find_numbers(self, first: int, last: int, stop: Callable[[], bool]) -> tuple[int | None, int | None]:
        """Return where these lines start."""
        self.numbers.advance(stop)
        return self.numbers.offset_of(first), self.numbers.offset_of(last)
