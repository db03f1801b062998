"""A parsed log as plain data, to be compared with what a fixture expects."""

from __future__ import annotations

from dataclasses import asdict
from math import isnan
from typing import Any

from dlperf.formats.parser import LogParser
from dlperf.formats.samples import Run, Summary

COLUMNS = ("line", "epoch", "step", "time", "value", "seconds_per_step", "reader_share", "loss", "samples")


def described(parser: LogParser) -> dict[str, Any]:
    """Lines and runs; of the samples their number, the first and the last."""
    return {"lines": parser.lines, "runs": [_run(run) for run in parser.runs]}


def _run(run: Run) -> dict[str, Any]:
    return {
        "number": run.number,
        "unit": run.unit,
        "scope": run.scope,
        "window": run.window,
        "complete": run.complete,
        "notes": run.notes,
        "samples": len(run.samples),
        "first": _sample(run, 0),
        "last": _sample(run, -1),
        "epochs": [_summary(summary) for summary in run.epochs],
        "summaries": [_summary(summary) for summary in run.summaries],
        "metadata": {name: value for name, value in asdict(run.metadata).items() if value not in (None, {})},
    }


def _sample(run: Run, index: int) -> dict[str, float]:
    if not len(run.samples):
        return {}
    values = {name: getattr(run.samples, name)[index] for name in COLUMNS}
    return {name: round(value, 6) for name, value in values.items() if not isnan(value)}


def _summary(summary: Summary) -> str:
    epoch = "" if summary.epoch is None else f"epoch {summary.epoch}: "
    return f"line {summary.line}: {epoch}{summary.name} {summary.value:g} {summary.unit}"
