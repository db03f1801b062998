"""Answer a file that gives no run: why, its lines that look like rates, and a draft of a format."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from dlperf.errors import RequestError
from dlperf.evidence.logs import open_log
from dlperf.evidence.packed import DAMAGED
from dlperf.formats.draft import draft_format, only_number, rate_lines
from dlperf.formats.text.lines import LineReader

SEARCHED = 1 << 24
"""Bytes of a log in which lines with a rate are looked for."""
SHOWN = 160
"""Characters shown of a line."""
BINARY_SHARE = 0.05
"""Control characters among the first bytes of a binary file; logs have a few, packed files a tenth."""
TEXT_CONTROLS = b"\t\n\r\b\f\x1b"
"""Usual in logs: ends of lines, progress bars, colours."""
UNREADABLE: tuple[type[Exception], ...] = (OSError, *DAMAGED)
HEAD = 1 << 16


def why_no_run(path: Path, format_id: str | None) -> str:
    """Return why a file gave no run, and what to do next."""
    try:
        with open_log(path) as stream:
            head = stream.read(HEAD)
    except UNREADABLE:
        return "a damaged packed file: pack it again, or give the plain log"
    if not head:
        return "empty: nothing to parse"
    head = head.lstrip(b"\0") or head  # a program goes on writing where it was in a log that somebody emptied
    if sum(byte < 0x20 for byte in head.translate(None, TEXT_CONTROLS)) > BINARY_SHARE * len(head):
        return "a binary file, no training log"
    if format_id:
        return f"no throughput record of the format {format_id}: leave --format out to have it found by content"
    return f"no throughput record of any known format; {describe_rates(head)}"


def describe_rates(head: bytes) -> str:
    """Quote a line that looks like a rate, and say what to do next."""
    examples = rate_examples(head)
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
        with open_log(path.resolve()) as stream:
            examples = rate_examples(stream.read(SEARCHED))
    except UNREADABLE as error:
        raise RequestError(f"{path}: cannot be read: {error}") from error
    if not examples:
        raise RequestError(f"{path}: no line looks like a rate: is it a whole training log?")
    shown = "".join(f"# line {number}: {_printable(line)}\n" for number, line in examples)
    return shown + draft_format(examples[0][1])


def rate_examples(head: bytes) -> list[tuple[int, str]]:
    """Return the first lines that look like rates, with their numbers."""
    return rate_lines(_numbered(head))


def only_example(log: bytes) -> str | None:
    """Return the line of a log with its only number."""
    return only_number(line for _, line in _numbered(log))


def _numbered(head: bytes) -> Iterator[tuple[int, str]]:
    reader = LineReader()
    for part in chain(reader.feed(head), reader.finish()):
        yield from zip(part.numbers, (line.decode("utf-8", "replace") for line in part.lines), strict=True)


def _printable(line: str) -> str:
    return "".join(character for character in " ".join(line.split()) if character.isprintable())
