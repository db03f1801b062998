"""The output of processes, read within bounds."""

from __future__ import annotations

import asyncio
from typing import Protocol

PART_BYTES = 1 << 16


class _Readable(Protocol):
    async def read(self, size: int, /) -> bytes: ...


class BoundedReader:
    """Reads lines and parts of known size from a process that may write anything, without end."""

    def __init__(self, source: _Readable) -> None:
        self._source = source
        self._rest = bytearray()

    async def exactly(self, size: int) -> bytes:
        """Read so many bytes. Raises EOFError where there are fewer."""
        while len(self._rest) < size:
            await self._more(max(PART_BYTES, size - len(self._rest)))
        part = bytes(self._rest[:size])
        del self._rest[:size]
        return part

    async def line(self, longest: int) -> bytes:
        """Read a line. Raises EOFError at the end, ValueError for a line that is longer."""
        while (end := self._rest.find(b"\n")) < 0:
            if len(self._rest) > longest:
                raise ValueError(f"a line of more than {longest} bytes")
            await self._more(PART_BYTES)
        return await self.exactly(end + 1)

    async def _more(self, size: int) -> None:
        part = await self._source.read(size)
        if not part:
            raise EOFError
        self._rest += part


async def last_line(stream: _Readable, seconds: float = 0.5) -> str:
    """The last line of a stream, read for at most some seconds."""
    try:
        text = (await asyncio.wait_for(stream.read(65536), seconds)).decode(errors="replace")
    except (TimeoutError, OSError):
        return ""
    return text.strip().splitlines()[-1] if text.strip() else ""
