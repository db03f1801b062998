"""The part of a log that is in view: where it begins, how it moves, which rows it shows. Knows no terminal."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import chop_cells

from dlperf.app.logs.log_file import Line
from dlperf.app.logs.source import LineSource
from dlperf.app.model.text import printable


@dataclass(frozen=True)
class Place:
    """A row of a line: a wrapped line has several."""

    line: Line
    row: int = 0


@dataclass(frozen=True)
class ShownRow:
    """A row in view."""

    line: Line
    text: str


def shown_text(data: bytes) -> str:
    """A line as it is shown: the last state of a progress bar, no control characters."""
    whole = data.rstrip(b"\r")
    return printable(whole[whole.rfind(b"\r") + 1 :].decode("utf-8", "replace"))


class LogWindow:
    """A window over a source of lines. ``follow`` keeps it at the end; otherwise it stays where it is."""

    def __init__(self, source: LineSource) -> None:
        self.source = source
        self.height = 1
        self.width = 80
        self.wrap = False
        self.follow = True
        self._start = 0
        self._row = 0
        self._gone_to: int | None = None
        """The line that was asked for, until another place is."""

    def resize(self, width: int, height: int) -> None:
        """Take so many cells and rows; the line that was asked for stays a third down."""
        if (width, height) == (self.width, self.height):
            return
        self.width, self.height = width, height
        if self._gone_to is not None and not self.follow:
            self.show_line(self._gone_to)

    @property
    def top(self) -> Place | None:
        """The first row in view, read anew: a last line may have grown."""
        if self.follow:
            return self._last_top()
        line = self.source.at(self._start)
        return Place(line, self._row) if line else None

    def rows(self) -> list[ShownRow]:
        """The rows in view, at most ``height``."""
        shown: list[ShownRow] = []
        place = self.top
        while place is not None and len(shown) < self.height:
            texts = self._texts(place.line)
            shown += [ShownRow(place.line, text) for text in texts[place.row : place.row + self.height - len(shown)]]
            line = self.source.after(place.line)
            place = Place(line) if line else None
        return shown

    def use(self, source: LineSource) -> None:
        """Look at other lines of the same log, from the same place on."""
        top = self.top
        self.source = source
        if top is not None and source.at(top.line.start) is not None:
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
            there = step(place)
            if there is None:
                break
            place = there
        self._show(self._not_past_end(place))

    def show_line(self, start: int) -> None:
        """Put the line that starts there into view, a third down."""
        line = self.source.at(start)
        if line is None:
            return
        self.follow = False
        place = Place(line)
        for _ in range(self.height // 3):
            place = self._above(place) or place
        self._show(self._not_past_end(place))
        self._gone_to = start

    def show_share(self, share: float) -> None:
        """Go to a share of the log, as a click on the scroll bar does."""
        line = self.source.at_share(share)
        if line is not None:
            self.follow = False
            self._show(self._not_past_end(Place(line)))

    def show_start(self) -> None:
        self.follow = False
        self._start = self._row = 0
        self._gone_to = None

    def _show(self, place: Place) -> None:
        self._start, self._row = place.line.start, place.row
        self._gone_to = None

    def _texts(self, line: Line) -> list[str]:
        text = shown_text(line.data)
        return (chop_cells(text, self.width) or [""]) if self.wrap else [text]

    def _end(self) -> Place | None:
        line = self.source.last()
        return Place(line, len(self._texts(line)) - 1) if line else None

    def _last_top(self) -> Place | None:
        """Where the window begins when it shows the end."""
        place = self._end()
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
        line = self.source.after(place.line)
        return Place(line) if line else None

    def _above(self, place: Place) -> Place | None:
        if place.row > 0:
            return Place(place.line, place.row - 1)
        line = self.source.before(place.line.start)
        return Place(line, len(self._texts(line)) - 1) if line else None
