"""A form that adds or changes a machine: asks it for its GPUs, writes the entry, shows what is wrong with it."""

import asyncio
import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Button, Input, Static

from dlperf.app.commands import run_command
from dlperf.app.guarded import UNREADABLE, ClosesOnce
from dlperf.app.model.machines.entry import MachineEntry, accelerator_of, change_entry, write_entry
from dlperf.app.model.machines.table import MachineRow, problem_text
from dlperf.catalog.files.load import Catalog
from dlperf.messages import N_, _, language
from dlperf.runs.paths import WorkspacePaths
from dlperf.view.text import printable


@dataclass(frozen=True)
class Field:
    """A line of the form."""

    name: str
    label: str
    hint: str = ""


FIELDS = (
    Field("id", N_("name"), N_("of the entry, such as a100-01")),
    Field("hosts", N_("host"), N_("HOST[:PORT]; several: a b; empty: this machine")),
    Field("addresses", N_("address"), N_("for the others, where that is not the host: a b")),
    Field("user", N_("user"), N_("to log in as; empty: as `ssh` decides")),
    Field("accelerator", N_("accelerator"), N_("of the catalogue, such as h100-sxm; empty: none")),
    Field("gpus", N_("GPUs"), N_("of each machine; on one without: worker processes")),
    Field("interface", N_("interface"), N_("between machines, such as eth0; empty: any")),
)


class MachineForm(ClosesOnce, ModalScreen[str], keys="form"):
    """Gives the id of the entry that was written."""

    def __init__(self, workspace: WorkspacePaths, catalog: Catalog, changed: MachineEntry | None = None) -> None:
        """
        Args:
            changed: the entry that is shown, and changed; None for a new one.
        """
        super().__init__()
        self._workspace, self._catalog, self._changed = workspace, catalog, changed

    def compose(self) -> ComposeResult:
        shown = vars(self._changed or MachineEntry(""))
        with Vertical(classes="dialog") as dialog:
            name = self._changed and printable(self._changed.id)
            dialog.border_title = _("Edit {name}", name=name) if name else _("Add a machine")
            for field in FIELDS:
                with Horizontal(classes="field"):
                    yield Static(_(field.label), classes="label")
                    suggester = SuggestFromList(self._catalog.accelerators) if field.name == "accelerator" else None
                    yield Input(
                        shown[field.name], _(field.hint), id=f"field-{field.name}", suggester=suggester, compact=True
                    )
            yield Static(id="form-problem", markup=False)
            with Horizontal(classes="buttons"):
                yield Button(_("Ask for its GPUs") + " (^g)", id="ask", compact=True)
                yield Button(_("Not yet"), id="no", compact=True)
                yield Button((_("Save") if name else _("Add")) + " (^s)", id="add", variant="primary", compact=True)

    def on_mount(self) -> None:
        self.query_one("#field-id", Input).disabled = self._changed is not None
        self.query_one("#field-hosts" if self._changed else "#field-id", Input).focus()

    @property
    def entry(self) -> MachineEntry:
        typed: dict[str, Any] = {
            field.name: self.query_one(f"#field-{field.name}", Input).value.strip() for field in FIELDS
        }
        return MachineEntry(**typed)

    def _say(self, words: str) -> None:
        self.query_one("#form-problem", Static).update(words)

    @on(Button.Pressed, "#ask")
    def action_ask(self) -> None:
        self._ask()

    @work(exclusive=True)
    async def _ask(self) -> None:
        """Ask the machines for their GPUs, and fill in what they answer."""
        logins = self.entry.logins
        self._say(_("Asking {hardware} …", hardware=printable(", ".join(logins))))
        answers = await asyncio.gather(*map(self._gpus_of, logins))
        found = [accelerator_of(self._catalog, names or ()) for names, _problem in answers]
        lines = map(_found_text, logins, answers, found)
        self._say("\n".join(lines))
        if not any(problem for _names, problem in answers):
            self.query_one("#field-gpus", Input).value = str(min(len(names) for names, _problem in answers) or 1)
            self.query_one("#field-accelerator", Input).value = found[0] or ""

    async def _gpus_of(self, login: str) -> tuple[list[str], str]:
        """Return the names of a machine's GPUs, or why it does not tell them."""
        output, error = await run_command(self._workspace, ["machines", "--json", "--login", login])
        try:
            row = MachineRow("", "", answer=json.loads(output.splitlines()[0]))
        except (ValueError, LookupError):
            return [], error or _("It does not answer: `ssh` must log in to it without a question.")
        return [printable(str(gpu.get("name"))) for gpu in row.state.get("gpus", ())], problem_text(row)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        """Go to the next field, so that a name alone does not become an entry; from the last one, add."""
        if event.input.id == f"field-{FIELDS[-1].name}":
            self.action_add()
        else:
            self.focus_next(Input)

    @on(Button.Pressed, "#add")
    def action_add(self) -> None:
        entry = self.entry
        try:
            if self._changed is not None:
                problem = change_entry(self._workspace, self._changed, entry)
            else:
                problem = write_entry(self._workspace, self._catalog, entry)
        except UNREADABLE as error:
            problem = str(error)
        if problem:
            self._say(printable(problem))
        else:
            self.dismiss(entry.id)

    @on(Button.Pressed, "#no")
    def action_close(self) -> None:
        self.dismiss(None)


def _found_text(login: str, answer: tuple[list[str], str], accelerator: str | None) -> str:
    names, problem = answer
    listed = problem or ", ".join(f"{count} × {name}" for name, count in Counter(names).items()) or _("no GPU")
    if names and accelerator is None:
        listed = _("{names}: no accelerator of the catalogue", names=listed)
    return f"{printable(login)}{language().colon}{listed}"
