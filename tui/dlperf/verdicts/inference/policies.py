"""What decides a verdict: levels, how often one looks, how many trials. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

LEVEL = 0.01
"""How often results that do not differ may be called better or worse."""
LARGEST_LOSS = 0.05
"""Default limit of the loss that is sought: results that vary more do not pass as the same without a stated loss."""
LEAST_UNITS = 3
"""Machines from which a variation between them is estimated; GPUs of a claim about their kind."""


@dataclass(frozen=True)
class Policy:
    """What decides a verdict."""

    looks: int | None
    """How often the results are looked at while trials are added; None for any number of pairs, by an always-valid
    test."""
    least: int
    """Trials of each side without which there is no verdict."""
    most: int
    """Trials of each side up to which are added while nothing is decided."""
    level: float = LEVEL
    loss: float | None = None
    """Relative loss that is sought; None for the smallest that ``most`` trials of this variation can decide."""
    largest: float = LARGEST_LOSS
    """The most that is sought by default."""
    divisor: int = 1
    """What the level is divided by, because further tests share it."""


IN_TURNS = Policy(looks=None, least=5, most=15)
"""Two versions whose trials alternate on one machine."""
APART = Policy(looks=2, least=5, most=10)
"""Two campaigns: a gate, a reproduction."""
CLAIM = Policy(looks=1, least=5, most=7)
"""Two programs on one machine, for others to read."""
OF_KIND = Policy(looks=1, least=LEAST_UNITS, most=LEAST_UNITS)
"""Two programs on several GPUs of a kind; each value is that of a GPU."""


def holm_level(ps: Iterable[float]) -> float:
    """Return the level of each of several tests at which one of all is false with probability ``LEVEL`` at most.

    Holm 1979 rejects in the order of p until one exceeds its share; exactly these are at most the share of that one.
    """
    ordered = sorted(ps)
    shares = [LEVEL / (len(ordered) - rank) for rank in range(len(ordered))]
    return next((share for p, share in zip(ordered, shares, strict=True) if p > share), LEVEL)


def level_divisor(campaign: int) -> int:
    """Return by how much the level is divided for the n-th campaign of a claim.

    The shares, 1/2, 1/6, 1/12 and so on, add up to one: whoever measures again until a claim comes out, for ever, is
    told a false one no more often than the level says.
    """
    return campaign * (campaign + 1)
