"""Plans, results and comparisons as notebooks show them: a table and a plot in HTML, a table in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from html import escape
from typing import TYPE_CHECKING, Any, TypeVar

from dlperf.plan.model import Plan
from dlperf.table.model import ConfigurationResult
from dlperf.view.text import count_noun, one_line, spread, value_text

if TYPE_CHECKING:
    from rich.table import Table

T = TypeVar("T")
MOST_ROWS = 100
"""Shown of a table, with the number of the others."""
WIDEST = 60
"""Characters of a cell of plain text; the HTML holds all."""
BAR, LINE = 240, 22
"""Pixels of the longest bar, and of the height of a line."""


@dataclass(frozen=True)
class Mark:
    """One line of a plot: a bar from zero, with an interval where there is one."""

    label: str
    value: float
    text: str
    interval: tuple[float, float] | None = None


class Shown:
    """Shows itself as a table, and in HTML with a plot below it."""

    def _headline(self) -> str:
        raise NotImplementedError

    def _rows(self) -> tuple[Sequence[str], list[Sequence[str]]]:
        """Return the headers and the cells."""
        raise NotImplementedError

    def _marks(self) -> list[Mark]:
        return []

    def __repr__(self) -> str:
        headers, rows = self._rows()
        cells = [[_cut(cell) for cell in row] for row in (headers, *rows[:MOST_ROWS])]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
        return "\n".join([self._headline(), *(lines if rows else ()), *_others(rows)])

    def __rich__(self) -> Table:
        from rich.markup import escape as escape_markup
        from rich.table import Table
        from rich.text import Text

        headers, rows = self._rows()
        table = Table(
            *map(escape_markup, headers), title=Text(self._headline()), caption=" ".join(_others(rows)) or None
        )
        for row in rows[:MOST_ROWS]:
            table.add_row(*map(Text, row))
        return table

    def _repr_html_(self) -> str:
        headers, rows = self._rows()
        head = "".join(f"<th>{escape(text)}</th>" for text in headers)
        body = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in rows[:MOST_ROWS])
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if rows else ""
        return f"<p>{escape(' '.join((self._headline(), *_others(rows))))}</p>{table}{_plot(self._marks())}"


def _cut(cell: str) -> str:
    return cell if len(cell) <= WIDEST else f"{cell[: WIDEST - 1]}…"


def _others(rows: Sequence[object]) -> list[str]:
    return [f"and {len(rows) - MOST_ROWS} more"] if len(rows) > MOST_ROWS else []


def _plot(marks: Sequence[Mark]) -> str:
    """Return horizontal bars as SVG; nothing without a value."""
    marks = marks[:MOST_ROWS]
    longest = max((end for mark in marks for end in (mark.value, *(mark.interval or ()))), default=0.0)
    if longest <= 0:
        return ""
    scale, left = BAR / longest, 7 * max(len(mark.label) for mark in marks) + 8
    lines = "".join(_bar(mark, LINE * place, left, scale) for place, mark in enumerate(marks))
    size = f'width="{left + BAR + 160}" height="{LINE * len(marks)}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-size="12" fill="currentColor">{lines}</svg>'


def _bar(mark: Mark, top: int, left: int, scale: float) -> str:
    middle, end = top + LINE // 2, left + mark.value * scale
    low, high = (left + limit * scale for limit in mark.interval or (0.0, 0.0))
    interval = f'<path d="M{low:.1f} {middle}H{high:.1f}" stroke="currentColor"/>' if mark.interval else ""
    return (
        f'<text x="0" y="{middle + 4}">{escape(mark.label)}</text>'
        f'<rect x="{left}" y="{top + 4}" width="{mark.value * scale:.1f}" height="{LINE - 8}" opacity="0.35"/>'
        f'{interval}<text x="{max(end, high) + 6:.1f}" y="{middle + 4}">{escape(mark.text)}</text>'
    )


def showing(kind: Callable[..., T], record: Any) -> T:
    """Return a dataclass as one of this kind, which shows itself."""
    return kind(**{field.name: getattr(record, field.name) for field in fields(record)})


class ShownPlan(Shown, Plan):
    """A plan that shows its configurations, and what cannot run."""

    def _headline(self) -> str:
        what = f"{count_noun(len(self.configurations), 'configuration')}, {count_noun(len(self.trials), 'trial')}"
        return f"{what}; {len(self.impossible)} impossible" if self.impossible else what

    def _rows(self) -> tuple[Sequence[str], list[Sequence[str]]]:
        possible = (
            (item.configuration.id, str(item.protocol.id), str(item.repeats), "") for item in self.configurations
        )
        others = ((item.configuration.id, "", "", one_line(str(item.reason))) for item in self.impossible)
        headers = ("configuration", "protocol", "repeats", "impossible because")
        shown = len(headers) if self.impossible else len(headers) - 1
        return headers[:shown], [row[:shown] for row in (*possible, *others)]


class Results(Shown, list[ConfigurationResult]):
    """Results that show their values, and those of one unit as bars."""

    def _headline(self) -> str:
        return count_noun(len(self), "result")

    def _rows(self) -> tuple[Sequence[str], list[Sequence[str]]]:
        headers = ("campaign", "configuration", "value", "spread", "n", "status", "caveats")
        return headers, [
            (
                *(row.campaign, row.id, value_text(row, row.unit), spread(row.spread)),
                *(str(row.n or "-"), one_line(str(row.status)), ", ".join(item.code for item in row.caveats)),
            )
            for row in self
        ]

    def _marks(self) -> list[Mark]:
        units = {(row.metric, row.unit) for row in self if row.value is not None}
        if len(units) != 1:
            return []
        return [Mark(row.id, row.value, value_text(row, row.unit)) for row in self if row.value is not None]
