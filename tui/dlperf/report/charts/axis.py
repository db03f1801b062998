"""Axes: where a value stands, and which values are named."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

NAMES = 5
"""Dates that fit side by side."""
ROOM = 30
"""Pixels that half a name takes."""


@dataclass(frozen=True)
class Axis:
    """Values from ``low`` to ``high`` on pixels from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """Where a value stands."""
        low, high, at = (map(math.log, (self.low, self.high, value)) if self.logarithmic else
                         (self.low, self.high, value))  # fmt: skip
        return self.start + (at - low) / (high - low) * (self.end - self.start)

    def places(self, values: Iterable[float]) -> list[float]:
        """Where many values stand."""
        if self.logarithmic:
            return [self(value) for value in values]
        scale = (self.end - self.start) / (self.high - self.low)
        return [self.start + (value - self.low) * scale for value in values]


def linear(
    values: Sequence[float],
    start: float,
    end: float,
    *,
    ends_with_values: bool = False,
) -> Axis:
    """An axis of about five round ticks; one value alone stands in its middle.

    Args:
        ends_with_values: nothing is left empty behind the last value.
    """
    low, high = min(values), max(values)
    if high <= low:
        low, high = low - abs(low or 1.0) / 2, high + abs(high or 1.0) / 2
    step = _round_step((high - low) / 5)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(number * step for number in range(first, last + 1))
    if ends_with_values:
        return Axis(ticks[0], high, start, end, tuple(tick for tick in ticks if tick <= high))
    return Axis(ticks[0], ticks[-1], start, end, ticks)


def named(count: int, start: float, end: float) -> Axis:
    """An axis of so many things, counted from 1 and standing ``ROOM`` from the ends: at most ``NAMES`` of them are
    named, the last among them."""
    places = max(count - 1, 1)
    step = -(-places // (NAMES - 1))
    ticks = tuple(float(number) for number in range(count, 0, -step))
    margin = ROOM / (end - start - 2 * ROOM) * places
    return Axis(1 - margin, max(count, 2) + margin, start, end, ticks[::-1])


def doubling(values: Sequence[float], start: float, end: float) -> Axis:
    """A logarithmic axis with ticks at powers of two, for GPU counts and speed-ups above zero."""
    first, last = math.floor(math.log2(min(values)) + 1e-9), math.ceil(math.log2(max(values)) - 1e-9)
    ticks = tuple(2.0**power for power in range(first, max(last, first + 1) + 1))
    return Axis(ticks[0], ticks[-1], start, end, ticks, logarithmic=True)


def tick_text(value: float) -> str:
    """``20k`` for 20000: short enough for an axis."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if letter == 'k' else size):.4g}{letter}"
    return f"{value:.4g}"


def _round_step(wanted: float) -> float:
    """1, 2 or 5 times a power of ten, at least ``wanted``."""
    power = 10.0 ** math.floor(math.log10(wanted))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= wanted * (1 - 1e-9))
