"""Timestamps of a log → seconds. A log writes hundreds of records in the same minute: only seconds are read anew."""

from __future__ import annotations

import calendar
import re
import time
from collections.abc import Sequence
from math import nan

from dlperf.catalog.patterns import SECONDS
from dlperf.formats.numbers import floats

_YEAR = re.compile(r"%[yY]")


class Clock:
    """Reads timestamps of one format, a strptime format that ends with ``%S``, ``%S.%f`` or ``%S,%f``, or "seconds".

    Times are taken as UTC and, where the log gives no year, as of the year 2000: only differences count.
    """

    def __init__(self, time_format: str) -> None:
        self._minutes_format = None if time_format == SECONDS else time_format.rpartition(":")[0]
        self._has_comma = "," in time_format
        self._starts: dict[bytes, float] = {}

    def seconds(self, texts: Sequence[bytes]) -> list[float]:
        """Seconds of each timestamp; NaN where it is none."""
        minutes, _, seconds = zip(*[text.rpartition(b":") for text in texts], strict=True)
        if self._has_comma:
            seconds = tuple(second.replace(b",", b".") for second in seconds)
        known = self._starts
        self._starts = starts = {
            minute: known[minute] if minute in known else self._start_of(minute) for minute in set(minutes)
        }
        return [starts[minute] + second for minute, second in zip(minutes, floats(seconds), strict=True)]

    def _start_of(self, minute: bytes) -> float:
        return 0.0 if self._minutes_format is None else _at(minute, self._minutes_format)


def _at(minute: bytes, minutes_format: str) -> float:
    text = minute.decode("ascii", "replace")
    if not _YEAR.search(minutes_format):
        text, minutes_format = f"2000 {text}", f"%Y {minutes_format}"
    try:
        return float(calendar.timegm(time.strptime(text, minutes_format)))
    except ValueError:
        return nan
