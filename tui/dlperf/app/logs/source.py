"""What a log view scrolls over: every line of a log, or only those that match."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from threading import Lock

from dlperf.app.logs.log_file import Line, LogFile

MOST_MATCHES = 1_000_000
"""Matching lines that are remembered (8 bytes each)."""


class AllLines:
    """Every line of a log; a line is named by the offset of its first byte."""

    def __init__(self, log: LogFile) -> None:
        self._log = log

    def first(self) -> Line | None:
        return self._log.line_at(0)

    def last(self) -> Line | None:
        return self._log.line_before(self._log.size)

    def at(self, start: int) -> Line | None:
        """The line that starts there."""
        return self._log.line_at(start)

    def after(self, line: Line) -> Line | None:
        return self._log.line_at(line.end)

    def before(self, start: int) -> Line | None:
        """The last line that starts before an offset."""
        return self._log.line_before(start)

    def share(self, start: int) -> float:
        """How far down the log an offset lies, 0 … 1."""
        return start / self._log.size if self._log.size else 0.0

    def at_share(self, share: float) -> Line | None:
        return self._log.line_at(self._log.start_of_line(round(share * self._log.size)))


class MatchingLines:
    """The lines whose offsets have been found so far; ``at`` gives the next of them from an offset on."""

    def __init__(self, log: LogFile) -> None:
        self._log = log
        self._starts = array("Q")
        self.searched = 0
        """Up to which offset the log has been searched."""
        self.searching = Lock()
        """Held by the thread that searches further."""

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def full(self) -> bool:
        return len(self._starts) >= MOST_MATCHES

    def add(self, starts: list[int], searched: int) -> None:
        """Lines found further down."""
        self._starts.extend(starts[: MOST_MATCHES - len(self._starts)])
        self.searched = searched

    def first(self) -> Line | None:
        return self._line(0)

    def last(self) -> Line | None:
        return self._line(len(self._starts) - 1)

    def at(self, start: int) -> Line | None:
        return self._line(bisect_left(self._starts, start))

    def after(self, line: Line) -> Line | None:
        return self._line(bisect_left(self._starts, line.start + 1))

    def before(self, start: int) -> Line | None:
        return self._line(bisect_left(self._starts, start) - 1)

    def share(self, start: int) -> float:
        return bisect_left(self._starts, start) / len(self._starts) if self._starts else 0.0

    def at_share(self, share: float) -> Line | None:
        return self._line(min(round(share * len(self._starts)), len(self._starts) - 1))

    def _line(self, index: int) -> Line | None:
        return self._log.line_at(self._starts[index]) if 0 <= index < len(self._starts) else None


LineSource = AllLines | MatchingLines
