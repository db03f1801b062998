"""A question before something is done that cannot be undone."""

import math
import time

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Button, Static
from textual.widgets.button import ButtonVariant

from dlperf.app.guarded import ClosesOnce
from dlperf.messages import _

PATIENCE_SECONDS = 0.5
"""Keys typed before the question could be read do not answer it."""


class ConfirmScreen(ClosesOnce, ModalScreen[bool], keys="question"):
    def __init__(self, title: str, text: str, yes: str, no: str, variant: ButtonVariant = "primary") -> None:
        super().__init__()
        self._title, self._text, self._yes, self._no, self._variant = title, text, yes, no, variant
        self._asked = math.inf

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = self._title
            with VerticalScroll(classes="dialog-text", can_focus=False):
                yield Static(self._text, markup=False)
            with Horizontal(classes="buttons"):
                yield Button(self._no, id="no", compact=True)
                yield Button(f"{self._yes} (y)", id="yes", variant=self._variant, compact=True)

    def on_mount(self) -> None:
        self.query_one("#no").focus()
        self.call_after_refresh(self._start_patience)

    def _start_patience(self) -> None:
        self._asked = time.monotonic()

    @on(Button.Pressed, "#yes")
    def action_yes(self) -> None:
        if time.monotonic() - self._asked >= PATIENCE_SECONDS:
            self.dismiss(True)

    @on(Button.Pressed, "#no")
    def action_no(self) -> None:
        self.dismiss(False)


def cancel_question(name: str, trials: list[str], everything: bool, count: int) -> ConfirmScreen:
    shown = trials[:12] + ([_("… and {count} more", count=len(trials) - 12)] if len(trials) > 12 else [])
    lines = [
        *shown,
        "",
        _("Processes are ended on the machines: TERM now, KILL after 10 s; a container is removed."),
        _("What was written so far is kept and marked as cancelled; it never enters the results."),
        _("Trials that have not started will not start.") if everything else _("The other trials go on."),
    ]
    one = _("Cancel this trial?") if count == 1 else _("Cancel these {count} trials?", count=count)
    title = _("Cancel all of {name}?", name=name) if everything else one
    yes = _("Cancel it") if count == 1 and not everything else _("Cancel them")
    return ConfirmScreen(title, "\n".join(lines), yes, _("Keep running"), variant="error")
