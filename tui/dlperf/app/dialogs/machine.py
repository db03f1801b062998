"""A form that adds a machine: it asks the machine for its GPUs, writes the entry and shows what is wrong with it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from dlperf.app.actions import bindings_of
from dlperf.app.commands import run_command
from dlperf.app.guarded import UNREADABLE, ClosesOnce
from dlperf.app.model.machines.entry import MachineEntry, accelerator_of, write_entry
from dlperf.catalog.files.load import Catalog
from dlperf.messages import N_, _
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
    Field("host", N_("host"), N_("as `ssh` knows it; empty: this machine")),
    Field("user", N_("user"), N_("to log in as; empty: as `ssh` decides")),
    Field("accelerator", N_("accelerator"), N_("of the catalogue, such as h100-sxm5-80gb; empty: none")),
    Field("gpus", N_("GPUs"), N_("how many; on a machine without: worker processes")),
    Field("interface", N_("interface"), N_("for several machines, such as eth0; empty: found by the programs")),
)


class MachineForm(ClosesOnce, ModalScreen[bool]):
    """Gives whether an entry was written."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("form")

    def __init__(self, workspace: WorkspacePaths, catalog: Catalog) -> None:
        super().__init__()
        self._workspace, self._catalog = workspace, catalog

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = _("Add a machine")
            for field in FIELDS:
                with Horizontal(classes="field"):
                    yield Static(_(field.label), classes="label")
                    yield Input(id=f"field-{field.name}", placeholder=_(field.hint), compact=True)
            yield Static(id="form-problem", markup=False)
            with Horizontal(classes="buttons"):
                yield Button(_("Ask for its GPUs"), id="ask", compact=True)
                yield Button(_("Not yet"), id="no", compact=True)
                yield Button(_("Add"), id="add", variant="primary", compact=True)

    def on_mount(self) -> None:
        self.query_one("#field-id", Input).focus()

    @property
    def entry(self) -> MachineEntry:
        return MachineEntry(
            **{field.name: self.query_one(f"#field-{field.name}", Input).value.strip() for field in FIELDS}
        )

    def _say(self, words: str) -> None:
        self.query_one("#form-problem", Static).update(words)

    @on(Button.Pressed, "#ask")
    def action_ask(self) -> None:
        self._ask()

    @work(exclusive=True)
    async def _ask(self) -> None:
        """Ask the machine for its GPUs, and fill in what it answers."""
        entry = self.entry
        self._say(_("Asking {hardware} …", hardware=printable(entry.host) or _("this machine")))
        output, error = await run_command(self._workspace, ["machines", "--json", *entry.login_options])
        try:
            gpus = json.loads(output.splitlines()[0])["state"]["gpus"]
        except (ValueError, LookupError, TypeError):
            self._say(error or _("It does not answer: `ssh` must log in to it without a question."))
            return
        found = accelerator_of(self._catalog, [gpu["name"] for gpu in gpus])
        self.query_one("#field-gpus", Input).value = str(len(gpus) or 1)
        self.query_one("#field-accelerator", Input).value = found or ""
        names = ", ".join(dict.fromkeys(printable(str(gpu["name"])) for gpu in gpus)) or _("no GPU")
        unknown = bool(gpus) and found is None
        count = f"{len(gpus)} × {names}" if gpus else names
        self._say(_("{names}: no accelerator of the catalogue", names=names) if unknown else count)

    @on(Button.Pressed, "#add")
    @on(Input.Submitted)
    def action_add(self) -> None:
        try:
            problem = write_entry(self._workspace, self._catalog, self.entry)
        except UNREADABLE as error:
            problem = str(error)
        if problem:
            self._say(printable(problem))
        else:
            self.dismiss(True)

    @on(Button.Pressed, "#no")
    def action_close(self) -> None:
        self.dismiss(False)
