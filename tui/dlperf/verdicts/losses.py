"""Whether two programs train alike: the test of speeds, on their losses at fixed steps. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from dlperf.measured.losses import Losses, common_steps
from dlperf.messages import Message, message
from dlperf.verdicts.inference.policies import LEVEL, Policy
from dlperf.verdicts.inference.verdict import Sides, Verdict, judge

ALIKE = Policy(looks=1, least=2, most=2, largest=0.2)
"""Losses are alike where their interval lies within what seeds make them differ by; seeds that differ by more show
nothing."""


@dataclass(frozen=True)
class Alike:
    """How far the losses of two programs that train alike are apart at the step at which they are most."""

    step: int
    difference: float
    """Relative, of B and A."""
    limit: float
    """Within which they count as alike, from how much they vary."""
    a: tuple[float, ...] = ()
    """Losses of the trials of A at the step, and ``b`` of B."""
    b: tuple[float, ...] = ()

    @property
    def said(self) -> Message:
        return message("losses_most_apart", step=self.step, apart=abs(self.difference), limit=self.limit)


def alike_losses(a: Sequence[Losses], b: Sequence[Losses]) -> Alike | None:
    """Return how far apart programs are that are shown to train alike; None where no losses above 0 are printed."""
    steps = common_steps((*a, *b))
    tested = [(step, sides, _verdict(*sides, len(steps))) for step in steps for sides in [_at(step, a, b)]]
    known = [Alike(step, found.difference, found.loss, *map(tuple, sides)) for step, sides, found in tested if found]
    return max(known, key=lambda each: abs(each.difference), default=None)


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
        left, right = _at(step, a, b)
        if code := _unlike(left, right, len(steps)):
            yield message(code, step=step, a=median(left), b=median(right), first=first, second=second)
            return


def _unlike(a: Sequence[float], b: Sequence[float], tests: int) -> str:
    """Return whether losses at a step differ or are unclear; empty if they are alike, or not above 0 on both sides."""
    if (min(a) > 0) != (min(b) > 0):
        return "losses_differ"
    found = _verdict(a, b, tests)
    if found is None or found.code == "same":
        return ""
    return "losses_differ" if found.decided else "losses_unclear"


def _verdict(a: Sequence[float], b: Sequence[float], tests: int) -> Verdict | None:
    """Test losses, one of so many times; None where one has no logarithm."""
    return judge(Sides(a, b), replace(ALIKE, level=LEVEL / tests)) if min(*a, *b) > 0 else None


def _at(step: int, a: Sequence[Losses], b: Sequence[Losses]) -> tuple[list[float], list[float]]:
    return [dict(losses)[step] for losses in a], [dict(losses)[step] for losses in b]
