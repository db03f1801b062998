"""Runs written down by hand."""

from array import array
from math import nan
from typing import Any

from dlperf.formats.samples import Metadata, Run, Samples, Summary

COLUMNS = ("value", "seconds_per_step", "step", "epoch", "time", "loss", "reader_share", "samples")


def run_of(
    *,
    unit: str = "images/s",
    scope: Any = "global",
    window: Any = "step",
    metadata: dict[str, Any] | None = None,
    summaries: list[float] | None = None,
    epochs: list[float] | None = None,
    complete: bool = True,
    marks_end: bool = True,
    notes: list[str] | None = None,
    **columns: Any,
) -> Run:
    """A run with these columns; a column that is not given is missing, steps are 1, 2, 3, …

    ``{"from": a, "to": b}`` is the column a, a+1, … b. Records stand on lines 1, 2, …; summaries and epochs on 100, ….
    """
    given = {name: _numbers(values) for name, values in columns.items()}
    length = len(next(iter(given.values())))
    given.setdefault("step", [index + 1.0 for index in range(length)])
    numbers = {name: array("d", given.get(name, [nan] * length)) for name in COLUMNS}
    samples = Samples(**numbers, line=array("q", range(1, length + 1)))
    return Run(
        "test",
        unit,
        scope,
        window,
        samples=samples,
        summaries=_summaries("final", unit, summaries or []),
        epochs=_summaries("epoch", unit, epochs or []),
        metadata=Metadata(**(metadata or {})),
        complete=complete,
        marks_end=marks_end,
        notes=notes or [],
    )


def _numbers(values: Any) -> list[float]:
    if isinstance(values, dict):
        return [float(number) for number in range(values["from"], values["to"] + 1)]
    return [float(value) for value in values]


def _summaries(name: str, unit: str, values: list[float]) -> list[Summary]:
    return [Summary(name, value, unit, 100 + index, index) for index, value in enumerate(values)]
