"""The rows of a log that are in view: of all its lines, or of those that match. Knows no terminal."""

from array import array
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from rich.cells import chop_cells

from dlperf.app.logs.log_file import LogFile, LogLine
from dlperf.app.logs.search import Pattern, matching_lines
from dlperf.view.text import printable

MAX_MATCHES = 1_000_000
"""Matching lines that are remembered (8 bytes each)."""


class MatchingLines:
    """Lines that match, with the interface of ``LogFile``."""

    def __init__(self, log: LogFile, pattern: Pattern) -> None:
        self._log, self.pattern = log, pattern
        self._starts = array("Q")
        self.searched = 0
        """Up to which offset the log has been searched."""
        self._searching = Lock()

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def full(self) -> bool:
        return len(self._starts) >= MAX_MATCHES

    def advance(self, stop: Callable[[], bool]) -> bool:
        """Search what has not been searched yet; return False where that was stopped, or another thread does it."""
        if not self._searching.acquire(blocking=False):
            return False
        try:
            for starts, searched in matching_lines(self._log, self.pattern, self.searched):
                self._starts.extend(starts[: MAX_MATCHES - len(self._starts)])
                self.searched = searched
                if self.full or stop():
                    return self.full
            return True
        finally:
            self._searching.release()

    @property
    def searched_share(self) -> float:
        """How much of the log has been searched, 0 … 1."""
        return 1.0 if self.full or not self._log.size else self.searched / self._log.size

    @property
    def count_text(self) -> str:
        return f"{len(self):,}{'+' if self.full else ''}"

    def nearest(self, offset: int, forward: bool) -> int | None:
        """Return where the next match starts from an offset on, or the last one before it, of those found so far."""
        index = bisect_left(self._starts, offset) - (not forward)
        known = forward or self.searched >= offset
        return self._starts[index] if known and 0 <= index < len(self._starts) else None

    def number_at(self, start: int | None) -> int | None:
        """Return the number of the match that starts there, from 1."""
        index = bisect_left(self._starts, start or 0)
        return index + 1 if index < len(self._starts) and self._starts[index] == start else None

    def line_at(self, start: int) -> LogLine | None:
        return self._line(bisect_left(self._starts, start))

    def line_before(self, start: int) -> LogLine | None:
        return self._line(bisect_left(self._starts, start) - 1)

    def last_line(self) -> LogLine | None:
        return self._line(len(self._starts) - 1)

    def share(self, start: int) -> float:
        return bisect_left(self._starts, start) / len(self._starts) if self._starts else 0.0

    def line_at_share(self, share: float) -> LogLine | None:
        return self._line(min(round(share * len(self._starts)), len(self._starts) - 1))

    def _line(self, index: int) -> LogLine | None:
        return self._log.line_at(self._starts[index]) if 0 <= index < len(self._starts) else None


@dataclass(frozen=True)
class Place:
    """A row of a line: a wrapped line has several."""

    line: LogLine
    row: int = 0


ShownRow = tuple[LogLine, str]
"""A line, and the text of one of its rows."""


def shown_text(data: bytes) -> str:
    """Return a line as it is shown: the last state of a progress bar, no control characters."""
    whole = data.rstrip(b"\r")
    return printable(whole[whole.rfind(b"\r") + 1 :].decode("utf-8", "replace"))


class LogWindow:
    """A window over the lines of a log. ``follow`` keeps it at the end; otherwise it stays where it is."""

    def __init__(self, source: LogFile | MatchingLines) -> None:
        self.source = source
        self.height = 1
        self.width = 80
        self.wrap = False
        self.follow = True
        self._start = 0
        self._row = 0
        self._target: int | None = None
        """Where the line starts that ``show_line`` put into view, until the window moves."""

    def resize(self, width: int, height: int) -> None:
        """Set the size in cells and rows; a line that ``show_line`` put into view stays a third down."""
        if (width, height) == (self.width, self.height):
            return
        self.width, self.height = width, height
        if self._target is not None and not self.follow:
            self.show_line(self._target)

    @property
    def top(self) -> Place | None:
        """The first row in view, read anew: a last line may have grown."""
        if self.follow:
            return self._last_top()
        line = self.source.line_at(self._start)
        return Place(line, self._row) if line else self._last_top()  # no line after this place matches

    def rows(self) -> list[ShownRow]:
        shown: list[ShownRow] = []
        place = self.top
        while place is not None and len(shown) < self.height:
            texts = self._texts(place.line)
            shown += [(place.line, text) for text in texts[place.row : place.row + self.height - len(shown)]]
            line = self.source.line_at(place.line.end)
            place = Place(line) if line else None
        return shown

    def use(self, source: LogFile | MatchingLines) -> None:
        """Show other lines of the same log, from the same place on."""
        top = self.top
        self.source = source
        if top is not None and source.line_at(top.line.start) is not None:
            self._show(Place(top.line))
        else:
            self.show_start()

    def scroll(self, rows: int) -> None:
        """Move down, or up with a negative number; moving up leaves the end."""
        place = self.top
        if place is None or (self.follow and rows > 0):
            return
        self.follow = False
        step = self._below if rows > 0 else self._above
        for _ in range(abs(rows)):
            following = step(place)
            if following is None:
                break
            place = following
        self._show(self._not_past_end(place))

    def show_line(self, start: int) -> None:
        """Put the line that starts there into view, a third down."""
        line = self.source.line_at(start)
        if line is None:
            return
        self.follow = False
        place = Place(line)
        for _ in range(self.height // 3):
            place = self._above(place) or place
        self._show(self._not_past_end(place))
        self._target = start

    def show_share(self, share: float) -> None:
        line = self.source.line_at_share(share)
        if line is not None:
            self.follow = False
            self._show(self._not_past_end(Place(line)))

    def show_start(self) -> None:
        self.follow = False
        self._start = self._row = 0
        self._target = None

    def _show(self, place: Place) -> None:
        self._start, self._row = place.line.start, place.row
        self._target = None

    def _texts(self, line: LogLine) -> list[str]:
        text = shown_text(line.data)
        return (chop_cells(text, self.width) or [""]) if self.wrap else [text]

    def _last_row(self, line: LogLine | None) -> Place | None:
        return Place(line, len(self._texts(line)) - 1) if line else None

    def _last_top(self) -> Place | None:
        place = self._last_row(self.source.last_line())
        for _ in range(self.height - 1):
            above = self._above(place) if place else None
            if above is None:
                break
            place = above
        return place

    def _not_past_end(self, place: Place) -> Place:
        last = self._last_top()
        if last and (place.line.start, place.row) > (last.line.start, last.row):
            return last
        return place

    def _below(self, place: Place) -> Place | None:
        if place.row + 1 < len(self._texts(place.line)):
            return Place(place.line, place.row + 1)
        line = self.source.line_at(place.line.end)
        return Place(line) if line else None

    def _above(self, place: Place) -> Place | None:
        if place.row > 0:
            return Place(place.line, place.row - 1)
        return self._last_row(self.source.line_before(place.line.start))
