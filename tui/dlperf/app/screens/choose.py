"""Choose what to measure: six lists side by side, the live plan below."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from dlperf.app.actions import bindings_of
from dlperf.app.model.choice import AXES, Choice, arguments_of, command_line
from dlperf.app.model.table import Column, Row
from dlperf.app.screens.pages import filtered_title
from dlperf.app.screens.plan_actions import PlanActions
from dlperf.app.widgets.prompt import Prompt
from dlperf.app.widgets.row_table import RowTable
from dlperf.errors import DlperfError
from dlperf.messages import N_, _
from dlperf.view.text import printable

if TYPE_CHECKING:
    from dlperf.app.model.options import Option
    from dlperf.plan import Plan

TITLES = {
    "hardware": N_("Hardware"),
    "frameworks": N_("Frameworks"),
    "cases": N_("Cases"),
    "precisions": N_("Precision"),
    "batch_sizes": N_("Batch"),
    "scales": N_("GPUs"),
}


class ChooseScreen(PlanActions):
    """Marks give a selection, the selection a plan."""

    place = "choose"
    about = N_(
        "Mark what to measure. A list without a mark means all that fits. Entries in grey cannot be had with what is "
        "marked in the other lists; the line below the lists says why. The plan below changes with every mark."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("choose"),
        Binding("tab,right", "next_part(1)", show=False),
        Binding("shift+tab,left", "next_part(-1)", show=False),
        Binding("space", "mark", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._options: dict[str, tuple[Option, ...]] = {}
        self._matching: dict[str, str] = {}
        self._history: dict[str, float] = {}
        """Configuration id → seconds of a trial, as the plan was drawn with."""
        self._wrong = ""
        """Said while the catalogue cannot be read."""

    def body(self) -> ComposeResult:
        yield Static(id="lists-line", classes="status", markup=False)
        with Horizontal(id="lists"):
            for axis in AXES:
                with Vertical(classes="panel list-panel", id=f"panel-{axis}"):
                    yield RowTable(LIST_COLUMNS, id=axis, header=False, chosen_by_click=True)
        yield Static(id="why", classes="status", markup=False)
        with Vertical(classes="panel", id="plan-panel"):
            yield Static(id="plan-lines", markup=False)
            yield RowTable((), id="plan")
        yield Static(id="same-command", classes="status", markup=False)

    def on_mount(self) -> None:
        from dlperf.app.model.planned import plan_columns

        for axis in AXES:
            self.query_one(f"#panel-{axis}").border_title = _(TITLES[axis])
            self.query_one(f"#{axis}", RowTable).empty = _("Reading …")
        self.query_one("#plan-panel").border_title = _("Plan")
        self.query_one("#plan", RowTable).set_columns(plan_columns())
        self._go_to("hardware")
        self._read_catalog()

    @work(thread=True, exclusive=True, group="catalog")
    def _read_catalog(self) -> None:
        from dlperf.app.catalogue import read_catalog

        try:
            catalog = read_catalog(self.workspace)
        except DlperfError as error:
            self.call_later(self._catalog_is_wrong, printable(str(error)))
            return
        self.call_later(self._catalog_read, catalog)

    def _catalog_is_wrong(self, message: str) -> None:
        for axis in AXES:
            self.query_one(f"#{axis}", RowTable).empty = ""
            self.query_one(f"#{axis}", RowTable).refresh()
        self._wrong = _("The catalogue has mistakes: `dlperf catalog check` lists them.")
        self._show_why()
        self.query_one("#plan-lines", Static).update(message)

    def _catalog_read(self, catalog: object) -> None:
        from dlperf.catalog.load import Catalog

        assert isinstance(catalog, Catalog)
        self.catalog = catalog
        self.choose(self.settings.choice)

    def campaigns_changed(self) -> None:
        """Trials may have ended since, and tell how long others take."""
        super().campaigns_changed()
        if self.catalog is not None and self.main.book.trial_seconds() != self._history:
            self._make_plan()

    # ----------------------------------------------------------------- choice

    @property
    def choice(self) -> Choice:
        return self.settings.choice

    def choose(self, choice: Choice) -> None:
        """Mark what this choice marks, and plan it."""
        from dlperf.app.model.options import options_of

        if self.catalog is None:
            return
        self.settings.choice = choice
        self._options = options_of(self.catalog, choice)
        for axis in AXES:
            self._show_list(axis)
        longest = max(len(options) for options in self._options.values())
        self.query_one("#lists").styles.max_height = max(LEAST_ROWS, longest + BORDER_ROWS)
        self._show_why()
        self._draw_lists_line()
        words = ["run", *arguments_of(choice)]
        self.query_one("#same-command", Static).update("" if choice.empty else command_line(words))
        self._make_plan()

    def _show_list(self, axis: str) -> None:
        from dlperf.app.model.options import filter_options, option_row

        table = self.query_one(f"#{axis}", RowTable)
        text = self._matching.get(axis, "")
        options = {option.value: option for option in filter_options(self._options[axis], text)}
        table.empty = _("nothing matches {text}", text=text) if text else ""
        table.show_rows(list(options), lambda key: option_row(options[str(key)]))
        panel = self.query_one(f"#panel-{axis}")
        marks = len(self.choice.values(axis))
        panel.border_title = filtered_title(_(TITLES[axis]), text, hint=False)
        panel.border_subtitle = str(marks or "")

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw_lists_line)

    def _draw_lists_line(self) -> None:
        self.query_one("#lists-line", Static).update(self._lists_in_words())

    def _lists_in_words(self) -> Text:
        """Where the lists do not fit side by side: which there are, and how much is marked; a click shows one."""
        if not self.has_class("-narrow"):
            return Text()
        current = self._current_axis()
        line = Text(no_wrap=True)
        for axis in AXES:
            marks = len(self.choice.values(axis))
            name = _(TITLES[axis]) + (f" {marks}" if marks else "")
            shown = f"[{name}]" if axis == current else name
            line.append("  " if line else "").append(shown, Style(meta={"@click": f"screen.show_list({axis!r})"}))
        return line

    def _current_axis(self) -> str:
        focused = self.focused.id if self.focused is not None else None
        return focused if focused in AXES else "hardware"

    def _selected_option(self) -> Option | None:
        axis = self._current_axis()
        value = self.query_one(f"#{axis}", RowTable).selected
        return next((option for option in self._options.get(axis, ()) if option.value == value), None)

    @on(RowTable.Highlighted)
    def _show_why(self) -> None:
        """What the entry under the cursor is, and why it cannot be had."""
        option = self._selected_option()
        text = self._wrong
        if option is not None:
            parts = [option.title or option.value, option.note, option.reason and f"✗ {option.reason}"]
            text = " · ".join(printable(part) for part in parts if part)
        self.query_one("#why", Static).update(text)

    def on_descendant_focus(self) -> None:
        self._show_why()
        self._draw_lists_line()

    @on(RowTable.Chosen)
    def _chosen(self, event: RowTable.Chosen) -> None:
        if event.table.id in AXES:
            self.action_mark()
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

    def action_fewer_repeats(self) -> None:
        repeats = (self.choice.repeats or self._usual_repeats()) - 1
        self.choose(self.choice.with_repeats(max(1, repeats)))

    def action_more_repeats(self) -> None:
        self.choose(self.choice.with_repeats((self.choice.repeats or self._usual_repeats()) + 1))

    def _usual_repeats(self) -> int:
        configurations = self.plan.configurations if self.plan else ()
        return max((item.repeats for item in configurations), default=1)

    # ------------------------------------------------------------------- plan

    @work(thread=True, exclusive=True, group="plan")
    def _make_plan(self) -> None:
        from dlperf.plan import expand

        choice, catalog = self.choice, self.catalog
        if choice.empty or catalog is None:
            self.call_later(self._planned, choice, None, _("Mark something above: space or enter. p: presets."))
            return
        try:
            plan = expand(choice.selection(), catalog)
        except DlperfError as error:
            self.call_later(self._planned, choice, None, printable(str(error)))
            return
        self.call_later(self._planned, choice, plan, "")

    def _planned(self, choice: Choice, plan: Plan | None, problem: str) -> None:
        from dlperf.app.model.planned import plan_lines, plan_rows

        if choice != self.choice:
            return
        self.plan = plan
        history = self._history = self.main.book.trial_seconds()
        rows: dict[Hashable, Row] = plan_rows(plan, history) if plan else {}
        self.query_one("#plan", RowTable).show_rows(list(rows), lambda key: rows[key])
        lines = plan_lines(plan, history) if plan else [problem]
        self.query_one("#plan-lines", Static).update("\n".join(lines))
        repeats = self.choice.repeats or _("as the protocol says")
        self.query_one("#plan-panel").border_title = _("Plan · repeats: {repeats} (- +)", repeats=repeats)
        self.refresh_bindings()

    # ------------------------------------------------------------------ focus

    def action_next_part(self, by: int) -> None:
        parts = [*AXES, "plan"]
        here = parts.index(self.focused.id) if self.focused is not None and self.focused.id in parts else 0
        self._go_to(parts[(here + by) % len(parts)])

    def action_show_list(self, axis: str) -> None:
        self._go_to(axis)

    def _go_to(self, part: str) -> None:
        """Focus a list; where only one fits, show that one."""
        for axis in AXES:
            if part in AXES:
                self.query_one(f"#panel-{axis}").set_class(axis == part, "-current")
        self.set_focus(self.query_one(f"#{part}", RowTable))

    def action_find(self) -> None:
        axis = self._current_axis()
        label = _("filter {list}", list=_(TITLES[axis]))
        self.prompt.ask(axis, label, self._matching.get(axis, ""))

    def action_escape(self) -> None:
        self._matching.clear()
        self.choose(self.choice)

    @on(Prompt.Typed)
    def _typed(self, event: Prompt.Typed) -> None:
        if event.purpose in AXES and self._options:
            self._matching[event.purpose] = event.text
            self._show_list(event.purpose)


BORDER_ROWS, LEAST_ROWS = 2, 8
"""Of the lists: their border; what short ones get."""
LIST_COLUMNS = (Column("", 12, flexible=True),)
