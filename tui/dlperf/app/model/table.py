"""Describe tables: columns, rows, and views that filter and sort their items."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, Literal, Self, TypeVar

from rich.cells import cell_len, set_cell_size

from dlperf.messages import _

Tone = Literal["", "group", "good", "busy", "warn", "bad", "dim"]
GAP = 2
MARK = "● "
FRAMEWORK = "of "
NOTHING = "-"
"""Cell of a missing value: a column of these is not shown."""
BAR_STEPS = "▏▎▍▌▋▊▉█"


@dataclass(frozen=True)
class Column:
    """A column; widths are in cells."""

    title: str
    width: int
    """Least width of longer contents."""
    right: bool = False
    importance: int = 5
    """In a narrow table the least important column is dropped first."""
    drawn: bool = False
    """Bars, which are not copied as text."""
    largest_first: bool = False
    """Sorting by it begins with the largest."""
    flexible: bool = False
    """As the last one, takes all the width that is left."""


@dataclass(frozen=True)
class Row:
    """Cells of a row; the row of a group has one cell across the whole width."""

    cells: tuple[str, ...]
    tone: Tone = ""
    tones: tuple[str, ...] = ()
    """Tones of cells that differ from the row's: a ``Tone``, or ``of`` and the id of a framework, for its colour."""
    marked: bool = False
    """Drawn with a mark before its first cell."""
    merged: int | None = None
    """Index from which the last cell takes the whole width."""


def axis_columns(
    case: int, framework: int, hardware: int, *, batch_importance: int = 8, hardware_importance: int = 5
) -> tuple[Column, ...]:
    """Return the columns of a configuration's axes; the arguments are widths."""
    return (
        Column(_("case"), case, importance=9),
        Column(_("framework"), framework, importance=9),
        Column(_("prec."), 9, importance=9),
        Column(_("batch"), 6, right=True, importance=batch_importance),
        Column(_("GPUs"), 6, importance=8),
        Column(_("hardware"), hardware, importance=hardware_importance),
    )


def columns_that_fit(columns: Sequence[Column], width: int, contents: Sequence[int] = ()) -> list[tuple[int, int]]:
    """Return index and width of the columns to show.

    Args:
        columns: the most important ones get the width that is left, equally important ones in equal parts; a flexible
            last one gets the rest.
        width: of the table.
        contents: width of the longest cell of each column; one without content is not shown.
    """
    contents = contents if any(contents) else [column.width for column in columns]
    wanted = {
        index: max(content, cell_len(column.title))
        for index, (column, content) in enumerate(zip(columns, contents, strict=True))
        if content or index == 0
    }
    widths = {index: min(columns[index].width, wanted[index]) for index in wanted}
    while len(widths) > 1 and sum(widths.values()) + GAP * (len(widths) - 1) > width:
        del widths[min(widths, key=lambda index: (columns[index].importance, index))]
    spare = width - sum(widths.values()) - GAP * (len(widths) - 1)
    lacking = {index: wanted[index] - widths[index] for index in widths}
    order = sorted(widths, key=lambda index: (-columns[index].importance, lacking[index]))
    for place, index in enumerate(order):
        alike = sum(columns[other].importance == columns[index].importance for other in order[place:])
        extra = max(0, min(spare // alike, lacking[index]))
        widths[index], spare = widths[index] + extra, spare - extra
    last = max(widths)
    widths[last] += spare if columns[last].flexible else 0
    return list(widths.items())


def widths_that_fit(wanted: Sequence[int], room: int) -> list[int]:
    """Return widths that fill the room: the widest is cut first, and what is left is shared."""
    widths = list(wanted)
    while sum(widths) > max(room, 0):
        widths[widths.index(max(widths))] -= 1
    return [width + (room - sum(widths) + index) // len(widths) for index, width in enumerate(widths)]


def aligned(text: str, width: int, right: bool = False) -> str:
    """Return ``text`` in exactly ``width`` cells: padded, or cut with an ellipsis."""
    length = cell_len(text)
    if length > width:
        return set_cell_size(text, width - 1) + "…" if width > 1 else set_cell_size(text, width)
    return " " * (width - length) + text if right else text + " " * (width - length)


def group_line(cells: Sequence[str], width: int) -> str:
    """Return the line of a group: its name gives way to what follows it, down to half of the line."""
    name, rest = cells[0], "".join(" " * GAP + cell for cell in cells[1:])
    room = max((width + 1) // 2, width - cell_len(rest))
    return aligned((name if cell_len(name) <= room else aligned(name, room)) + rest, width)


def packed(parts: Iterable[str], width: int, gap: str = "  ") -> list[str]:
    """Join parts into as few lines of ``width`` cells as possible without breaking a part."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]}{gap}{part}" if lines else part
        if lines and cell_len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines


def bar(share: float, width: int) -> str:
    """Return a bar of ``width`` cells, filled to an eighth of a cell; the rest is shaded."""
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (BAR_STEPS[rest - 1] if rest else "")).ljust(width, "░")


def has_words(text: str, words: str) -> bool:
    """Return whether a text holds every one of these words, and none of those that follow a ``!``."""
    text = text.lower()
    return all(word == "!" or (word[0] == "!") != (word.lstrip("!") in text) for word in words.lower().split())


def markdown(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, without the columns that are drawn; the row of a group has its one cell first."""
    titles = [column.title for column in columns]
    full = [[*row, *[""] * (len(columns) - len(row))] for row in (titles, *rows)]
    kept = [[cell for cell, column in zip(row, columns, strict=True) if not column.drawn] for row in full]
    rules = ["---:" if column.right else "---" for column in columns if not column.drawn]
    lines = [[cell.replace("|", "\\|") for cell in row] for row in (kept[0], rules, *kept[1:])]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


Item = TypeVar("Item")


@dataclass(frozen=True)
class SortedView(Generic[Item]):
    """Items of one kind, filtered and sorted."""

    matching: str = ""
    """What every shown item contains, see ``has_words``."""
    column: int | None = None
    """Sort column; None: default order."""
    descending: bool = False

    def items(self) -> Sequence[Item]:
        raise NotImplementedError

    def text(self, item: Item) -> str:
        raise NotImplementedError

    def key(self, item: Item, column: int) -> object:
        """Return the sort key of a column; None for a missing value."""
        raise NotImplementedError

    def shown(self) -> list[Item]:
        """Return the items that match, sorted; missing values are last in either direction."""
        return self._shown

    @cached_property
    def _shown(self) -> list[Item]:
        shown = list(self.items())
        if self.matching:
            shown = [item for item in shown if has_words(self.text(item), self.matching)]
        if self.column is None:
            return shown
        keys: list[tuple[Any, Item]] = [(self.key(item, self.column), item) for item in shown]
        known = sorted((pair for pair in keys if pair[0] is not None), key=lambda pair: pair[0])
        ordered = known[::-1] if self.descending else known
        return [item for _, item in ordered] + [item for key, item in keys if key is None]

    def columns(self) -> Sequence[Column]:
        raise NotImplementedError

    def cells(self, item: Item) -> Row:
        raise NotImplementedError

    def chosen(self) -> list[Item]:
        """Return what is copied: all shown items."""
        return self.shown()

    def as_text(self, form: str) -> str:
        """Return the chosen rows as ``markdown`` or ``csv``."""
        return self.as_csv() if form == "csv" else self.as_markdown()

    def as_csv(self) -> str:
        """Return the chosen items with their values as they were computed, for other programs."""
        raise NotImplementedError

    def as_markdown(self) -> str:
        """Return the chosen rows as they are shown, without what is drawn."""
        return markdown(self.columns(), [self.cells(item).cells for item in self.chosen()])

    def sorted_by(self, column: int) -> Self:
        """Sort by a column; reverse the order if it is sorted by it already."""
        if column == self.column:
            return replace(self, descending=not self.descending)
        return replace(self, column=column, descending=self.columns()[column].largest_first)
