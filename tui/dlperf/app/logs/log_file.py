"""A log as lines found by byte offset, forwards and backwards, without reading what lies between."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO

PIECE = 1 << 16
"""A line longer than this is shown in pieces that start at multiples of it: no line costs more memory than this."""
GLANCE = 1 << 11
"""Most lines are shorter than this, and are found by one small read."""


@dataclass(frozen=True)
class Line:
    """A line, or a piece of a very long one."""

    start: int
    """Byte offset in the file."""
    end: int
    """Where the next line starts."""
    data: bytes
    """Without the line end."""


class LogFile:
    """A file that may still be growing.

    A line starts at 0, after every line feed, and at every multiple of ``PIECE`` that follows ``PIECE`` bytes without
    a line feed: a rule that gives the same lines from wherever one starts to read.
    """

    def __init__(self, path: Path) -> None:
        """
        Raises:
            OSError: the file cannot be opened.
        """
        self.path = path
        self._stream: IO[bytes] = _plain(path)
        self.size = 0
        self.refresh()

    def refresh(self) -> bool:
        """Look at the file's size again; whether it has changed."""
        size = os.fstat(self._stream.fileno()).st_size
        changed = size != self.size
        self.size = size
        return changed

    @property
    def replaced(self) -> bool:
        """Another file has taken this one's name, or this one is gone."""
        try:
            there, here = self.path.stat(), os.fstat(self._stream.fileno())
        except OSError:
            return True
        return self.path.suffix != ".gz" and (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino)

    def close(self) -> None:
        self._stream.close()

    def read(self, start: int, end: int) -> bytes:
        """The bytes of a range, fewer where the file ends before."""
        return os.pread(self._stream.fileno(), max(0, min(end, self.size) - start), start)

    def line_at(self, start: int) -> Line | None:
        """The line that starts at this offset; None at the end of the file."""
        if start >= self.size:
            return None
        piece_end = -(-start // PIECE) * PIECE + PIECE
        for reach in (GLANCE, piece_end - start):
            data = self.read(start, start + reach)
            feed = data.find(b"\n")
            if feed >= 0:
                return Line(start, start + feed + 1, data[:feed])
        return Line(start, start + len(data), data)

    def line_before(self, start: int) -> Line | None:
        """The line that ends where this offset's starts; None at the beginning."""
        return self.line_at(self.start_of_line(start - 1)) if start > 0 else None

    def start_of_line(self, offset: int) -> int:
        """Where the line that holds the byte at ``offset`` starts."""
        offset = max(0, min(offset, self.size - 1))
        piece = offset - offset % PIECE
        for reach in (GLANCE, 2 * PIECE):
            window = max(0, offset - reach)
            feed = self.read(window, offset).rfind(b"\n")
            if feed >= 0 or window == 0:
                start = window + feed + 1
                return piece if piece - start >= PIECE else start
        return piece


def _plain(path: Path) -> IO[bytes]:
    """The file itself; a gzipped one is unpacked into a file without a name."""
    if path.suffix != ".gz":
        return path.open("rb")
    import gzip
    import shutil
    import tempfile

    unpacked = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the log
    with gzip.open(path, "rb") as packed:
        shutil.copyfileobj(packed, unpacked)
    unpacked.flush()
    return unpacked
