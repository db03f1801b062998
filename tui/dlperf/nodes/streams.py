"""Reading what a process that ended wrote."""

from __future__ import annotations

import asyncio
from typing import Protocol


class _Readable(Protocol):
    async def read(self, n: int = -1) -> bytes: ...


async def last_line(stream: _Readable, seconds: float = 0.5) -> str:
    """The last line of what a process that ended wrote to stderr."""
    try:
        text = (await asyncio.wait_for(stream.read(65536), seconds)).decode(errors="replace")
    except (TimeoutError, OSError):
        return ""
    return text.strip().splitlines()[-1] if text.strip() else ""
