"""Numbers, times and foreign text as the screens write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from rich.cells import cell_len

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
"""ECMA-48 control sequences and operating-system commands: colours, cursor movements, window titles."""

BAR_STEPS = "▏▎▍▌▋▊▉█"


def printable(text: str) -> str:
    """Text that cannot steer a terminal: escapes removed, other control characters as ``·``."""
    if text.isprintable():
        return text
    text = _ESCAPES.sub("", text).expandtabs(8)
    return "".join(char if char.isprintable() else "·" for char in text)


def number(value: float | None, unit: str = "") -> str:
    """Four significant digits, or all before the point: ``45,112 images/s``, ``612.4``; ``-`` for a missing value."""
    if value is None:
        return "-"
    digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 2 if abs(value) >= 10 else 3
    text = f"{value:,.{digits}f}"
    return f"{text} {unit}" if unit else text


def percent(share: float | None, digits: int = 1, sign: bool = False) -> str:
    """A share as ``1.3 %``; ``-`` for a missing value."""
    if share is None:
        return "-"
    return f"{share * 100:{'+' if sign else ''}.{digits}f} %"


def local_time(iso: str | None) -> str:
    """A record's time as the operator's clock shows it: ``10-20 12:04``."""
    if not iso:
        return "-"
    try:
        return datetime.fromisoformat(iso).astimezone().strftime("%m-%d %H:%M")
    except ValueError:
        return printable(iso)


def file_size(size: int) -> str:
    """``512 B``, ``2.1 MB``, ``1.9 GB`` (powers of ten)."""
    value = float(size)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def packed(parts: Iterable[str], width: int, gap: str = "  ") -> list[str]:
    """Parts side by side in as many lines as they need; none is broken."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]}{gap}{part}" if lines else part
        if lines and cell_len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines


def bar(share: float, width: int) -> str:
    """A horizontal bar of so many cells, filled to an eighth of a cell; the rest is shaded."""
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (BAR_STEPS[rest - 1] if rest else "")).ljust(width, "░")
