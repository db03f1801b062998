"""The format ``mllog``: MLPerf Training result files. A run's value is its time to train, in minutes.

    :::MLLOG {"time_ms": 1759966714694, "key": "run_start", "value": null, "metadata": {…}}
    :::MLLOG {"time_ms": 1759973779685, "key": "run_stop", "value": null, "metadata": {"status": "success"}}
    :::MLL 1558659951.246 run_start: {"value": null, "metadata": {…}}

A run that did not reach the target quality has no time to train.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import Any, NamedTuple

from dlperf.formats.recorder import Recorder
from dlperf.formats.rules import FunctionRule, Rules
from dlperf.formats.samples import FormatInfo, Summary
from dlperf.formats.text.jsontext import parse_object

INFO = FormatInfo("mllog", "MLPerf Training (MLLOG)", "min", "global", "run", "mlcommons/logging, v0.6 on")

_MARK = b":::MLL"
_LINE = re.compile(rb":::MLL(?:OG (?=\{)| (?P<time>\d{1,12}\.\d{1,9}) (?P<key>\w{1,100}): (?=\{))")
_DECLARED = {"global_batch_size": "global_batch_size", "submission_benchmark": "model"}


class _LoggedEvent(NamedTuple):
    key: str
    seconds: float
    value: Any
    status: str


def rules(recorder: Recorder) -> Rules:
    """Return the rules for one log."""
    return Rules([FunctionRule(_MARK, _parse_event, _LoggedEvents(recorder).read)])


def _parse_event(line: bytes) -> _LoggedEvent | None:
    match = _LINE.search(line)
    data = parse_object(line[match.end() :]) if match else None
    if match is None or data is None:
        return None
    metadata = data.get("metadata")
    status = str(metadata.get("status", "")) if isinstance(metadata, dict) else ""
    if match["time"]:
        return _LoggedEvent(match["key"].decode(), float(match["time"]), data.get("value"), status)
    milliseconds = data.get("time_ms")
    if not isinstance(milliseconds, int | float) or not isfinite(milliseconds):
        return None
    return _LoggedEvent(str(data.get("key")), milliseconds / 1000, data.get("value"), status)


class _LoggedEvents:
    """Reads the events of one log; every rank may print the same ones."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._started: float | None = None

    def read(self, event: _LoggedEvent, number: int) -> None:
        if event.key in _DECLARED and event.value is not None:
            self._recorder.declare(_DECLARED[event.key], str(event.value))
        elif event.key == "run_start" and self._started is None:
            self._started = event.seconds
        elif event.key == "run_stop" and self._started is not None:
            minutes, self._started = (event.seconds - self._started) / 60, None
            if event.status == "success" and minutes > 0:
                self._recorder.add_summary(Summary("time to train", minutes, "min", number))
                self._recorder.add_metric("time_to_train", [minutes], "min", "lower")
                self._recorder.complete()
