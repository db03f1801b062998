"""What templates are given: plain text, numbers as readers see them, addresses, and tables of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Link:
    """Text that leads to an address of the built site; without an address, the text alone."""

    text: str
    address: str = ""
    code: bool = False
    """In a fixed-width font."""


@dataclass(frozen=True)
class Source:
    """Where something comes from: a file of a repository or an address becomes a link, called like the file alone."""

    text: str


@dataclass(frozen=True)
class Quoted:
    """What a source says in English, whatever the language of the page."""

    text: str


@dataclass(frozen=True)
class Figure:
    """A throughput with everything that stands with it, or why there is none."""

    value: str
    address: str = ""
    missing: bool = False
    """``value`` is the reason."""
    best: bool = False
    """The highest of its row."""
    trials: str = ""
    """How many, and how far they lie apart."""
    scaling: str = ""
    """Speed-up and efficiency."""
    caveat: str = ""
    """What a reader must know of it."""


@dataclass(frozen=True)
class Column:
    """The head of a column, and how its cells are set."""

    title: str | Link
    words: bool = False
    """Of words, in a list."""
    number: bool = False
    """Set to the right, in a grid."""
    place: str = ""
    """Where its cells stand in the block of a row on a telephone: ``value``, or ``aside`` below it."""


@dataclass(frozen=True)
class Table:
    """Rows of text, links and figures."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[object, ...], ...]
    same: tuple[tuple[Column, object], ...] = ()
    """What is the same in every row, and is said once."""


@dataclass(frozen=True)
class Part:
    """Tables or a chart under a title."""

    title: tuple[str | Link, ...]
    tables: tuple[Table, ...] = ()
    svg: str = ""
    unit: str = ""


@dataclass(frozen=True)
class Step:
    """Commands under a title, with what is to be known of them."""

    title: str | Link
    text: str = ""
    commands: tuple[str, ...] = ()


def filled(columns: Sequence[Column], rows: Sequence[Sequence[object]], once: Sequence[int] = ()) -> Table:
    """A table without the columns that are empty.

    Args:
        once: columns that are left out of the rows, too, where several rows have the same in them.
    """
    same = [column for column in once if len(rows) > 1 and len({row[column] for row in rows}) == 1]
    shown = [place for place in range(len(columns)) if place not in same and any(row[place] for row in rows)]
    return Table(
        tuple(columns[place] for place in shown),
        tuple(tuple(row[place] for place in shown) for row in rows),
        tuple((columns[place], rows[0][place]) for place in sorted(same) if rows[0][place]),
    )
