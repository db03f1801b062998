"""The last change of level in a series of values, such as one of each campaign. Pure.

ruptures 1.1 gives the same best splits but no test of them, and needs 113 MB of scipy: at its usual penalty, PELT found
changes in 11 to 34 % of simulated series without one (300 each of 12 to 40 values, normal or of Student's t with three
degrees of freedom). Apache Otava 0.8 did so in 1 to 6 % at p = 0.001 and in 15 to 31 % at p = 0.01.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import fmean

from dlperf.verdicts.inference.permutation import DRAWS, SEED

LEVEL = 0.001
"""Of one look: a campaign a week is looked at 52 times a year, each time with most of the values of the last."""
LEAST_VALUES = 14
"""Fewer show no change at this level: two levels of seven values each have p = 2/3432 = 0.0006."""


@dataclass(frozen=True)
class Change:
    """A change of level."""

    start: int
    """Index of the first value of the earlier level."""
    index: int
    """Index of the first value of the later level."""
    p: float
    """How often chance gives a change as clear at any place."""
    fell: bool
    """Whether the later level is the lower one, on the machines of both."""


def last_change(values: Sequence[float], machines: Sequence[Hashable] = ()) -> Change | None:
    """Return the last change that chance would give in at most one of a thousand series of one level, or None.

    Binary segmentation: the best split into two levels (Scott and Knott 1974), then the best of what follows it. The
    test takes the best split of each permutation of the series, so that it knows that the place was searched.

    Args:
        machines: that of each value. Values of different machines are never compared: each machine has a level of its
            own, and only values of one machine are exchanged.
    """
    strata = list(machines) or [None] * len(values)
    found, start = None, 0
    while len(values) - start >= LEAST_VALUES:
        split, p, fell = _best_split(values[start:], strata[start:])
        if p > LEVEL:
            break
        found = Change(start, start + split, p, fell)
        start = found.index
    return found


def _best_split(values: Sequence[float], strata: Sequence[Hashable]) -> tuple[int, float, bool]:
    """Return the best split, its p, which is only exact where it is significant, and whether the values fell there."""
    places = [[index for index, other in enumerate(strata) if other == name] for name in dict.fromkeys(strata)]
    series = list(values)
    for group in places:
        mean = fmean(values[index] for index in group)
        for index in group:
            series[index] = values[index] - mean
    weights = _weights(strata)
    best, index = _between(series, weights)
    fell = sum(series[:index]) > 0
    draw, as_clear = random.Random(SEED), 1
    for _ in range(DRAWS):
        for group in places:
            drawn = [series[place] for place in group]
            draw.shuffle(drawn)
            for place, value in zip(group, drawn, strict=True):
                series[place] = value
        # without a margin, rounding would tell apart permutations that give the same levels
        as_clear += _between(series, weights)[0] >= best * (1 - 1e-9)
        if as_clear > LEVEL * (DRAWS + 1):
            break
    return index, as_clear / (DRAWS + 1), fell


def _weights(strata: Sequence[Hashable]) -> list[float]:
    """Return the information of each split about a difference inside machines: n before times n after over n."""
    total, before = Counter(strata), Counter[Hashable]()
    found = []
    for name in strata[:-1]:
        before[name] += 1
        found.append(sum(before[each] * (total[each] - before[each]) / total[each] for each in total))
    return found


def _between(series: Sequence[float], weights: Sequence[float]) -> tuple[float, int]:
    """Return the largest sum of squares between two sides of a series around zero, and where the second side begins."""
    best, place, total = 0.0, 1, 0.0
    for index, weight in enumerate(weights, 1):
        total += series[index - 1]
        if weight and (found := total * total / weight) > best:
            best, place = found, index
    return best, place
