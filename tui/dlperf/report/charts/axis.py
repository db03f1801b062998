"""Axes: the position of each value, and the ticks."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

NAMES = 5
"""Most dates that fit on an axis."""
ROOM = 30
"""Width of half a name in pixels."""


@dataclass(frozen=True)
class ChartAxis:
    """Values from ``low`` to ``high`` on pixels from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]

    def __call__(self, value: float) -> float:
        return self.places((value,))[0]

    def places(self, values: Iterable[float]) -> list[float]:
        scale = (self.end - self.start) / (self.high - self.low)
        return [self.start + (value - self.low) * scale for value in values]


def linear(values: Sequence[float], start: float, end: float, *, ends_with_values: bool = False) -> ChartAxis:
    """Return an axis with about five round ticks; a single value is centred.

    Args:
        ends_with_values: end the axis at the last value instead of the next tick.
    """
    low, high = min(values), max(values)
    if high <= low:
        low, high = low - abs(low or 1.0) / 2, high + abs(high or 1.0) / 2
    step = _round_step((high - low) / 5)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(number * step for number in range(first, last + 1))
    if ends_with_values:
        return ChartAxis(ticks[0], high, start, end, tuple(tick for tick in ticks if tick <= high))
    return ChartAxis(ticks[0], ticks[-1], start, end, ticks)


def named(count: int, start: float, end: float) -> ChartAxis:
    """Return an axis of items counted from 1, ``ROOM`` from its ends, with at most ``NAMES`` ticks and the last one."""
    places = max(count - 1, 1)
    step = -(-places // (NAMES - 1))
    ticks = tuple(float(number) for number in range(count, 0, -step))
    margin = ROOM / (end - start - 2 * ROOM) * places
    return ChartAxis(1 - margin, max(count, 2) + margin, start, end, ticks[::-1])


def tick_text(value: float) -> str:
    """Format 20000 as ``20k``."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if letter == 'k' else size):.4g}{letter}"
    return f"{value:,.4g}"


def path(points: Sequence[tuple[float, float]], x: ChartAxis, y: ChartAxis) -> str:
    """Return a line through the points as the ``d`` of an SVG path."""
    across, down = x.places(a for a, _ in points), y.places(b for _, b in points)
    return "M" + "L".join(map("%.1f,%.1f".__mod__, zip(across, down, strict=True)))


def _round_step(wanted: float) -> float:
    """Return 1, 2 or 5 times a power of ten, at least ``wanted``."""
    power = 10.0 ** math.floor(math.log10(wanted))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= wanted * (1 - 1e-9))
