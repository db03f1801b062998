"""A frame around a table and what is said about it."""

from __future__ import annotations

from typing import ClassVar

from textual.containers import Vertical


class Panel(Vertical):
    """Zoomed as a whole."""

    ALLOW_MAXIMIZE: ClassVar[bool | None] = True
    DEFAULT_CLASSES = "panel"
