"""The time that records carry."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> str:
    """Now, ISO 8601 in UTC with microseconds: ``2026-05-04T03:02:01.000000Z``."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def seconds_between(start: str, end: str) -> float:
    """Seconds from one record's time to another's; negative where the clock was set back."""
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
