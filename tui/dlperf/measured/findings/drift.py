"""Drift of a run: change of its speed over the measured window, by linear regression."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from dlperf.evidence.columns import total

MINIMUM_VALUES = 10
LIMIT = 0.02
"""Change of speed over the measured window; identical nodes repeat within 1 % (MLPerf Training v4.0, 8 GPUs: 0.2 %)."""
SIGNIFICANCE = 3.0
"""Standard errors by which a slope must differ from 0, or from another, to be more than noise."""
LEAST_START = 0.05
"""Speed at the start, relative to the mean: a fitted line may begin below zero."""
MOST_POINTS = 1000
"""Most points of the regression."""


@dataclass(frozen=True)
class Trend:
    """Change over a window, relative to the mean, with its standard error."""

    change: float
    error: float

    @property
    def of_start(self) -> float:
        """The change relative to the start of the window."""
        return self.change / max(1 - self.change / 2, LEAST_START)

    @property
    def is_clear(self) -> bool:
        """Whether the change is more than noise."""
        return abs(self.change) > SIGNIFICANCE * self.error

    @property
    def is_drift(self) -> bool:
        """Whether the change is large and more than noise."""
        return abs(self.change) > LIMIT and self.is_clear

    def refutes(self, printed: Trend) -> bool:
        """Return whether a change of printed values cannot be one of the speed, whose trend this is."""
        same = self.change * printed.change > 0 and abs(self.change) > LIMIT
        return not same and abs(self.change - printed.change) > SIGNIFICANCE * self.error


def trend(speeds: Sequence[float]) -> Trend | None:
    """Return the change over the window; None of too few values."""
    if len(speeds) < MINIMUM_VALUES:
        return None
    size = len(speeds) // MOST_POINTS + 1
    means = [statistics.fmean(speeds[start : start + size]) for start in range(0, len(speeds) - size + 1, size)]
    centre, count = statistics.fmean(means), len(means)
    if centre <= 0:
        return None
    points = [mean / centre for mean in means]
    slope, intercept = _line(points)
    residuals = total((point - intercept - slope * index) ** 2 for index, point in enumerate(points))
    error = sqrt(residuals / (count - 2) / (count * (count**2 - 1) / 12))
    return Trend(slope * (count - 1), error * (count - 1))


def _line(points: Sequence[float]) -> tuple[float, float]:
    """Return slope and intercept by least squares; ``statistics.linear_regression`` rounds as its Python does."""
    centre, height = (len(points) - 1) / 2, total(points) / len(points)
    offsets = [index - centre for index in range(len(points))]
    rise = total(offset * (point - height) for offset, point in zip(offsets, points, strict=True))
    slope = rise / total(offset * offset for offset in offsets)
    return slope, height - slope * centre
