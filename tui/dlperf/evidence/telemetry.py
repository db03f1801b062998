"""Read ``telemetry.csv`` of nodes, and average it over the measured window."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import islice
from math import inf, isfinite, nan
from pathlib import Path
from statistics import fmean
from typing import TextIO

from dlperf.evidence.columns import total
from dlperf.opening import open_regular

TIME_ZONE_STEP = 900.0
"""Offsets from UTC are whole quarters of an hour."""
LONGEST_ROW = 4096
"""Characters."""
MOST_ROWS = 150_000
"""Rows of a file that are held, in 100 MB: five hours of eight GPUs."""
MOST_LINES = 5_000_000
"""Lines of a file that are read: a week of eight GPUs. A payload may have written more."""
MOST = 1e15
"""Of a number; sums of larger ones may overflow."""
ENERGY = "energy_millijoules"
PACKAGE_ENERGY = "cpu_package_millijoules"
NODE_POWER = "node_watts"
EDGE = 2.0
"""Seconds by which a window may exceed telemetry taken at 1 Hz."""


@dataclass(frozen=True)
class GpuReading:
    """One GPU at one moment."""

    gpu: str
    """Unique over all nodes: ``node1:0``."""
    throttle_reasons: int | None = None
    """``clocks_event_reasons.active`` as a bit mask; None if the driver does not report it."""
    foreign_processes: int | None = None
    """Processes on the GPU that do not belong to the trial; None if not sampled."""
    sm_clock_mhz: float | None = None
    """Clock of the multiprocessors; None if not sampled."""
    utilization_percent: float | None = None
    """Share of the time in which a kernel ran; None if not sampled."""


@dataclass(frozen=True)
class TelemetryRow:
    """One GPU at one moment, or a whole node without GPUs."""

    time: float
    """Seconds since the epoch, by the node's clock."""
    metrics: dict[str, float]
    """The columns that hold a number."""
    reading: GpuReading | None


def read_telemetry(path: Path, node: str) -> list[TelemetryRow]:
    """Read one node's file, without damaged rows."""
    try:
        with TextIOWrapper(open_regular(path), "utf-8", "replace", newline="") as stream:
            return _thinned(parse_telemetry(islice(_lines(stream), MOST_LINES), node))
    except (OSError, csv.Error):
        return []


def _thinned(rows: Iterable[TelemetryRow]) -> list[TelemetryRow]:
    """Return all rows, or those of every second, fourth … moment where there are too many to hold."""
    kept: list[tuple[int, TelemetryRow]] = []
    moment, time, every = 0, nan, 1
    for row in rows:
        if row.time != time:
            moment, time = moment + 1, row.time
        if moment % every == 0:
            kept.append((moment, row))
        if len(kept) > MOST_ROWS:
            every *= 2
            kept = [item for item in kept if item[0] % every == 0]
    return [row for _, row in kept]


def _lines(stream: TextIO) -> Iterator[str]:
    """Yield the lines of a file without those that are too long for a row."""
    is_rest = False
    while line := stream.readline(LONGEST_ROW):
        ends = line.endswith("\n")
        if not is_rest and (ends or len(line) < LONGEST_ROW):
            yield line
        is_rest = not ends


def in_window(rows: Sequence[TelemetryRow], first: float, last: float) -> list[TelemetryRow]:
    """Return the rows between two times of a log, which may be of any time zone.

    Empty if the times, shifted by whole quarters of an hour, are not inside the telemetry.
    """
    if not rows or not (isfinite(first) and isfinite(last)):
        return []
    start, end = rows[0].time, rows[-1].time
    shift = TIME_ZONE_STEP * round(((start + end) - (first + last)) / 2 / TIME_ZONE_STEP)
    for offset in (0.0, shift):
        if start - EDGE <= first + offset and last + offset <= end + EDGE:
            return [row for row in rows if first + offset <= row.time <= last + offset]
    return []


def by_gpu(rows: Iterable[TelemetryRow]) -> dict[str, list[TelemetryRow]]:
    """Return the rows of each GPU, in their order."""
    found: dict[str, list[TelemetryRow]] = {}
    for row in rows:
        if row.reading is not None:
            found.setdefault(row.reading.gpu, []).append(row)
    return found


def mean_power(devices: Iterable[Sequence[TelemetryRow]], column: str = "power_watts") -> float | None:
    """Return the watts of all GPUs or machines together, averaged over time; None where one of them reports none."""
    watts = [[row.metrics[column] for row in rows if column in row.metrics] for rows in devices]
    return total(map(fmean, watts)) if watts and all(watts) else None


def counted_power(devices: Iterable[Sequence[TelemetryRow]], column: str = ENERGY) -> float | None:
    """Return the watts of all GPUs or machines together by their counters; None where one has none, or was reset."""
    watts = []
    for rows in devices:
        counted = [(row.time, row.metrics[column]) for row in rows if column in row.metrics]
        (first, before), (last, after) = (counted[0], counted[-1]) if counted else ((0.0, 0.0), (0.0, 0.0))
        if last <= first or after <= before:
            return None
        watts.append((after - before) / (last - first) / 1000)
    return total(watts) if watts else None


def peak_memory(rows: Iterable[TelemetryRow]) -> float | None:
    """Return the MiB of the fullest GPU; None where none is reported."""
    used = [row.metrics["memory_used_mib"] for row in rows if row.reading and "memory_used_mib" in row.metrics]
    return max(used, default=None)


def mean_clock(rows: Iterable[TelemetryRow]) -> float | None:
    """Return the mean SM clock in MHz over all GPUs and rows; None where none is reported."""
    clocks = [row.metrics["sm_clock_mhz"] for row in rows if row.reading and "sm_clock_mhz" in row.metrics]
    return fmean(clocks) if clocks else None


def parse_telemetry(lines: Iterable[str], node: str) -> Iterator[TelemetryRow]:
    """Yield the rows of a file's lines, without damaged ones; the first line names the columns."""
    for row in csv.DictReader(lines, quoting=csv.QUOTE_NONE):
        numbers = {name: number for name, cell in row.items() if (number := _number(cell)) is not None}
        if "time" in numbers:
            yield TelemetryRow(numbers["time"], numbers, _reading(row, node, numbers))


def _reading(row: Mapping[str, str | None], node: str, numbers: Mapping[str, float]) -> GpuReading | None:
    if not row.get("gpu"):
        return None
    throttled, foreign = _integer(row.get("throttle_reasons"), 0), _integer(row.get("foreign_processes"), 10)
    measured = (numbers.get(name) for name in ("sm_clock_mhz", "utilization_percent"))
    return GpuReading(f"{node}:{row['gpu']}", throttled, foreign, *measured)


def _number(cell: str | list[str] | None) -> float | None:
    """Return a number that a machine can have; a list holds the cells beyond the last column."""
    try:  # not suppress(), which would take most of the time: a file has many cells, and half of them may be empty
        value = float(cell) if isinstance(cell, str) else inf
    except ValueError:
        return None
    return value if abs(value) <= MOST else None


def _integer(cell: str | None, base: int) -> int | None:
    with suppress(ValueError):
        return int(cell or "", base)
    return None
