"""What the digits with which values, or the times behind them, were printed hide of their difference. Pure."""

from collections.abc import Collection, Sequence
from math import isclose

DECIMALS = range(-3, 5)
"""Decimals that a program prints, from those of 14.2K on; with more, values are computed from times or averages."""
ZEROS = 3
"""Zeros at the end of whole numbers that show them to be rounded: one of a thousand has as many by chance."""
ZEROS_OF_SIDE = 2
"""Decimals of zero by which a side is shown to have fewer than the other: one of a hundred by chance."""

MOST_UNITS = 1.5
"""Units by which the values of a side differ at most of which rounding may hide the mean."""


def rounding(a: Sequence[float], b: Sequence[float], clock: float = 0.0) -> float:
    """Return the relative difference that rounding alone may make of two sides, whose values are as they were printed.

    Each value may be half a unit of its last digit more or less. Values of a side that vary by two units average it
    out.

    Args:
        clock: the unit of the times from which the values follow, as a part of a window: it may be so much longer.
    """
    if not a or not b or min(*a, *b) <= 0:
        return 0.0
    if clock:
        return sum(clock for side in (a, b) if max(side) <= (1 + MOST_UNITS * clock) * min(side))
    values, sides = {*a, *b}, (set(a), set(b))
    common = _decimals(values)
    if common < 0 and len(values) * -common < ZEROS:
        common = 0
    if common == 0 and len(values) == 1:
        common = 1  # one of ten values ends with a zero by chance
    fewest = [max(_decimals(side), min(common, 0)) for side in sides]
    shown = [len(side) * (common - few) >= ZEROS_OF_SIDE for side, few in zip(sides, fewest, strict=True)]
    digits = [few if fewer else common for few, fewer in zip(fewest, shown, strict=True)]
    return sum(_hidden(side, 10.0**-count) for side, count in zip((a, b), digits, strict=True))


def _hidden(values: Sequence[float], unit: float) -> float:
    if unit < 10.0 ** -max(DECIMALS) or max(values) - min(values) > MOST_UNITS * unit:
        return 0.0
    return unit / 2 / min(values)


def _decimals(values: Collection[float]) -> int:
    """Return the fewest decimals that these values need."""
    found = (each for each in DECIMALS if all(isclose(round(value, each), value) for value in values))
    return next(found, DECIMALS.stop)
