"""The columns of a table, in the widths that its rows need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate

from dlperf.app.model.table import GAP, Column, Row, columns_that_fit
from dlperf.app.widgets.row_drawing import widened


class ColumnLayout:
    """Columns with widths that only grow, so that nothing jumps to and fro."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = tuple(columns)
        self.width = 1
        """Of the table, without the scroll bar, which comes and goes."""
        self.shown: list[tuple[int, int]] = []
        """Index and width of the columns shown."""
        self._contents = [0] * len(self.columns)
        """Width of the longest cell of each column that was in view."""

    def forget(self) -> None:
        """Take no account of the rows that were measured."""
        self._contents = [0] * len(self.columns)

    def replace(self, columns: Sequence[Column]) -> None:
        self.columns = tuple(columns)
        self.forget()

    def mark_sorting(self, column: int | None, descending: bool) -> bool:
        """Mark the column by which the rows are sorted; return whether that changes anything."""
        before, titles = self.columns, [item.title.rstrip("▲▼") for item in self.columns]
        if column is not None:
            titles[column] += "▼" if descending else "▲"
        self.columns = tuple(replace(item, title=title) for item, title in zip(before, titles, strict=True))
        return self.columns != before

    def measure(self, rows: Iterable[Row]) -> bool:
        """Widen the columns for the cells of these rows; return whether they have to be fitted."""
        before, self._contents = self._contents, widened(self._contents, rows)
        return self._contents != before or not self.shown

    def fit(self, width: int) -> None:
        """Choose the columns that fit a table of this width."""
        self.width = max(1, width)
        self.shown = columns_that_fit(self.columns, self.width, self._contents)

    @property
    def lefts(self) -> dict[int, int]:
        """Where each shown column begins, by its index."""
        lefts = accumulate((width + GAP for _index, width in self.shown), initial=0)
        return {index: left for (index, _width), left in zip(self.shown, lefts, strict=False)}
