"""One line at the bottom to type into: a filter, a search, a number."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from dlperf.app.actions import bindings_of


class Prompt(Input):
    """Hidden until ``ask``; enter and a click elsewhere accept, escape restores the text before."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("prompt")

    class Typed(Message):
        def __init__(self, purpose: str, text: str, final: bool) -> None:
            super().__init__()
            self.purpose = purpose
            self.text = text
            self.final = final

    def __init__(self) -> None:
        super().__init__(compact=True)
        self.purpose = ""
        self._before: Widget | None = None
        self._text_before = ""
        self._starts_something = False
        self._typed: dict[str, str] = {}
        """The last text that was not empty, by its purpose."""

    def ask(self, purpose: str, label: str, text: str = "", starts_something: bool = False) -> None:
        """Ask for a text; every ``Typed`` carries ``purpose``. What starts something is accepted by enter alone."""
        self._before, self._text_before, self._starts_something = self.screen.focused, text, starts_something
        self.purpose, self.placeholder = purpose, label
        with self.prevent(Input.Changed):
            self.value = text
        self.add_class("-asking")
        self._show_label()
        self.screen.set_focus(self)

    def _show_label(self) -> None:
        """Say beside a text what it is for, which the empty field says itself."""
        label = self.screen.query_one("#prompt-label", Static)
        label.update(self.placeholder)
        label.display = self.has_class("-asking") and bool(self.value)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._show_label()
        self.post_message(self.Typed(self.purpose, self.value, final=False))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._typed |= {self.purpose: self.value} if self.value else {}
        self._done(self.value)

    def action_give_up(self) -> None:
        self._done(self._text_before)

    def on_blur(self) -> None:
        if self.has_class("-asking") and self.app.app_focus:
            self._close(self._text_before if self._starts_something else self.value)

    def action_recall(self) -> None:
        """Offer what was typed last for the same purpose."""
        self.value = self._typed.get(self.purpose, self.value)
        self.cursor_position = len(self.value)

    def _done(self, text: str) -> None:
        self._close(text)
        if self._before is not None and self._before.is_attached:
            self.screen.set_focus(self._before)  # at once: the next key is for it

    def _close(self, text: str) -> None:
        self.remove_class("-asking")
        self._show_label()
        self.post_message(self.Typed(self.purpose, text, final=True))


class PromptLine(Horizontal):
    """The prompt, and what it asks for."""

    def compose(self) -> ComposeResult:
        yield Prompt()
        yield Static(id="prompt-label", markup=False)
