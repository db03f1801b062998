"""Print results as JSON or aligned tables on stdout; messages and live progress go to stderr."""

import dataclasses
import re
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from enum import Enum
from functools import cache
from pathlib import PurePath
from typing import Any

from dlperf.messages import Message
from dlperf.view.text import number, one_line, printable

_BETWEEN_BREAKS = re.compile(r"[^\n\t]+")
_CONTROLS = re.compile("[\x7f-\x9f]")
"""Those that JSON may hold as they are."""
GAP = 2
"""Spaces between two columns, and the indent of a row's continuation lines."""


def print_json(data: Any) -> None:
    """Print exactly one JSON document; dataclasses become objects, messages, paths and enumerations strings.

    Raises:
        ValueError: a number is NaN or infinite; a missing value is None.
    """
    import json

    from pydantic_core import from_json, to_json

    compact = json.dumps(data, default=_plain, allow_nan=False)
    try:
        # json indents in Python alone, which takes longer than all else that `dlperf results --json` does
        text = to_json(from_json(compact), indent=1).decode()
        text.encode(sys.stdout.encoding or "utf-8")
    except ValueError:  # a name that is not UTF-8, or letters that the locale lacks
        text = json.dumps(json.loads(compact), indent=1)
    if not text.isascii() or "\x7f" in text:  # the expression takes longer than all else for text that has none
        text = _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    sys.stdout.write(text + "\n")


def _plain(value: Any) -> Any:
    if hasattr(value, "as_data"):
        return value.as_data()
    if isinstance(value, (Message, PurePath)):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: getattr(value, name) for name in _names_of_fields(type(value))}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


@cache
def _names_of_fields(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


def message_entries(name: str, message: Message | None) -> dict[str, Any]:
    """Return the entries of a JSON object for a message: its English text, and its code with parameters."""
    return {name: str(message) if message else None, f"{name}_code": message.to_json() if message else None}


class NumberText(str):
    """A number with digits of its own, which a table aligns as it does others."""


NUMBERS = (int, float, NumberText)


def format_cell(value: Any) -> str:
    """Return a table's cell: three or four significant digits of a float, ``-`` for a missing value."""
    return number(value) if value is None or isinstance(value, float) else one_line(str(value))


def display_width(text: str) -> int:
    """Return the terminal columns that ``text`` takes: two for a wide East Asian character, none for a combining one.

    Not Rich's ``cell_len``: importing it takes longer than a whole command.
    """
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def truncate(text: str, columns: int) -> str:
    """Cut ``text`` to at most ``columns`` columns, with an ellipsis where something is missing."""
    if display_width(text) <= columns:
        return text
    text = text[:columns]
    while display_width(text) > columns - 1:
        text = text[:-1]
    return text + "…"


def format_table(headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Align columns, numbers to the right; no line ends in spaces."""
    rows = list(rows)
    columns = [_align(header, [row[index] for row in rows]) for index, header in enumerate(headers)]
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def _align(header: str, values: Sequence[Any]) -> list[str]:
    cells = [header, *map(format_cell, values)]
    widest = max(map(display_width, cells))
    padding = [" " * (widest - display_width(text)) for text in cells]
    if _is_numeric(values):
        return [space + text for text, space in zip(cells, padding, strict=True)]
    return [text + space for text, space in zip(cells, padding, strict=True)]


def _is_numeric(values: Sequence[Any]) -> bool:
    present = [value for value in values if value is not None]
    return bool(present) and all(isinstance(value, NUMBERS) and not isinstance(value, bool) for value in present)


def fit_table(headers: Sequence[str], rows: Sequence[Sequence[Any]], columns: int) -> str:
    """Format a table at most ``columns`` wide without leaving out any value.

    If it is too wide, empty columns are dropped and constant ones are listed once above it. If it is still too wide,
    each row continues on further lines, or becomes a paragraph if one cell alone is too wide or there is only one row.
    """
    table = format_table(headers, rows)
    if not rows or all(display_width(line) <= columns for line in table.splitlines()):
        return table
    cells = [[format_cell(row[index]) for row in rows] for index in range(len(headers))]
    filled = [index for index, values in enumerate(cells) if set(values) - {"", "-"}] or [0]
    if len(rows) == 1:
        return _format_paragraph([(headers[index], cells[index][0]) for index in filled], columns)
    varying = [index for index in filled if len(set(cells[index])) > 1] or filled
    constant = "; ".join(f"{headers[index]}: {cells[index][0]}" for index in filled if index not in varying)
    body = _continue_rows([_align(headers[index], [row[index] for row in rows]) for index in varying], columns)
    if body is None:
        paragraphs = [[(headers[index], cells[index][row]) for index in varying] for row in range(len(rows))]
        body = "\n\n".join(_format_paragraph(paragraph, columns) for paragraph in paragraphs)
    return "\n".join([*textwrap.wrap(constant, columns), "", body]) if constant else body


def _continue_rows(table: Sequence[Sequence[str]], columns: int) -> str | None:
    """Break each row of a table, given by columns, into indented lines; None if a cell after the first is too wide.

    The first cell, such as a file's path, then has a line of its own.
    """
    parts, room = [[table[0]]], columns - display_width(table[0][0])
    for cells in table[1:]:
        if GAP + display_width(cells[0]) > room:
            parts.append([])
            room = columns
        parts[-1].append(cells)
        room -= GAP + display_width(cells[0])
        if room < 0:
            return None
    lines = zip(*[["  ".join(row).rstrip() for row in zip(*part, strict=True)] for part in parts], strict=True)
    return "\n".join("\n  ".join(filter(None, row)) for row in lines)


def _format_paragraph(row: Sequence[tuple[str, str]], columns: int) -> str:
    """Return the first value, and below it the others after their names, wrapped."""
    (_, title), *others = [(name, value) for name, value in row if value not in ("", "-")]
    indent = 4 + max((display_width(name) for name, _ in others), default=0)
    wrap = textwrap.TextWrapper(columns, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)
    lines = [title]
    for name, value in others:
        wrap.initial_indent = f"  {name}{' ' * (indent - 2 - display_width(name))}"
        lines += wrap.wrap(value)
    return "\n".join(lines)


def print_table(headers: Sequence[str], rows: Iterable[Sequence[Any]], optional: Collection[str] = ()) -> None:
    """Print a table, fitted to the terminal's width; into a file or pipe, one line per row.

    Args:
        optional: columns that are left out where no row has a value in them.
    """
    rows = list(rows)
    empty = {name for name in optional if all(row[headers.index(name)] is None for row in rows)}
    kept = [index for index, header in enumerate(headers) if header not in empty]
    headers, rows = [headers[index] for index in kept], [[row[index] for index in kept] for row in rows]
    if sys.stdout.isatty():
        print_text(fit_table(headers, rows, shutil.get_terminal_size().columns))
    else:
        print_text(format_table(headers, rows))


def print_remarks(subject: str, remarks: Sequence[str]) -> None:
    """Print remarks below their subject; into a file or pipe, each on a line that starts with it."""
    if not sys.stdout.isatty():
        print_text("\n".join(one_line(f"{subject}: {remark}") for remark in remarks))
        return
    columns = shutil.get_terminal_size().columns
    print_text(one_line(subject))
    for remark in remarks:
        print_text(textwrap.fill(one_line(remark), columns, initial_indent="  ", subsequent_indent="    "))


def print_note(text: str) -> None:
    """Print a line on stderr, so that stdout holds results alone."""
    print(_harmless(text), file=sys.stderr, flush=True)


def print_text(text: str = "") -> None:
    """Print lines at once, also into a pipe."""
    print(_harmless(text), end="" if text.endswith("\n") else "\n", flush=True)


def _harmless(text: str) -> str:
    """Keep line ends and tabs alone of what could steer a terminal."""
    return text if text.isprintable() else _BETWEEN_BREAKS.sub(lambda match: printable(match[0]), text)


class LiveLines:
    """Lines on stderr that are redrawn in place; nothing if stderr is not a terminal."""

    def __init__(self) -> None:
        self._drawn = 0
        self.enabled = sys.stderr.isatty()

    def draw(self, lines: Sequence[str]) -> None:
        """Replace the last lines by these, cut to the terminal's width."""
        if not self.enabled:
            return
        columns, rows = shutil.get_terminal_size()
        visible = [truncate(printable(line), columns - 1) for line in lines[-max(1, rows - 1) :]]
        sys.stderr.write(self._erasure() + "".join(f"{line}\n" for line in visible))
        sys.stderr.flush()
        self._drawn = len(visible)

    def print_above(self, lines: Sequence[str]) -> None:
        """Print lines that stay, above those that are redrawn and also if stderr is not a terminal."""
        if lines:
            self.clear()
            for line in lines:
                print_note(one_line(line))

    def clear(self) -> None:
        self.draw([])

    def _erasure(self) -> str:
        return f"\r\x1b[{self._drawn}A\x1b[J" if self._drawn else ""  # \r: an echoed ^C may stand in the line
