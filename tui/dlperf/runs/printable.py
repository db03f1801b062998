"""Text of programs, made safe to show in one line."""

from __future__ import annotations


def printable_end(log: bytes, lines: int = 3, characters: int = 300) -> str:
    """Return the last lines of a log as one line without control characters."""
    text = log.decode(errors="replace").replace("\r", "\n")
    kept = [" ".join("".join(c if c.isprintable() else " " for c in line).split()) for line in text.split("\n")]
    return " | ".join([line for line in kept if line][-lines:])[-characters:]
