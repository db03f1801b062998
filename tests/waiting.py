"""Waiting for what must come: no longer than it takes, and as long as a busy machine may need."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

PATIENCE_SECONDS = 90.0


def until(condition: Callable[[], object], missing: Callable[[], str], seconds: float = PATIENCE_SECONDS) -> None:
    """Wait until the condition is true; where it never is, the test fails with what ``missing`` says."""
    give_up = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up, missing()
        time.sleep(0.02)


async def until_async(condition: Callable[[], object], missing: str) -> None:
    """The same, while other tasks go on."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < give_up, missing
        await asyncio.sleep(0.02)
