"""How often Python looks for garbage."""

from __future__ import annotations

import gc

NEW_OBJECTS = 100_000
"""More than Python's 700 before it looks: reading a plan of 100 000 trials it would look again and again at millions of
objects that are all in use, and take up to three times as long."""


def look_seldom() -> None:
    """For this process, from now on."""
    gc.set_threshold(NEW_OBJECTS)
