"""Rankings: the fastest framework, its lead, and how certain the lead is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from dlperf.report.data import gpus_total, grouped, is_published
from dlperf.results.model import ConfigurationResult


@dataclass(frozen=True)
class Answer:
    """The ranking of frameworks in one report on one hardware, precision and scale."""

    best: ConfigurationResult
    second: ConfigurationResult | None
    ranked: tuple[ConfigurationResult, ...] = ()
    """All frameworks measured at this scale, the fastest first."""

    @property
    def lead(self) -> float | None:
        """Return how much better the best is than the second, as a part of the second; None without a second."""
        if self.second is None or not self.best.score or not self.second.score:
            return None
        return self.best.score / self.second.score - 1

    @property
    def spread(self) -> float | None:
        """Return the larger of the spreads of best and second; None if one is unknown."""
        spreads = [result.spread for result in (self.best, self.second) if result is not None]
        return None if None in spreads else max(spread for spread in spreads if spread is not None)

    @property
    def clock_lead(self) -> float | None:
        """Return the best one's GPU clock over that of the second, minus 1; None if unknown.

        GPUs of one kind differ and throttle, so part of a lead may come from the clock and not from the framework.
        """
        clocks = [_clock(result) for result in (self.best, self.second) if result is not None]
        return clocks[0] / clocks[1] - 1 if len(clocks) == 2 and all(clocks) else None

    @property
    def certainty(self) -> str:
        """Return ``unknown``, ``single``, ``clear`` or ``tie``."""
        if is_published(self.best.campaign) and self.spread is None:
            return "unknown"
        if self.spread is None or min(result.n or 0 for result in (self.best, self.second or self.best)) < 2:
            return "single"
        return "clear" if self.lead is not None and self.lead > self.spread else "tie"


def _clock(result: ConfigurationResult) -> float:
    """Return the median GPU clock of the trials in MHz; 0 if unknown."""
    return median([trial.sm_clock_mhz for trial in result.trials if trial.sm_clock_mhz] or [0.0])


def answers(results: Iterable[ConfigurationResult]) -> tuple[Answer, ...]:
    """Return one answer for each hardware and precision of a report that has a value."""
    measured = [result for result in results if result.value is not None]
    return tuple(_answer(contest) for contest in grouped(measured, contest_of).values())


def contest_of(result: ConfigurationResult) -> tuple[object, ...]:
    """Return the key that two results of a report must share to be compared."""
    return result.hardware, result.precision, result.axes, result.unit, result.metric


def _answer(contest: Iterable[ConfigurationResult]) -> Answer:
    """Rank frameworks at the largest scale that compares at least two, each with its best batch size."""
    scales = grouped(contest, lambda result: (gpus_total(result), result.nodes))
    rivals = {scale: _best_of_each(members) for scale, members in scales.items()}
    wanted = min(2, max(len(members) for members in rivals.values()))
    scale = max(scale for scale, members in rivals.items() if len(members) >= wanted)
    ranked = sorted(rivals[scale], key=lambda result: (-result.score, result.framework))
    return Answer(ranked[0], ranked[1] if len(ranked) > 1 else None, tuple(ranked))


def _best_of_each(members: Iterable[ConfigurationResult]) -> list[ConfigurationResult]:
    frameworks = grouped(members, lambda result: result.framework)
    return [max(same, key=lambda result: result.score) for same in frameworks.values()]
