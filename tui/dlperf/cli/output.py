"""How commands print: one JSON document, tables in aligned columns, progress on a terminal only."""

from __future__ import annotations

import dataclasses
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from enum import Enum
from pathlib import PurePath
from typing import Any

from dlperf.messages import Message
from dlperf.view.text import number, one_line, printable

GAP = 2
"""Columns between those of a table, and what the further lines of a row are indented by."""


def print_json(data: Any) -> None:
    """Exactly one JSON document on stdout; dataclasses become objects, messages, paths and enumerations strings.

    Raises:
        ValueError: a number is NaN or infinite: a missing figure is None.
    """
    import json

    sys.stdout.write(json.dumps(data, default=_plain, ensure_ascii=False, indent=1, allow_nan=False) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, Message):
        return str(value)
    if hasattr(value, "as_data"):
        return value.as_data()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")


def coded(name: str, message: Message | None) -> dict[str, Any]:
    """The entries of a JSON object that hold a message: its English text, and its code with parameters."""
    return {name: str(message) if message else None, f"{name}_code": message.to_json() if message else None}


def cell(value: Any) -> str:
    """Return a table's cell: three or four significant digits of a float, ``-`` for a missing value."""
    return number(value) if value is None or isinstance(value, float) else one_line(str(value))


def width(text: str) -> int:
    """Columns that ``text`` takes on a terminal: two for a wide East Asian character, none for a combining one."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def format_table(headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Aligned columns, numbers to the right; no line ends in spaces."""
    rows = list(rows)
    columns = [_column(header, [row[place] for row in rows]) for place, header in enumerate(headers)]
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def _column(header: str, values: Sequence[Any]) -> list[str]:
    """Cells of one width."""
    cells = [header, *map(cell, values)]
    widths = [width(text) for text in cells]
    most = max(widths)
    if _is_numeric(values):
        return [" " * (most - own) + text for text, own in zip(cells, widths, strict=True)]
    return [text + " " * (most - own) for text, own in zip(cells, widths, strict=True)]


def _is_numeric(values: Sequence[Any]) -> bool:
    present = [value for value in values if value is not None]
    return bool(present) and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in present)


def fitted_table(headers: Sequence[str], rows: Sequence[Sequence[Any]], columns: int) -> str:
    """A table that is no wider than so many columns, and leaves nothing out.

    Where it would be, empty columns go, and what is the same in every row is said once, above. Where that is not
    enough, every row goes on in further lines; it is a paragraph where a cell is too wide for that, or the only one.
    """
    table = format_table(headers, rows)
    if not rows or all(width(line) <= columns for line in table.splitlines()):
        return table
    cells = [[cell(row[place]) for row in rows] for place in range(len(headers))]
    told = [place for place, values in enumerate(cells) if set(values) - {"", "-"}] or [0]
    if len(rows) == 1:
        return _paragraph([(headers[place], cells[place][0]) for place in told], columns)
    varying = [place for place in told if len(set(cells[place])) > 1] or told
    same = "; ".join(f"{headers[place]}: {cells[place][0]}" for place in told if place not in varying)
    body = _in_lines([_column(headers[place], [row[place] for row in rows]) for place in varying], columns)
    if body is None:
        texts = [[(headers[place], cells[place][row]) for place in varying] for row in range(len(rows))]
        body = "\n\n".join(_paragraph(text, columns) for text in texts)
    return "\n".join([*textwrap.wrap(same, columns), "", body]) if same else body


def _in_lines(table: Sequence[Sequence[str]], columns: int) -> str | None:
    """A table, given by its columns, whose rows go on in further lines, indented; None where a later cell is too wide.

    The first cell, as the path of a file, may be: it then has a line of its own.
    """
    parts, room = [[table[0]]], columns - width(table[0][0])
    for cells in table[1:]:
        if GAP + width(cells[0]) > room:
            parts.append([])
            room = columns
        parts[-1].append(cells)
        room -= GAP + width(cells[0])
        if room < 0:
            return None
    lines = zip(*[["  ".join(row).rstrip() for row in zip(*part, strict=True)] for part in parts], strict=True)
    return "\n".join("\n  ".join(filter(None, row)) for row in lines)


def _paragraph(row: Sequence[tuple[str, str]], columns: int) -> str:
    """The first value, and below it the others behind their names; those that are too long go on in further lines."""
    (_, title), *others = [(name, value) for name, value in row if value not in ("", "-")]
    indent = 4 + max((width(name) for name, _ in others), default=0)
    wrap = textwrap.TextWrapper(columns, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)
    lines = [title]
    for name, value in others:
        wrap.initial_indent = f"  {name}{' ' * (indent - 2 - width(name))}"
        lines += wrap.wrap(value)
    return "\n".join(lines)


def print_table(headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table on stdout; on a terminal, one that fits its width."""
    rows = list(rows)
    if sys.stdout.isatty():
        print(fitted_table(headers, rows, shutil.get_terminal_size().columns))
    else:
        print(format_table(headers, rows))


def print_remarks(subject: str, remarks: Sequence[str]) -> None:
    """What is to be said of something: below its name on a terminal, else each on a line that begins with it."""
    if not sys.stdout.isatty():
        print(*(one_line(f"{subject}: {remark}") for remark in remarks), sep="\n")
        return
    columns = shutil.get_terminal_size().columns
    print(one_line(subject))
    for remark in remarks:
        print(textwrap.fill(one_line(remark), columns, initial_indent="  ", subsequent_indent="    "))


def say(message: str) -> None:
    """A line for the person at the terminal, on stderr: stdout stays for results."""
    print(message, file=sys.stderr, flush=True)


class Progress:
    """Lines on stderr that are redrawn in place; nothing at all where stderr is no terminal."""

    def __init__(self) -> None:
        self._drawn = 0
        self._enabled = sys.stderr.isatty()

    def show(self, lines: Sequence[str]) -> None:
        """Put ``lines`` where the last ones stood, cut to the terminal's width."""
        if not self._enabled:
            return
        columns, rows = shutil.get_terminal_size()
        visible = [cut(printable(line), columns - 1) for line in lines[-max(1, rows - 1) :]]
        sys.stderr.write(self._erase() + "".join(f"{line}\n" for line in visible))
        sys.stderr.flush()
        self._drawn = len(visible)

    def announce(self, lines: Sequence[str]) -> None:
        """Lines that stay, above those that are redrawn; also where stderr is no terminal."""
        if lines:
            self.clear()
            for line in lines:
                say(one_line(line))

    def clear(self) -> None:
        """Take the lines away."""
        if self._enabled:
            sys.stderr.write(self._erase())
            sys.stderr.flush()
            self._drawn = 0

    def _erase(self) -> str:
        return f"\r\x1b[{self._drawn}A\x1b[J" if self._drawn else ""  # \r: a ^C may stand in the line


def cut(text: str, columns: int) -> str:
    """``text`` in at most so many columns, with an ellipsis where something is missing."""
    if width(text) <= columns:
        return text
    kept = ""
    for char in text:
        if width(kept + char) > columns - 1:
            break
        kept += char
    return kept + "…"
