"""A table that draws only the rows in view: ten thousand rows cost what forty do."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from rich.cells import set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Offset, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from dlperf.app.guarded import Guarded
from dlperf.app.model.table import FRAMEWORK, Column, Row, SortedView
from dlperf.app.widgets.looks import looks, tone_style
from dlperf.app.widgets.row_drawing import ColumnLayout, draw_row, folded


class RowTable(Guarded, ScrollView, can_focus=True, keys="table"):
    """Rows by key, with a cursor; a row's cells are made when it comes into view."""

    class TableMessage(Message):
        """A message of a table, by whose id handlers select it."""

        def __init__(self, table: RowTable) -> None:
            super().__init__()
            self.table = table

        @property
        def control(self) -> RowTable:
            return self.table

    class Highlighted(TableMessage):
        """The cursor is on another row."""

    class Chosen(TableMessage):
        """Enter, or a click on the row under the cursor (on any row with ``chosen_by_click``)."""

    class HeaderClicked(TableMessage):
        """A click on a column's title."""

        def __init__(self, table: RowTable, column: int) -> None:
            super().__init__(table)
            self.column = column

    def __init__(
        self,
        columns: Sequence[Column],
        empty: str = "",
        header: bool = True,
        id: str | None = None,
        classes: str | None = None,
        chosen_by_click: bool = False,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._chosen_by_click = chosen_by_click
        self._layout = ColumnLayout(columns)
        self.empty = empty
        self._header = header
        self.keys: Sequence[Hashable] = ()
        self._cells: Callable[[Hashable], Row] = lambda _key: Row(())
        self._cursor = 0
        self._steered = False
        """The cursor was moved, and stays on its row; until then it stays on the first."""
        self._painted: dict[int, Row] = {}
        """By line of the widget."""
        self._most_lines: int | None = None
        """Height while the table has not the whole screen; None: as the style says."""
        self._wanted: Hashable | None = None
        """Key to select once there is such a row."""

    def show_rows(self, keys: Sequence[Hashable], cells: Callable[[Hashable], Row]) -> None:
        """Show these rows; a cursor that was moved stays on its key, or else near it."""
        selected, moved = self.selected, keys != self.keys
        self.keys, self._cells = keys, cells
        if moved:
            self._cursor = self._index_of(selected) if self._steered else 0
            self._resize()
            if self.selected != selected:
                self._announce()
        else:
            self._measure_view()
            self.refresh_rows()
        if self._wanted is not None and self._wanted in keys:
            self.select(self._wanted)

    def show_items(self, view: SortedView[Any]) -> None:
        """Show what a view shows; the columns are its own."""
        items = view.shown()
        self.show_rows(range(len(items)), lambda key: view.cells(items[int(str(key))]))
        self.refresh()

    def refresh_rows(self) -> None:
        for y, row in list(self._painted.items()):
            index = self._index_at(y)
            if index is not None and index < len(self.keys) and self._cells(self.keys[index]) != row:
                self.refresh_line(self.scroll_offset.y + y)

    def limit_height(self, lines: int | None = None) -> None:
        """Take at most so many lines, by default as many as before, unless the table has the whole screen."""
        self._most_lines = lines or self._most_lines
        self.styles.max_height = None if self.is_maximized else self._most_lines

    def forget_widths(self) -> None:
        """Fit the columns to the rows of now, after others than these were shown."""
        self._layout.forget()
        self._resize()

    def show_columns(self, columns: Sequence[Column]) -> None:
        """Show these columns; others than before are without rows until ``show_rows``."""
        if self._layout.columns != tuple(columns):
            self.keys = ()
            self._layout.replace(columns)
            self._resize()

    def mark_sorting(self, column: int | None, descending: bool) -> None:
        """Mark the column by which the rows are sorted."""
        if self._layout.mark_sorting(column, descending):
            self.refresh()

    @property
    def visible_columns(self) -> list[int]:
        return [index for index, _width in self._layout.shown]

    def _measure(self, rows: Iterable[Row]) -> None:
        """Widen the columns for the cells of these rows."""
        if self._layout.measure(rows):
            self._fit()

    def _fit(self) -> None:
        self._layout.fit(self.scrollable_content_region.width)
        self._painted.clear()
        self.refresh()

    def _measure_view(self) -> None:
        top = self.scroll_offset.y
        self._measure(map(self._cells, self.keys[top : top + max(1, self.scrollable_content_region.height)]))

    @property
    def selected(self) -> Hashable | None:
        return self.keys[self._cursor] if self._cursor < len(self.keys) else None

    @property
    def awaits(self) -> bool:
        """Whether a row is to be selected that has not appeared yet."""
        return self._wanted is not None

    def select(self, key: Hashable | None) -> None:
        """Move the cursor to this row, now or when it appears."""
        self._wanted = None if key in self.keys else key
        if key in self.keys:
            self._move_to(self._index_of(key))

    def text_of(self, key: Hashable) -> str:
        """Return the cells of a row for other programs, without what is drawn."""
        cells = zip(self._cells(key).cells, self._layout.columns, strict=False)
        return "\t".join(cell for cell, column in cells if not column.drawn)

    def _index_of(self, key: Hashable | None) -> int:
        if key in self.keys:
            return list(self.keys).index(key)
        return max(0, min(self._cursor, len(self.keys) - 1))

    def _resize(self) -> None:
        self.virtual_size = Size(max(1, self.scrollable_content_region.width), len(self.keys) + self._header)
        if self.scroll_offset.y > self.max_scroll_y:  # which Textual leaves beyond the end of fewer rows
            self.scroll_to(y=self.max_scroll_y, animate=False)
        self._measure_view()
        self._fit()

    def on_resize(self) -> None:
        self._resize()
        self._show_cursor()

    def watch_show_vertical_scrollbar(self) -> None:
        """Fit the columns to the width that the scroll bar leaves."""
        self.call_after_refresh(self._fit)

    def _index_at(self, y: int) -> int | None:
        """Return the index of the row on line ``y`` of the widget; None on the header."""
        if self._header and y == 0:
            return None
        return y - self._header + self.scroll_offset.y

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        self._painted.clear()
        self._measure_view()
        super().watch_scroll_y(old_value, new_value)

    def render_line(self, y: int) -> Strip:
        width = self._layout.width
        if not self.keys:
            lines = [part for line in self.empty.splitlines() for part in folded(line, width)]
            return Strip([Segment(set_cell_size(dict(enumerate(lines)).get(y, ""), width), self._style("empty"))])
        index = self._index_at(y)
        if index is None:
            return self._line(Row(tuple(column.title for column in self._layout.columns)), self._style("header"), width)
        if index >= len(self.keys):
            return Strip.blank(width, self.visual_style.rich_style)
        row = self._cells(self.keys[index])
        self._measure([row])
        self._painted[y] = row
        if index == self._cursor:  # whose background leaves too little contrast to colours of frameworks
            tones = tuple("" if tone.startswith(FRAMEWORK) else tone for tone in row.tones)
            return self._line(replace(row, tones=tones), self._style("focused" if self.has_focus else "cursor"), width)
        return self._line(row, self.visual_style.rich_style, width)

    def _line(self, row: Row, base: Style, width: int) -> Strip:
        tone = partial(tone_style, theme=self.app.theme, dark=self.app.current_theme.dark)
        return draw_row(row, self._layout.columns, self._layout.shown, width, base, tone)

    def _style(self, name: str) -> Style:
        style = self.visual_style.rich_style + looks(self.app.theme)[name]
        return style + Style(reverse=True) if name == "focused" and self.app.no_color else style

    def _move_to(self, index: int) -> None:
        self._steered, self._wanted = True, None
        index = max(0, min(index, len(self.keys) - 1))
        if index == self._cursor or not self.keys:
            return
        before, self._cursor = self._cursor, index
        for line in (before, index):
            self.refresh_line(line + self._header)
        self._show_cursor()
        self._announce()

    def _show_cursor(self) -> None:
        height = max(1, self.scrollable_content_region.height - self._header)
        top = self.scroll_offset.y
        if self._cursor < top:
            self.scroll_to(y=self._cursor, animate=False)
        elif self._cursor >= top + height:
            self.scroll_to(y=self._cursor - height + 1, animate=False)

    def _announce(self) -> None:
        if self.selected is not None:
            self._post(self.Highlighted(self))

    def _post(self, message: TableMessage) -> None:
        # with the table as its sender: a message that a click on the frame led to would not leave the frame
        self.post_message(message.set_sender(self))

    def action_move(self, rows: int) -> None:
        self._move_to(self._cursor + rows)

    def action_page(self, pages: int) -> None:
        self._move_to(self._cursor + pages * max(1, self.scrollable_content_region.height - 1 - self._header))

    def action_first(self) -> None:
        self._move_to(0)

    def action_last(self) -> None:
        self._move_to(len(self.keys) - 1)

    def action_choose(self) -> None:
        if self.selected is not None:
            self._post(self.Chosen(self))

    def on_focus(self) -> None:
        self._draw_cursor()

    def on_blur(self) -> None:
        self._draw_cursor()

    def _draw_cursor(self) -> None:
        self.refresh_line(self._cursor + self._header)

    def on_click(self, event: events.Click) -> None:
        if (place := event.get_content_offset(self)) is None:
            return
        index = self._index_at(place.y)
        if index is None:
            self._click_header(place.x)
        elif index < len(self.keys):
            again = index == self._cursor or self._chosen_by_click
            self._move_to(index)
            if again:
                self.action_choose()

    def header_offsets(self) -> dict[int, Offset]:
        """Return where on the screen the title of each shown column begins, by index of the column."""
        return {index: self.content_region.offset + Offset(left, 0) for index, left in self._layout.lefts.items()}

    def _click_header(self, x: int) -> None:
        clicked = [index for index, left in self._layout.lefts.items() if left <= x]
        self._post(self.HeaderClicked(self, clicked[-1]))
