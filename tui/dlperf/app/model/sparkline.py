"""The last throughput values of a trial as one line of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

BLOCKS = "▁▂▃▄▅▆▇█"
NOISE = 0.02
"""Values that differ by less than this share are drawn level: noise shall not look like trouble."""


def sparkline(values: Sequence[float], width: int) -> str:
    """The last ``width`` values, lowest to highest; level where they hardly differ."""
    shown = [value for value in values[-width:] if isfinite(value)]
    if not shown:
        return ""
    low, high = min(shown), max(shown)
    if high - low <= NOISE * abs(high):
        return BLOCKS[4] * len(shown)
    steps = len(BLOCKS) - 1
    return "".join(BLOCKS[round((value - low) / (high - low) * steps)] for value in shown)
