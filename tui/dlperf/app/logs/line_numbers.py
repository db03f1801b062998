"""Line numbers of a large log: one count for every block of it, made once, in a thread."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from threading import Lock

from dlperf.app.logs.log_file import LogFile

BLOCK = 1 << 20


class LineNumbers:
    """Counts line feeds block by block: 2 000 numbers for 2 GB."""

    def __init__(self, log: LogFile) -> None:
        self._log = log
        self._before = array("Q", [0])
        """Line feeds before each block that has been counted, and after the last of them."""
        self._counting = Lock()
        """A thread that was told to stop may still be at it when the next begins."""

    @property
    def counted(self) -> int:
        """Up to which offset the lines are known."""
        return (len(self._before) - 1) * BLOCK

    def advance(self, stop: Callable[[], bool] = lambda: False) -> None:
        """Count every whole block that has not been counted."""
        with self._counting:
            while self.counted + BLOCK <= self._log.size and not stop():
                block = self._log.read(self.counted, self.counted + BLOCK)
                self._before.append(self._before[-1] + block.count(b"\n"))

    def number_at(self, offset: int) -> int | None:
        """The number of the line that holds this offset, from 1; None where it is not known yet."""
        block = min(offset // BLOCK, len(self._before) - 1)
        if offset - block * BLOCK > BLOCK:
            return None
        return self._before[block] + self._log.read(block * BLOCK, offset).count(b"\n") + 1

    def offset_of(self, number: int) -> int | None:
        """Where the line of this number starts; None where it is not known yet, or there is none."""
        if number == 1:
            return 0
        block = max(index for index, before in enumerate(self._before) if before < number - 1)
        offset, position = block * BLOCK, 0
        data = self._log.read(offset, offset + 2 * BLOCK)
        for _ in range(number - 1 - self._before[block]):
            position = data.find(b"\n", position) + 1
            if position == 0:
                return None
        return offset + position if offset + position < self._log.size else None
