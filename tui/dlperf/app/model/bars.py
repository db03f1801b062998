"""Draw values as block characters."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

BLOCKS = "▁▂▃▄▅▆▇█"
NOISE = 0.02
"""Values within this share of the highest are drawn level, so that noise does not look like trouble."""
BAR_STEPS = "▏▎▍▌▋▊▉█"


def sparkline(values: Sequence[float], width: int) -> str:
    """Return the last ``width`` values as blocks from lowest to highest."""
    shown = [value for value in values[-width:] if isfinite(value)]
    if not shown:
        return ""
    low, high = min(shown), max(shown)
    if high - low <= NOISE * abs(high):
        return BLOCKS[4] * len(shown)
    steps = len(BLOCKS) - 1
    return "".join(BLOCKS[round((value - low) / (high - low) * steps)] for value in shown)


def bar(share: float, width: int) -> str:
    """Return a bar of ``width`` cells, filled to an eighth of a cell; the rest is shaded."""
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (BAR_STEPS[rest - 1] if rest else "")).ljust(width, "░")
