"""Waiting for what must come: no longer than it takes, and as long as a busy machine may need."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_SECONDS = 90.0


def until(condition: Callable[[], object], missing: Callable[[], str], seconds: float = PATIENCE_SECONDS) -> None:
    """Wait until the condition is true; where it never is, the test fails with what ``missing`` says."""
    give_up = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up, missing()
        time.sleep(0.02)
