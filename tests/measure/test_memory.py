"""Measuring a run of many records needs no more memory than measuring one of some thousands."""

from __future__ import annotations

import tracemalloc

import pytest

from dlperf.formats import column
from dlperf.formats.column import Column
from dlperf.formats.samples import COLUMNS, Run, Samples
from dlperf.measure import order
from dlperf.measure.figure import figure_of
from dlperf.measure.outliers import outliers
from dlperf.measure.reading import Reading
from dlperf.measure.run_findings import findings_of_run


def long_run(records: int) -> Run:
    """A record in a thousand is missing, so that nothing can be taken for whole."""
    columns: dict[str, Column[float]] = {name: Column("d") for name in COLUMNS}
    for name, numbers in columns.items():
        for start in range(0, records, 1000):
            numbers.extend(numbers_of(name, start))
    samples = Samples(**columns, line=Column("q", range(1, records + 1)))
    return Run("test", "images/s", "global", "step", samples=samples)


def numbers_of(name: str, start: int) -> list[float]:
    if name in ("step", "time", "samples"):
        return [start + index + 1.0 for index in range(1000)]
    return [float("nan"), *(100.0 + (start + index) * 7919 % 10007 / 1000 for index in range(999))]


def peak_memory(records: int) -> int:
    run = long_run(records)
    tracemalloc.start()
    reading = Reading(run, 1, None, 100)
    findings_of_run(reading, figure_of(reading))
    assert outliers(reading.run.samples.time) == ()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_memory_does_not_grow_with_the_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "HELD", 1000)
    monkeypatch.setattr(column, "IN_MEMORY", 1 << 14)
    assert peak_memory(30_000) < peak_memory(10_000) + (1 << 17)
