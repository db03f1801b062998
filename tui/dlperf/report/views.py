"""View data of templates: plain text, formatted numbers, addresses, and tables of these."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dlperf.report import markdown as md

LONG = 150
"""A reason that is wider, in Latin letters, is cut in cells."""
CLAUSE = re.compile(r".{40,}?(?=[,:;] )|.{20,}?(?=[，：；])")
"""The beginning of a reason, which is more than a name."""


class Prose(str):
    """Text for people, such as a message: what stands in backticks is shown as code."""

    __slots__ = ()

    def __html__(self) -> str:
        return md.prose(self)


@dataclass(frozen=True)
class Link:
    """Text that links to an address of the built site; plain text without an address."""

    text: str
    address: str = ""
    code: bool = False
    """Set in a fixed-width font."""
    aside: str = ""
    """In brackets after the link."""


@dataclass(frozen=True)
class TextView:
    """Text whose kind tells how it is shown."""

    text: str
    kind: str
    """``source``: a link if it is a web address or a file in a repository. ``quoted``: English, whatever the language
    of the page. ``time``: a date. ``warning`` and ``regression``: bold. ``cut``: the beginning of ``full``."""
    full: str = ""


@dataclass(frozen=True)
class Listed:
    """Cells with commas between them."""

    items: tuple[str | Link, ...]


@dataclass(frozen=True)
class Lead:
    """How the framework with the highest throughput compares with the next; empty without another."""

    first: Link | None = None
    second: Link | None = None
    value: FigureView | None = None
    """Of the second."""
    verdict: str = ""
    """Code of a claim."""
    percent: str = ""
    trials: str = ""
    """On each side, at least."""
    p: Link = Link("")
    """With the name of the test."""
    sought: str = ""
    """Loss that was sought."""
    gpus: str = ""
    """The machines on which it holds."""
    why: str = ""
    """The first reasons why nothing may be claimed."""
    deciding: str = ""
    """The command that measures what is missing; empty where no trials would decide."""
    brief: str | TextView = ""
    """The verdict with its first reason only, which is cut if it is long."""
    power: str = ""
    """GPU clock and power of both, if the clocks differ."""
    idle: str = ""
    """For how much of the window no kernel ran on the GPU of each, if they differ."""
    machines: tuple[Link, ...] = ()
    """Of a claim about a kind: the lead on each machine."""
    losses: str = ""
    """How far the losses of two programs that trained alike are apart."""
    elsewhere: str = ""
    """By how much the better side leads on other kinds of machines."""
    untried: str = ""
    """What is known to make a program of a claim faster, or may, and was not measured."""
    explained: str = ""
    """How much of a lead waiting GPUs and estimates explain."""
    busy: str = ""
    """Who is ahead while kernels ran."""
    tuning: str = ""
    """What tuning gave each side, and what it changed."""
    p_made: str = ""
    """The p of the test, what it was multiplied by and why."""
    overturning: str = ""
    """What would overturn the verdict."""


@dataclass(frozen=True)
class FigureView:
    """A throughput with its spread, scaling and caveat, or the reason why it is missing."""

    value: str
    address: str = ""
    full: str = ""
    """The value with every digit."""
    missing: bool = False
    """``value`` is the reason why there is no throughput."""
    best: bool = False
    """May be called better than all others of its row."""
    trials: str = ""
    """Number of trials and their spread."""
    below: str = ""
    """Unit, or speed-up and efficiency."""
    caveat: str = ""
    """What to know before using the value."""


@dataclass(frozen=True)
class ColumnView:
    """The head of a column, and the layout of its cells."""

    title: str | Link | Listed
    words: bool = False
    """Contains text instead of numbers, in a list."""
    number: bool = False
    """Aligned to the right, in a grid."""
    place: str = ""
    """Position of its cells in the block of a row on a telephone: ``value``, or ``aside`` below it."""


@dataclass(frozen=True)
class TableView:
    """Rows of text, links and figures."""

    columns: tuple[ColumnView, ...]
    rows: tuple[tuple[object, ...], ...]
    same: tuple[tuple[ColumnView, object], ...] = ()
    """Columns that have the same value in every row, with that value; shown once above the table."""

    def __bool__(self) -> bool:
        return bool(self.rows)


@dataclass(frozen=True)
class Bar:
    """A value drawn as a bar."""

    name: str
    aside: str
    """Conditions of the value, small beside its name."""
    figure: FigureView
    share: str
    """Length of the bar in percent."""
    series: int
    published: bool = False
    """A third-party result, which is hatched."""
    whisker: tuple[str, str] | None = None
    """Where the lowest trial lies on the bar, and the distance to the highest, in percent."""
    times: str = ""
    """The value over that of the baseline."""


@dataclass(frozen=True)
class Part:
    """Tables or a chart under a title."""

    title: tuple[str | Link, ...]
    tables: tuple[TableView, ...] = ()
    bars: tuple[Bar, ...] = ()
    unit: str = ""


@dataclass(frozen=True)
class Picture:
    """A chart in a file of its own."""

    address: str
    width: str
    height: str
    caption: str
    data: Mapping[str, str]
    """``data-`` attributes for scripts, by name."""


def date(moment: str) -> TextView | str:
    """Return the day of a moment as a date; empty if unknown."""
    return TextView(moment[:10], "time") if moment else ""


def shortened(whole: str, *parts: str) -> str | TextView:
    """Return a text for a cell, of whose long parts the first clauses stand for the rest."""
    short = whole
    for part in parts:
        clause = CLAUSE.match(part)
        if clause and sum(2 - one.isascii() for one in part) > LONG:
            short = short.replace(part, f"{clause[0]} …")
    return TextView(md.unmarked(short), "cut", md.unmarked(whole)) if short != whole else whole


def filled(columns: Sequence[ColumnView], rows: Sequence[Sequence[object]], once: Sequence[int] = ()) -> TableView:
    """Return a table without its empty columns.

    Args:
        once: columns to show once instead of in every row if all of several rows have the same value.
    """
    same = [column for column in once if len(rows) > 1 and len({row[column] for row in rows}) == 1]
    shown = [place for place in range(len(columns)) if place not in same and any(row[place] for row in rows)]
    return TableView(
        tuple(columns[place] for place in shown),
        tuple(tuple(row[place] for place in shown) for row in rows),
        tuple((columns[place], rows[0][place]) for place in sorted(same) if rows[0][place]),
    )
