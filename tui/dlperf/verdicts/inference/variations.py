"""Variations between campaigns and between machines, estimated from earlier results. Pure."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median, stdev

from dlperf.verdicts.inference.verdict import Variation

LEAST_STEPS = 6
"""Steps from campaign to campaign from which the variation between them is estimated."""
MEDIAN_STEP = 0.954
"""Median of the absolute difference of two normal values, in their standard deviations."""
STEP_EFFICIENCY = 0.37
"""Degrees of freedom that a step gives to its median (Hampel 1974: that of the median absolute deviation)."""


def pooled(groups: Iterable[Sequence[float]]) -> Variation | None:
    """Return the relative deviation within groups, such as one configuration on several machines; None if unknown."""
    known = [[math.log(value) for value in group] for group in groups if len(group) > 1 and min(group) > 0]
    freedom = sum(len(group) - 1 for group in known)
    squares = math.fsum((len(group) - 1) * stdev(group) ** 2 for group in known)
    return Variation(math.sqrt(squares / freedom), freedom) if freedom else None


def averaged(first: Variation, second: Variation) -> Variation:
    """Return the variation that stands for two sides which vary differently."""
    squares = [each.share**2 for each in (first, second)]
    total = math.fsum(squares)
    inverse = math.fsum(each**2 / side.freedom for each, side in zip(squares, (first, second), strict=True))
    return Variation(math.sqrt(total / 2), total**2 / inverse if inverse else math.inf)


def between_steps(series: Iterable[Sequence[float]]) -> Variation | None:
    """Return the relative deviation of a level from one value of a series to the next; None from too few values.

    The median of the steps, so that a few real changes, which a history of campaigns has, do not count as variation.
    """
    steps = [abs(math.log(after / before)) for values in series for before, after in pairwise(values)]
    if len(steps) < LEAST_STEPS:
        return None
    return Variation(median(steps) / MEDIAN_STEP, STEP_EFFICIENCY * len(steps))
