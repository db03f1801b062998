"""What can be done with a plan: read its scripts, check its machines, start it."""

from __future__ import annotations

import shlex
from collections.abc import Hashable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import work

from dlperf.app.commands import run_command
from dlperf.app.dialogs.command import CommandPage
from dlperf.app.dialogs.confirm import ConfirmScreen
from dlperf.app.dialogs.pages import Deletion, ListPage, TextPage, check_page, check_rows
from dlperf.app.model.choice import AXES, PRESETS, Choice, Preset, arguments_of, choice_of, command_line
from dlperf.app.model.table import Column, Row
from dlperf.app.presets import delete_preset, save_preset, saved_presets
from dlperf.app.screens.base import REFUSAL_SECONDS, PlaceScreen
from dlperf.app.widgets.prompt import Prompt
from dlperf.app.widgets.row_table import RowTable
from dlperf.errors import DlperfError, RequestError
from dlperf.messages import N_, _
from dlperf.plan import Selection
from dlperf.runs.store import MOST
from dlperf.view.text import printable

if TYPE_CHECKING:
    from dlperf.catalog.files.load import Catalog
    from dlperf.plan import Plan


class PlanActions(PlaceScreen):
    """A screen with a choice and the plan that results from it."""

    catalog: Catalog | None = None
    plan: Plan | None = None
    is_adding = False
    """A program of the user's own, which is marked once it is in the catalogue."""

    def __init__(self) -> None:
        super().__init__()
        self.matching: dict[str, str] = {}
        """What is typed to filter a list, by its axis."""

    @property
    def choice(self) -> Choice:
        return self.settings.choice

    def choose(self, choice: Choice) -> None:
        """Mark what this choice marks, and plan it."""
        raise NotImplementedError

    def choose_and_show(self, choice: Choice) -> None:
        """Mark what a preset or an earlier campaign marks, and bring its marks into view, out of filters."""
        self.matching.clear()
        self.choose(choice)
        for axis in AXES:
            for value in choice.values(axis)[:1]:
                self.query_one(f"#{axis}", RowTable).select(value)

    REASONS: ClassVar[dict[str, str]] = {
        "start": N_("Nothing is marked that can run: mark hardware of your own, a framework and a case."),
        "save_preset": N_("Nothing is marked that a preset could hold."),
        "check": N_("Nothing is marked that can run here."),
        "fetch": N_("Nothing is marked whose packages are fetched: mark a stack, such as torchtitan."),
        "script": N_("There is no plan whose script could be shown."),
    }

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("start", "check"):
            return True if self._runnable() else None
        if action == "save_preset":
            return None if self.choice.empty else True
        if action == "fetch":
            return True if self._stacks() else None
        if action == "script":
            return True if self.plan is not None and self.plan.configurations else None
        return True

    def _stacks(self) -> dict[str, None]:
        """Return the frameworks of the plan whose packages are fetched."""
        planned = self.plan.configurations if self.plan else ()
        return dict.fromkeys(
            item.configuration.framework for item in planned if item.launch.requirements and not item.example
        )

    def action_fetch(self) -> None:
        if self.plan is not None and (stacks := self._stacks()):
            hardware, cases = _hardware_here(self.plan), self.choice.values("cases")
            words = arguments_of(Choice({"hardware": hardware, "frameworks": tuple(stacks), "cases": cases}))
            self.app.push_screen(CommandPage(_("Packages"), self.workspace, ["fetch", *words]))

    def action_add_program(self) -> None:
        example = "python train.py --bs {batch_size}"
        label = _("your program, such as: {example}, or: --name ID -- python …", example=example)
        self.query_one(Prompt).ask("program", label, starts_something=True)

    def _add_program(self, text: str) -> None:
        """Run a program once and write its entries, which the lists then show and mark."""
        try:
            words = program_words(text)
        except ValueError as error:
            self.report(error)
            return
        self.is_adding = True
        next_step = _("It is in the lists now, and marked: esc, then s starts it.")
        self.app.push_screen(CommandPage(_("Own program"), self.workspace, words, next_step))

    def mark_program(self, framework: str) -> None:
        """Mark a program that was added, on this machine, where it has run."""
        from dlperf.view.here import machine_here

        assert self.catalog is not None
        self.is_adding = False
        self.choose_and_show(Choice({"hardware": (machine_here(self.catalog).id,), "frameworks": (framework,)}))

    def _runnable(self) -> bool:
        return self.plan is not None and any(not item.example for item in self.plan.configurations)

    def action_presets(self) -> None:
        rows, saved = self.preset_rows(), len(self._saved_presets())
        page = ListPage(_("Presets"), preset_columns(), rows, deletes=list(rows)[:saved])
        self.app.push_screen(page, self.choose_preset)

    def choose_preset(self, row: Hashable | None) -> None:
        if isinstance(row, Deletion) and isinstance(row.key, tuple):
            self._delete_preset(row.key[1].name)
        elif isinstance(row, tuple):
            preset = row[1]
            exact = isinstance(preset, Selection)
            self.choose_and_show(choice_of(preset) if exact else preset.applied(self.choice))

    def preset_rows(self) -> dict[Hashable, Row]:
        """Return rows of what the user saved, then of the reports, then of what the last campaign ran."""
        presets = enumerate([*self._saved_presets(), *PRESETS])
        rows: dict[Hashable, Row] = {
            (number, preset): Row((printable(preset.name), printable(_(preset.about)))) for number, preset in presets
        }
        if last := self.main.book.last_selection():
            rows["last", last[1]] = Row((_("last campaign"), printable(last[0])))
        return rows

    def _saved_presets(self) -> list[Preset]:
        try:
            return saved_presets(self.workspace)
        except DlperfError as error:
            self.report(error)
            return []

    def action_save_preset(self) -> None:
        self.query_one(Prompt).ask("preset", _("save the marks as a preset of this name"))

    def _save_preset(self, name: str) -> None:
        try:
            save_preset(self.workspace, name, shlex.join(arguments_of(replace(self.choice, name=""))))
        except DlperfError as error:
            self.report(error)
        else:
            self.notify(_("Saved: p offers it first."), title=printable(name), markup=False)

    def _delete_preset(self, name: str) -> None:
        try:
            delete_preset(self.workspace, name)
        except DlperfError as error:
            self.report(error)
        else:
            self.notify(_("{name} is deleted.", name=printable(name)), markup=False, timeout=REFUSAL_SECONDS)
            self.choose(self.choice)

    def action_name(self) -> None:
        self.query_one(Prompt).ask("name", _("name of the campaign; empty: made of the time"), self.choice.name)

    def action_protocol(self) -> None:
        rows: dict[Hashable, Row] = {"": Row((_("by recipe"), ""))}
        for name, protocol in self.catalog.protocols.items() if self.catalog else ():
            rows[name] = Row((printable(name), printable(protocol.title)))
        columns = (Column(_("protocol"), 22, importance=9), Column("", 30, flexible=True))
        page = ListPage(_("Protocols"), columns, rows, selected=self.choice.protocol or "")
        self.app.push_screen(page, self._set_protocol)

    def _set_protocol(self, name: Hashable | None) -> None:
        if name is not None:
            self.choose(replace(self.choice, protocol=str(name) or None))

    def action_set_repeats(self) -> None:
        self.query_one(Prompt).ask("repeats", _("repeats of each configuration; empty: by protocol"))

    def _repeats_typed(self, text: str) -> None:
        if text and not (text.isdecimal() and 0 < int(text) <= MOST):
            self.report(RequestError(_("repeats: a whole number from 1 on")))
        else:
            self.choose(replace(self.choice, repeats=int(text) if text else None))

    def plan_title(self) -> str:
        """Return what the plan takes besides the marks, with the keys that change it."""
        return " · ".join(
            (
                _("Plan: repeats {repeats} (- +)", repeats=self.choice.repeats or _("by protocol")),
                _("protocol {protocol} (o)", protocol=printable(self.choice.protocol or _("by recipe"))),
                _("name {name} (n)", name=printable(self.choice.name) or _("by time")),
            )
        )

    def text_typed(self, event: Prompt.Typed) -> None:
        """Take repeats, a program, or the name of a preset or of the campaign."""
        if event.purpose == "name":
            self.choose(replace(self.choice, name=event.text.strip()))
        elif event.purpose == "program" and event.text.strip():
            self._add_program(event.text.strip())
        elif event.purpose == "repeats":
            self._repeats_typed(event.text.strip())
        elif event.purpose == "preset" and event.text.strip():
            self._save_preset(event.text.strip())

    def action_repeat(self) -> None:
        if last := self.main.book.last_selection():
            self.choose_and_show(choice_of(last[1]))
        else:
            self.notify(_("There is no campaign yet that could be repeated."), severity="warning")

    def action_script(self) -> None:
        from dlperf.render.preview import preview_text

        selected = self.query_one("#plan", RowTable).selected
        configurations = self.plan.configurations if self.plan else ()
        chosen = [item for item in configurations if ("plan", item.configuration.id) == selected] or configurations[:1]
        for item in chosen:
            self.app.push_screen(TextPage(item.configuration.id, preview_text(item.launch)))

    def action_copy_command(self) -> None:
        self.copy(command_line(["run", *arguments_of(self.choice)]))

    @work(exclusive=True, group="check")
    async def action_check(self) -> None:
        if self.plan is None or not self._runnable():
            return
        words = check_words(self.plan, self.choice)
        self.notify(_("Asking {hardware} …", hardware=words[2]))
        output, error = await run_command(self.workspace, words)
        self.app.clear_notifications()
        await self.app.push_screen_wait(check_page(check_rows(output), error))

    def action_start(self) -> None:
        from dlperf.app.model.planned import plan_lines
        from dlperf.campaign.create import campaign_name

        if self.plan is None or not self._runnable():
            return
        if any(item.example for item in self.plan.configurations):
            self.notify(_("Machines that are not here cannot be run on: unmark them first."), severity="warning")
            return
        plan = self.plan
        name = self.choice.name or campaign_name(plan, datetime.fromisoformat(self.settings.now()))
        words = ["run", *arguments_of(replace(self.choice, name=name))]
        text = "\n".join([name, "", *plan_lines(plan, self.main.book.trial_seconds()), "", command_line(words)])
        question = ConfirmScreen(_("Start this campaign?"), text, _("Start"), _("Not yet"))
        self.ask(question, partial(self._start, plan, name))

    @work(exclusive=True, group="start")
    async def _start(self, plan: Plan, name: str) -> None:
        from dlperf.view.start import start_campaign

        if await self.attempt(partial(start_campaign, self.workspace, plan, name)):
            self.settings.choice = replace(self.choice, name="")
            self.main.watch_campaign(name)


def program_words(text: str) -> list[str]:
    """Return the command that adds a program; options of that stand before the program, ended by ``--``.

    Raises:
        ValueError: a quotation mark of the options is not closed.
    """
    options, dashes, command = text.partition(" -- ")
    if dashes and text.startswith("-"):
        return ["init", *shlex.split(options), "--program", command]
    return ["init", "--program", text]


def preset_columns() -> tuple[Column, ...]:
    return Column(_("preset"), 22, importance=9), Column(_("what it marks"), 30, flexible=True)


def check_words(plan: Plan, choice: Choice) -> list[str]:
    """Return the check of the machines that can run the plan, and of the starts of the marked frameworks there."""
    checked = ("frameworks", "cases", "scales") if choice.values("frameworks") else ()
    marked = {axis: choice.values(axis) for axis in checked}
    return ["check", *arguments_of(Choice({"hardware": _hardware_here(plan), **marked})), "--json"]


def _hardware_here(plan: Plan) -> tuple[str, ...]:
    """Return the hardware of a plan that can run it."""
    return tuple(dict.fromkeys(item.configuration.hardware for item in plan.configurations if not item.example))
