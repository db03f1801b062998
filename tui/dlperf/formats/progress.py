"""The position of a run in its log, by which the start of the next one is recognised."""

from collections.abc import Callable, Sequence
from itertools import islice
from math import isnan
from operator import le, lt

SEARCHES_LIMIT = 64
"""Records of a run that do not go on before which the start of another program is searched: each search costs time."""

STAGE_RECORDS = 100
"""Records after which a return to the second position of a run is a stage of its own, and no line out of order."""

Position = tuple[float, float]
"""Epoch and step of a record."""


class RunPosition:
    """Position of the current run, by which the start of the next one is recognised."""

    def __init__(self) -> None:
        self._first: Position | None = None
        self._second: Position | None = None
        self._count = 0
        self._last: Position | None = None
        self._searches = 0

    def advance(
        self,
        epochs: Sequence[float] | None,
        steps: Sequence[float],
        begins: Callable[[int], bool] = lambda index: False,
    ) -> int:
        """Return how many of the records belong to the run: all before one that is back at the start of the run.

        Args:
            epochs: of each record, NaN where it has none; None where none has.
            steps: of each record, NaN where it has none.
            begins: whether another program began before the record of this index, which does not go on in the run.
        """
        if epochs is None:
            epochs = [0.0] * len(steps)
        elif any(map(isnan, epochs)):
            epochs = [0.0 if isnan(epoch) else epoch for epoch in epochs]
        if self._is_monotonic(epochs, steps):
            for position in islice(zip(epochs, steps, strict=True), 2):
                self._go_on(position)
            self._last, self._count = (epochs[-1], steps[-1]), self._count + len(steps)
            return len(steps)
        positions = zip(epochs, steps, strict=True)
        return next(
            (
                index
                for index, position in enumerate(positions)
                if (self._may_begin(position) and begins(index)) or self._is_back(position)
            ),
            len(steps),
        )

    def _may_begin(self, position: Position) -> bool:
        """Return whether a record goes back, or has the run's only position, which several ranks may print."""
        if self._last is None or self._searches == SEARCHES_LIMIT:
            return False
        if not (position < self._last or position == self._first == self._last):
            return False
        self._searches += 1
        return True

    def _is_monotonic(self, epochs: Sequence[float], steps: Sequence[float]) -> bool:
        """Return whether every step is later than the one before it: the case that has to be fast."""
        if self._last is not None and not self._last < (epochs[0], steps[0]):
            return False
        return all(map(lt, steps, islice(steps, 1, None))) and all(map(le, epochs, islice(epochs, 1, None)))

    def _is_back(self, position: Position) -> bool:
        """Return whether a position is at the start of the run again, or before it; otherwise go on to it.

        A later stage may begin with the step after the first one, as nanochat's second training does.
        """
        if isnan(position[1]):
            return False
        start = self._second if self._count >= STAGE_RECORDS else self._first
        if start is not None and self._last is not None and position <= start and position < self._last:
            return True
        self._go_on(position)
        self._count += 1
        return False

    def _go_on(self, position: Position) -> None:
        if self._first is None:
            self._first = position
        elif self._second is None and position > self._first:
            self._second = position
        self._last = position
