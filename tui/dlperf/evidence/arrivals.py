"""When the lines of a log arrived, by a clock that nobody sets: from ``out.times`` of the node's supervisor."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from math import isfinite, nan
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from dlperf.formats.samples import Run
from dlperf.opening import open_regular, read_bytes

BLOCK = 1 << 20
MOST = 200_000
"""Rows that are read; a trial of a month has fewer."""


class Arrival(NamedTuple):
    """A moment at which the log had so many whole lines, and had fewer the moment before."""

    seconds: float
    """Since the trial's start, by the node's monotonic clock."""
    lines: int


def read_arrivals(table: Path, log: Path, name: str) -> tuple[Arrival, ...]:
    """Return when the lines of a log arrived; nothing where that was not recorded, or where the log was replaced.

    Args:
        name: of the log on the node, such as ``out.log``.
    """
    with suppress(OSError, ValueError):
        rows = list(_rows(read_bytes(table), name))
        if rows and all(before.size <= after.size for before, after in pairwise(rows)):
            return tuple(_lines_at(rows, log))
    return ()


def arrival_times(lines: Iterable[int], arrivals: Sequence[Arrival]) -> array[float]:
    """Return when each of these lines (1-based) had arrived, in seconds since the trial's start; NaN where unknown."""
    places = (bisect_left(arrivals, line, key=attrgetter("lines")) for line in lines)
    return array("d", (arrivals[place].seconds if place < len(arrivals) else nan for place in places))


def timed_by_arrival(run: Run, arrivals: Sequence[Arrival], started: float) -> Run:
    """Give a run without any times those at which its lines arrived; a program's own times come first.

    Args:
        started: when the trial started, in seconds since 1970.
    """
    if not arrivals or any(map(isfinite, run.samples.time)):
        return run
    times = array("d", (started + seconds for seconds in arrival_times(run.samples.line, arrivals)))
    return replace(run, samples=replace(run.samples, time=times), timed_on_arrival=True)


class _ArrivalRow(NamedTuple):
    seconds: float
    size: int


def _rows(data: bytes, name: str) -> Iterator[_ArrivalRow]:
    for line in data.decode("utf-8", "replace").splitlines()[1:MOST]:
        seconds, size, log = line.split(",", 2)
        if log == name:
            yield _ArrivalRow(float(seconds), int(size))


def _lines_at(rows: list[_ArrivalRow], log: Path) -> Iterator[Arrival]:
    """Count the line feeds before each size, in one pass."""
    with open_regular(log) as stream:
        lines = position = 0
        for row in rows:
            before = lines
            while position < row.size and (part := stream.read(min(BLOCK, row.size - position))):
                position += len(part)
                lines += part.count(b"\n")
            if lines > before:
                yield Arrival(row.seconds, lines)
