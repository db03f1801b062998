"""``telemetry.csv`` of the nodes, cut to the window that was measured."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from statistics import fmean

from dlperf.measure.columns import total
from dlperf.measure.telemetry import GpuReading

TIME_ZONE_STEP = 900.0
"""Offsets from UTC are whole quarters of an hour."""
EDGE = 2.0
"""Seconds that a window may lie beyond telemetry taken at 1 Hz."""


@dataclass(frozen=True)
class TelemetryRow:
    """One GPU at one moment, or a whole node without GPUs."""

    time: float
    """Seconds since the epoch, by the node's clock."""
    metrics: dict[str, float]
    """The columns that hold a number."""
    reading: GpuReading | None


def read_telemetry(path: Path, node: str) -> list[TelemetryRow]:
    """The rows of one node's file; a row that is cut or garbled is passed over."""
    try:
        with path.open(encoding="utf-8", errors="replace", newline="") as stream:
            return list(_rows(csv.DictReader(stream), node))
    except (OSError, csv.Error):
        return []


def in_window(rows: Sequence[TelemetryRow], first: float, last: float) -> list[TelemetryRow]:
    """The rows between two times of a log.

    A log may print local time without saying where: it is moved by whole quarters of an hour until it lies
    inside the telemetry. Empty where it lies outside all the same.
    """
    if not rows or not (isfinite(first) and isfinite(last)):
        return []
    start, end = rows[0].time, rows[-1].time
    shift = TIME_ZONE_STEP * round(((start + end) - (first + last)) / 2 / TIME_ZONE_STEP)
    for offset in (0.0, shift):
        if start - EDGE <= first + offset and last + offset <= end + EDGE:
            return [row for row in rows if first + offset <= row.time <= last + offset]
    return []


def mean_power(rows: Iterable[TelemetryRow]) -> float | None:
    """Watts of all GPUs together, each its mean; None where one of them does not tell."""
    watts: dict[str, list[float]] = {}
    for row in rows:
        if row.reading is not None:
            told = watts.setdefault(row.reading.gpu, [])
            told += [row.metrics["power_watts"]] if "power_watts" in row.metrics else []
    return total(map(fmean, watts.values())) if watts and all(watts.values()) else None


def mean_clock(rows: Iterable[TelemetryRow]) -> float | None:
    """MHz of the streaming multiprocessors, over all GPUs and moments; None where none tells."""
    told = [row.metrics["sm_clock_mhz"] for row in rows if row.reading and "sm_clock_mhz" in row.metrics]
    return fmean(told) if told else None


def _rows(cells: Iterable[Mapping[str, str | None]], node: str) -> Iterator[TelemetryRow]:
    for row in cells:
        numbers = {
            name: number
            for name, cell in row.items()
            if isinstance(cell, str) and (number := _number(cell)) is not None
        }
        if "time" in numbers:
            yield TelemetryRow(numbers["time"], numbers, _reading(row, node, numbers.get("sm_clock_mhz")))


def _reading(row: Mapping[str, str | None], node: str, clock: float | None) -> GpuReading | None:
    if not row.get("gpu"):
        return None
    throttled, foreign = _mask(row.get("throttle_reasons")), _count(row.get("foreign_processes"))
    return GpuReading(f"{node}:{row['gpu']}", throttled, foreign, clock)


def _number(cell: str | None) -> float | None:
    try:
        value = float(cell or "")
    except ValueError:
        return None
    return value if isfinite(value) else None


def _count(cell: str | None) -> int | None:
    return int(cell) if cell and cell.isdecimal() else None


def _mask(cell: str | None) -> int | None:
    try:
        return int(cell or "", 0)
    except ValueError:
        return None
