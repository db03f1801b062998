"""Choose what to measure: a list for each axis, the resulting plan below."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from dlperf.app.actions import bindings_of
from dlperf.app.campaigns import modified
from dlperf.app.dialogs.pages import filtered_title
from dlperf.app.model.choice import AXES, Choice, arguments_of, command_line, problem_of_value
from dlperf.app.model.machines.entry import files_of, place_of
from dlperf.app.model.table import Column, widths_that_fit
from dlperf.app.screens.plan_actions import PlanActions, preset_columns
from dlperf.app.widgets.panel import Panel
from dlperf.app.widgets.prompt import Prompt
from dlperf.app.widgets.row_table import RowTable
from dlperf.app.widgets.status_line import StatusLine, set_titles
from dlperf.errors import DlperfError, RequestError
from dlperf.messages import N_, _
from dlperf.view.text import printable

if TYPE_CHECKING:
    from dlperf.app.model.options import Option
    from dlperf.catalog.files.load import Catalog
    from dlperf.catalog.files.problem import Problem
    from dlperf.plan import Plan

TITLES = {
    "hardware": N_("Hardware"),
    "frameworks": N_("Frameworks"),
    "cases": N_("Cases"),
    "precisions": N_("Precision"),
    "batch_sizes": N_("Batch"),
    "scales": N_("GPUs"),
    "axes": N_("Axes"),
}
VALUE_LABELS = dict.fromkeys(AXES, N_("{list}: a value to mark")) | {
    "batch_sizes": N_("batch size per GPU, such as 96"),
    "scales": N_("nodes and GPUs on each, such as 2n8g"),
    "axes": N_("axis and value, such as sequence_length=4096"),
}
BORDER_ROWS, MIN_ROWS = 2, 8
"""Rows of the lists: of their border, and of the shortest."""
FRAME_CELLS = 9
"""Cells of a list besides its entries: border, padding, mark and scroll bar."""
SHOWN_MISTAKES = 3
VALUE_OF = "value of "
"""Before the list for which a value is typed, as the purpose of that."""
LIST_COLUMNS = (Column("", 12, flexible=True),)


class ChooseScreen(PlanActions):
    place = "choose"
    about = N_(
        "Mark what to measure. A list without a mark means all that fits. Entries in grey cannot be had with what is "
        "marked in the other lists; the line below the lists says why. The plan below changes with every mark."
    )
    BINDINGS: ClassVar[list[BindingType]] = bindings_of("choose")

    def __init__(self) -> None:
        super().__init__()
        self._options: dict[str, tuple[Option, ...]] = {}
        self._history: dict[str, float] = {}
        """Configuration id → seconds of a trial, as the plan shows them."""
        self._mistakes: list[str] = []
        """Of the catalogue, whose entries are left out."""
        self._read_files: dict[Path, float] = {}
        self._shown_choice: Choice | None = None
        self._axis = "hardware"
        """The list that has or had the focus."""

    def body(self) -> ComposeResult:
        yield StatusLine("lists-line")
        with Horizontal(id="lists"):
            for axis in AXES:
                yield RowTable(LIST_COLUMNS, id=axis, header=False, chosen_by_click=True)
        yield StatusLine("why")
        with Panel(id="plan-panel"):
            yield Static(id="plan-lines", markup=False)
            yield RowTable(preset_columns(), id="plan")
        yield StatusLine("same-command")

    def on_mount(self) -> None:
        for axis in AXES:
            table = self.query_one(f"#{axis}", RowTable)
            table.border_title, table.empty = _(TITLES[axis]), _("Reading …")
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
        self._options = options_of(self.catalog, choice)
        for axis in AXES:
            self._show_list(axis)
        self.query_one("#axes").set_class("axes" not in self._lists, "-nothing")
        self._fit_lists()
        longest = max(len(options) for options in self._options.values())
        self.query_one("#lists").styles.max_height = max(MIN_ROWS, longest + BORDER_ROWS)
        self._show_why()
        self._draw_lists_line()
        words = ["run", *arguments_of(choice)]
        self.query_one("#same-command", StatusLine).update("" if choice.empty else command_line(words))
        self._make_plan()

    def _show_list(self, axis: str) -> None:
        from dlperf.app.model.options import filter_options, option_row

        table = self.query_one(f"#{axis}", RowTable)
        text = self.matching.get(axis, "")
        options = {option.value: option for option in filter_options(self._options[axis], text)}
        table.empty = _("nothing matches {text}", text=text) if text else ""
        table.show_rows(list(options), lambda key: option_row(options[str(key)]))
        marks = Content(str(len(self.choice.values(axis)) or ""))
        set_titles(table, filtered_title(_(TITLES[axis]), text, hint=False), marks)

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw_lists_line)
        self.call_after_refresh(self._fit_lists)

    def _fit_lists(self) -> None:
        """Give lists beside each other the widths of their longest entries."""
        texts = {axis: [_(TITLES[axis]), *(item.label for item in self._options.get(axis, ()))] for axis in self._lists}
        wanted = [FRAME_CELLS + max(map(cell_len, each)) for each in texts.values()]
        for axis, width in zip(texts, widths_that_fit(wanted, self.size.width), strict=True):
            self.query_one(f"#{axis}").styles.width = None if self.has_class("-narrow") else width

    @property
    def _lists(self) -> list[str]:
        """The lists that are shown: that of further axes only where a recipe has any."""
        return [axis for axis in AXES if axis != "axes" or self._options.get(axis)]

    def _draw_lists_line(self) -> None:
        """Where only one list fits, name them all, with their marks; a click shows one."""
        current = self._current_axis()
        line = Text(no_wrap=True)
        for axis in self._lists:
            marks = len(self.choice.values(axis))
            name = _(TITLES[axis]) + (f" {marks}" if marks else "")
            shown = f"[{name}]" if axis == current else name
            line.append("  " if line else "").append(shown, Style(meta={"@click": f"screen.show_list({axis!r})"}))
        self.query_one("#lists-line", StatusLine).update(line if self.has_class("-narrow") else "")

    def _current_axis(self) -> str:
        if self.focused is not None and self.focused.id in AXES:
            self._axis = self.focused.id
        return self._axis

    def _selected_option(self) -> Option | None:
        axis = self._current_axis()
        value = self.query_one(f"#{axis}", RowTable).selected
        return next((option for option in self._options.get(axis, ()) if option.value == value), None)

    @on(RowTable.Highlighted)
    def _show_why(self) -> None:
        option = self._selected_option()
        text = ""
        if option is not None:
            parts = [option.title or option.value, option.kind, option.reason and f"✗ {option.reason}", option.note]
            text = " · ".join(printable(part) for part in parts if part)
        self.query_one("#why", StatusLine).update(text)

    def on_descendant_focus(self) -> None:
        self._show_why()
        self._draw_lists_line()

    @on(RowTable.Chosen)
    def _chosen(self, event: RowTable.Chosen) -> None:
        if event.table.id in AXES:
            self.action_mark()
        elif self.choice.empty:
            self.choose_preset(event.table.selected)
        else:
            self.action_script()

    def action_mark(self) -> None:
        axis, option = self._current_axis(), self._selected_option()
        if option is None or not (isinstance(self.focused, RowTable) and self.focused.id in AXES):
            return
        if option.reason and not option.marked:
            self.app.bell()
            return
        self.choose(self.choice.toggle(axis, option.value))

    def action_clear(self) -> None:
        self.choose(Choice())

    def action_add_value(self) -> None:
        axis = self._current_axis()
        self.query_one(Prompt).ask(VALUE_OF + axis, _(VALUE_LABELS[axis], list=_(TITLES[axis])))

    def _value_typed(self, axis: str, text: str) -> None:
        """Mark a value that was typed, or say why it is none."""
        problem = problem_of_value(axis, text)
        if problem:
            self.report(RequestError(problem))
        elif text not in self.choice.values(axis):
            self.choose(self.choice.toggle(axis, text))
            self.query_one(f"#{axis}", RowTable).select(text)

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

    def action_next_part(self, by: int) -> None:
        parts = [*self._lists, "plan"]
        current = parts.index(self.focused.id) if self.focused is not None and self.focused.id in parts else 0
        self.action_show_list(parts[(current + by) % len(parts)])

    def action_show_list(self, part: str) -> None:
        for axis in AXES:
            if part in AXES:
                self.query_one(f"#{axis}").set_class(axis == part, "-current")
        self.set_focus(self.query_one(f"#{part}", RowTable))

    def action_find(self) -> None:
        axis = self._current_axis()
        label = _("filter {list}", list=_(TITLES[axis]))
        self.query_one(Prompt).ask(axis, label, self.matching.get(axis, ""))

    def action_edit(self) -> None:
        files, option = sorted(self._catalog_files()), self._selected_option()
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
        if event.purpose in AXES:
            self.matching[event.purpose] = event.text
            if self._options:  # else once the catalogue is read
                self._show_list(event.purpose)
        elif event.final and event.purpose.startswith(VALUE_OF) and event.text.strip():
            self._value_typed(event.purpose.removeprefix(VALUE_OF), event.text.strip())
        elif event.final:
            self.text_typed(event)
