"""The format ``dlperf``: what the training programs shipped with dlperf print.

Four kinds of line, each printable by one f-string. Times are UTC with microseconds, JSON is on one line:

    DLPERF 2026-01-31T12:00:00.123456Z run {"model": "resnet50", "framework": "pytorch", "batch_size": 128, "gpus": 8}
    DLPERF 2026-01-31T12:00:00.123457Z numerics {"weights": "fp32", "compute": "bf16", "residual": "bf16"}
    DLPERF 2026-01-31T12:00:01.123456Z step=20 epoch=0 samples=20480 loss=2.301 throughput=20480.0
    DLPERF 2026-01-31T12:00:09.123456Z summary {"throughput": 20375.2, "unit": "images/s", "metrics": {"auc": 0.76}}

``run`` comes first, from rank 0, and opens a run. Its keys: ``model``, ``framework``, ``precision``, ``batch_size``
(per GPU), ``global_batch_size``, ``gpus`` (over all nodes), ``steps`` (the last step of a complete run) and ``unit``
(``samples/s`` if absent); all others are kept as arguments. Of these, ``data`` names the training data: ``synthetic``
(generated on the device), ``folder`` (JPEG files), ``tfrecord`` or ``recordio``; for real data ``images`` is their
number and ``loader`` the decoder, such as ``DALI 2.4.0 on the GPU``.

``numerics``, which may follow, holds the data types that a step used, as the program read them from the step: names of
``catalog.model.Numerics``. Where they are not what the catalogue states, the trial has no value.

A step line covers the interval that ends with step ``step`` (the first step is 1). ``samples`` counts what all
ranks have processed since the start, so that samples over time is independent of the printed rate; ``throughput`` is
the program's own rate of the interval, over all ranks. ``step`` comes first; the other four are optional, but keep
their order. Metrics may follow, such as ``bandwidth=371.2``.

``summary`` ends a run. Its ``metrics`` are numbers, or objects with ``value``, ``unit`` and ``direction`` (``higher``
or ``lower`` is better).
"""

import json
import re
from collections.abc import Sequence
from itertools import chain
from math import isfinite
from typing import Any

from dlperf.catalog.linear import compile_linear
from dlperf.formats.recorder import METRIC_LIMIT, Recorder
from dlperf.formats.rules import FunctionRule, RecordRule, Rules, Texts
from dlperf.formats.samples import FormatInfo, Summary
from dlperf.formats.text.numbers import ABSENT, Clock, floats, parse_object

INFO = FormatInfo("dlperf", "dlperf's own training programs", "samples/s", "global", "interval", "dlperf/workloads")

_METRIC = re.compile(rb"(?<!\S)([a-z][a-z0-9_]{0,30})=(\S+)")
_RECORD = (
    r"DLPERF (?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+)Z step=(?P<step>\d+)(?: epoch=(?P<epoch>\d+))?"
    r"(?: samples=(?P<samples>\d+))?(?: loss=(?P<loss>\S+))?(?: throughput=(?P<value>\S+))?"
    r"(?: (?P<metrics>.*))?"
)
UNIT_LIMIT = 30
NUMERICS = "numerics."
"""How the names of arguments begin that the line ``numerics`` holds."""
_EVENT = compile_linear(r"DLPERF \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z (run|numerics|summary) (\{.*)")


def rules(recorder: Recorder) -> Rules:
    """Return the rules for one log."""

    def act(event: tuple[bytes, dict[str, Any]], number: int) -> None:
        kind, data = event
        if kind == b"run":
            _open_run(recorder, data)
        elif kind == b"numerics":
            _declare(recorder, {f"{NUMERICS}{name}": value for name, value in data.items()})
        else:
            _end_run(recorder, data, number)

    clock = Clock("%Y-%m-%dT%H:%M:%S.%f")
    return Rules([_StepRule(recorder, _RECORD, b"DLPERF ", clock), FunctionRule(b"DLPERF ", _parse_json, act)])


class _StepRule(RecordRule):
    """Step lines, with any metrics at their end."""

    def _metrics(self, texts: Texts) -> dict[str, Sequence[float]]:
        if texts["metrics"].count(ABSENT) == len(texts["metrics"]):  # as in most logs
            return {}
        rows = [dict(_METRIC.findall(text)) for text in texts["metrics"]]
        names = sorted(set(chain(*rows)))[:METRIC_LIMIT]
        return {name.decode(): floats([row.get(name, ABSENT) for row in rows]) for name in names}


def _parse_json(line: bytes) -> tuple[bytes, dict[str, Any]] | None:
    match = _EVENT.search(line)
    data = None if match is None else parse_object(match[2])
    return None if data is None else (match[1], data)


def _open_run(recorder: Recorder, data: dict[str, Any]) -> None:
    recorder.begin_run()
    recorder.set_unit(str(data.pop("unit", INFO.unit)))
    _declare(recorder, data)


def _declare(recorder: Recorder, data: dict[str, Any]) -> None:
    for name, value in data.items():
        if value is not None:
            recorder.declare(name, value if isinstance(value, str) else json.dumps(value))
    recorder.apply_declarations()


def _end_run(recorder: Recorder, data: dict[str, Any], number: int) -> None:
    throughput = floats([str(data.get("throughput")).encode()])[0]
    if isfinite(throughput):
        unit = str(data.get("unit", recorder.runs[-1].unit if recorder.runs else INFO.unit))
        recorder.add_summary(Summary("throughput", throughput, unit, number))
    metrics = data.get("metrics")
    for name, given in metrics.items() if isinstance(metrics, dict) else ():
        if _METRIC.fullmatch(f"{name}=_".encode()):
            _add_metric(recorder, name, given if isinstance(given, dict) else {"value": given})
    if isinstance(allocated := data.get("peak_memory_bytes"), int):
        recorder.add_metric("allocated_memory_per_gpu", [allocated / 1e9], "GB", "lower")
    recorder.complete()


def _add_metric(recorder: Recorder, name: str, given: dict[str, Any]) -> None:
    unit, direction = str(given.get("unit", "")), given.get("direction")
    values = floats([str(given.get("value")).encode()])
    recorder.add_metric(name, values, unit[:UNIT_LIMIT], "lower" if direction == "lower" else "higher")
