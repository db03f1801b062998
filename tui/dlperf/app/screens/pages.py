"""Modal pages: a text to read, and a list to choose from."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from dlperf.app.model.table import Column, Row
from dlperf.app.widgets.row_table import RowTable
from dlperf.app.words import say


class TextPage(ModalScreen[None]):
    """A text that can be scrolled and copied."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss", show=False),
        Binding("y", "copy", show=False),
    ]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="page") as page:
            page.border_title = Text(self._title).markup
            page.border_subtitle = say("esc closes · y copies")
            yield Static(self._text, markup=False)

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self._text)
        self.notify(say("Copied {count} characters to the clipboard.", count=len(self._text)))


class ListPage(ModalScreen[Hashable | None]):
    """Rows to choose one of; None where nothing was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "give_up", show=False)]

    def __init__(
        self,
        title: str,
        columns: Sequence[Column],
        rows: Mapping[Hashable, Row],
        empty: str = "",
        keys: str = "enter chooses · esc goes back",
        selected: Hashable | None = None,
    ) -> None:
        super().__init__()
        self._title, self._columns, self._rows, self._empty, self._keys = title, columns, rows, empty, keys
        self._selected = selected

    def compose(self) -> ComposeResult:
        with Vertical(classes="page") as page:
            page.border_title = self._title
            page.border_subtitle = say(self._keys)
            yield RowTable(self._columns, self._empty)
            yield Static(classes="about-row", markup=False)

    def on_mount(self) -> None:
        table = self.query_one(RowTable)
        table.show_rows(list(self._rows), lambda key: self._rows[key])
        table.select(self._selected)
        table.focus()
        self._show_in_full()

    @on(RowTable.Highlighted)
    def _show_in_full(self) -> None:
        """The last cell of the selected row, which is the one that is cut where there is little room."""
        selected = self.query_one(RowTable).selected
        row = self._rows.get(selected) if selected is not None else None
        self.query_one(Static).update(row.cells[-1] if row and len(row.cells) > 1 else "")

    @on(RowTable.Chosen)
    def _chosen(self, event: RowTable.Chosen) -> None:
        self.dismiss(event.key)

    def action_give_up(self) -> None:
        self.dismiss(None)
