"""Find runs in which the records of several programs alternate."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, isnan

from dlperf.formats.samples import Samples


def alternations(samples: Samples, back: Iterable[int]) -> int:
    """Return how often the records go back and then jump beyond the furthest one.

    Args:
        samples: the records of a run.
        back: indices of those whose step is not greater than that of the record before.
    """
    epochs = samples.epoch
    if all(epochs[index] > epochs[index - 1] for index in back):
        return 0
    count, furthest = 0, (-inf, -inf)
    last = furthest
    for epoch, step in zip(epochs, samples.step, strict=True):
        position = (0.0 if isnan(epoch) else epoch, step)
        count += last < furthest < position
        furthest, last = max(furthest, position), position
    return count
