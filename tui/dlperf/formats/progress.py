"""Where records stand in their run, to see where a log begins the next one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from math import isnan
from operator import le, lt

Position = tuple[float, float]
"""Epoch and step of a record."""


class Progress:
    """How far the current run has come. A record that is back at the start of it belongs to another."""

    def __init__(self) -> None:
        self._first: Position | None = None
        self._last: Position | None = None

    def restart(self) -> None:
        """A run begins."""
        self._first = self._last = None

    def advance(self, epochs: Sequence[float] | None, steps: Sequence[float]) -> int:
        """Go on with records up to one that is back at the start of the run: how many they are.

        Args:
            epochs: of each record, NaN where it has none; None where none has.
            steps: of each record, NaN where it has none.
        """
        if epochs is None:
            epochs = [0.0] * len(steps)
        elif any(map(isnan, epochs)):
            epochs = [0.0 if isnan(epoch) else epoch for epoch in epochs]
        if self._plainly_goes_on(epochs, steps):
            self._first, self._last = self._first or (epochs[0], steps[0]), (epochs[-1], steps[-1])
            return len(steps)
        positions = zip(epochs, steps, strict=True)
        return next((index for index, position in enumerate(positions) if self._is_back(position)), len(steps))

    def _plainly_goes_on(self, epochs: Sequence[float], steps: Sequence[float]) -> bool:
        """Whether every step is later than the one before it: the case that has to be fast."""
        if self._last is not None and not self._last < (epochs[0], steps[0]):
            return False
        return all(map(lt, steps, islice(steps, 1, None))) and all(map(le, epochs, islice(epochs, 1, None)))

    def _is_back(self, position: Position) -> bool:
        """Whether a record stands at the start of the run again, or before it."""
        if isnan(position[1]):
            return False
        if self._first is not None and self._last is not None and position <= self._first and position < self._last:
            return True
        self._first, self._last = self._first or position, position
        return False
