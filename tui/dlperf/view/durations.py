"""Durations as text."""

from __future__ import annotations


def duration(seconds: float | None) -> str:
    """``3 h 07 min``, ``2 min 05 s``, ``9 s``; empty where it is not known."""
    if seconds is None:
        return ""
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 60} min {whole % 60:02d} s" if whole >= 60 else f"{whole} s"


def short_duration(seconds: float | None) -> str:
    """``42s``, ``1m12``, ``2h05``, ``3d04h``; ``-`` where it is not known."""
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
