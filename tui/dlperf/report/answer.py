"""Who is fastest on what, by how much, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from dlperf.report.data import gpus_total, grouped, is_published
from dlperf.results.model import ConfigurationResult


@dataclass(frozen=True)
class Answer:
    """The fastest framework of one report on one hardware and precision, at one scale."""

    best: ConfigurationResult
    second: ConfigurationResult | None
    ranked: tuple[ConfigurationResult, ...] = ()
    """Every framework that was measured at this scale, the fastest first."""

    @property
    def lead(self) -> float | None:
        """How much more the best does than the second, as a ratio; None without a second."""
        if self.second is None or not self.best.value or not self.second.value:
            return None
        return self.best.value / self.second.value - 1

    @property
    def spread(self) -> float | None:
        """The larger of the two spreads; None where one of them is unknown."""
        spreads = [result.spread for result in (self.best, self.second) if result is not None]
        return None if None in spreads else max(spread for spread in spreads if spread is not None)

    @property
    def clock_lead(self) -> float | None:
        """How much higher the clock of the best one's GPUs was than that of the second's, as a ratio; None where it is
        not known. Chips of one kind differ, and throttle: such a lead is not the framework's alone."""
        clocks = [_clock(result) for result in (self.best, self.second) if result is not None]
        return clocks[0] / clocks[1] - 1 if len(clocks) == 2 and all(clocks) else None

    @property
    def certainty(self) -> str:
        """How sure the answer is: ``unknown``, ``single``, ``clear`` or ``tie``."""
        if is_published(self.best.campaign) and self.spread is None:
            return "unknown"
        if self.spread is None or min(result.n or 0 for result in (self.best, self.second or self.best)) < 2:
            return "single"
        return "clear" if self.lead is not None and self.lead > self.spread else "tie"


def _clock(result: ConfigurationResult) -> float:
    """MHz, the median of the trials; 0 where it is not known."""
    return median([trial.sm_clock_mhz for trial in result.trials if trial.sm_clock_mhz] or [0.0])


def answers(results: Iterable[ConfigurationResult]) -> tuple[Answer, ...]:
    """One answer for each hardware and precision of a report that has a figure."""
    figures = [result for result in results if result.value is not None]
    contests = grouped(figures, contest_of)
    return tuple(_answer(contest) for contest in contests.values())


def contest_of(result: ConfigurationResult) -> tuple[str, str, str]:
    """What two figures of a report must share to be compared."""
    return result.hardware, result.precision, result.unit


def _answer(contest: Iterable[ConfigurationResult]) -> Answer:
    """At the largest scale on which most frameworks can be compared; each framework with its best batch size."""
    scales = grouped(contest, lambda result: (gpus_total(result), result.nodes))
    rivals = {scale: _best_of_each(members) for scale, members in scales.items()}
    wanted = min(2, max(len(members) for members in rivals.values()))
    scale = max(scale for scale, members in rivals.items() if len(members) >= wanted)
    ranked = sorted(rivals[scale], key=lambda result: (-(result.value or 0.0), result.framework))
    return Answer(ranked[0], ranked[1] if len(ranked) > 1 else None, tuple(ranked))


def _best_of_each(members: Iterable[ConfigurationResult]) -> list[ConfigurationResult]:
    frameworks = grouped(members, lambda result: result.framework)
    return [max(same, key=lambda result: result.value or 0.0) for same in frameworks.values()]
