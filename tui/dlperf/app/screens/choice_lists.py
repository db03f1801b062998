"""The lists of what can be chosen, a list for each axis, of which a narrow screen shows one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual import on
from textual.content import Content

from dlperf.app.dialogs.pages import filtered_title
from dlperf.app.model.choice import AXES, problem_of_value
from dlperf.app.model.table import Column, widths_that_fit
from dlperf.app.screens.plan_actions import PlanActions
from dlperf.app.widgets.prompt import Prompt
from dlperf.app.widgets.row_table import RowTable
from dlperf.app.widgets.status_line import StatusLine, set_titles
from dlperf.errors import RequestError
from dlperf.messages import N_, _
from dlperf.view.text import printable

if TYPE_CHECKING:
    from dlperf.app.model.options import Option

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
VALUE_OF = "value of "
"""Before the list for which a value is typed, as the purpose of that."""
LIST_COLUMNS = (Column("", 12, flexible=True),)


class ChoiceLists(PlanActions):
    """A screen with a list for each axis, in which values are marked."""

    def __init__(self) -> None:
        super().__init__()
        self._options: Mapping[str, tuple[Option, ...]] = {}
        self._axis = "hardware"
        """The list that has or had the focus."""

    def lists(self) -> Iterator[RowTable]:
        """Yield the lists, empty until something is shown."""
        for axis in AXES:
            table = RowTable(LIST_COLUMNS, _("Reading …"), id=axis, header=False, chosen_by_click=True)
            table.border_title = _(TITLES[axis])
            yield table

    def show_options(self, options: Mapping[str, tuple[Option, ...]]) -> None:
        self._options = options
        for axis in AXES:
            self._show_list(axis)
        self.query_one("#axes").set_class("axes" not in self._lists, "-nothing")
        self._fit_lists()
        longest = max(len(each) for each in options.values())
        self.query_one("#lists").styles.max_height = max(MIN_ROWS, longest + BORDER_ROWS)
        self._show_why()
        self._draw_lists_line()

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

    def selected_option(self) -> Option | None:
        axis = self._current_axis()
        value = self.query_one(f"#{axis}", RowTable).selected
        return next((option for option in self._options.get(axis, ()) if option.value == value), None)

    @on(RowTable.Highlighted)
    def _show_why(self) -> None:
        option = self.selected_option()
        text = ""
        if option is not None:
            parts = [option.title or option.value, option.kind, option.reason and f"✗ {option.reason}", option.note]
            text = " · ".join(printable(part) for part in parts if part)
        self.query_one("#why", StatusLine).update(text)

    def on_descendant_focus(self) -> None:
        self._show_why()
        self._draw_lists_line()

    def action_mark(self) -> None:
        axis, option = self._current_axis(), self.selected_option()
        if option is None or not (isinstance(self.focused, RowTable) and self.focused.id in AXES):
            return
        if option.reason and not option.marked:
            self.app.bell()
            return
        self.choose(self.choice.toggle(axis, option.value))

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

    def list_typed(self, event: Prompt.Typed) -> bool:
        """Take a filter of a list, or a value for it; return whether it was one."""
        if event.purpose in AXES:
            self.matching[event.purpose] = event.text
            if self._options:  # else once the catalogue is read
                self._show_list(event.purpose)
            return True
        if event.final and event.purpose.startswith(VALUE_OF) and event.text.strip():
            self._value_typed(event.purpose.removeprefix(VALUE_OF), event.text.strip())
            return True
        return False
