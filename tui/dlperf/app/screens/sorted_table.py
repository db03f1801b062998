"""A screen with one table that is filtered, and sorted by its columns."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from textual import on
from textual.geometry import Offset

from dlperf.app.model.table import SortedView
from dlperf.app.screens.base import PlaceScreen
from dlperf.app.widgets.prompt import Prompt
from dlperf.app.widgets.row_table import RowTable
from dlperf.messages import _

FIGURE = 9
"""Least importance of the columns that a table is for."""


class SortedTableScreen(PlaceScreen):
    kept: ClassVar[tuple[str, ...]] = ("view",)
    view: SortedView[Any]

    @property
    def table(self) -> RowTable:
        raise NotImplementedError

    def show_view(self, view: Any) -> None:
        """Show these items in this order."""
        raise NotImplementedError

    def action_sort(self) -> None:
        """Sort by the next column that is shown, the figure first; after the last one, in the order without sorting."""
        kinds = enumerate(self.view.columns())
        figures = {at for at, kind in kinds if kind.largest_first and kind.importance >= FIGURE}
        columns = [None, *sorted(self.table.visible_columns, key=lambda column: column not in figures)]
        at = columns.index(self.view.column) if self.view.column in columns else 0
        column = columns[(at + 1) % len(columns)]
        self.show_view(replace(self.view, column=None) if column is None else self.view.sorted_by(column))

    def places(self) -> list[tuple[Offset, Callable[[], object]]]:
        """Return also the headers of the table: a letter sorts by its column."""
        headers = self.table.header_offsets() if self.table in self.focus_chain else {}
        sorting = [(offset, partial(self._sort_by, column)) for column, offset in headers.items()]
        return [*super().places(), *sorting]

    def action_escape(self) -> None:
        self.show_view(replace(self.view, matching=""))
        self.table.forget_widths()

    def action_reverse(self) -> None:
        self.show_view(replace(self.view, descending=not self.view.descending))

    @on(RowTable.HeaderClicked)
    def _header_clicked(self, event: RowTable.HeaderClicked) -> None:
        if event.table is self.table:
            self._sort_by(event.column)

    def _sort_by(self, column: int) -> None:
        self.show_view(self.view.sorted_by(column))

    def action_find(self) -> None:
        self.query_one(Prompt).ask("filter", _("filter"), self.view.matching)

    @on(Prompt.Typed)
    def _typed(self, event: Prompt.Typed) -> None:
        if event.purpose == "filter":
            self.show_view(replace(self.view, matching=event.text))
            self.table.forget_widths()
