"""What so many trials can show, whatever they are of. Pure."""

import math

from dlperf.verdicts.inference.policies import LEVEL
from dlperf.verdicts.inference.student import two_sided

POWER = 0.9
"""For ``detectable_difference``."""


def smallest_drawn_p(pairs: int) -> float:
    """Return the smallest two-sided p that the drawn order of so many pairs reaches alone, without normal noise.

    Each pair comes out the other way round in one of two orders (the randomisation test, Fisher 1935).
    """
    return 1 / (1 << (pairs - 1))


def detectable_difference(trials: int, variation: float) -> float:
    """Return the relative difference that so many trials on each side show in nine of ten cases.

    The usual sample-size formula of two means, with Student's t at the degrees of freedom that Welch's estimate has on
    average of two sides which vary alike: the ratio of the means of its two parts.

    Args:
        variation: relative standard deviation between the trials of a configuration.
    """
    one = trials - 1
    freedom = 2 * one * (one + 1) / (one + 2)
    quantiles = two_sided(LEVEL / 2, freedom) + two_sided(2 * (1 - POWER), freedom)
    return quantiles * variation * math.sqrt(2 / trials)
