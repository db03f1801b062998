"""Lines that one regular expression matches → records, many at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import isnan, nan

from dlperf.formats.clock import Clock
from dlperf.formats.numbers import ABSENT, floats
from dlperf.formats.recorder import Recorder
from dlperf.formats.samples import Window

Texts = Mapping[str, Sequence[bytes]]
"""Name of a group → what it matched in each record."""


class RecordRule:
    """Finds records by a regular expression with named groups (see ``dlperf.catalog.patterns.RECORD_GROUPS``)."""

    def __init__(
        self,
        recorder: Recorder,
        pattern: re.Pattern[bytes],
        contains: bytes,
        clock: Clock | None = None,
        window: Window | None = None,
    ) -> None:
        """``window``: what these records cover, where it is not what the format says of most."""
        self.contains = contains
        self.search = pattern.search
        self._recorder = recorder
        self._names = tuple(sorted(pattern.groupindex, key=pattern.groupindex.__getitem__))
        self._clock = clock
        self._window = window

    def act(self, found: Sequence[re.Match[bytes]], numbers: Sequence[int]) -> None:
        """Add the records."""
        rows = [match.groups(ABSENT) for match in found]
        texts = dict(zip(self._names, zip(*rows, strict=True), strict=True))
        self._recorder.extend(self._columns(texts), numbers, window=self._window)

    def _columns(self, texts: Texts) -> dict[str, Sequence[float]]:
        columns: dict[str, Sequence[float]] = {
            name: floats(texts[name]) for name in ("value", "step", "steps", "epoch", "samples") if name in texts
        }
        if "loss" in texts:
            columns |= loss_columns(texts["loss"])
        if "time" in texts and self._clock is not None:
            columns["time"] = self._clock.seconds(texts["time"])
        columns |= _durations(texts, columns.get("step", ()))
        return columns


def loss_columns(texts: Sequence[bytes]) -> dict[str, Sequence[float]]:
    """The losses, and where one is printed as nan also which."""
    losses = floats(texts)
    if not any(map(isnan, losses)):
        return {"loss": losses}
    return {"loss": losses, "nan_loss": [text is not ABSENT and text.lower() == b"nan" for text in texts]}


def _durations(texts: Texts, steps: Sequence[float]) -> dict[str, Sequence[float]]:
    """Seconds per step, and the share of them that the program waited for data."""
    seconds = _seconds_per_step(texts, steps)
    if seconds is None:
        return {}
    if "reader_seconds" not in texts:
        return {"seconds_per_step": seconds}
    readers = floats(texts["reader_seconds"])
    shares = [reader / second if second else nan for reader, second in zip(readers, seconds, strict=True)]
    return {"seconds_per_step": seconds, "reader_share": [1.0 if share > 1.0 else share for share in shares]}


def _seconds_per_step(texts: Texts, steps: Sequence[float]) -> list[float] | None:
    for name, seconds in _TO_SECONDS.items():
        if name in texts:
            numbers = floats(texts[name])
            return numbers if seconds is None else [seconds(number) for number in numbers]
    if "interval_seconds" in texts:
        taken = [last - first for last, first in zip(steps, floats(texts["first_step"]), strict=True)]
        intervals = floats(texts["interval_seconds"])
        return [interval / count if count > 0 else nan for interval, count in zip(intervals, taken, strict=True)]
    return None


_TO_SECONDS: dict[str, Callable[[float], float] | None] = {
    "seconds_per_step": None,
    "milliseconds_per_step": lambda milliseconds: milliseconds / 1000,
    "steps_per_second": lambda rate: 1 / rate if rate else nan,
}
