"""Keep one record of each step where every rank prints its own, and how long each rank takes beside the others."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from math import inf, isfinite, isnan, nan

from dlperf.formats.recorder import Recorder
from dlperf.formats.samples import RankTimes, Run
from dlperf.formats.text.lines import RANK_LIMIT
from dlperf.formats.text.numbers import floats
from dlperf.formats.text.prefixes import PROGRAM

TIMES = ("seconds_per_step", "milliseconds_per_step")
MOST_DIGITS = 6
"""From which on a number is no rank."""
OPEN_STEPS = 8
"""Steps of which records of further ranks may still come."""


Position = tuple[float, float]
"""Epoch and step of a record."""
_START = (-inf, -inf)


class Ranks:
    """The records of all ranks, or of all nodes or containers that print, of a log."""

    def __init__(self) -> None:
        self._last: dict[bytes, Position] = {}
        self._first = self._position = _START
        """Of the run so far."""
        self._program: bytes | None = None
        """Of which the records are kept once; those of others are not its ranks."""
        self._are_local = False
        """Several processes write as the same rank, as those of several nodes do."""
        self._open: dict[Position, dict[bytes, float]] = {}
        """Position → times of the ranks whose records of it were read."""
        self._times = [RankTimes()]
        """Of the runs that began since the times were handed over."""

    def first_of_each_step(self, texts: Mapping[str, Sequence[bytes]]) -> list[int]:
        """Return the indices of the records to keep. A rank whose own step does not go on begins a run."""
        kept = []
        for index, (rank, position) in enumerate(zip(texts["rank"], _positions(texts), strict=True)):
            if isnan(position[1]) or self._is_of_another_program(rank):
                kept.append(index)
                continue
            before = self._last.get(rank, _START)
            if position == before > self._first and len(self._last) > 1:
                self._are_local = True
                continue
            restarts = position <= min(before, self._position)
            if restarts:
                self._begin_run()
            if position > self._position:
                kept.append(index)
                self._position = position
                self._first = position if self._first == _START else self._first
            if len(self._last) < RANK_LIMIT:
                self._last[rank] = position
            if len(self._last) > 1:
                self._compare(rank, position, texts, index)
        return kept

    def declare(self, recorder: Recorder) -> None:
        """Declare the ranks seen; a log of one rank may be one of many."""
        count = 0 if self._are_local else _count_ranks(self._last)
        if count or self._are_local:
            recorder.declare_late("ranks", str(count))

    def _is_of_another_program(self, rank: bytes) -> bool:
        program, mark, _ = rank.partition(PROGRAM)
        program = program if mark else b""
        if self._program is None:
            self._program = program
        return program != self._program

    def hand_over(self, runs: Sequence[Run]) -> None:
        """Give the last runs the times of their ranks."""
        for run, times in zip(reversed(runs), reversed(self._times), strict=False):
            run.ranks = times
        del self._times[:-1]

    def _begin_run(self) -> None:
        self._last.clear()  # or the same step of the other ranks would begin one each
        self._open.clear()
        self._first = self._position = _START
        self._times.append(RankTimes())

    def _compare(self, rank: bytes, position: Position, texts: Mapping[str, Sequence[bytes]], index: int) -> None:
        """Note the time of a rank's step, and compare those of a step of which no rank prints any more."""
        if len(self._last) == RANK_LIMIT or (time := _time_of(texts, index)) is None:
            return
        self._open.setdefault(position, {})[rank] = time
        if len(self._open) > OPEN_STEPS:
            times = self._open.pop(min(self._open))
            self._times[-1].add({name.strip().decode("utf-8", "replace"): time for name, time in times.items()})


def _positions(texts: Mapping[str, Sequence[bytes]]) -> list[Position]:
    steps = floats(texts["step"])
    epochs = floats(texts["epoch"]) if "epoch" in texts else repeat(nan, len(steps))
    return [(-1.0 if isnan(epoch) else epoch, step) for epoch, step in zip(epochs, steps, strict=True)]


def _count_ranks(names: Iterable[bytes]) -> int:
    """Return how many ranks a run has by the numbers of those that print, 0 where they do not say it.

    Behind the name of a node, ranks may be numbered within it or over all nodes.
    """
    ranks_of: dict[bytes, set[int]] = {}
    for name in names:
        outer, _, rank = name.rpartition(b"/")
        if rank.isdigit() and len(rank) < MOST_DIGITS:
            ranks_of.setdefault(outer, set()).add(int(rank))
    groups = list(ranks_of.values())
    if max(map(len, groups), default=0) < 2:
        return 0
    highest, known = max(map(max, groups)), set().union(*groups)
    return (highest + 1) * (1 if len(known) == sum(map(len, groups)) else len(groups))


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
