"""Choose what to measure: a list for each axis, the resulting plan below."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from dlperf.app.campaigns import modified
from dlperf.app.model.choice import AXES, Choice, arguments_of, command_line
from dlperf.app.model.machines.entry import files_of, place_of
from dlperf.app.screens.choice_lists import ChoiceLists
from dlperf.app.screens.plan_actions import preset_columns
from dlperf.app.widgets.prompt import Prompt
from dlperf.app.widgets.row_table import RowTable
from dlperf.app.widgets.status_line import Panel, StatusLine, set_titles
from dlperf.errors import DlperfError
from dlperf.messages import N_, _
from dlperf.view.text import printable

if TYPE_CHECKING:
    from dlperf.catalog.files.load import Catalog
    from dlperf.catalog.files.problem import Problem
    from dlperf.plan import Plan

SHOWN_MISTAKES = 3


class ChooseScreen(ChoiceLists):
    place = "choose"
    about = N_(
        "Mark what to measure. A list without a mark means all that fits. Entries in grey cannot be had with what is "
        "marked in the other lists; the line below the lists says why. ( ) stands before machines that are not here: "
        "their plans can be looked at, not run. The plan below changes with every mark."
    )

    def __init__(self) -> None:
        super().__init__()
        self._history: dict[str, float] = {}
        """Configuration id → seconds of a trial, as the plan shows them."""
        self._mistakes: list[str] = []
        """Of the catalogue, whose entries are left out."""
        self._read_files: dict[Path, float] = {}
        self._shown_choice: Choice | None = None

    def body(self) -> ComposeResult:
        yield StatusLine("lists-line")
        with Horizontal(id="lists"):
            yield from self.lists()
        yield StatusLine("why")
        with Panel(id="plan-panel"):
            yield Static(id="plan-lines", markup=False)
            yield RowTable(preset_columns(), id="plan")
        yield StatusLine("same-command")

    def on_mount(self) -> None:
        self.query_one("#plan-panel").border_title = _("Plan")
        self.action_show_list("hardware")
        self._read_catalog()

    @work(thread=True, exclusive=True, group="catalog")
    def _read_catalog(self) -> None:
        from dlperf.catalog.plugins import code_format_ids
        from dlperf.view.here import catalog_here

        problems: list[Problem] = []
        self._read_files = self._catalog_files()
        catalog = catalog_here(self.workspace.catalog, code_format_ids(), problems.append)
        self.call_later(self._catalog_read, catalog, problems)

    def check_files(self) -> None:
        super().check_files()
        if self._catalog_files() != self._read_files:
            self._read_catalog()

    def _catalog_files(self) -> dict[Path, float]:
        """Return when each file of the workspace's catalogue was written."""
        return {path: modified(path) for path in files_of(self.workspace.catalog)}

    def _catalog_read(self, catalog: Catalog, problems: list[Problem]) -> None:
        known = self.catalog.frameworks if self.catalog is not None else catalog.frameworks
        self.catalog = catalog
        self._mistakes = []
        if problems:
            said = _("The catalogue has mistakes: `dlperf catalog check` lists them.")
            self._mistakes = [said, *(printable(str(problem)) for problem in problems[:SHOWN_MISTAKES])]
        self.choose(self.settings.choice)
        for name in catalog.frameworks.keys() - known.keys():
            if self.is_adding:
                self.mark_program(name)
            self.query_one("#frameworks", RowTable).select(name)
            self.action_show_list("frameworks")

    def campaigns_changed(self) -> None:
        super().campaigns_changed()
        if self.catalog is not None and self.main.book.trial_seconds() != self._history:
            self._make_plan()

    def choose(self, choice: Choice) -> None:
        from dlperf.app.model.options import options_of

        if self.catalog is None:
            return
        self.settings.choice = self._shown_choice = choice
        self.show_options(options_of(self.catalog, choice))
        words = ["run", *arguments_of(choice)]
        self.query_one("#same-command", StatusLine).update("" if choice.empty else command_line(words))
        self._make_plan()

    @on(RowTable.Chosen)
    def _chosen(self, event: RowTable.Chosen) -> None:
        if event.table.id in AXES:
            self.action_mark()
        elif self.choice.empty:
            self.choose_preset(event.table.selected)
        else:
            self.action_script()

    def action_clear(self) -> None:
        self.choose(Choice())

    def action_add_repeats(self, count: int) -> None:
        configurations = self.plan.configurations if self.plan else ()
        repeats = self.choice.repeats or max((item.repeats for item in configurations), default=1)
        self.choose(replace(self.choice, repeats=max(1, repeats + count)))

    @work(thread=True, exclusive=True, group="plan")
    def _make_plan(self) -> None:
        from dlperf.plan import expand

        choice, catalog = self.choice, self.catalog
        plan, problem = None, ""
        if choice.empty or catalog is None:
            problem = _(
                "Mark something above: space marks, tab goes to the next list. p: presets, N: a program of your own."
            )
        else:
            try:
                plan = expand(choice.selection(), catalog)
            except DlperfError as error:
                problem = printable(str(error))
        self.call_later(self._planned, choice, plan, problem)

    def _planned(self, choice: Choice, plan: Plan | None, problem: str) -> None:
        from dlperf.app.model.planned import plan_columns, plan_lines, plan_rows

        if choice != self.choice:
            return
        self.plan = plan
        history = self._history = self.main.book.trial_seconds()
        rows = plan_rows(plan, history) if plan else self.preset_rows() if choice.empty else {}
        table = self.query_one("#plan", RowTable)
        table.show_columns(preset_columns() if choice.empty else plan_columns())
        table.show_rows(list(rows), lambda key: rows[key])
        lines = plan_lines(plan, history) if plan else [problem]
        self.query_one("#plan-lines", Static).update("\n".join([*lines, *self._mistakes]))
        set_titles(self.query_one("#plan-panel"), Content(self.plan_title()))
        self.refresh_bindings()

    def action_edit(self) -> None:
        files, option = sorted(self._catalog_files()), self.selected_option()
        if option is not None and (place := place_of(self.workspace.catalog, option.value)):
            self.run_program("EDITOR", "vi", (f"+{place[1]}", place[0]))
        elif files:
            self.run_program("EDITOR", "vi", files)
        else:
            self.notify(_("There are no files in {folder}.", folder=self.workspace.catalog), markup=False)

    def on_screen_resume(self) -> None:
        if self.choice != self._shown_choice:
            self.choose_and_show(self.choice)

    def action_escape(self) -> None:
        self.matching.clear()
        self.choose(self.choice)

    @on(Prompt.Typed)
    def _typed(self, event: Prompt.Typed) -> None:
        if not self.list_typed(event) and event.final:
            self.text_typed(event)
