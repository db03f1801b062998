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
    """One GPU at one moment."""

    time: float
    """Seconds since the epoch, by the node's clock."""
    reading: GpuReading
    power_watts: float | None = None
    utilization_percent: float | None = None
    sm_clock_mhz: float | None = None
    temperature_celsius: float | None = None


def read_telemetry(path: Path, node: str) -> list[TelemetryRow]:
    """The rows of one node's file; a row that is cut or garbled is passed over. Empty where no GPU was sampled."""
    try:
        with path.open(encoding="utf-8", errors="replace", newline="") as stream:
            return list(_rows(csv.DictReader(stream), node))
    except (OSError, csv.Error):
        return []


def read_metrics(path: Path, names: Sequence[str]) -> list[tuple[float, dict[str, float]]]:
    """Time and the named columns of every row of a file, whether it is of a GPU or of a whole node."""
    try:
        with path.open(encoding="utf-8", errors="replace", newline="") as stream:
            return list(_metrics(csv.DictReader(stream), names))
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
        told = watts.setdefault(row.reading.gpu, [])
        if row.power_watts is not None:
            told.append(row.power_watts)
    return total(map(fmean, watts.values())) if watts and all(watts.values()) else None


def mean_clock(rows: Iterable[TelemetryRow]) -> float | None:
    """MHz of the streaming multiprocessors, over all GPUs and moments; None where none tells."""
    told = [row.sm_clock_mhz for row in rows if row.sm_clock_mhz is not None]
    return fmean(told) if told else None


def _metrics(
    cells: Iterable[Mapping[str, str | None]], names: Sequence[str]
) -> Iterator[tuple[float, dict[str, float]]]:
    for row in cells:
        time = _number(row.get("time"))
        if time is not None:
            told = {name: _number(row.get(name)) for name in names}
            yield time, {name: value for name, value in told.items() if value is not None}


def _rows(cells: Iterable[Mapping[str, str | None]], node: str) -> Iterator[TelemetryRow]:
    for row in cells:
        time, gpu = _number(row.get("time")), row.get("gpu")
        if time is not None and gpu:
            reading = GpuReading(
                f"{node}:{gpu}",
                _mask(row.get("throttle_reasons")),
                _count(row.get("foreign_processes")),
                _number(row.get("sm_clock_mhz")),
            )
            yield TelemetryRow(
                time,
                reading,
                power_watts=_number(row.get("power_watts")),
                utilization_percent=_number(row.get("utilization_percent")),
                sm_clock_mhz=_number(row.get("sm_clock_mhz")),
                temperature_celsius=_number(row.get("temperature_celsius")),
            )


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
