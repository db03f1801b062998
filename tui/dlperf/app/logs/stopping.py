"""When something that may take long stops: a regular expression can need longer for one line than anybody waits."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager


def never() -> bool:
    return False


class TooSlowError(Exception):
    """The time was up before the expression had come to an end."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Give what is done inside so much processor time. For the main thread, which alone is told of signals.

    Python's regular expressions look for signals while they match. The timer counts what all threads take: what
    others took is given back.

    Raises:
        TooSlowError: it took longer.
    """

    start = time.thread_time()

    def ring(_number: int, _frame: object) -> None:
        left = seconds - (time.thread_time() - start)
        if left <= 0:
            raise TooSlowError
        signal.setitimer(signal.ITIMER_VIRTUAL, left)

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
