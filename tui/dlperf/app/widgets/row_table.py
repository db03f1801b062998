"""A table that draws the rows in view and asks for nothing else: ten thousand rows cost what forty do."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import ClassVar

from rich.cells import set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from dlperf.app.model.table import GAP, Column, Row, Tone, aligned, columns_that_fit


class RowTable(ScrollView, can_focus=True):
    """Rows by key, with a cursor; cells are asked for when a row comes into view."""

    DEFAULT_CSS = """
    RowTable {
        scrollbar-size-vertical: 1;
        overflow-x: hidden;
        & > .row-table--header { text-style: bold; color: $text-muted; }
        & > .row-table--cursor { background: $panel; }
        & > .row-table--group { text-style: bold; color: $text-primary; }
        & > .row-table--good { color: $text-success; }
        & > .row-table--busy { color: $text-accent; }
        & > .row-table--warn { color: $text-warning; }
        & > .row-table--bad { color: $text-error; }
        & > .row-table--dim { color: $text-muted; }
        & > .row-table--empty { color: $text-muted; text-style: italic; }
        &:focus > .row-table--cursor { background: $primary-muted; text-style: bold; }
        &:light > .row-table--busy, &:light > .row-table--warn { color: #7a4a00; }
        &:light > .row-table--good { color: #1d5c33; }
        &:light > .row-table--bad { color: #8a1538; }
        &:light > .row-table--dim { color: #454545; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"row-table--{name}" for name in ("header", "cursor", "empty", "group", "good", "busy", "warn", "bad", "dim")
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home,g", "first", show=False),
        Binding("end,G", "last", show=False),
        Binding("enter", "choose", show=False),
    ]

    class Highlighted(Message):
        """The cursor is on another row."""

        def __init__(self, table: RowTable, key: Hashable) -> None:
            super().__init__()
            self.table = table
            self.key = key

        @property
        def control(self) -> RowTable:
            return self.table

    class Chosen(Highlighted):
        """Enter, or a click on the row under the cursor; on any row, where one click is to do."""

    class HeaderClicked(Message):
        """A click on a column's title."""

        def __init__(self, table: RowTable, column: int) -> None:
            super().__init__()
            self.table = table
            self.column = column

        @property
        def control(self) -> RowTable:
            return self.table

    def __init__(
        self,
        columns: Sequence[Column],
        empty: str = "",
        header: bool = True,
        id: str | None = None,
        chosen_by_click: bool = False,
    ) -> None:
        super().__init__(id=id)
        self._chosen_by_click = chosen_by_click
        """One click chooses a row, as where rows are marked; else it takes a second one."""
        self.columns = tuple(columns)
        self.empty = empty
        """Said in place of rows; it may have several lines."""
        self._header = header
        self._keys: Sequence[Hashable] = ()
        self._cells: Callable[[Hashable], Row] = lambda _key: Row(())
        self._cursor = 0
        self._steered = False
        """The cursor was moved: it stays on its row. Before that it stays on the first."""
        self._painted: dict[int, tuple[Row, bool]] = {}

    # ------------------------------------------------------------------ rows

    def show_rows(self, keys: Sequence[Hashable], cells: Callable[[Hashable], Row]) -> None:
        """Show these rows; a cursor that was moved stays on its key, or near where that was."""
        selected = self.selected
        moved = keys != self._keys
        self._keys, self._cells = keys, cells
        if moved:
            self._cursor = self._index_of(selected) if self._steered else 0
            self._resize()
            if self.selected != selected:
                self._announce()
        else:
            self.refresh_rows()

    def refresh_rows(self) -> None:
        """Draw again the rows in view whose cells have changed."""
        for y, painted in list(self._painted.items()):
            index = self._index_at(y)
            if index is None or index >= len(self._keys):
                continue
            if self._cells(self._keys[index]) != painted[0]:
                self.refresh_line(self.scroll_offset.y + y)

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Show other columns."""
        self.columns = tuple(columns)
        self._resize()

    @property
    def keys(self) -> Sequence[Hashable]:
        return self._keys

    @property
    def selected(self) -> Hashable | None:
        """The key under the cursor."""
        return self._keys[self._cursor] if self._cursor < len(self._keys) else None

    def select(self, key: Hashable) -> None:
        """Put the cursor on a row, if it is there."""
        if key in self._keys:
            self._move_to(list(self._keys).index(key))

    def text_of(self, key: Hashable) -> str:
        """A row's cells in full, separated by tabs, for copying."""
        return "\t".join(self._cells(key).cells)

    def _index_of(self, key: Hashable | None) -> int:
        if key is not None:
            try:
                return list(self._keys).index(key)
            except ValueError:
                pass
        return max(0, min(self._cursor, len(self._keys) - 1))

    # ---------------------------------------------------------------- drawing

    def _resize(self) -> None:
        """Take the room there is, and draw everything again: what was painted says nothing of the rows any more."""
        self.virtual_size = Size(self._width, len(self._keys) + self._header)
        self._painted.clear()
        self.refresh()

    @property
    def _width(self) -> int:
        """Cells of a row: the scroll bar comes and goes."""
        return max(1, self.scrollable_content_region.width)

    @property
    def _layout(self) -> list[tuple[int, int]]:
        return columns_that_fit(self.columns, self._width)

    def on_resize(self) -> None:
        self._resize()
        self._show_cursor()

    def _index_at(self, y: int) -> int | None:
        """The index of the row drawn on line ``y`` of the widget; None on the header."""
        if self._header and y == 0:
            return None
        return y - self._header + self.scroll_offset.y

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        self._painted.clear()
        super().watch_scroll_y(old_value, new_value)

    def render_line(self, y: int) -> Strip:
        width = self._width
        if not self._keys:
            return self._empty_line(y, width)
        index = self._index_at(y)
        if index is None:
            return self._line(Row(tuple(column.title for column in self.columns)), self._style("header"), width)
        if index >= len(self._keys):
            return Strip.blank(width, self.rich_style)
        row = self._cells(self._keys[index])
        under_cursor = index == self._cursor
        self._painted[y] = (row, under_cursor)
        return self._line(row, self._style("cursor") if under_cursor else self.rich_style, width)

    def _empty_line(self, y: int, width: int) -> Strip:
        lines = self.empty.splitlines()
        text = lines[y] if y < len(lines) else ""
        return Strip([Segment(set_cell_size(text, width), self._style("empty"))])

    def _line(self, row: Row, base: Style, width: int) -> Strip:
        style = base + self._tone(row.tone)
        if row.tone == "group":
            return Strip([Segment(aligned(row.cells[0], width), style)])
        segments: list[Segment] = []
        for position, (index, column_width) in enumerate(self._layout):
            if row.merged is not None and index >= row.merged:
                room = width - sum(segment.cell_length for segment in segments)
                segments.append(Segment(" " * GAP + aligned(row.cells[-1], max(1, room - GAP)), style))
                break
            text = row.cells[index] if index < len(row.cells) else ""
            tone = row.tones[index] if index < len(row.tones) else ""
            gap = " " * GAP if position else ""
            cell = gap + aligned(text, column_width, self.columns[index].right)
            segments.append(Segment(cell, style + self._tone(tone) if tone else style))
        return Strip(segments).crop_extend(0, width, base)

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"row-table--{name}")

    def _tone(self, tone: Tone) -> Style:
        if not tone:
            return Style.null()
        style = self._style(tone)
        return Style(color=style.color, bold=style.bold)

    # ----------------------------------------------------------------- cursor

    def _move_to(self, index: int) -> None:
        self._steered = True
        index = max(0, min(index, len(self._keys) - 1))
        if index == self._cursor or not self._keys:
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
            self._tell(self.Highlighted(self, self.selected))

    def _tell(self, message: Message) -> None:
        """Post as the table's own: a message that a click on the frame around the table led to would end at that."""
        self.post_message(message.set_sender(self))

    def action_move(self, rows: int) -> None:
        self._move_to(self._cursor + rows)

    def action_page(self, pages: int) -> None:
        self._move_to(self._cursor + pages * max(1, self.scrollable_content_region.height - 1 - self._header))

    def action_first(self) -> None:
        self._move_to(0)

    def action_last(self) -> None:
        self._move_to(len(self._keys) - 1)

    def action_choose(self) -> None:
        if self.selected is not None:
            self._tell(self.Chosen(self, self.selected))

    def on_click(self, event: events.Click) -> None:
        index = self._index_at(event.y)
        if index is None:
            self._click_header(event.x)
        elif index < len(self._keys):
            again = index == self._cursor or self._chosen_by_click
            self._move_to(index)
            if again:
                self.action_choose()

    def _click_header(self, x: int) -> None:
        left = 0
        for index, width in self._layout:
            if left <= x < left + width + GAP:
                self._tell(self.HeaderClicked(self, index))
                return
            left += width + GAP
