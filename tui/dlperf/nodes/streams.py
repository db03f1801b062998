"""The output of processes that ended."""

from __future__ import annotations

import asyncio
from typing import Protocol


class _Readable(Protocol):
    async def read(self, n: int = -1) -> bytes: ...


async def last_line(stream: _Readable, seconds: float = 0.5) -> str:
    """The last line of a stream, read for at most some seconds."""
    try:
        text = (await asyncio.wait_for(stream.read(65536), seconds)).decode(errors="replace")
    except (TimeoutError, OSError):
        return ""
    return text.strip().splitlines()[-1] if text.strip() else ""
