"""A mean without the extremes, exact, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from math import fsum
from operator import neg

from dlperf.measure.order import Ranked, at_rank


@dataclass(frozen=True)
class Trimmed:
    """What remains of some numbers without the lowest and the highest."""

    mean: float
    count: int
    first: int
    """Where the first of those stands that remain."""
    last: int


def trimmed(numbers: Sequence[float], trim: int) -> Trimmed:
    """Finite numbers without the ``trim`` lowest and highest, and some remain; of equal ones the first is lowest."""
    count = len(numbers) - 2 * trim
    low, high = at_rank(numbers, trim), at_rank(numbers, trim + count - 1)
    first = _first_from(low.number, high.number, numbers, trim - low.below)
    mirrored = map(neg, reversed(numbers))
    behind = _first_from(-high.number, -low.number, mirrored, high.up_to - trim - count)
    return Trimmed(_mean(numbers, low, high, trim), count, first, len(numbers) - 1 - behind)


def _mean(numbers: Sequence[float], low: Ranked, high: Ranked, trim: int) -> float:
    """Mean of what remains: it begins with ``low`` and ends with ``high`` where it is sorted."""
    count = len(numbers) - 2 * trim
    lows, between = min(low.up_to - trim, count), max(high.below - low.up_to, 0)
    inner = (number for number in numbers if low.number < number < high.number)
    return fsum(chain(inner, repeat(low.number, lows), repeat(high.number, count - lows - between))) / count


def _first_from(low: float, high: float, numbers: Iterable[float], lows_cut: int) -> int:
    """Where the first number from ``low`` to ``high`` stands, but for the first few that equal ``low``."""
    for place, number in enumerate(numbers):
        if number == low and lows_cut:
            lows_cut -= 1
        elif low <= number <= high:
            return place
    raise ValueError("none of the numbers remains")
