"""Every key of a screen, from the table of actions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from rich.style import Style
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from dlperf.app.actions import ACTIONS, EVERYWHERE, Action
from dlperf.app.screens.pages import CLOSE, Page, links
from dlperf.messages import N_, _

LISTS = (
    ("↑ ↓ PgUp PgDn Home End", N_("Move in a table or a log")),
    ("enter", N_("Open or mark what is selected")),
    ("tab shift+tab", N_("Go to the next or the previous part of the screen")),
    ("← →", N_("Move sideways in a long line")),
)
KEY_WIDTH = 10


class HelpScreen(Page[None]):
    """Closes with any of the usual keys."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q,enter", "dismiss", show=False)]

    def __init__(self, place: str, about: str) -> None:
        super().__init__()
        self._place, self._about = place, about

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="page") as page:
            page.border_title = _("Help")
            page.border_subtitle = links((_("esc closes"), CLOSE))
            yield Static(_(self._about) + "\n", markup=False)
            yield Static(_table(_("On this screen"), _keys(ACTIONS[self._place]), KEY_WIDTH))
            yield Static(_table(_("Everywhere"), _keys(EVERYWHERE), KEY_WIDTH))
            longest = max(len(keys) for keys, _ in LISTS)
            yield Static(_table(_("In tables and logs"), ((keys, _(words)) for keys, words in LISTS), longest))


def _keys(actions: Iterable[Action]) -> Iterable[tuple[str, str]]:
    return ((action.shown_key, _(action.help)) for action in actions)


def _table(title: str, rows: Iterable[tuple[str, str]], key_width: int) -> Table:
    """Keys on the left; what they do wraps on the right."""
    table = Table.grid(padding=(0, 2))
    table.title, table.title_justify = Text(title, Style(bold=True)), "left"
    table.add_column(width=key_width, style=Style(bold=True))
    table.add_column()
    for keys, words in rows:
        table.add_row(Text(keys), Text(words))
    table.add_row("", "")
    return table
