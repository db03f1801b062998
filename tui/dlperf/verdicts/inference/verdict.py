"""The one function that turns results into a verdict: better, worse, same, or cannot tell. Pure."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean, stdev
from typing import Literal

from dlperf.verdicts.inference.policies import LEVEL, Policy, level_divisor
from dlperf.verdicts.inference.student import tail, two_sided

SMALLEST_LOSS = 0.001
LEAST_VARIATION = 1e-4
"""Relative standard deviation below which trials are not believed to repeat: logs print about four digits."""
PRIOR = 8.0
"""Variance of the differences that the always-valid test is made for, in variances of one pair."""
ROOM = 3.0
"""Standard errors by which results that do not differ may seem to."""
MOST_NEEDED = 1000
WIDEST = math.log(100)
"""Half the interval from which it says nothing: a hundredth to a hundredfold."""
CAMPAIGNS_FREEDOM = 2.5
"""Degrees of freedom with which campaigns are assumed to differ as much as trials: campaigns that differ by three times
as much then pass for a loss in 2 % of cases."""

Code = Literal["better", "worse", "same", "cannot_tell"]
OPPOSITE: dict[str, Code] = {"better": "worse", "worse": "better"}


@dataclass(frozen=True)
class Variation:
    """A relative standard deviation, and the degrees of freedom of its estimate."""

    share: float
    freedom: float = math.inf

    @property
    def reach(self) -> float:
        """The relative deviation that is exceeded as rarely as the level says, by Student's t."""
        return self.share * two_sided(LEVEL, self.freedom)


ASSUMED_MACHINES = Variation(0.015, 6)
"""Between machines of one kind until three were measured: the GPUs of a cluster differ by 8 % on average from the
slowest to the fastest, five or six standard deviations (Sinha et al., Not All GPUs Are Created Equal, SC 2022)."""


@dataclass(frozen=True)
class Sides:
    """The trials of two sides, as scores of which higher is better, and what their sides differ by without a cause."""

    a: Sequence[float]
    b: Sequence[float]
    paired: bool = False
    """Whether the trials of both sides alternated, so that the n-th of each belong together."""
    alike: bool = False
    """Whether the trials of both sides vary alike, as those of one program."""
    between: tuple[Variation, ...] = ()
    """Variations of the level of a side, as between campaigns or machines."""
    rounding: float = 0.0
    """Relative difference that the digits of the values alone may make."""

    @property
    def count(self) -> int:
        """Trials of the side that has fewer."""
        return min(len(self.a), len(self.b))

    @cached_property
    def difference(self) -> float:
        """Of the means of the logarithms."""
        if self.paired:
            return fmean(self._pairs)
        a, b = self._logarithms
        return fmean(b) - fmean(a)

    @cached_property
    def deviations(self) -> tuple[float, ...]:
        """Standard deviation of a pair's difference, or else of a trial of A and of B, which may vary differently."""
        groups = [self._pairs] if self.paired else self._logarithms
        if self.alike:
            squares = math.fsum((each - fmean(group)) ** 2 for group in groups for each in group)
            return 2 * (max(math.sqrt(squares / (len(self.a) + len(self.b) - 2)), LEAST_VARIATION),)
        return tuple(max(stdev(group), LEAST_VARIATION) if len(group) > 1 else math.inf for group in groups)

    def variances(self, b: int, a: int) -> list[tuple[float, float]]:
        """Return what adds up to the variance of the difference with so many trials, each with its freedom."""
        if self.alike:
            return [(self.deviations[0] ** 2 * (1 / a + 1 / b), a + b - 2)]
        counts = [min(a, b)] if self.paired else [a, b]
        return [(share**2 / count, count - 1) for share, count in zip(self.deviations, counts, strict=True)]

    @cached_property
    def _logarithms(self) -> tuple[list[float], list[float]]:
        return [math.log(value) for value in self.a], [math.log(value) for value in self.b]

    @cached_property
    def _pairs(self) -> list[float]:
        return [right - left for left, right in zip(*self._logarithms, strict=False)]


def two_campaigns(
    a: Sequence[float], b: Sequence[float], campaigns: Variation | None = None, machines: Variation | None = None
) -> Sides:
    """Return the evidence of two campaigns.

    Args:
        campaigns: variation between campaigns of one configuration on one machine; as much as between trials if None.
        machines: variation between their two machines; None for one machine.
    """
    plain = Sides(a, b)
    assumed = math.sqrt(fmean(share**2 for share in plain.deviations))
    between = campaigns or Variation(assumed, CAMPAIGNS_FREEDOM)
    return replace(plain, between=(between, *([machines] if machines else [])))


@dataclass(frozen=True)
class Verdict:
    """What may be said of B relative to A; differences are relative, positive for better."""

    code: Code
    difference: float
    low: float
    high: float
    """Ends of the interval that holds the difference, at the level of the test; infinite beyond ``WIDEST``."""
    p: float
    loss: float
    """The loss that was sought."""
    policy: Policy
    """By which it was reached."""
    more: int | None = None
    """Further trials of each side that would probably decide; None where it is decided, or no number would. Of a claim,
    0 where a new campaign of as many would."""

    @property
    def decided(self) -> bool:
        return self.code != "cannot_tell"

    @property
    def factor(self) -> int:
        """What the p of the test was multiplied by: looks at the trials while there were fewer, other campaigns."""
        return (self.policy.looks or 1) * self.policy.divisor

    @property
    def ahead(self) -> float:
        """By how much the better side is ahead, relative to the other: one number from both sides."""
        return max(self.difference, -self.difference / (1 + self.difference))

    @property
    def inverse(self) -> Verdict:
        """What the same test says of A relative to B."""
        low, high = (-end / (1 + end) if math.isfinite(end) else -end for end in (self.high, self.low))
        code = OPPOSITE.get(self.code, self.code)
        return replace(self, code=code, difference=-self.difference / (1 + self.difference), low=low, high=high)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends; None where they are infinite."""
        return (self.low, self.high) if math.isfinite(self.low) and math.isfinite(self.high) else None


def judge(evidence: Sides, policy: Policy) -> Verdict | None:
    """Return the verdict of a policy; None for fewer than two trials of a side, which show no variation.

    *Same* is an interval inside the sought loss (two one-sided tests, Schuirmann 1987); then *better* or *worse* where
    the test shows a difference; else it cannot be told.
    """
    if evidence.count < 2:
        return None
    count, difference = evidence.count, evidence.difference
    half = _half_width(evidence, policy, len(evidence.b), len(evidence.a))
    loss = _sought(evidence, policy, len(evidence.b), len(evidence.a))
    p = _p(evidence, policy)
    if count < policy.least:
        code: Code = "cannot_tell"
    elif difference - half > math.log1p(-loss) and difference + half < -math.log1p(-loss):
        code = "same"
    elif p <= policy.level:
        code = "better" if difference > 0 else "worse"
    else:
        code = "cannot_tell"
    more = None if code != "cannot_tell" else _more(evidence, policy, loss)
    is_open = code == "cannot_tell" and half > WIDEST
    low, high = (-math.inf, math.inf) if is_open else (math.expm1(difference - half), math.expm1(difference + half))
    return Verdict(code, math.expm1(difference), low, high, p, loss, policy, more)


def _variance(evidence: Sides, b: int, a: int) -> tuple[float, float]:
    """Return the variance of the difference, and its degrees of freedom (Satterthwaite 1946, Welch 1947)."""
    parts = evidence.variances(b, a)
    parts += [(2 * each.share**2, each.freedom) for each in evidence.between]
    total = math.fsum(part for part, _ in parts)
    freedom = total**2 / math.fsum(part**2 / freedom for part, freedom in parts)
    return total, math.floor(freedom * 100) / 100


def _half_width(evidence: Sides, policy: Policy, b: int, a: int) -> float:
    """Return half the interval of the difference with so many trials of B and A."""
    if min(a, b) < 2 or not all(map(math.isfinite, evidence.deviations)):
        return math.inf
    if policy.looks is None:
        pairs, (deviation,) = min(a, b), evidence.deviations
        return _always_valid(pairs, pairs - 1, policy.level) * deviation + evidence.rounding
    total, freedom = _variance(evidence, b, a)
    width = two_sided(policy.level / (policy.looks * policy.divisor), freedom) * math.sqrt(total)
    return width + evidence.rounding


def _always_valid(information: int, freedom: int, level: float) -> float:
    """Return the half width, in deviations, of an interval that holds however often one looks.

    The likelihood ratio of Student's t under a normal prior of the effect and none at all is a test martingale under
    the right Haar prior of the deviation (Lai 1976; Wang and Ramdas, Anytime-valid t-tests, 2024).
    """
    wide = 1 + information * PRIOR
    ratio = (math.sqrt(wide) / level) ** (2 / (freedom + 1))
    return math.sqrt(freedom * (ratio - 1) / (1 - ratio / wide) / information) if ratio < wide else math.inf


def _p(evidence: Sides, policy: Policy) -> float:
    a, b, shown = len(evidence.a), len(evidence.b), max(abs(evidence.difference) - evidence.rounding, 0.0)
    if policy.looks is not None:
        total, freedom = _variance(evidence, b, a)
        return min(1.0, policy.looks * policy.divisor * tail(shown / math.sqrt(total), freedom))
    pairs, (deviation,) = evidence.count, evidence.deviations
    freedom = pairs - 1
    square = (shown / deviation) ** 2 * pairs / freedom
    wide = 1 + pairs * PRIOR
    log_ratio = (freedom + 1) / 2 * (math.log1p(square) - math.log1p(square / wide)) - math.log(wide) / 2
    return math.exp(-max(log_ratio, 0.0))


def _sought(evidence: Sides, policy: Policy, b: int, a: int) -> float:
    """Return the loss that is named, or else the one that the most trials decide, of so many of B and A.

    Results that do not differ are then called so in 99 % of cases.
    """
    if policy.loss is not None:
        return policy.loss
    b = max(policy.most, b)
    a = b if evidence.paired else a
    half = _half_width(evidence, policy, b, a)
    room = ROOM * math.sqrt(_variance(evidence, b, a)[0])
    # results that are looked at once are the same wherever the test shows no difference
    room = max(room, half) if policy.looks == 1 else room
    return min(max(half + room, SMALLEST_LOSS + evidence.rounding), policy.largest)


def _more(evidence: Sides, policy: Policy, loss: float) -> int | None:
    """Return how many further trials of each side would decide if the difference stays as it is."""
    size, least = abs(evidence.difference), max(policy.least, evidence.count + 1)

    def half(count: int) -> float:
        return _half_width(evidence, policy, count, _of_a(evidence, count))

    def first(width: float) -> int:
        return bisect_left(range(MOST_NEEDED + 1), True, lo=least, key=lambda count: half(count) < width)

    def is_same(count: int) -> bool:
        sought = _sought(evidence, policy, count, _of_a(evidence, count))
        return half(count) < -math.log1p(-sought) - size

    # more trials seek a smaller loss
    begin = first(-math.log1p(-loss) - size)
    same = next(filter(is_same, range(begin, max(begin, policy.most) + 1)), MOST_NEEDED + 1)
    count = min(same, first(size))
    return count - evidence.count if count <= MOST_NEEDED else None


def _of_a(evidence: Sides, count: int) -> int:
    """Return the trials of A when B has so many: those of another campaign stay as they are."""
    return len(evidence.a) if evidence.between else max(len(evidence.a), count)


def judge_claim(evidence: Sides, policy: Policy, campaign: int) -> Verdict | None:
    """Judge the n-th campaign of the same programs; the trials that would decide are those of the next one."""
    found = judge(evidence, replace(policy, divisor=level_divisor(campaign)))
    if found is None or found.decided:
        return found
    following = judge(evidence, replace(policy, divisor=level_divisor(campaign + 1)))
    return replace(found, more=following.more if following and not following.decided else 0)
