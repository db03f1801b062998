"""Draw a row of a table, and measure rows."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.content import Content
from textual.strip import Strip

from dlperf.app.model.table import GAP, MARK, NOTHING, Column, Row, aligned, columns_that_fit, group_line


def draw_row(
    row: Row,
    columns: Sequence[Column],
    layout: Sequence[tuple[int, int]],
    width: int,
    base: Style,
    tone: Callable[[str], Style],
) -> Strip:
    """Return the line of a row.

    Args:
        layout: index and width of the columns shown.
        width: of the line.
        base: style of the line without tones.
        tone: returns the style of a tone.
    """
    style = base + tone(row.tone)
    if row.tone == "group":
        return Strip([Segment(group_line(row.cells, width), style)])
    segments: list[Segment] = []
    for position, (index, column_width) in enumerate(layout):
        if row.merged is not None and index >= row.merged:
            room = width - sum(segment.cell_length for segment in segments)
            segments.append(Segment(" " * GAP + aligned(row.cells[-1], max(1, room - GAP)), style))
            break
        cell = (" " * GAP if position else "") + aligned(_text(row, index), column_width, columns[index].right)
        own = row.tones[index] if index < len(row.tones) else ""
        segments.append(Segment(cell, style + tone(own) if own else style))
    return Strip(segments).crop_extend(0, width, base)


def _text(row: Row, index: int) -> str:
    """Return what a cell shows, the first with the mark of its row."""
    text = row.cells[index] if index < len(row.cells) else ""
    return MARK + text if row.marked and not index else text


def widened(widths: Sequence[int], rows: Iterable[Row]) -> list[int]:
    """Return the widths of the longest cells of each column, at least these, of which missing values take none."""
    found = list(widths)
    for row in rows:
        if row.tone == "group":
            continue
        for index in range(len(row.cells[: row.merged])):
            if row.cells[index] != NOTHING:
                found[index] = max(found[index], cell_len(_text(row, index)))
        if row.merged is not None:
            found[-1] = max(found[-1], 1)
    return found


def folded(text: str, width: int) -> list[str]:
    """Return a text in lines of at most ``width`` columns, further ones below what follows a key at its beginning."""
    key = re.match(r" +\S.*? {2,}", text)
    begin = key[0] if key and cell_len(key[0]) < width else ""
    parts = Content(text[len(begin) :]).wrap(max(1, width - cell_len(begin)))
    return [(" " * cell_len(begin) if number else begin) + part.plain for number, part in enumerate(parts)] or [""]


class ColumnLayout:
    """Columns with widths that only grow, so that nothing jumps to and fro."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = tuple(columns)
        self.width = 1
        """Of the table, without the scroll bar, which comes and goes."""
        self.shown: list[tuple[int, int]] = []
        """Index and width of the columns shown."""
        self._contents = [0] * len(self.columns)
        """Width of the longest cell of each column that was in view."""

    def forget(self) -> None:
        """Take no account of the rows that were measured."""
        self._contents = [0] * len(self.columns)

    def replace(self, columns: Sequence[Column]) -> None:
        self.columns = tuple(columns)
        self.forget()

    def mark_sorting(self, column: int | None, descending: bool) -> bool:
        """Mark the column by which the rows are sorted; return whether that changes anything."""
        before, titles = self.columns, [item.title.rstrip("▲▼") for item in self.columns]
        if column is not None:
            titles[column] += "▼" if descending else "▲"
        self.columns = tuple(replace(item, title=title) for item, title in zip(before, titles, strict=True))
        return self.columns != before

    def measure(self, rows: Iterable[Row]) -> bool:
        """Widen the columns for the cells of these rows; return whether they have to be fitted."""
        before, self._contents = self._contents, widened(self._contents, rows)
        return self._contents != before or not self.shown

    def fit(self, width: int) -> None:
        """Choose the columns that fit a table of this width."""
        self.width = max(1, width)
        self.shown = columns_that_fit(self.columns, self.width, self._contents)

    @property
    def lefts(self) -> dict[int, int]:
        """Where each shown column begins, by its index."""
        lefts = accumulate((width + GAP for _index, width in self.shown), initial=0)
        return {index: left for (index, _width), left in zip(self.shown, lefts, strict=False)}
