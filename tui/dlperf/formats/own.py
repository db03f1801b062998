"""The format ``dlperf``: what the training programs shipped with dlperf print.

Three kinds of line, each of which one f-string prints. Times are UTC with microseconds, JSON stands on one line:

    DLPERF 2026-01-31T12:00:00.123456Z run {"model": "resnet50", "framework": "pytorch", "batch_size": 128, "gpus": 8}
    DLPERF 2026-01-31T12:00:01.123456Z step=20 epoch=0 samples=20480 loss=2.301 throughput=20480.0
    DLPERF 2026-01-31T12:00:09.123456Z summary {"throughput": 20375.2, "unit": "images/s"}

``run`` comes first, from rank 0, and opens a run. Its keys: ``model``, ``framework``, ``precision``, ``batch_size``
(per GPU), ``global_batch_size``, ``gpus`` (over all nodes), ``steps`` (the last step of a complete run) and ``unit``
(``samples/s`` if absent); all others are kept as arguments. Of these, ``data`` says what was trained on: ``synthetic``
(generated on the device), ``folder`` (JPEG files), ``tfrecord`` or ``recordio``; of real data ``images`` is the number,
and ``loader`` what decoded them, such as ``DALI 2.4.0 on the GPU``.

A step line stands for an interval that ends with step ``step`` (the first step is 1). ``samples`` counts what all
ranks have processed since the start, so that a rate is a difference of samples over a difference of times, whatever
was printed; ``throughput`` is the program's own rate of the interval, over all ranks. ``step`` comes first; the other
four may be left out, but keep their order.

``summary`` ends a run.
"""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any

from dlperf.formats.clock import Clock
from dlperf.formats.info import FormatInfo
from dlperf.formats.numbers import floats
from dlperf.formats.parser import FunctionRule, Rules
from dlperf.formats.recorder import Recorder
from dlperf.formats.records import RecordRule
from dlperf.formats.samples import Summary

INFO = FormatInfo("dlperf", "dlperf's own training programs", "samples/s", "global", "interval", "dlperf/workloads")

_RECORD = re.compile(
    rb"DLPERF (?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+)Z step=(?P<step>\d+)(?: epoch=(?P<epoch>\d+))?"
    rb"(?: samples=(?P<samples>\d+))?(?: loss=(?P<loss>\S+))?(?: throughput=(?P<value>\S+))?"
)
_JSON = re.compile(rb"DLPERF \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z (run|summary) (\{.*\})")


def rules(recorder: Recorder) -> Rules:
    """The rules for one log."""

    def act(found: tuple[bytes, dict[str, Any]], number: int) -> None:
        kind, data = found
        if kind == b"run":
            _open_run(recorder, data)
        else:
            _end_run(recorder, data, number)

    clock = Clock("%Y-%m-%dT%H:%M:%S.%f")
    return Rules([RecordRule(recorder, _RECORD, b"DLPERF ", clock), FunctionRule(b"DLPERF ", _json, act)])


def _json(line: bytes) -> tuple[bytes, dict[str, Any]] | None:
    """``run`` or ``summary``, and the mapping behind it."""
    match = _JSON.search(line)
    if match is None:
        return None
    try:
        data = json.loads(match[2])
    except (ValueError, RecursionError):
        return None
    return match[1], data


def _open_run(recorder: Recorder, data: dict[str, Any]) -> None:
    recorder.begin_run()
    recorder.set_unit(str(data.pop("unit", INFO.unit)))
    for name, value in data.items():
        if value is not None:
            recorder.hear(name, value if isinstance(value, str) else json.dumps(value))
    recorder.settle()


def _end_run(recorder: Recorder, data: dict[str, Any], number: int) -> None:
    value = data.get("throughput")
    throughput = floats([str(value).encode()])[0]
    if isfinite(throughput):
        unit = str(data.get("unit", recorder.runs[-1].unit if recorder.runs else INFO.unit))
        recorder.add_summary(Summary("throughput", throughput, unit, number))
    recorder.complete()
