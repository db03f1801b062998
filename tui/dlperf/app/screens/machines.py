"""All machines of the workspace: what they do now, asked while this screen is shown."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Hashable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import on, work
from textual.app import ComposeResult

from dlperf.app.commands import RunningCommand, run_command
from dlperf.app.dialogs.confirm import ConfirmScreen
from dlperf.app.dialogs.machine import MachineForm
from dlperf.app.dialogs.pages import check_page, check_rows, filtered_title, no_match
from dlperf.app.model.machines.entry import MachineEntry, place_of
from dlperf.app.model.machines.table import MachineRow, MachinesView, about_machine, problem_text
from dlperf.app.model.table import Row
from dlperf.app.screens.base import REFUSAL_SECONDS
from dlperf.app.screens.sorted_table import SortedTableScreen
from dlperf.app.watching import login_of
from dlperf.app.widgets.prompt import Prompt
from dlperf.app.widgets.row_table import RowTable
from dlperf.app.widgets.status_line import StatusLine, set_titles
from dlperf.errors import RequestError
from dlperf.messages import N_, _
from dlperf.plan import Selection
from dlperf.view.campaigns import Standing
from dlperf.view.text import printable

if TYPE_CHECKING:
    from dlperf.catalog.files.load import Catalog

EVERY_SECONDS, AGE_SECONDS = 5, 3
"""Between two looks at a machine, by a process that runs while the screen is shown, and between two of its age here."""

NEEDING_A_MACHINE = ("check", "diagnose", "log_in")
"""Actions that need a selected machine that is here, or reached by ssh."""
NEEDING_AN_ENTRY = ("ran_there", "change", "edit")


class MachinesScreen(SortedTableScreen):
    place = "machines"
    about = N_(
        "The machines of this workspace: who uses each, what its GPUs do and how much disk is free. They are asked "
        "every few seconds, only while this screen is shown."
    )

    def __init__(self) -> None:
        super().__init__()
        self.view: MachinesView = MachinesView()
        self._catalog: Catalog | None = None
        self._has_read = asyncio.Event()
        self._asker: RunningCommand | None = None
        self._written = ""
        """The entry that the form has written, on which the cursor goes."""
        self._answers: dict[tuple[str, str], dict[str, Any]] = {}
        """Those that are not drawn yet, by hardware and node."""

    def body(self) -> ComposeResult:
        yield RowTable(self.view.columns(), id="machines")
        yield StatusLine("about-machine")

    @property
    def table(self) -> RowTable:
        return self.query_one("#machines", RowTable)

    def on_mount(self) -> None:
        self.table.focus()
        self.table.empty = "\n" + _("Reading …")

    def on_screen_resume(self) -> None:
        if self.app.screen == self:  # not while it is made before its first visit
            self._read_catalog()

    def on_screen_suspend(self) -> None:
        self._stop()

    def on_unmount(self) -> None:
        self._stop()

    def _stop(self) -> None:
        self.workers.cancel_group(self, "ask")
        self._answers.clear()
        if self._asker is not None:
            self._asker.stop()
            self._asker = None

    @work(thread=True, exclusive=True, group="catalog")
    def _read_catalog(self) -> None:
        from dlperf.catalog.files.load import load_catalog

        catalog = load_catalog(self.workspace.catalog, complain=lambda _problem: None)
        self.call_later(self._catalog_read, catalog)

    def _catalog_read(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._has_read.set()
        written, self._written = self._written, ""
        known = {(item.hardware, item.node): item.answer for item in self.view.machines}
        machines = tuple(
            MachineRow(name, node.name, login_of(node), known.get((name, node.name)))
            for name in catalog.machines
            for node in catalog.hardware[name].nodes
        )
        self.show_view(replace(self.view, machines=machines))
        self.table.select(next(((item.hardware, item.node) for item in machines if item.hardware == written), None))
        if self._asker is None and machines and self.app.screen == self:
            self._ask()

    @work(exclusive=True, group="ask")
    async def _ask(self) -> None:
        """Read what the machines answer, until another screen is shown."""
        asker = self._asker = await RunningCommand.start(
            self.workspace, ["machines", "--json", "--every", str(EVERY_SECONDS)]
        )
        last = ""
        async for line in asker.lines():
            last = line or last
            self._answers |= _answer_of(line)
        if await asker.wait() > 0 and self._asker is asker:
            self.call_later(self.report, RequestError(last))

    def frame(self) -> None:
        super().frame()
        waits = any(item.answer is None for item in self.view.machines)
        if self.is_due(AGE_SECONDS) or (self._answers and waits):
            answers, self._answers = self._answers, {}
            machines = (
                replace(item, answer=answers.get((item.hardware, item.node), item.answer))
                for item in self.view.machines
            )
            self.show_view(replace(self.view, machines=tuple(machines)))

    def show_view(self, view: MachinesView) -> None:
        self.view = view = replace(view, now=self.now)
        items = {(item.hardware, item.node): item for item in view.shown()}
        if self._catalog is not None:
            self.table.empty = no_match(view.matching, len(view.machines)) if view.matching else _empty_text()
        self.table.mark_sorting(view.column, view.descending)
        self.table.show_rows(list(items), lambda key: view.cells(items[key]) if key in items else Row(()))
        set_titles(self.table, filtered_title(_("Machines"), view.matching))
        self._show_selected()

    @on(RowTable.Highlighted, "#machines")
    def _show_selected(self) -> None:
        item = self._selected()
        self.query_one("#about-machine", StatusLine).update("\n".join(about_machine(item)) if item else "")
        self.refresh_bindings()

    def _selected(self) -> MachineRow | None:
        key: Hashable = self.table.selected
        return next((item for item in self.view.machines if (item.hardware, item.node) == key), None)

    def why_not(self, action: str) -> str:
        if action in NEEDING_A_MACHINE and (item := self._selected()):
            return problem_text(item) or super().why_not(action)
        if self.view.machines:
            return _("No machine is selected.")
        return _("There is no machine yet: n adds one.")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if not self.is_mounted or action not in (*NEEDING_A_MACHINE, *NEEDING_AN_ENTRY):
            return True
        item = self._selected()
        return True if item and not (item.elsewhere and action in NEEDING_A_MACHINE) else None

    @on(RowTable.Chosen)
    def action_ran_there(self) -> None:
        """List the campaigns that ran on the selected machine, where any did."""
        self.main.book.list_names()  # of those that are not read yet, too
        item, summaries = self._selected(), self.main.book.summaries.values()
        if item and any(each.standing is Standing.LOADING or item.hardware in each.hardware for each in summaries):
            self.main.show_campaigns(item.hardware)
        elif item:
            words = _("Nothing has run on {name} from this workspace.", name=printable(item.hardware))
            self.notify(words, markup=False, timeout=REFUSAL_SECONDS)

    @work(exclusive=True, group="check")
    async def action_check(self) -> None:
        if item := self._selected():
            self.notify(_("Asking {hardware} …", hardware=printable(item.hardware)), markup=False)
            output, error = await run_command(self.workspace, ["check", "--hardware", item.hardware, "--json"])
            self.app.clear_notifications()
            await self.app.push_screen_wait(check_page(check_rows(output), error))

    def action_diagnose(self) -> None:
        if item := self._selected():
            title = _("Diagnose {name}?", name=printable(item.hardware))
            text = _("It measures matrix products, memory, copies, all-reduce and disk by its PyTorch, as a campaign.")
            question = ConfirmScreen(title, text, _("Start"), _("Not yet"))
            self.ask(question, partial(self._diagnose, item.hardware))

    @work(exclusive=True, group="start")
    async def _diagnose(self, hardware: str) -> None:
        from dlperf.plan.diagnosis import plan_diagnosis
        from dlperf.view.here import gpus_here
        from dlperf.view.start import start_campaign

        names: list[str] = []

        def start() -> None:
            assert self._catalog is not None
            plan = plan_diagnosis(Selection(hardware=(hardware,)), self._catalog.on_machine(gpus_here()))
            names.append(start_campaign(self.workspace, plan)[0].name)

        if await self.attempt(start):
            self.main.watch_campaign(names[0])

    def action_log_in(self) -> None:
        if item := self._selected():
            self.run_program(*(("", "ssh", item.login) if item.login else ("SHELL", "sh", ())))

    @work
    async def action_add_machine(self) -> None:
        await self._show_form(None)

    @work
    async def action_change(self) -> None:
        """Show the selected entry in the form."""
        if self._catalog and (item := self._selected()) and self._place_of(item):
            await self._show_form(MachineEntry.of(self._catalog.hardware[item.hardware]))

    async def _show_form(self, changed: MachineEntry | None) -> None:
        await self._has_read.wait()
        assert self._catalog is not None
        name = await self.app.push_screen_wait(MachineForm(self.workspace, self._catalog, changed))
        if name is not None:
            if place := place_of(self.workspace.catalog, name):
                file = place[0].relative_to(self.workspace.root)
                self.notify(_("Written: {file}. c checks it.", file=file), markup=False)
            self._written = name
            self._catalog_changed()

    def _place_of(self, item: MachineRow) -> tuple[Path, int] | None:
        place = place_of(self.workspace.catalog, item.hardware)
        if place is None:
            self.report(RequestError(_("{name} is built in: it has no file here.", name=item.hardware)))
        return place

    def action_edit(self) -> None:
        """Open the file of the selected entry, at its line."""
        if (item := self._selected()) and (place := self._place_of(item)):
            self.run_program("EDITOR", "vi", (f"+{place[1]}", place[0]))
            self._catalog_changed()

    def _catalog_changed(self) -> None:
        self._stop()
        self._read_catalog()

    @on(Prompt.Typed)
    def _filter_typed(self) -> None:
        self.refresh_bindings()


def _answer_of(line: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Return what a line of ``dlperf machines --json`` says, by hardware and node; nothing of a remark."""
    try:
        answer: dict[str, Any] = json.loads(line)
        return {(str(name), str(answer["node"])): answer for name in answer["hardware"]}
    except (ValueError, TypeError, KeyError):
        return {}


def _empty_text() -> str:
    return "\n" + _("There is no machine in catalog/ yet: n adds one.")
