"""Numbers of any count in bounded memory: what is over a megabyte lies in a temporary file that has no name."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Generic, Literal, TypeVar, overload
from weakref import finalize

from dlperf.errors import DlperfError

Number = TypeVar("Number", int, float)

BLOCK = 1024
"""Numbers that are held, written and read at a time. A log may hold a thousand runs, each with its own columns."""
IN_MEMORY = 1 << 20
"""Bytes of a spool before it goes to a file: an ordinary log, of fourteen thousand records, needs none."""


class Spool:
    """Where columns that grow together lie. The file goes with the last of them, also when the process is killed."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  # closed by finalize
        self._end = 0
        finalize(self, self._file.close)

    def add(self, block: array[Any]) -> int:
        """Keep a block; where it can be found again.

        Raises:
            DlperfError: the temporary folder is full.
        """
        start = self._end
        try:
            self._file.seek(start)
            self._file.write(block)
            self._file.flush()
        except OSError as error:
            where = f"{tempfile.gettempdir()}: {error.strerror}"
            raise DlperfError(f"{where}: set TMPDIR to a folder with room for temporary files") from error
        self._end += len(block) * block.itemsize
        return start

    def read(self, start: int, size: int) -> bytes:
        """Bytes of a block from where ``add`` put it."""
        self._file.seek(start)
        return self._file.read(size)


class Column(Sequence[Number], Generic[Number]):
    """A column of numbers that grows at its end. Iterating reads block by block; so does a part, ``column[a:b]``."""

    def __init__(self, typecode: Literal["d", "q"], numbers: Iterable[Number] = (), spool: Spool | None = None) -> None:
        """``spool``: shared with other columns; its own if None."""
        self.typecode = typecode
        self._tail: array[Any] = array(typecode)
        self._starts = array("q")
        self._spool = spool
        self._last_read: tuple[int, array[Any]] = (-1, self._tail)
        self.extend(numbers)

    def extend(self, numbers: Iterable[Number]) -> None:
        """Append numbers.

        Raises:
            DlperfError: the temporary folder is full.
        """
        if isinstance(numbers, array):
            self._append(numbers)
            return
        rest = iter(numbers)
        while block := list(islice(rest, BLOCK)):  # an array takes numbers from a list twice as fast as one by one
            self._append(array(self.typecode, block))

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[array[Any]]:
        """The numbers from one index up to another, some at a time."""
        stop = len(self) if stop is None else stop
        for number in range(start // BLOCK, -(-stop // BLOCK)):
            first = number * BLOCK
            yield self._block(number)[max(start - first, 0) : stop - first]

    def __len__(self) -> int:
        return len(self._starts) * BLOCK + len(self._tail)

    def __iter__(self) -> Iterator[Number]:
        return chain.from_iterable(self.blocks())

    @overload
    def __getitem__(self, index: int) -> Number: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Number]: ...
    def __getitem__(self, index: int | slice) -> Number | Sequence[Number]:
        found = range(len(self))[index]
        if isinstance(found, range):
            return _Part(self, found)
        number, position = divmod(found, BLOCK)
        if number != self._last_read[0]:
            self._last_read = number, self._block(number)
        entry: Number = self._last_read[1][position]
        return entry

    def _append(self, numbers: array[Any]) -> None:
        self._tail.extend(numbers)
        while len(self._tail) >= BLOCK:
            self._spool = self._spool or Spool()
            self._starts.append(self._spool.add(self._tail[:BLOCK]))
            del self._tail[:BLOCK]
            self._last_read = (-1, self._tail)

    def _block(self, number: int) -> array[Any]:
        if number == len(self._starts) or self._spool is None:
            return self._tail
        return array(self.typecode, self._spool.read(self._starts[number], BLOCK * self._tail.itemsize))


class _Part(Sequence[Number], Generic[Number]):
    """The numbers of a column at some indices that follow each other; nothing is copied."""

    def __init__(self, column: Column[Number], indices: range) -> None:
        self._column: Column[Number] = column
        self._indices = indices

    def __len__(self) -> int:
        return len(self._indices)

    def __iter__(self) -> Iterator[Number]:
        return chain.from_iterable(self._column.blocks(self._indices.start, self._indices.stop))

    @overload
    def __getitem__(self, index: int) -> Number: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Number]: ...
    def __getitem__(self, index: int | slice) -> Number | Sequence[Number]:
        found = self._indices[index]
        return _Part(self._column, found) if isinstance(found, range) else self._column[found]
