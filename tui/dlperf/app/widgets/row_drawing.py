"""Draw a row of a table, and measure rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.content import Content
from textual.strip import Strip

from dlperf.app.model.table import GAP, MARK, NOTHING, Column, Row, aligned, group_line


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
