"""Finding lines in a log of any size, chunk by chunk.

RE2 takes time in proportion to the text whatever the expression, and lets other threads run meanwhile.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, TypeAlias

import re2

from dlperf.app.logs.log_file import PIECE, LogFile
from dlperf.messages import _

CHUNK = PIECE
"""Small enough that a search can soon be stopped."""
UNSUPPORTED = ("invalid perl operator: ", "invalid escape sequence: ")
"""How RE2 names what other regular expressions know."""

_ERRORS = (
    r"Traceback \(most recent call last\)|(?:Error|Exception)\b|\b(?:ERROR|FATAL|CRITICAL)\b|(?i:out of memory)"
    r"|(?i:segmentation fault)|core dumped|NCCL WARN|\bKilled\b|(?i:no space left)|\bPANIC\b"
    r"|(?i:illegal memory access)|(?i:\bcuda (?:error|failure)\b)|(?i:oom[-_ ]?kill)|(?i:\bfatal(?: error)?:)"
    r"|(?i:watchdog.{0,80}time[d-]? ?-?out)|(?i:before timing out)|\berror: +[^\d\s.+-]"
    r"|(?i:loss['\"]? {0,9}(?:[:=]|is|) {0,9}[-+]?(?:nan|inf)\b)"
)
Pattern: TypeAlias = Any
"""A compiled expression of ``re2``, which has no types."""


def _compile(text: str) -> Pattern:
    options = re2.Options()
    options.never_nl = True
    options.log_errors = False
    return re2.compile(f"(?m){text}", options)


def pattern_of(text: str) -> Pattern:
    """Compile a regular expression as typed; it is case-sensitive only where it has an upper-case letter.

    Raises:
        ValueError: it is none, or one that RE2 does not support; the message says so in one line.
    """
    try:
        return _compile(text if any(char.isupper() for char in text) else f"(?i){text}")
    except re2.error as error:
        reason = error.args[0].decode().replace("(?m)", "").replace("(?i)", "")
    for prefix in UNSUPPORTED:
        if reason.startswith(prefix):
            part = reason.removeprefix(prefix)
            raise ValueError(_("{part} is not supported: no look-around, no back references", part=part))
    raise ValueError(_("no regular expression: {reason}", reason=reason))


@cache
def error_pattern() -> Pattern:
    return _compile(_ERRORS)


def matching_lines(log: LogFile, pattern: Pattern, start: int = 0) -> Iterator[tuple[list[int], int]]:
    """Yield where matching lines start, from the line that starts at ``start`` on, and up to where it was searched.

    A last line without its end is left for the next call, which starts where the last batch ended.
    """
    while start < log.size:
        data = log.read(start, start + CHUNK)
        whole = data.rfind(b"\n") + 1
        if whole == 0 and len(data) < CHUNK:
            return
        data = data[:whole] if whole else data
        starts = list(_matches(data, pattern, start))
        start += len(data)
        yield starts, start


def _matches(data: bytes, pattern: Pattern, base: int) -> Iterator[int]:
    """Yield the offsets of the lines of a chunk that match; no match holds a line end."""
    position = 0
    while (found := pattern.search(data, position)) is not None:
        yield base + data.rfind(b"\n", 0, found.start()) + 1
        position = data.find(b"\n", found.start()) + 1
        if position in (0, len(data)):
            return
