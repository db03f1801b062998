"""The last change of level in a series of values, such as one of each campaign. Pure.

ruptures 1.1 gives the same best splits but no test of them; how often this one and Apache Otava's find a change where
there is none is simulated by ``benchmarks/verdicts.py``.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

SPENT = 0.012
"""Level of a look times its number within a year: these add up slowly, and looks share most of their values."""
LEAST_VALUES = 14
"""Fewer show no change: two levels of seven values each have p = 2/3432 = 0.0006."""
CHUNKS = (100, 900, 28_999)
"""Permutations that are drawn at once: few show already that most changes are no clearer than chance."""
SEED = 20_260_101
"""Of the permutations, so that the same values give the same p everywhere."""


@dataclass(frozen=True)
class LevelChange:
    """A change of level."""

    start: int
    """Index of the first value of the earlier level."""
    index: int
    """Index of the first value of the later level."""
    p: float
    """How often chance gives a change as clear at any place."""
    fell: bool
    """Whether the later level is the lower one, on the machines of both."""


def last_change(
    values: Sequence[float],
    machines: Sequence[Hashable] = (),
    looks: int = 0,
    hidden: Callable[[slice, slice], float] = lambda before, since: 0.0,
) -> LevelChange | None:
    """Return the last change of level that is clearer than chance would make it, or None.

    Binary segmentation: the best split into two levels (Scott and Knott 1974), then the best of what follows it. The
    test takes the best split of each permutation of the series, so that it knows that the place was searched.

    Args:
        machines: that of each value. Values of different machines are never compared: each machine has a level of its
            own, and only values of one machine are exchanged.
        looks: how often the series was looked at within a year, this time included: the level of the n-th look is
            ``SPENT`` / n.
        hidden: returns the relative difference of two parts of the series that is no change, as rounding makes it.
    """
    strata = list(machines) or [None] * len(values)
    level = SPENT / max(looks, LEAST_VALUES)
    found, start = None, 0
    while len(values) - start >= LEAST_VALUES:
        split, p, change = _best_split(values[start:], strata[start:], level)
        index = start + split
        if p > level or abs(change) <= hidden(slice(start, index), slice(index, None)):
            break
        found = LevelChange(start, index, p, fell=change < 0)
        start = index
    return found


def _best_split(values: Sequence[float], strata: Sequence[Hashable], level: float) -> tuple[int, float, float]:
    """Return the best split, its p, which is only exact where it is significant, and the relative change there."""
    series = np.array(values, dtype=float)
    level_of_all = series.mean()
    places = [np.flatnonzero([other == name for other in strata]) for name in dict.fromkeys(strata)]
    for group in places:
        series[group] -= series[group].mean()
    weights = _weights(places, len(series))
    clearness = _clearness(series[np.newaxis], weights)[0]
    index = int(clearness.argmax()) + 1
    draw, as_clear, chunks = np.random.default_rng(SEED), 1, _chunks(level)
    for count in chunks:
        drawn = np.empty((count, len(series)))
        for group in places:
            drawn[:, group] = draw.permuted(np.tile(series[group], (count, 1)), axis=1)
        # without a margin, rounding would tell apart permutations that give the same levels
        as_clear += int((_clearness(drawn, weights).max(axis=1) >= clearness.max() * (1 - 1e-9)).sum())
        if as_clear > level * (sum(chunks) + 1):
            break
    change = -series[:index].sum() / (weights[index - 1] or 1.0) / level_of_all
    return index, as_clear / (sum(chunks) + 1), float(change)


def _chunks(level: float) -> list[int]:
    """Return how many permutations are drawn at once, of as many in all as show a p of this level."""
    return [*CHUNKS, *[CHUNKS[-1]] * int(1 / (level * sum(CHUNKS)))]


def _weights(places: Sequence[np.ndarray], count: int) -> np.ndarray:
    """Return the information of each split about a difference inside machines: n before times n after over n."""
    splits = np.arange(1, count)
    before = [np.searchsorted(group, splits) for group in places]
    parts = [left * (len(group) - left) / len(group) for left, group in zip(before, places, strict=True)]
    found: np.ndarray = np.sum(parts, axis=0, dtype=float)
    return found


def _clearness(series: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the sum of squares between the two sides of each split of series around zero."""
    squares = np.cumsum(series, axis=1)[:, :-1] ** 2
    found: np.ndarray = np.divide(squares, weights, out=np.zeros_like(squares), where=weights > 0)
    return found
