"""A log as lines found by byte offset, forwards and backwards, without reading what lies between."""

import os
import tempfile
from array import array
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import IO

from dlperf.evidence.logs import open_log
from dlperf.evidence.packed import DAMAGED
from dlperf.opening import open_regular

PIECE = 1 << 16
"""A longer line is shown in pieces that start at multiples of this: no line costs more memory."""
SHORT_READ = 1 << 11
"""Most lines are shorter than this, and are found by one small read."""
BLOCK = 1 << 20
"""Bytes of one entry of the index of line numbers: 2,000 entries for 2 GB."""


@dataclass(frozen=True)
class LogLine:
    """A line, or a piece of a very long one."""

    start: int
    end: int
    """Where the next line starts."""
    data: bytes
    """Without the line end."""


class LogFile:
    """A file that may still be growing.

    A line starts at 0, after every line feed, and at every multiple of ``PIECE`` that follows ``PIECE`` bytes without
    a line feed: the same lines result from wherever one starts to read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stream = _open_unpacked(path)
        self.size = 0
        self.refresh()

    def refresh(self) -> bool:
        """Read the file's size; return whether it has changed."""
        before, self.size = self.size, os.fstat(self._stream.fileno()).st_size
        return self.size != before

    @property
    def replaced(self) -> bool:
        """Whether another file has this name now, or none has."""
        try:
            named, opened = self.path.stat(), os.fstat(self._stream.fileno())
        except OSError:
            return True
        return self.path.suffix != ".gz" and (named.st_dev, named.st_ino) != (opened.st_dev, opened.st_ino)

    def close(self) -> None:
        self._stream.close()

    def read(self, start: int, end: int) -> bytes:
        return os.pread(self._stream.fileno(), max(0, min(end, self.size) - start), start)

    def line_at(self, start: int) -> LogLine | None:
        """Return the line that starts at this offset; None at the end of the file."""
        if start >= self.size:
            return None
        piece_end = -(-start // PIECE) * PIECE + PIECE
        for length in (SHORT_READ, piece_end - start):
            data = self.read(start, start + length)
            feed = data.find(b"\n")
            if feed >= 0:
                return LogLine(start, start + feed + 1, data[:feed])
        return LogLine(start, start + len(data), data)

    def line_before(self, start: int) -> LogLine | None:
        return self.line_at(self.start_of_line(start - 1)) if start > 0 else None

    def last_line(self) -> LogLine | None:
        return self.line_before(self.size)

    def share(self, start: int) -> float:
        """Return how far down the log an offset lies, 0 … 1."""
        return start / self.size if self.size else 0.0

    def line_at_share(self, share: float) -> LogLine | None:
        return self.line_at(self.start_of_line(round(share * self.size)))

    def start_of_line(self, offset: int) -> int:
        """Return where the line that holds the byte at ``offset`` starts."""
        offset = max(0, min(offset, self.size - 1))
        piece = offset - offset % PIECE
        for length in (SHORT_READ, 2 * PIECE):
            window = max(0, offset - length)
            feed = self.read(window, offset).rfind(b"\n")
            if feed >= 0 or window == 0:
                start = window + feed + 1
                return piece if piece - start >= PIECE else start
        return piece


def _open_unpacked(path: Path) -> IO[bytes]:
    """Open the file itself, or a nameless one with what a gzipped file holds."""
    if path.suffix != ".gz":
        return open_regular(path)
    unpacked = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the log
    with open_log(path) as packed, suppress(*DAMAGED):  # what can be read of it is shown
        while part := packed.read1(PIECE):
            unpacked.write(part)
    unpacked.flush()
    return unpacked


class LineNumbers:
    """Line feeds of a log, counted block by block."""

    def __init__(self, log: LogFile) -> None:
        self._log = log
        self._feeds_before = array("Q", [0])
        """Line feeds before each block that has been counted, and after the last of them."""
        self._counting = Lock()
        """A cancelled thread may still count when the next one begins."""

    def advance(self, stop: Callable[[], bool] = lambda: False) -> None:
        with self._counting:
            while (start := (len(self._feeds_before) - 1) * BLOCK) + BLOCK <= self._log.size and not stop():
                block = self._log.read(start, start + BLOCK)
                self._feeds_before.append(self._feeds_before[-1] + block.count(b"\n"))

    def number_at(self, offset: int) -> int | None:
        """Return the number of the line that holds this offset, from 1; None where it is not known yet."""
        block = min(offset // BLOCK, len(self._feeds_before) - 1)
        if offset - block * BLOCK > BLOCK:
            return None
        return self._feeds_before[block] + self._log.read(block * BLOCK, offset).count(b"\n") + 1

    def offset_of(self, number: int) -> int | None:
        """Return where the line of this number starts; None where it is not known yet, or there is none."""
        if number == 1:
            return 0
        block = max(index for index, feeds in enumerate(self._feeds_before) if feeds < number - 1)
        offset, position = block * BLOCK, 0
        data = self._log.read(offset, offset + 2 * BLOCK)
        for _ in range(number - 1 - self._feeds_before[block]):
            position = data.find(b"\n", position) + 1
            if position == 0:
                return None
        return offset + position if offset + position < self._log.size else None
