"""Convert what a log prints: numbers and timestamps from bytes to floats, and JSON objects."""

from __future__ import annotations

import calendar
import json
import re
import time
from array import array
from collections.abc import Iterable, Sequence
from math import ceil, floor, inf, isfinite, isnan, nan
from typing import Any

from dlperf.catalog.patterns import ELAPSED, MILLISECONDS, SECONDS

ABSENT = b"nan"
"""Stands for a value that a record lacks; compared by identity, so that a printed nan differs from it."""
BETWEEN_THOUSANDS = "(?:[ '_]|\u2019|\u00a0|\u202f|\u2009)"
"""A space, an apostrophe or Python's underscore, as an expression for text or, encoded, for bytes."""
_THOUSANDS = re.compile(rf"(?<=\d){BETWEEN_THOUSANDS}(?=\d\d\d)".encode())
_WRITTEN = re.compile(rb"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,15}(?:\.\d{0,15})?)([KkMGBT]?)")
"""A number with thousands separators, a suffix or both: 5,615, 14.2K."""
_SUFFIXES = {b"": 1.0, b"K": 1e3, b"k": 1e3, b"M": 1e6, b"G": 1e9, b"B": 1e9, b"T": 1e12}
_ELAPSED_MINUTES = re.compile(rb"(?:(\d{1,7}) days?, )?(?:(\d{1,7}):)?(\d{1,9})")
"""05, 1:05 or, as Python writes a timedelta, 2 days, 1:05."""
_OTHER = re.compile(rb"[^0-9]")
_YEAR = re.compile(r"%[yY]")
_DAY = re.compile(r"%[djcxs]")
HALF_DAY = 43_200.0
LARGEST = 1e15
"""Of a number in a record: more tokens than any training has."""


def floats(texts: Sequence[bytes]) -> list[float]:
    """Convert texts, such as ``5615``, ``5,615`` or ``5.6K``, to floats, NaN where a text is no number."""
    if not texts:
        return []
    if texts[0] == texts[-1] and texts.count(texts[0]) == len(texts):  # as in the column of the epoch
        return [_float(texts[0])] * len(texts)
    try:
        return list(map(float, map(int, texts)))  # half the time where all are whole numbers
    except (ValueError, OverflowError):
        pass
    try:
        return list(map(float, texts))
    except ValueError:
        return [_float(text) for text in texts]


def _float(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        pass
    match = _WRITTEN.fullmatch(_THOUSANDS.sub(b"", text))
    return float(match[1].replace(b",", b"")) * _SUFFIXES[match[2]] if match else nan


def bounded(values: Iterable[float]) -> array[float]:
    """Return numbers with NaN for those that no program measured: sums of them overflow."""
    found = array("d", values)
    if sum(map(abs, found)) < LARGEST:
        return found
    return array("d", (nan if LARGEST <= abs(value) < inf else value for value in found))


def whole_ratio(total: bytes, part: bytes) -> bytes:
    """Return the only whole number that the ratio of two printed numbers may be, by their digits; b"" where none is."""
    digits = [float(b"0" + _OTHER.sub(b"", text.partition(b"e")[0])) for text in (total, part)]
    numbers = floats((total, part))
    if not (min(digits) > 0 and min(numbers) > 0 and isfinite(numbers[0] / numbers[1])):
        return b""
    ratio, error = numbers[0] / numbers[1], 0.5 / digits[0] + 0.5 / digits[1]
    lowest, highest = ceil(ratio * (1 - error)), floor(ratio * (1 + error))
    return str(lowest).encode() if lowest == highest else b""


class Clock:
    """Parses timestamps of one format: a strptime format that ends with ``%S``, ``%S.%f`` or ``%S,%f``, or a number of
    "seconds" or "milliseconds", or "elapsed", the 05:12, 1:05:12 or 1 day, 1:05:12 of a progress bar.

    Times are taken as UTC and, where the log gives no year, as of the year 2000: only differences count.
    A log writes hundreds of records in the same minute, so that each minute is parsed once.
    """

    def __init__(self, time_format: str) -> None:
        is_number = time_format in (SECONDS, MILLISECONDS)
        self._is_elapsed = time_format == ELAPSED
        self._minute_format = None if is_number else time_format.rpartition(":")[0]
        self._unit = 0.001 if time_format == MILLISECONDS else 1.0
        self._has_comma = "," in time_format
        self._minute_starts: dict[bytes, float] = {}
        self._is_daily = not (is_number or self._is_elapsed or _DAY.search(time_format))
        self._midnight, self._last = 0.0, nan

    def seconds(self, texts: Sequence[bytes]) -> list[float]:
        """Convert timestamps to seconds, NaN where a text is no timestamp."""
        minutes, _, seconds = zip(*[text.rpartition(b":") for text in texts], strict=True)
        if self._has_comma:
            seconds = tuple(second.replace(b",", b".") for second in seconds)
        known = self._minute_starts
        self._minute_starts = starts = {
            minute: known[minute] if minute in known else self._minute_start(minute) for minute in set(minutes)
        }
        times = [starts[minute] + second * self._unit for minute, second in zip(minutes, floats(seconds), strict=True)]
        return list(map(self._over_midnight, times)) if self._is_daily else times

    def _over_midnight(self, time: float) -> float:
        """Return a time of day, which goes back by half a day or more at midnight alone, as one of a count of days."""
        if self._last - time > HALF_DAY:
            self._midnight += 2 * HALF_DAY
        self._last = self._last if isnan(time) else time
        return self._midnight + time

    def _minute_start(self, minute: bytes) -> float:
        if self._is_elapsed:
            return _elapsed_minutes(minute)
        if self._minute_format is None:
            return 0.0
        text, minute_format = minute.decode("ascii", "replace"), self._minute_format
        if not _YEAR.search(minute_format):
            text, minute_format = f"2000 {text}", f"%Y {minute_format}"
        try:
            return float(calendar.timegm(time.strptime(text, minute_format)))
        except ValueError:
            return nan


def _elapsed_minutes(text: bytes) -> float:
    """Return the seconds of the minutes of an elapsed time, with days and hours or without."""
    match = _ELAPSED_MINUTES.fullmatch(text)
    days, hours, minutes = (int(number or b"0") for number in match.groups()) if match else (nan, nan, nan)
    return 60.0 * (60 * (24 * days + hours) + minutes)


def parse_object(line: bytes) -> dict[str, Any] | None:
    """Return the object that a text begins with, None where it is cut off, no object or not valid Unicode."""
    text = line.decode("utf-8", "replace")
    try:
        found, _ = json.JSONDecoder().raw_decode(text)
        if "\\ud" in text or "\\uD" in text:
            json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
