"""The end of a log, quoted in a sentence."""

from __future__ import annotations

from dlperf.sentences import sentence

LAST_OUTPUT = sentence("last_output", cause="", lines="")
"""Stands in a cause before the lines quoted from a log."""


def printable_end(log: bytes, lines: int = 3, characters: int = 300) -> str:
    """The last lines of a log as one line that is safe to show."""
    text = log.decode(errors="replace").replace("\r", "\n")
    kept = [" ".join("".join(c if c.isprintable() else " " for c in line).split()) for line in text.split("\n")]
    return " | ".join([line for line in kept if line][-lines:])[-characters:]
