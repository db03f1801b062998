"""A log that is open: its file, the window on it, its line numbers, the lines that match. Knows no terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dlperf.app.logs.line_numbers import LineNumbers
from dlperf.app.logs.log_file import LogFile
from dlperf.app.logs.searcher import Request, Searcher
from dlperf.app.logs.source import AllLines, MatchingLines
from dlperf.app.logs.stopping import never
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
        self._matching = ""
        self._searchers = Searcher(self.file), Searcher(self.file)
        """For the lines that are shown alone, and for what is looked for among those shown."""
        self._seen = self._size_and_searched()

    def close(self) -> None:
        self.file.close()
        for searcher in self._searchers:
            searcher.close()

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
        self._matching = text
        if text:
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

    def find_matches(self, stop: Callable[[], bool] = never) -> None:
        """Search what has not been searched yet, unless another thread is at it.

        Raises:
            TooSlowError: the expression takes longer than anybody waits.
            OSError, ValueError: the log was closed meanwhile.
        """
        matches = self.matches
        if matches is None or not matches.searching.acquire(blocking=False):
            return
        try:
            request = Request(self._matching, matches.searched)
            for batch in self._searchers[0].search(request, lambda: stop() or matches is not self.matches):
                matches.add(batch.starts, batch.searched)
                if matches.full:
                    return
        finally:
            matches.searching.release()

    def find(self, request: Request, tell: Callable[[float], object], stop: Callable[[], bool] = never) -> int | None:
        """Where the line starts that is looked for; None where there is none.

        Args:
            request: what to look for, the ``first`` of it.
            tell: is told how much of the log has been searched, 0 … 1.
            stop: whether nobody wants to know any more.

        Raises:
            TooSlowError: the expression takes longer than anybody waits.
            OSError, ValueError: the log was closed meanwhile.
        """
        found = None
        for batch in self._searchers[1].search(request, stop):
            if batch.starts:
                found = batch.starts[-1 if request.backwards else 0]
            else:
                tell(abs(batch.searched - request.start) / max(1, self.file.size))
        return found

    # ----------------------------------------------------------- line numbers

    def start_of_number(self, number: int, stop: Callable[[], bool] = never) -> int | None:
        """Where the line of this number starts; None where there is none.

        Raises:
            OSError, ValueError: the log was closed meanwhile.
        """
        self.numbers.advance(stop)
        return self.numbers.offset_of(number)
