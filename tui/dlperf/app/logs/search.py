"""Finding lines in a log of any size, in chunks, so that a thread that searches can be told to stop."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from dlperf.app.logs.log_file import PIECE, LogFile

CHUNK = 4 * PIECE
"""Small enough that the screen is drawn between two chunks."""

ERRORS = re.compile(
    rb"Traceback \(most recent call last\)|\b\w*(?:Error|Exception)\b|\b(?:ERROR|FATAL|CRITICAL)\b|(?i:out of memory)"
    rb"|(?i:segmentation fault)|core dumped|NCCL WARN|\bKilled\b|(?i:no space left)|\bPANIC\b|(?i:loss:? *=? *nan)",
    re.MULTILINE,
)
"""How programs say that something went wrong."""

Pattern = re.Pattern[bytes]

HINTS: dict[Pattern, tuple[bytes, ...]] = {
    ERRORS: (
        *(b"traceback (most", b"error", b"exception", b"fatal", b"critical", b"out of memory", b"segmentation fault"),
        *(b"core dumped", b"nccl warn", b"killed", b"no space left", b"panic", b"nan"),
    )
}
"""Where it is known: what every match holds one of, in lower case. To look for these is ten times as fast."""


def never() -> bool:
    return False


def pattern_of(text: str) -> Pattern:
    """A regular expression as typed; upper and lower case are told apart only where it has an upper-case letter.

    Raises:
        re.error: it is none.
    """
    flags = re.MULTILINE if any(char.isupper() for char in text) else re.MULTILINE | re.IGNORECASE
    return re.compile(text.encode(), flags)


def matching_lines(
    log: LogFile, pattern: Pattern, start: int = 0, end: int | None = None, stop: Callable[[], bool] = never
) -> Iterator[tuple[list[int], int]]:
    """Where the matching lines start, in batches, each with the offset up to which the log has been searched.

    A last line without its end is left for the next call, which starts at the offset of the last batch.
    """
    end = log.size if end is None else end
    while start < end and not stop():
        data = log.read(start, min(start + CHUNK, end))
        whole = data.rfind(b"\n") + 1
        if whole == 0 and len(data) < CHUNK:
            return
        data = data[:whole] if whole else data
        yield list(_matches(data, pattern, start)) if _may_match(data, pattern) else [], start + len(data)
        start += len(data)


def _may_match(data: bytes, pattern: Pattern) -> bool:
    hints = HINTS.get(pattern)
    return hints is None or any(map(data.lower().__contains__, hints))


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


def next_match(log: LogFile, pattern: Pattern, start: int, stop: Callable[[], bool] = never) -> int | None:
    """The first matching line that starts at or after an offset."""
    line = log.line_at(log.start_of_line(start))
    if line is not None and line.start < start:
        start = line.end
    for offsets, _ in matching_lines(log, pattern, start, stop=stop):
        if offsets:
            return offsets[0]
    return None


def previous_match(log: LogFile, pattern: Pattern, end: int, stop: Callable[[], bool] = never) -> int | None:
    """The last matching line that starts before an offset."""
    while end > 0 and not stop():
        start = log.start_of_line(max(0, end - CHUNK))
        offsets = [offset for batch, _ in matching_lines(log, pattern, start, end) for offset in batch]
        if offsets:
            return offsets[-1]
        end = start
    return None
