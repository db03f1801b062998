"""Order statistics of any count of numbers, exact, in bounded memory."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import islice, repeat
from math import inf
from operator import le, lt

HELD = 1 << 16
"""Numbers that are sorted at a time."""
SAMPLE = 1024
MARGIN = 48
"""Places of a sample: what is sought lies within them, three standard deviations, of where its rank says."""


def median(numbers: Sequence[float]) -> float:
    """``statistics.median`` of finite numbers."""
    if len(numbers) <= HELD:
        return statistics.median(numbers)
    upper = at_rank(numbers, len(numbers) // 2)
    return upper if len(numbers) % 2 else (at_rank(numbers, len(numbers) // 2 - 1) + upper) / 2


def at_rank(numbers: Sequence[float], rank: int) -> float:
    """``sorted(numbers)[rank]`` of finite numbers.

    Where it lies is narrowed down by pivots, by turns a little below and a little above where a sample has it.
    """
    low, high, margin = -inf, inf, MARGIN
    up_to_low, below_high = 0, len(numbers)
    while (count := below_high - up_to_low) > HELD:
        between = (number for number in numbers if low < number < high)
        sample = sorted(islice(between, 0, None, count // SAMPLE))
        place = (rank - up_to_low) * len(sample) // count - margin
        pivot = sample[min(max(place, 0), len(sample) - 1)]
        below, up_to = sum(map(lt, numbers, repeat(pivot))), sum(map(le, numbers, repeat(pivot)))
        if below <= rank < up_to:
            return pivot
        if rank < below:
            high, below_high = pivot, below
        else:
            low, up_to_low = pivot, up_to
        margin = -margin
    return sorted(number for number in numbers if low < number < high)[rank - up_to_low]
