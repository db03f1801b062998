"""Jump mode: a letter on each place of a screen that a key leads to."""

from collections.abc import Callable, Sequence

from textual import events
from textual.app import ComposeResult
from textual.geometry import Offset
from textual.widgets import Static

from dlperf.app.dialogs.pages import DialogPage, links

LETTERS = "asdfghjklqwertyuiopzxcvbnm"
Jump = Callable[[], object]


class JumpScreen(DialogPage[Jump], keys="jump"):
    """Gives what the chosen letter stands for; any other key closes it."""

    def __init__(self, places: Sequence[tuple[Offset, Jump]]) -> None:
        super().__init__()
        self._places = dict(zip(LETTERS, places, strict=False))

    def compose(self) -> ComposeResult:
        for letter, (offset, _jump) in self._places.items():
            label = Static(links((f" {letter} ", f"screen.jump({letter!r})")), classes="jump")
            label.styles.offset = offset
            yield label

    def on_key(self, event: events.Key) -> None:
        event.stop()
        self.action_jump(event.key)

    def action_jump(self, letter: str) -> None:
        self.dismiss(self._places[letter][1] if letter in self._places else None)
