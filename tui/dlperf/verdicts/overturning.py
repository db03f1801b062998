"""What a further result would have to be for a claim about a kind of machine to fall. Pure."""

from dataclasses import replace

from dlperf.verdicts.claims import DECIDED, Claim
from dlperf.verdicts.inference.policies import level_divisor
from dlperf.verdicts.inference.verdict import Verdict, judge
from dlperf.verdicts.kinds import over_machines

WORST = -0.5
"""Lead on one more machine at which a search begins: half of the speed of the other side."""
STEPS = 30


def least_further_lead(found: Claim) -> float | None:
    """Return the lead of the better side on one more machine from which on a claim about a kind still holds.

    None where nothing is claimed of a kind, or where a machine with the mean of the others would not keep it either.
    """
    better = found.of_better
    if better.found is None or not better.of_kind or better.verdict.code not in DECIDED:
        return None
    low, high = WORST, better.found.difference
    if not _holds(better, better.found, high):
        return None
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if _holds(better, better.found, middle) else (middle, high)
    return high


def _holds(claim: Claim, found: Verdict, lead: float) -> bool:
    """Whether B is better after one more machine, which is one more test."""
    evidence, policy = over_machines(claim.machines), replace(found.policy, divisor=_next(found.policy.divisor))
    more = replace(evidence, a=[*evidence.a, 1.0], b=[*evidence.b, 1.0 + lead])
    again = judge(more, policy)
    return again is not None and again.code == "better"


def _next(divisor: int) -> int:
    return level_divisor(tests_of(divisor) + 1)


def tests_of(divisor: int) -> int:
    """Return which test of the same programs has this divisor of the level."""
    return next(number for number in range(1, divisor + 1) if level_divisor(number) >= divisor)
