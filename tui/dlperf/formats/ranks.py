"""Keep one record of each step where every rank prints its own, and how long each rank takes beside the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isfinite

from dlperf.formats.recorder import Recorder
from dlperf.formats.samples import RankTimes, Run
from dlperf.formats.text.lines import RANK_LIMIT
from dlperf.formats.text.numbers import floats

TIMES = ("seconds_per_step", "milliseconds_per_step")
OPEN_STEPS = 8
"""Steps of which records of further ranks may still come."""


class Ranks:
    """The records of all ranks of a log."""

    def __init__(self) -> None:
        self._last: dict[bytes, float] = {}
        self._step = -inf
        self._open: dict[float, dict[bytes, float]] = {}
        """Step → times of the ranks whose records of it were read."""
        self._times = [RankTimes()]
        """Of the runs that began since the times were handed over."""

    def first_of_each_step(self, texts: Mapping[str, Sequence[bytes]]) -> list[int]:
        """Return the indices of the records to keep. A rank whose own step does not go on begins a run."""
        kept = []
        steps = floats(texts["step"])
        for index, (rank, step) in enumerate(zip(texts["rank"], steps, strict=True)):
            restarts = step <= self._last.get(rank, -inf) and step <= self._step
            if step > self._step or restarts:
                kept.append(index)
                self._step = step
            if restarts:
                self._begin_run()
            if len(self._last) < RANK_LIMIT:
                self._last[rank] = step
            if len(self._last) > 1:
                self._compare(rank, step, texts, index)
        return kept

    def declare(self, recorder: Recorder) -> None:
        """Declare the ranks seen; a log of one rank may be one of many."""
        numbers = [int(rank) for rank in self._last if rank.isdigit() and len(rank) < 6]
        if len(numbers) > 1:
            recorder.declare_late("ranks", str(max(numbers) + 1))

    def hand_over(self, runs: Sequence[Run]) -> None:
        """Give the last runs the times of their ranks."""
        for run, times in zip(reversed(runs), reversed(self._times), strict=False):
            run.ranks = times
        del self._times[:-1]

    def _begin_run(self) -> None:
        self._last.clear()  # or the same step of the other ranks would begin one each
        self._open.clear()
        self._times.append(RankTimes())

    def _compare(self, rank: bytes, step: float, texts: Mapping[str, Sequence[bytes]], index: int) -> None:
        """Note the time of a rank's step, and compare those of a step of which no rank prints any more."""
        if len(self._last) == RANK_LIMIT or (time := _time_of(texts, index)) is None:
            return
        self._open.setdefault(step, {})[rank] = time
        if len(self._open) > OPEN_STEPS:
            times = self._open.pop(min(self._open))
            self._times[-1].add({name.decode("utf-8", "replace"): time for name, time in times.items()})


def times_of_runs(runs: Mapping[str, Run]) -> RankTimes:
    """Return how long the steps of each rank, which has a log of its own, take beside the same steps of the others."""
    times, of_ranks = RankTimes(), {rank: _times_of_steps(run) for rank, run in runs.items()}
    for step in sorted({step for found in of_ranks.values() for step in found}):
        times.add({rank: found[step] for rank, found in of_ranks.items() if step in found})
    return times


def _times_of_steps(run: Run) -> dict[float, float]:
    """Return the time of each step that has a number: as printed, else in any unit, as ranks of a run do equal work."""
    steps, seconds, rates = run.samples.step, run.samples.seconds_per_step, run.samples.value
    if not any(map(isfinite, seconds)):
        return {step: 1 / rate for step, rate in zip(steps, rates, strict=True) if 0 < rate < inf and isfinite(step)}
    return {step: time for step, time in zip(steps, seconds, strict=True) if 0 < time < inf and isfinite(step)}


def _time_of(texts: Mapping[str, Sequence[bytes]], index: int) -> float | None:
    """Return the time of a step, in any unit, None where the record prints none; ranks of a run do equal work."""
    for name in TIMES:
        if name in texts:
            time = floats([texts[name][index]])[0]
            return time if 0 < time < inf else None
    rate = floats([texts["value"][index]])[0] if "value" in texts else 0.0
    return 1 / rate if 0 < rate < inf else None
