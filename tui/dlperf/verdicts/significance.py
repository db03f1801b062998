"""What trials can show: an exact test, an interval, the smallest visible difference, variation between machines."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations, islice
from statistics import NormalDist, fmean

SIGNIFICANT = 0.01
"""Largest p of a claim."""
LEAST_TRIALS = 5
"""Trials on each side of a claim: the smallest p of two times four is 2/70, of two times five 2/252 = 0.008."""
CONFIDENCE = 0.95
POWER = 0.8
"""For ``detectable_difference``; the exact test then has 0.72 with five trials and 0.79 with seven."""
EXACT = 20_000
"""Most permutations to enumerate: all of two times eight trials are 12,870; of more, ``DRAWS`` random ones."""
DRAWS = 9_999
RESAMPLES = 2_000
SEED = 20_260_101
"""Seed of all random draws, so that the same trials give the same numbers on every page."""


@lru_cache(maxsize=1 << 12)
def permutation_p(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """Return the two-sided p of the permutation test of the difference of means: how often chance gives as much.

    It is exact, assumes no distribution (Pitman 1937; Ernst, Permutation Methods, Statistical Science 19, 2004), and
    its false-positive rate is at most its level. Medians are not tested: their difference takes so few values that
    five trials each stay above p = 0.04, however far apart they are.
    """
    mean = fmean((*a, *b))
    centred = [value - mean for value in (*a, *b)]
    total = math.comb(len(centred), len(a))
    sums = _all_sums(centred, len(a)) if total <= EXACT else islice(_random_sums(centred, len(a)), DRAWS)
    # without a margin, rounding would tell apart two permutations that give the same difference
    least = abs(sum(centred[: len(a)])) - 1e-12 * max(map(abs, centred), default=0.0)
    as_much = sum(abs(each) >= least for each in sums)
    return as_much / total if total <= EXACT else (as_much + 1) / (DRAWS + 1)


def _all_sums(values: Sequence[float], size: int) -> Iterator[float]:
    return map(sum, combinations(values, size))


def _random_sums(values: Sequence[float], size: int) -> Iterator[float]:
    draw = random.Random(SEED)
    while True:
        yield sum(draw.sample(values, size))


def bootstrap_interval(statistic: Callable[..., float], *samples: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % percentile interval of a statistic over ``RESAMPLES`` resamples of each sample."""
    draw = random.Random(SEED)
    found = sorted(statistic(*(draw.choices(each, k=len(each)) for each in samples)) for _ in range(RESAMPLES))
    tail = round((1 - CONFIDENCE) / 2 * RESAMPLES)
    return found[tail], found[-1 - tail]


def detectable_difference(trials: int, variation: float) -> float | None:
    """Return the relative difference that so many trials on each side show in three of four cases; None under five.

    Args:
        variation: standard deviation over mean of the trials of one configuration.

    The usual sample-size formula of two means, with quantiles of Student's t for the level that the exact test reaches.
    """
    if trials < LEAST_TRIALS:
        return None
    permutations = math.comb(2 * trials, trials)
    level = max(2, math.floor(SIGNIFICANT * permutations)) / permutations
    freedom = 2 * trials - 2
    return (_student(1 - level / 2, freedom) + _student(POWER, freedom)) * variation * math.sqrt(2 / trials)


def _student(probability: float, freedom: int) -> float:
    """Return a quantile of Student's t by the Cornish-Fisher expansion (Abramowitz and Stegun 26.7.5)."""
    z = NormalDist().inv_cdf(probability)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + math.fsum(term / freedom**power for power, term in enumerate(terms, 1))
