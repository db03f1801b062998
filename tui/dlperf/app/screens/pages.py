"""Pages in front of a screen: a text to read, and a list to choose from. A click beside a page closes it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import ClassVar, Generic, TypeVar

from rich.cells import cell_len
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.style import Style
from textual.widgets import Static

from dlperf.app.model.table import Column, Row, aligned
from dlperf.app.widgets.row_table import RowTable
from dlperf.messages import _
from dlperf.view.text import printable

Result = TypeVar("Result")


class Page(ModalScreen[Result | None], Generic[Result]):
    """What keys and mouse close."""

    def on_click(self, event: events.Click) -> None:
        if self.get_widget_at(event.screen_x, event.screen_y)[0] is self:
            self.dismiss(None)


def links(*named: tuple[str, str]) -> Content:
    """Words in a frame, each with what a click on it does."""
    return Content(" · ").join(Content.styled(words, Style.from_meta({"@click": call})) for words, call in named)


CLOSE = "screen.dismiss"
MOST_SHOWN = 40
"""Cells of what a list is filtered by."""


def filtered_title(title: str, text: str, hint: bool = True) -> Content:
    """A list's title, and what the list is filtered by; a click on that shows all again."""
    if not text:
        return Content(title)
    shown = aligned(printable(text), min(cell_len(text), MOST_SHOWN))
    words = f"/{shown} · " + _("esc shows all") if hint else f"/{shown}"
    return Content(f"{title} ").append(links((words, "screen.escape")))


class TextPage(Page[None]):
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
            page.border_subtitle = links((_("esc closes"), CLOSE), (_("y copies"), "screen.copy"))
            yield Static(self._text, markup=False)

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self._text)
        self.notify(_("Copied {count} characters to the clipboard.", count=len(self._text)))


class ListPage(Page[Hashable]):
    """Rows to choose one of; None where nothing was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", show=False)]

    def __init__(
        self,
        title: str,
        columns: Sequence[Column],
        rows: Mapping[Hashable, Row],
        empty: str = "",
        chooses: bool = True,
        selected: Hashable | None = None,
    ) -> None:
        super().__init__()
        self._title, self._columns, self._rows, self._empty, self._chooses = title, columns, rows, empty, chooses
        self._selected = selected

    def compose(self) -> ComposeResult:
        with Vertical(classes="page") as page:
            page.border_title = self._title
            choosing = [(_("enter chooses"), "screen.choose")] if self._chooses else []
            page.border_subtitle = links(*choosing, (_("esc closes"), CLOSE))
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

    def action_choose(self) -> None:
        self.query_one(RowTable).action_choose()
