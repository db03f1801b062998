"""What a format is, in words that a table or a page can show."""

from __future__ import annotations

from dataclasses import dataclass

from dlperf.formats.samples import Scope, Window


@dataclass(frozen=True)
class FormatInfo:
    """A log format. Unit and window are those of most logs; a run found in a log states its own."""

    id: str
    title: str
    unit: str
    scope: Scope
    window: Window
    source: str = ""
    """What prints it."""
