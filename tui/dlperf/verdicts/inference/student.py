"""Student's t and the F distribution, in pure Python."""

import math
from functools import lru_cache
from statistics import NormalDist

MOST_TERMS = 300
MOST_STEPS = 50
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
    """Return the t beyond which abs(T) lies with this probability.

    By Newton's method on the logarithms, in which the tail is concave, so that it converges from any t.
    """
    t = -NormalDist().inv_cdf(level / 2)
    for _ in range(MOST_STEPS):
        beyond = tail(t, freedom)
        step = math.log(beyond / level) * beyond / (2 * t * _density(t, freedom))
        t *= math.exp(step)
        if abs(step) < 1e-13:
            break
    return t


def _density(t: float, freedom: float) -> float:
    if freedom >= NORMAL_FREEDOM:
        return NormalDist().pdf(t)
    front = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(freedom * math.pi) / 2
    return math.exp(front - (freedom + 1) / 2 * math.log1p(t * t / freedom))


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
