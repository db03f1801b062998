"""Every key of a screen, from the table of actions."""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from dlperf.app.actions import ACTIONS, EVERYWHERE, Action
from dlperf.app.words import say

LISTS = (
    ("↑ ↓ PgUp PgDn Home End", "Move in a table or a log"),
    ("enter", "Open or mark what is selected"),
    ("tab shift+tab", "Go to the next or the previous part of the screen"),
    ("← →", "Move sideways in a long line"),
)


class HelpScreen(ModalScreen[None]):
    """Closes with any of the usual keys."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q,enter", "dismiss", show=False)]

    def __init__(self, place: str, about: str) -> None:
        super().__init__()
        self._place, self._about = place, about

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="page") as page:
            page.border_title = say("Help")
            page.border_subtitle = say("esc closes")
            yield Static(self._text())

    def _text(self) -> Text:
        text = Text()
        text.append(say(self._about) + "\n\n")
        _append_actions(text, say("On this screen"), ACTIONS[self._place])
        _append_actions(text, say("Everywhere"), EVERYWHERE)
        text.append(f"\n{say('In tables and logs')}\n", Style(bold=True))
        for keys, words in LISTS:
            text.append(f"  {keys:<24}{say(words)}\n")
        return text


def _append_actions(text: Text, title: str, actions: tuple[Action, ...]) -> None:
    text.append(f"{title}\n", Style(bold=True))
    for action in actions:
        text.append(f"  {action.shown_key:<10}", Style(bold=True))
        text.append(f"{say(action.help)}\n")
    text.append("\n")
