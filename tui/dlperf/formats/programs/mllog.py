"""The format ``mllog``: MLPerf Training result files. A run's value is its time to train, in minutes.

    :::MLLOG {"time_ms": 1759966714694, "key": "run_start", "value": null, "metadata": {…}}
    :::MLLOG {"time_ms": 1759973779685, "key": "run_stop", "value": null, "metadata": {"status": "success"}}
    :::MLL 1558659951.246 run_start: {"value": null, "metadata": {…}}

A run that did not reach the target quality has no time to train. Its records are where the training stops for an
evaluation and goes on, with the samples that the events count; where they count none, the throughput that the
program prints for its epochs.
"""

import re
from collections.abc import Mapping
from math import isfinite
from typing import Any, NamedTuple

from dlperf.formats.recorder import Recorder
from dlperf.formats.rules import FunctionRule, Rules, metadata_rules
from dlperf.formats.samples import FormatInfo, Summary
from dlperf.formats.text.numbers import parse_object

INFO = FormatInfo("mllog", "MLPerf Training (MLLOG)", "min", "global", "run", "mlcommons/logging, v0.6 on")

_MARK = b":::MLL"
_LINE = re.compile(rb":::MLL(?:OG (?=\{)| (?P<time>\d{1,12}\.\d{1,9}) (?P<key>\w{1,100}): (?=\{))")
_DECLARED = {
    "global_batch_size": "global_batch_size",
    "local_batch_size": "batch_size",
    "max_sequence_length": "sequence_length",
    "submission_benchmark": "model",
    "submission_org": "submitter",
}
"""Event → what its value states."""
_ARGUMENTS = {
    "precision": [r"--dtype (float\d\d)\b"],
    "amp": [r"--use-fp(1)6\b", r"\bfp16=(True)\b"],
    "gpus": [
        r"Initializing distributed: GLOBAL_RANK: \d+, MEMBER: \d+/(\d+)",
        r"All distributed processes registered\. Starting with (\d+) processes",
        r"device: cuda:\d+ n_gpu: ([2-9]|[1-9]\d+), distributed training: True",
    ],
    "gpus_per_node": [r"Run vars: id \d+ gpus (\d+) "],
    "nodes": [r"Run vars: id \d+ gpus \d+ .*?--nnodes=(\d+)"],
}
"""Declared field → how the command lines and arguments that programs print state it."""


class _LoggedEvent(NamedTuple):
    key: str
    seconds: float
    value: Any
    metadata: Mapping[str, Any]


def rules(recorder: Recorder) -> Rules:
    """Return the rules for one log."""
    events = [FunctionRule(_MARK, _parse_event, _LoggedEvents(recorder).read)]
    return Rules(events, metadata_rules(recorder, _ARGUMENTS))


def _parse_event(line: bytes) -> _LoggedEvent | None:
    match = _LINE.search(line)
    data = parse_object(line[match.end() :]) if match else None
    if match is None or data is None:
        return None
    metadata = data.get("metadata")
    known = metadata if isinstance(metadata, dict) else {}
    if match["time"]:
        return _LoggedEvent(match["key"].decode(), float(match["time"]), data.get("value"), known)
    milliseconds = _number(data.get("time_ms"))
    return _LoggedEvent(str(data.get("key")), milliseconds / 1000, data.get("value"), known) if milliseconds else None


def _number(value: object) -> float:
    """Return a finite number, 0 for anything else."""
    return float(value) if isinstance(value, int | float) and isfinite(value) else 0.0


class _LoggedEvents:
    """Reads the events of one log; every rank may print the same ones."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._started: float | None = None
        self._samples = 0.0
        self._batch = 0.0
        self._last = 0.0
        self._has_blocks = False
        self._tracked: object = None

    def read(self, event: _LoggedEvent, number: int) -> None:
        if event.key in _DECLARED and event.value is not None:
            self._recorder.declare(_DECLARED[event.key], str(event.value).removesuffix(".0"))
            self._batch = _number(event.value) if event.key == "global_batch_size" else self._batch
        elif event.key == "run_start" and self._started is None:
            self._started, self._samples, self._last = event.seconds, 0.0, event.seconds
        elif event.key == "run_stop" and self._started is not None:
            self._stop((event.seconds - self._started) / 60, event, number)
        elif event.key == "block_start":
            self._has_blocks |= "samples_count" in event.metadata
            self._count(event.seconds, self._samples, number)
        elif event.key == "eval_stop":
            self._recorder.mark_pause("evaluation", number)
        elif event.key in ("block_stop", "eval_start") and self._has_blocks and self._started is not None:
            self._train(self._started, event, number)
        elif event.key == "tracked_stats" and isinstance(event.value, dict) and not self._has_blocks:
            self._track(event, number)

    def _train(self, started: float, event: _LoggedEvent, number: int) -> None:
        """Record that the training stops for an evaluation."""
        samples = self._done(event)
        if samples > self._samples:
            if not self._samples:
                self._record(number, time=started, samples=0.0, step=0.0)
            self._samples = samples
            self._count(event.seconds, samples, number)

    def _count(self, seconds: float, samples: float, number: int) -> None:
        """Record samples, unless their event is dated back, as is the stop of a run that is evaluated at its end."""
        if samples and seconds >= self._last:
            self._last = seconds
            self._record(number, time=seconds, samples=samples, step=samples / (self._batch or 1.0))

    def _done(self, event: _LoggedEvent) -> float:
        """Return the samples since the start; a block may state its own, beside the steps since the start."""
        step = _number(event.metadata.get("step"))
        return step * self._batch if step and self._batch else _number(event.metadata.get("samples_count"))

    def _track(self, event: _LoggedEvent, number: int) -> None:
        """Record a throughput that the program computed, of an epoch whose samples it does not state."""
        rate = _number(event.value.get("throughput"))
        part = event.metadata.get("epoch_num"), event.metadata.get("step")
        if rate > 0 and part != self._tracked:
            self._tracked = part
            self._record(number, time=event.seconds, value=rate)

    def _stop(self, minutes: float, event: _LoggedEvent, number: int) -> None:
        self._count(event.seconds, self._samples, number)
        self._started = None
        if event.metadata.get("status") == "success" and minutes > 0:
            self._recorder.add_summary(Summary("time to train", minutes, "min", number))
            self._recorder.add_metric("time_to_train", [minutes], "min", "lower")
            self._recorder.complete()

    def _record(self, number: int, **columns: float) -> None:
        self._recorder.extend({name: [value] for name, value in columns.items()}, [number], "samples/s", "interval")
