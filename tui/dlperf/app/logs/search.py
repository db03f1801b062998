"""Finding lines in a log of any size, chunk by chunk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dlperf.app.logs.log_file import PIECE, LogFile

CHUNK = PIECE
"""Small enough that a text often lacks a byte of what is looked for, and that one can soon be told to stop."""

ERRORS = re.compile(
    rb"Traceback \(most recent call last\)|\b\w*(?:Error|Exception)\b|\b(?:ERROR|FATAL|CRITICAL)\b|(?i:out of memory)"
    rb"|(?i:segmentation fault)|core dumped|NCCL WARN|\bKilled\b|(?i:no space left)|\bPANIC\b"
    rb"|(?i:loss:? {0,9}=? {0,9}nan)",
    re.MULTILINE,
)
"""How programs say that something went wrong."""

Pattern = re.Pattern[bytes]


@dataclass(frozen=True)
class Needle:
    """A text that is looked for fast; every match of a pattern holds one of the pattern's needles."""

    text: bytes
    lower: bool = False
    """Looked for in the log's text in lower case."""

    def is_in(self, data: bytes) -> bool:
        """Whether it is there. That one of its bytes is not, capitals first, is known at once."""
        return all(byte in data for byte in sorted(self.text)) and self.text in data


NEEDLES: dict[Pattern, tuple[Needle, ...]] = {
    ERRORS: (
        *(Needle(text) for text in (b"Traceback (most", b"Error", b"ERROR", b"Exception", b"FATAL", b"CRITICAL")),
        *(Needle(text) for text in (b"core dumped", b"NCCL WARN", b"Killed", b"PANIC")),
        *(Needle(text, lower=True) for text in (b"out of memory", b"segmentation fault", b"no space left", b"nan")),
    )
}
"""Where they are known: to look for them is ten times as fast as the pattern."""


@dataclass(frozen=True)
class Batch:
    """What a piece of the log gave."""

    starts: list[int]
    """Where the matching lines of it start, in the order of the file."""
    searched: int
    """The other end of what has been searched so far."""


def pattern_of(text: str) -> Pattern:
    """A regular expression as typed; upper and lower case are told apart only where it has an upper-case letter.

    Raises:
        re.error: it is none.
    """
    flags = re.MULTILINE if any(char.isupper() for char in text) else re.MULTILINE | re.IGNORECASE
    return re.compile(text.encode(), flags)


def matching_lines(log: LogFile, pattern: Pattern, start: int = 0, end: int | None = None) -> Iterator[Batch]:
    """The matching lines, forwards from the line that starts at ``start``.

    A last line without its end is left for the next call, which starts where the last batch ended.
    """
    end = log.size if end is None else end
    while start < end:
        data = log.read(start, min(start + CHUNK, end))
        whole = data.rfind(b"\n") + 1
        if whole == 0 and len(data) < CHUNK:
            return
        data = data[:whole] if whole else data
        starts = list(_matches(data, pattern, start)) if _may_match(data, pattern) else []
        start += len(data)
        yield Batch(starts, start)


def matching_lines_back(log: LogFile, pattern: Pattern, end: int) -> Iterator[Batch]:
    """The matching lines that start before ``end``, a batch nearer to the end first."""
    while end > 0:
        start = log.start_of_line(max(0, end - CHUNK))
        starts = [offset for batch in matching_lines(log, pattern, start, end) for offset in batch.starts]
        end = start
        yield Batch(starts, end)


def first_line_from(log: LogFile, start: int) -> int:
    """Where the first line starts that starts at or after an offset."""
    line = log.line_at(log.start_of_line(start))
    return line.end if line is not None and line.start < start else start


def _may_match(data: bytes, pattern: Pattern) -> bool:
    needles = NEEDLES.get(pattern)
    if needles is None:
        return True
    lower = data.lower()
    return any(needle.is_in(lower if needle.lower else data) for needle in needles)


def _matches(data: bytes, pattern: Pattern, base: int) -> Iterator[int]:
    """Offsets of the lines of a chunk that match; a match that runs over a line end does not count."""
    position = 0
    while (found := pattern.search(data, position)) is not None:
        line_start = data.rfind(b"\n", 0, found.start()) + 1
        line_end = data.find(b"\n", found.start())
        line_end = len(data) if line_end < 0 else line_end
        if found.end() <= line_end or pattern.search(data[line_start:line_end]):
            yield base + line_start
        position = line_end + 1
        if position > len(data):
            return
