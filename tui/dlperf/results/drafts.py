"""Answer a log of an unknown program: its lines that look like rates, and a draft of a format."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from dlperf.errors import RequestError
from dlperf.formats.draft import draft_format, rate_lines
from dlperf.formats.lines import LineReader
from dlperf.results.logs import open_log

SEARCHED = 1 << 24
"""Bytes of a log in which lines with a rate are looked for."""
SHOWN = 160
"""Characters shown of a line."""


def describe_rates(head: bytes) -> str:
    """Quote a line that looks like a rate, and say what to do next."""
    examples = _examples(head)
    if not examples:
        return "no line looks like a rate: is it a whole training log?"
    number, line = examples[0]
    return f"line {number} looks like one: {line[:SHOWN]!r}: run dlperf parse --draft for a format of your own"


def draft_of(path: Path) -> str:
    """Return a draft of a format as YAML, with the lines that it was made from.

    Raises:
        RequestError: the file cannot be read, or no line looks like a rate.
    """
    try:
        with open_log(path) as stream:
            examples = _examples(stream.read(SEARCHED))
    except (EOFError, OSError) as error:
        raise RequestError(f"{path}: cannot be read: {error}") from error
    if not examples:
        raise RequestError(f"{path}: no line looks like a rate: is it a whole training log?")
    shown = "".join(f"# line {number}: {_printable(line)}\n" for number, line in examples)
    return shown + draft_format(examples[0][1])


def _examples(head: bytes) -> list[tuple[int, str]]:
    reader = LineReader()
    parts = chain(reader.feed(head), reader.finish())
    numbered = (pair for part in parts for pair in zip(part.numbers, part.lines, strict=True))
    return rate_lines((number, line.decode("utf-8", "replace")) for number, line in numbered)


def _printable(line: str) -> str:
    return "".join(character for character in " ".join(line.split()) if character.isprintable())
