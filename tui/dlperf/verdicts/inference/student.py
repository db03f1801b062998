"""Student's t and the F distribution, in pure Python."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

MOST_TERMS = 300
NORMAL_FREEDOM = 1e6
"""Degrees of freedom from which the normal distribution is used."""


def tail(t: float, freedom: float) -> float:
    """Return the probability that abs(T) is at least ``t``."""
    if freedom >= NORMAL_FREEDOM:
        return 2 * NormalDist().cdf(-abs(t))
    return _beta(freedom / (freedom + t * t), freedom / 2, 0.5)


def f_tail(f: float, above: float, below: float) -> float:
    """Return the probability that a value of the F distribution is at least ``f``, with these degrees of freedom."""
    return _beta(below / (below + above * max(f, 0.0)), below / 2, above / 2)


@lru_cache(maxsize=1 << 12)
def two_sided(level: float, freedom: float) -> float:
    """Return the t beyond which abs(T) lies with this probability, by bisection of its logarithm."""
    low, high = -10.0, 60.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(math.exp(middle), freedom) > level else (low, middle)
    return math.exp(high)


def _beta(x: float, a: float, b: float) -> float:
    """Return the regularized incomplete beta function by its continued fraction (Abramowitz and Stegun 26.5.8)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(1 - x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    fraction, c, d = 1.0, 1.0, 0.0  # modified Lentz
    for term in range(1, MOST_TERMS):
        step = _coefficient(term, x, a, b)
        d = 1 / (1 + step * d)
        c = 1 + step / c
        fraction *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return front / fraction


def _coefficient(term: int, x: float, a: float, b: float) -> float:
    half, odd = divmod(term, 2)
    if odd:
        return -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
    return half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
