"""What programs print of several steps at once: their own totals, and means that overlap."""

import re
from collections.abc import Mapping, Sequence
from math import isfinite, nan

from dlperf.catalog.linear import compile_linear
from dlperf.formats.recorder import Recorder
from dlperf.formats.samples import STEPS_PER_SECOND, Summary
from dlperf.formats.text.numbers import ABSENT, floats


class TotalRule:
    """A rule that matches the program's own totals, of an epoch or of the run, by the groups of a record.

    In a log without records its line is no total: there it may be a record.
    """

    def __init__(self, recorder: Recorder, pattern: str, contains: bytes) -> None:
        expression = compile_linear(pattern)
        self.contains = contains
        self.search = expression.search
        self._recorder = recorder

    def act(self, matches: Sequence[re.Match[bytes]], numbers: Sequence[int]) -> None:
        for match, number in zip(matches, numbers, strict=True):
            if self._recorder.runs:
                self._add({name: floats([text])[0] for name, text in match.groupdict(ABSENT).items()}, number)

    def _add(self, groups: Mapping[str, float], number: int) -> None:
        seconds, rate = groups.get("seconds_per_step", nan), groups.get("steps_per_second", nan)
        speed = 1 / seconds if seconds > 0 else rate
        steps = groups.get("interval_seconds", nan) * rate
        if steps > 0:
            self._recorder.number_records(steps)
        if isfinite(epoch := groups.get("epoch", nan)) and isfinite(speed):
            self._recorder.add_epoch(Summary("total", speed, STEPS_PER_SECOND, number, int(epoch)))
        elif isfinite(speed):
            self._recorder.add_summary(Summary("total", speed, STEPS_PER_SECOND, number))


class OverlappingMeans:
    """Turns means of the last steps of an epoch into those of the steps since the record before.

    The first records of an epoch are means of all its steps so far, from step 0 on, so that a slow first step is in
    several of them. Where a mean is that of as many steps as it may be, it stands for the steps since the last record.
    """

    def __init__(self, most: int) -> None:
        """Expect means of at most this many steps."""
        self._most = most
        self._epoch = nan
        self._steps = 0.0
        self._sums: dict[str, float] = {}

    def separate(self, columns: Mapping[str, list[float]], epochs: Sequence[float], steps: Sequence[float]) -> None:
        """Replace the means in each column of seconds, in place."""
        for index, (epoch, step) in enumerate(zip(epochs, steps, strict=True)):
            done = step + 1
            if epoch != self._epoch or done <= self._steps:
                self._epoch, self._steps, self._sums = epoch, 0.0, {}
            for name, column in columns.items():
                whole, before = column[index] * done, self._sums.get(name, 0.0)
                if self._steps and done <= self._most and whole > before:
                    column[index] = (whole - before) / (done - self._steps)
                self._sums[name] = whole
            self._steps = done


class EpochBars:
    """Keeps one state of each epoch's progress bar: the first full one, else the last, of a bar that was cut."""

    def __init__(self, names: Sequence[str]) -> None:
        self._epoch, self._step, self._steps = (names.index(name) for name in ("epoch", "step", "epoch_steps"))
        self._cut: tuple[tuple[bytes, ...], int] | None = None
        self._full = b""

    def last_of_each_epoch(
        self, rows: Sequence[tuple[bytes, ...]], numbers: Sequence[int]
    ) -> tuple[list[tuple[bytes, ...]], list[int]]:
        """Return the states, and their lines, after which no better one of their epoch follows."""
        kept: list[tuple[tuple[bytes, ...], int]] = []
        for row, number in zip(rows, numbers, strict=True):
            epoch = row[self._epoch]
            if self._cut is not None and self._cut[0][self._epoch] != epoch:
                kept.append(self._cut)
                self._cut = None
            if row[self._step] == row[self._steps]:
                kept.append((row, number))
                self._cut, self._full = None, epoch
            elif self._full != epoch:
                self._cut = row, number
        return [row for row, _ in kept], [number for _, number in kept]
