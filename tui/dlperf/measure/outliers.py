"""Samples that lie far from the others."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

FAR = 3.5
"""Modified z-score above which a value is an outlier: Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993."""
NORMAL = 0.6745
"""Median absolute deviation of a normal distribution, in standard deviations."""
LEAST_SHARE = 0.02
"""What differs from the median by less is none, however alike the others are."""


def outliers(values: Sequence[float]) -> tuple[int, ...]:
    """Indices of the values whose modified z-score is above ``FAR``; none among fewer than five values."""
    if len(values) < 5:
        return ()
    centre = median(values)
    deviations = [abs(value - centre) for value in values]
    least = max(FAR / NORMAL * median(deviations), LEAST_SHARE * abs(centre))
    return tuple(index for index, deviation in enumerate(deviations) if deviation > least)
