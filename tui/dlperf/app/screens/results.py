"""All figures of the workspace: sorted, filtered, compared, beside the published ones."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from dlperf.app.actions import bindings_of
from dlperf.app.model.results_table import (
    SORT_KEYS,
    ResultsView,
    about_result,
    beside,
    beside_columns,
    beside_rows,
    result_columns,
    result_row,
)
from dlperf.app.model.table import Column, Row
from dlperf.app.model.text import printable
from dlperf.app.screens.base import PlaceScreen
from dlperf.app.screens.pages import ListPage
from dlperf.app.widgets.prompt import Prompt
from dlperf.app.widgets.row_table import RowTable
from dlperf.app.words import say
from dlperf.errors import DlperfError
from dlperf.results.model import ConfigurationResult


class ResultsScreen(PlaceScreen):
    """A view of all results."""

    place = "results"
    about = (
        "Every figure of this workspace and of the published reports. A figure is the median of its trials; spread is "
        "(max - min) / median. A change is coloured only where it is larger than the spread of either side."
    )
    BINDINGS: ClassVar[list[BindingType]] = bindings_of("results")

    def __init__(self) -> None:
        super().__init__()
        self._view = ResultsView()
        self._rows: list[ConfigurationResult] = []

    def body(self) -> ComposeResult:
        with Vertical(classes="panel", id="results-panel"):
            yield RowTable(result_columns(compared=False), id="results")
        yield Static(id="left-out", classes="status", markup=False)
        yield Static(id="selected-line", classes="status", markup=False)
        with Horizontal(id="about-result"):
            with VerticalScroll(classes="panel", id="result-panel", can_focus=False):
                yield Static(id="result-text", markup=False)
            with Vertical(classes="panel", id="beside-panel"):
                yield RowTable(beside_columns(), id="beside")

    def on_mount(self) -> None:
        self.query_one("#beside-panel").border_title = say("Same case, precision and number of GPUs")
        self.query_one("#result-panel").border_title = say("Selected")
        self.table.focus()

    def on_screen_resume(self) -> None:
        """Shown: results may have come since."""
        if not self._view.rows:
            self.table.empty = "\n" + say("Reading …")
        self.action_reload()

    @property
    def table(self) -> RowTable:
        return self.query_one("#results", RowTable)

    @work(thread=True, exclusive=True, group="results")
    def action_reload(self) -> None:
        from dlperf.results.load import load_results

        problems: list[DlperfError] = []
        try:
            rows = load_results(self.workspace, complain=problems.append)
        except DlperfError as error:
            rows, problems = [], [error]
        self.call_later(self._loaded, tuple(rows), [printable(str(problem)) for problem in problems])

    def _loaded(self, rows: tuple[ConfigurationResult, ...], problems: list[str]) -> None:
        left_out = say("{count} left out: {reason}", count=len(problems), reason=problems[0]) if problems else ""
        self.query_one("#left-out", Static).update(left_out)
        self.query_one("#left-out").display = bool(left_out)
        if rows != self._view.rows:
            self._show(replace(self._view, rows=rows))
        elif not rows:
            self._show(self._view)

    def _show(self, view: ResultsView) -> None:
        if (view.baseline is None) != (self._view.baseline is None):
            self.table.set_columns(result_columns(view.baseline is not None))
        self._view, self._rows = view, view.shown()
        self.table.empty = "\n" + self._nothing()
        keys = [(row.campaign, row.configuration, index) for index, row in enumerate(self._rows)]
        self.table.show_rows(keys, self._row)
        self.table.refresh()
        self.query_one("#results-panel").border_title = self._title()
        self.query_one("#about-result").display = bool(self._rows)
        self.query_one("#results-panel").set_class(not self._rows, "-alone")
        self._show_selected()

    def _title(self) -> str:
        title = say("Results: {shown} of {total}", shown=len(self._rows), total=len(self._view.rows))
        if self._view.baseline is not None:
            title += "  " + say("against {name}", name=printable(self._view.baseline))
        return title.replace("[", "\\[")

    def _nothing(self) -> str:
        if not self._view.rows:
            return say("No results yet: 2 chooses what to measure, `dlperf import` takes in logs.")
        total = len(self._view.rows)
        return say("None of {total} matches {text}. esc shows all.", total=total, text=self._view.matching)

    def _row(self, key: Hashable) -> Row:
        assert isinstance(key, tuple)
        return result_row(self._view, self._rows[key[2]])

    def _selected(self) -> ConfigurationResult | None:
        key = self.table.selected
        return self._rows[key[2]] if isinstance(key, tuple) and key[2] < len(self._rows) else None

    @on(RowTable.Highlighted, "#results")
    def _show_selected(self) -> None:
        row = self._selected()
        about = about_result(row) if row else []
        self.query_one("#result-text", Static).update("\n".join(about))
        self.query_one("#selected-line", Static).update(" · ".join(about[1:]))
        campaign = printable(row.campaign) if row else ""
        self.query_one("#beside-panel").border_title = Content(
            " · ".join(part for part in (say("Same case, precision and number of GPUs"), campaign) if part)
        )
        rows = beside_rows(row, beside(self._view.rows, row)) if row else []
        table = self.query_one("#beside", RowTable)
        table.empty = say("No other figure.") if row else ""
        table.show_rows(list(range(len(rows))), lambda key: rows[key] if isinstance(key, int) else Row(()))
        table.refresh()

    # ---------------------------------------------------------------- actions

    def action_sort(self) -> None:
        column = self._view.column
        self._show(
            replace(self._view, column=((-1 if column is None else column) + 1) % len(SORT_KEYS), descending=False)
        )
        assert self._view.column is not None
        self.notify(say("sorted by {column}", column=self.table.columns[self._view.column].title), timeout=2)

    def action_reverse(self) -> None:
        self._show(replace(self._view, descending=not self._view.descending))

    @on(RowTable.HeaderClicked, "#results")
    def _header_clicked(self, event: RowTable.HeaderClicked) -> None:
        if event.column < len(SORT_KEYS):
            self._show(self._view.sorted_by(event.column))

    def action_published(self) -> None:
        self._show(replace(self._view, published=not self._view.published))

    @work
    async def action_compare(self) -> None:
        if self._view.baseline is not None:
            self._show(replace(self._view, baseline=None))
            return
        rows: dict[Hashable, Row] = {name: Row((printable(name),)) for name in self._view.campaigns}
        columns = (Column(say("campaign"), 30, flexible=True),)
        chosen = await self.app.push_screen_wait(ListPage(say("Compare with"), columns, rows))
        if chosen is not None:
            self._show(replace(self._view, baseline=str(chosen)))

    def action_copy_row(self) -> None:
        if self.table.selected is not None:
            text = self.table.text_of(self.table.selected)
            self.app.copy_to_clipboard(text)
            self.notify(text, title=say("Copied"), markup=False)

    def action_find(self) -> None:
        self.prompt.ask("filter", say("filter results"), self._view.matching)

    def action_escape(self) -> None:
        self._show(replace(self._view, matching="", baseline=None))

    @on(Prompt.Typed)
    def _typed(self, event: Prompt.Typed) -> None:
        self._show(replace(self._view, matching=event.text))
