"""Results as notebooks show them."""

from __future__ import annotations

from collections.abc import Sequence

from dlperf.table.model import ConfigurationResult
from dlperf.view.notebook.shown import Mark, Shown
from dlperf.view.text import count_noun, number, one_line, spread


class Results(Shown, list[ConfigurationResult]):
    """Results that show their values, and those of one unit as bars."""

    def _headline(self) -> str:
        return count_noun(len(self), "result")

    def _rows(self) -> tuple[Sequence[str], list[Sequence[str]]]:
        headers = ("campaign", "configuration", "value", "spread", "n", "status", "caveats")
        return headers, [
            (
                *(row.campaign, row.id, number(row.value, row.unit), spread(row.spread)),
                *(str(row.n or "-"), one_line(str(row.status)), ", ".join(item.code for item in row.caveats)),
            )
            for row in self
        ]

    def _marks(self) -> list[Mark]:
        units = {(row.metric, row.unit) for row in self if row.value is not None}
        if len(units) != 1:
            return []
        return [Mark(row.id, row.value, number(row.value, row.unit)) for row in self if row.value is not None]
