"""Whether two programs train alike: the test of speeds, on their losses at fixed steps. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from dlperf.measured.losses import Losses, common_steps
from dlperf.messages import Message, message
from dlperf.verdicts.inference.verdict import LEVEL, Policy, Sides, judge

ALIKE = Policy(looks=1, least=2, most=2, largest=0.2)
"""Losses are alike where their interval lies within what seeds make them differ by; seeds that differ by more show
nothing."""


@dataclass(frozen=True)
class Alike:
    """How far the losses of two programs that train alike are apart at the last step that both printed."""

    step: int
    difference: float
    """Relative, of B and A."""
    limit: float
    """Within which they count as alike, from how much they vary."""


def alike_losses(a: Sequence[Losses], b: Sequence[Losses]) -> Alike | None:
    """Return how far apart programs are that are shown to train alike; None where they print no losses."""
    steps = common_steps((*a, *b))
    if not steps:
        return None
    left, right = ([dict(losses)[steps[-1]] for losses in side] for side in (a, b))
    found = judge(Sides(left, right), replace(ALIKE, level=LEVEL / len(steps)))
    return Alike(steps[-1], found.difference, found.loss) if found else None


def unlike_losses(a: Sequence[Losses], b: Sequence[Losses], first: str, second: str) -> Iterator[Message]:
    """Yield why programs are not shown to train alike, of the latest step at which they are not.

    Args:
        first: name of A, and ``second`` of B.
    """
    steps = common_steps((*a, *b))
    if not steps:
        silent = [name for name, side in ((first, a), (second, b)) if not any(side)]
        yield from (message("losses_unprinted", framework=name) for name in silent)
        yield from () if silent else (message("losses_uncommon"),)
    for step in reversed(steps):
        left, right = ([dict(losses)[step] for losses in side] for side in (a, b))
        positive = [min(side) > 0 for side in (left, right)]  # what has a logarithm
        found = judge(Sides(left, right), replace(ALIKE, level=LEVEL / len(steps))) if all(positive) else None
        if any(positive) and not all(positive):
            code = "losses_differ"
        elif found is None or found.code == "same":
            continue
        else:
            code = "losses_differ" if found.decided else "losses_unclear"
        yield message(code, step=step, a=median(left), b=median(right), first=first, second=second)
        return
