"""Format numbers, times and untrusted text for screens and commands."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

from dlperf.messages import numbers

if TYPE_CHECKING:
    from dlperf.table.model import ConfigurationResult

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
"""ECMA-48 control sequences and operating-system commands: colours, cursor movements, window titles."""


def printable(text: str) -> str:
    """Return text that cannot steer a terminal: escapes removed, other control characters as ``·``."""
    if text.isprintable():
        return text
    text = _ESCAPES.sub("", text).expandtabs(8)
    return "".join(char if char.isprintable() else "·" for char in text)


def one_line(text: str) -> str:
    """Return printable text with line breaks and runs of spaces as one space."""
    plain = text.isprintable() and "  " not in text and text[:1] != " " != text[-1:]
    return text if plain else printable(" ".join(text.split()))


def number(value: float | None, unit: str = "", aligned: bool = True) -> str:
    """Return a number of four digits with its unit: ``612.0 images/s``; ``-`` for a missing value.

    Args:
        aligned: keep zeros at the end.
    """
    if value is None:
        return "-"
    text = numbers.four_digits(value, aligned)
    return f"{text} {unit}" if unit else text


def value_text(row: ConfigurationResult, unit: str = "") -> str:
    """Return the value of a row, with fewer digits where they rest on few readings; ``-`` for a missing value."""
    from dlperf.table.shown import shown_value

    value = shown_value(row, row)
    return number(value, unit, aligned=value == row.value)


def percent(share: float | None, digits: int = 1) -> str:
    """Return a share as ``1.3 %``; ``-`` for a missing value."""
    return "-" if share is None else numbers.percent(share, digits)


def spread(ratio: float | None) -> str:
    """Return the spread of trials; ``-`` for a missing value."""
    return "-" if ratio is None else numbers.spread(ratio)


def count_noun(count: int, noun: str) -> str:
    """Return ``1 trial``, ``2 trials``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def duration(seconds: float | None) -> str:
    """Return ``3 h 07 min``, ``2 min 05 s``, ``9 s``; empty for a missing value."""
    if seconds is None:
        return ""
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 60} min {whole % 60:02d} s" if whole >= 60 else f"{whole} s"


def short_duration(seconds: float | None) -> str:
    """Return ``42s``, ``1m12``, ``2h05``, ``3d04h``; ``-`` for a missing value."""
    if seconds is None:
        return "-"
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}"
    if whole < 86400:
        return f"{whole // 3600}h{whole % 3600 // 60:02d}"
    return f"{whole // 86400}d{whole % 86400 // 3600:02d}h"


def local_time(iso: str | None, seconds: bool = False) -> str:
    """Return a record's time in the local time zone: ``10-20 12:04``, with seconds ``10-20 12:04:35``."""
    if not iso:
        return "-"
    try:
        return datetime.fromisoformat(iso).astimezone().strftime("%m-%d %H:%M:%S" if seconds else "%m-%d %H:%M")
    except ValueError:
        return printable(iso)


def file_size(size: int) -> str:
    """Return ``512 B``, ``2.1 MB``, ``1.9 GB`` (powers of ten)."""
    value = float(size)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"
