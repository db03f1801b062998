"""Work in a thread that nobody waits for when the engine stops."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


async def run_in_background(work: Callable[[], T]) -> T:
    """Do work in a daemon thread and return its result.

    Unlike the threads of ``asyncio.to_thread``, it does not keep a cancelled loop or the process from ending, however
    large the log that it reads: the work is then given up, as if the engine had been killed.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(note: Callable[[Any], None], outcome: object) -> None:
        if not done.cancelled():
            note(outcome)

    def run() -> None:
        note: Callable[[Any], None]
        outcome: object
        try:
            note, outcome = done.set_result, work()
        except Exception as error:
            note, outcome = done.set_exception, error
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, note, outcome)

    threading.Thread(target=run, daemon=True).start()
    return await done
