"""What a table is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len, set_cell_size

Tone = Literal["", "group", "good", "busy", "warn", "bad", "dim"]
GAP = 2


@dataclass(frozen=True)
class Column:
    """A column: its title, its width in cells, and when it is left out."""

    title: str
    width: int
    right: bool = False
    importance: int = 5
    """Where the table is too narrow, the least important column goes first."""
    flexible: bool = False
    """Takes what the others leave; several share it."""


@dataclass(frozen=True)
class Row:
    """What a row shows; a group's row has one cell across the whole width."""

    cells: tuple[str, ...]
    tone: Tone = ""
    tones: tuple[Tone, ...] = ()
    """Tones of single cells, where they differ from the row's."""
    merged: int | None = None
    """From this cell on there is nothing but the last one, which takes all the room."""


def columns_that_fit(columns: Sequence[Column], width: int) -> list[tuple[int, int]]:
    """Index and width of the columns to show; the flexible ones are stretched."""
    chosen = list(range(len(columns)))

    def needed() -> int:
        return sum(columns[index].width + GAP for index in chosen) - GAP

    while len(chosen) > 1 and needed() > width:
        chosen.remove(min(chosen, key=lambda index: (columns[index].importance, index)))
    spare, sharing = width - needed(), sum(columns[index].flexible for index in chosen)
    fitted = []
    for index in chosen:
        extra = spare // sharing if columns[index].flexible else 0
        spare, sharing = spare - extra, sharing - columns[index].flexible
        fitted.append((index, columns[index].width + extra))
    return fitted


def aligned(text: str, width: int, right: bool = False) -> str:
    """``text`` in exactly ``width`` cells: padded, or cut with an ellipsis."""
    length = cell_len(text)
    if length > width:
        return set_cell_size(text, width - 1) + "…" if width > 1 else set_cell_size(text, width)
    return " " * (width - length) + text if right else text + " " * (width - length)


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
