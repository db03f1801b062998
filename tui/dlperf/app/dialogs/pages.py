"""Pages in front of a screen: a text to read, a list to choose from, and the help."""

import json
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.style import Style
from textual.widgets import Static

from dlperf.app.actions import ACTIONS, EVERYWHERE, PARTS, Action
from dlperf.app.guarded import ClosesOnce
from dlperf.app.model.table import NOTHING, Column, Row, aligned, markdown
from dlperf.app.widgets.row_table import RowTable
from dlperf.messages import Message, _, message, render
from dlperf.view.text import printable

Result = TypeVar("Result")
CLOSE = "screen.dismiss"
MAX_FILTER_CELLS = 40
KEY_WIDTH = 10
ROWS_BESIDE = 10
"""Of a window with a list: the frame of that, what it leaves of the window, and the selected row in full."""


class DialogPage(ClosesOnce, ModalScreen[Result | None], Generic[Result]):
    """A page that a click outside of it closes."""

    def on_click(self, event: events.Click) -> None:
        if self.get_widget_at(event.screen_x, event.screen_y)[0] is self:
            self.dismiss(None)


def links(*named: tuple[str, str], gap: str = " · ") -> Content:
    """Return texts, each with the action of a click on it."""
    return Content(gap).join(Content.styled(words, Style.from_meta({"@click": call})) for words, call in named)


def filtered_title(title: str, text: str, hint: bool = True) -> Content:
    """Return a list's title with its filter; a click on that clears it."""
    if not text:
        return Content(title)
    shown = aligned(printable(text), min(cell_len(text), MAX_FILTER_CELLS))
    words = f"/{shown} · " + _("esc shows all") if hint else f"/{shown}"
    return Content(f"{title} ").append(links((words, "screen.escape")))


def no_match(text: str, total: int) -> str:
    """Return what a table shows where its filter hides every row."""
    return "\n" + _("None of {total} matches {text}. esc shows all.", total=total, text=text)


class TextPage(DialogPage[None], keys="text_page"):
    def __init__(self, title: str, text: str, drawn: RenderableType | None = None) -> None:
        """
        Args:
            drawn: what is shown of the text, if not the text itself.
        """
        super().__init__()
        self._title, self._text, self._drawn = title, text, drawn

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="page") as page:
            page.border_title = Text(self._title).markup
            page.border_subtitle = links((_("esc closes"), CLOSE), (_("y copies"), "screen.copy"))
            yield Static(self._drawn or self._text, markup=False)

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self._text)
        self.notify(_("Copied {count} characters to the clipboard.", count=len(self._text)))


@dataclass(frozen=True)
class Deletion:
    """What a ``ListPage`` gives where a row is to be deleted."""

    key: Hashable


class ListPage(DialogPage[Hashable], keys="list_page"):
    """Rows to choose one of; gives its key, or None."""

    def __init__(
        self,
        title: str,
        columns: Sequence[Column],
        rows: Mapping[Hashable, Row],
        empty: str = "",
        chooses: bool = True,
        selected: Hashable | None = None,
        deletes: Collection[Hashable] = (),
    ) -> None:
        super().__init__()
        self._title, self._columns, self._rows, self._empty = title, columns, rows, empty
        self._chooses, self._selected, self._deletes = chooses, selected, deletes

    def compose(self) -> ComposeResult:
        with Vertical(classes="page") as page:
            page.border_title = self._title
            choosing = [(_("enter chooses"), "screen.choose")] if self._chooses else []
            deleting = [(_("D deletes"), "screen.delete")] if self._deletes else []
            copying = [] if self._chooses else [(_("y copies"), "screen.copy")]
            page.border_subtitle = links(*choosing, *deleting, (_("esc closes"), CLOSE), *copying)
            yield RowTable(self._columns, self._empty)
            yield Static(classes="about-row", markup=False)

    def on_mount(self) -> None:
        table = self.query_one(RowTable)
        table.show_rows(list(self._rows), lambda key: self._rows[key])
        table.select(self._selected)
        table.focus()
        self._show_in_full()

    def on_resize(self) -> None:
        self.query_one(RowTable).limit_height(max(1, self.size.height - ROWS_BESIDE))

    @on(RowTable.Highlighted)
    def _show_in_full(self) -> None:
        """Show the last cell of the selected row, or all of a list to read, which a narrow table cuts."""
        row = self._rows.get(self.query_one(RowTable).selected)
        cells = row.cells[-1 if self._columns[-1].flexible else 1 :] if row else ()
        self.query_one(Static).update("\n".join(dict.fromkeys(cell for cell in cells if cell != NOTHING)))

    @on(RowTable.Chosen)
    def _chosen(self, event: RowTable.Chosen) -> None:
        self.dismiss(event.table.selected)

    def action_choose(self) -> None:
        self.query_one(RowTable).action_choose()

    def action_copy(self) -> None:
        """Copy the rows as a Markdown table."""
        self.app.copy_to_clipboard(markdown(self._columns, [row.cells for row in self._rows.values()]))
        self.notify(_("Copied {count} rows to the clipboard.", count=len(self._rows)))

    def action_delete(self) -> None:
        if (selected := self.query_one(RowTable).selected) in self._deletes:
            self.dismiss(Deletion(selected))


def help_page(place: str, text: str) -> TextPage:
    """Return a page with a text about a screen, and its keys."""
    keys = {
        _("On this screen"): ACTIONS[place],
        _("Everywhere"): EVERYWHERE,
        **{_(title): ACTIONS[part] for part, title in PARTS.items()},
    }
    lines = [text]
    drawn: list[RenderableType] = [Text(text)]
    for title, actions in keys.items():
        width = max(KEY_WIDTH, *(cell_len(action.shown_keys) for action in actions))
        lines += ["", title, *(f"{aligned(action.shown_keys, width)}  {_(action.help)}" for action in actions)]
        drawn += [Text(f"\n{title}"), _keys_table(actions, width)]
    return TextPage(_("Help"), "\n".join(lines), Group(*drawn))


def _keys_table(actions: Sequence[Action], width: int) -> Table:
    """Return keys and what they do, of which long lines go on below their beginning."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=width)
    table.add_column(overflow="fold")
    for action in actions:
        table.add_row(Text(action.shown_keys), Text(_(action.help)))
    return table


def check_page(rows: dict[Hashable, Row], problem: str = "") -> ListPage:
    """Return a page of what the checks found, with the cursor on the first that failed."""
    titles = (_("node"), _("hardware"), _("check"), "")
    widths = [max(cell_len(row.cells[at]) for row in (Row(titles), *rows.values())) for at in range(4)]
    columns = (
        Column(titles[0], min(widths[0], 24), importance=9),
        Column(titles[1], min(widths[1], 24), importance=7),
        Column(titles[2], widths[2], importance=8),
        Column(titles[3], widths[3], importance=9),
        Column(_("details"), 20, importance=9, flexible=True),
    )
    failed = next((key for key, row in rows.items() if "bad" in row.tones), None)
    return ListPage(_("Are the machines ready?"), columns, rows, problem, chooses=False, selected=failed)


def check_rows(output: str) -> dict[Hashable, Row]:
    """Turn the output of ``dlperf check --json`` into rows; none where it is something else."""
    try:
        items = json.loads(output)
    except ValueError:
        return {}
    return dict(enumerate(map(_check_row, items if isinstance(items, list) else ())))


def _check_row(item: dict[str, Any]) -> Row:
    found, advice = Message.from_json(item["message_code"]), item.get("advice_code")
    if advice:
        found = message("and_more", subject=found, more=Message.from_json(advice))
    name = render(message(f"check_{item['check']}")).replace("_", " ")
    verdict, tone = (_("ok"), "good") if item["ok"] else (_("NOT READY"), "bad")
    if item.get("caution"):
        verdict, tone = _("CAUTION"), "warn"
    cells = (str(item["node"]), str(item.get("hardware", "")), name, verdict, render(found))
    return Row(tuple(map(printable, cells)), tones=("", "dim", "", tone, ""))
