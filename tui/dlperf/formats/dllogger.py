"""The format ``dllogger``: NVIDIA DeepLearningExamples, whatever the framework and the model.

DLLogger writes the same events as text to the terminal and as JSON to a file; both are read:

    DLL 2023-08-04 05:46:28.892809 - Epoch: 0 Iteration: 2  train.loss : 7.85750 None train.total_ips : 365.85 images/s
    DLL 2022-11-24 04:06:17.895552 - (0, 200) total_ips : 3285.2818984560968
    DLL 2023-08-01 03:12:28.132442 - Iteration: 2  throughput_train : 350.185 sequences/s mlm_loss : 10.5395
    DLLL {"datetime": "2023-08-04 05:46:28.892809", "type": "LOG", "step": [0, 2], "data": {"train.total_ips": 365.85}}

A step of two numbers is an iteration, of one an epoch, of none the whole run; ``PARAMETER`` declares arguments. The
metric that is the training throughput differs with the program (see ``dllogger_metrics``) and is chosen by content;
so are the unit and what a record covers. All are global. An iteration that prints a loss and no throughput (BERT on
PyTorch) is a record with a time alone. A whole-run throughput is a summary and ends the run.
"""

from __future__ import annotations

import json
import re
from typing import Any

from dlperf.formats.dllogger_iterations import NAMED, PLAIN, TIME, IterationRule, Iterations
from dlperf.formats.dllogger_metrics import (
    Throughput,
    loss_of_data,
    throughput_of_data,
    throughput_of_text,
    throughput_values,
)
from dlperf.formats.dllogger_parameters import Parameters
from dlperf.formats.dllogger_table import ThroughputTable
from dlperf.formats.info import FormatInfo
from dlperf.formats.numbers import ABSENT, floats
from dlperf.formats.parser import FunctionRule, Rules
from dlperf.formats.recorder import Recorder
from dlperf.formats.samples import Summary

INFO = FormatInfo(
    "dllogger", "NVIDIA DeepLearningExamples (DLLogger)", "images/s", "global", "step", "NVIDIA DLLogger, text and JSON"
)

_EVENT = re.compile(
    TIME + rb"(?:(?:Training )?Epoch: (?P<epoch>\d+)(?! (?:Training )?Iteration)|\((?P<plain_epoch>\d*),?\)"
    rb"|Summary:|(?P<parameters>PARAMETER)|)(?P<data> .*)",
    re.DOTALL,
)
_JSON = b"DLLL {"


def rules(recorder: Recorder) -> Rules:
    """The rules for one log."""
    records, parameters = Iterations(recorder), Parameters(recorder)
    events = _Events(recorder, records, parameters)
    return Rules(
        [
            IterationRule(NAMED, records),
            IterationRule(PLAIN, records),
            FunctionRule(b"DLL 2", _EVENT.search, events.read_text),
            FunctionRule(_JSON, _json, events.read_json),
        ],
        [*parameters.rules(), *ThroughputTable(recorder).rules()],
    )


class _Events:
    """Epochs, summaries and parameters; and whatever is JSON."""

    def __init__(self, recorder: Recorder, records: Iterations, parameters: Parameters) -> None:
        self._recorder = recorder
        self._records = records
        self._parameters = parameters
        self._throughputs = throughput_values()
        self._units: dict[str, str] = {}

    def read_text(self, found: re.Match[bytes], number: int) -> None:
        """An epoch, a summary or parameters as text."""
        data: bytes = found["data"]
        if found["parameters"] is not None:
            self._parameters.read(data)
            return
        value = self._throughputs.search(data)
        if value is not None:
            self._add_summary(found["epoch"] or found["plain_epoch"] or b"", throughput_of_text(value), number)

    def read_json(self, event: dict[str, Any], number: int) -> None:
        """Any event as JSON."""
        data, step = event.get("data"), event.get("step")
        if event.get("type") == "METADATA":
            self._hear_unit(event)
        elif isinstance(data, dict) and step == "PARAMETER":
            self._parameters.hear({str(name): str(value) for name, value in data.items()})
        elif isinstance(data, dict) and isinstance(step, list | int):
            self._read_log(data, step if isinstance(step, list) else [step], str(event.get("datetime", "")), number)

    def _read_log(self, data: dict[str, Any], step: list[Any], time: str, number: int) -> None:
        throughput, loss = throughput_of_data(data, self._units), loss_of_data(data)
        if len(step) == 2 and (throughput or loss):
            value = ABSENT if throughput is None else throughput.value
            epoch_and_step = {"epoch": [str(step[0]).encode()], "step": [str(step[1]).encode()]}
            texts = {"time": [time.encode()], "value": [value], "loss": [loss or ABSENT]} | epoch_and_step
            self._records.add(texts, [number], throughput)
        elif len(step) < 2 and throughput is not None:
            self._add_summary("".join(map(str, step)).encode(), throughput, number)

    def _add_summary(self, epoch: bytes, throughput: Throughput, number: int) -> None:
        of_epoch = int(epoch) if epoch.isdigit() and len(epoch) < 10 else None
        summary = Summary(throughput.name, floats([throughput.value])[0], throughput.unit, number, of_epoch)
        if epoch:
            self._recorder.add_epoch(summary)
        else:
            self._recorder.add_summary(summary)
            self._recorder.complete()
        if not self._records.any_throughput:
            self._recorder.set_unit(throughput.unit)

    def _hear_unit(self, event: dict[str, Any]) -> None:
        declared = event.get("metadata")
        if isinstance(declared, dict) and isinstance(declared.get("unit"), str):
            self._units[str(event.get("metric"))] = declared["unit"]


def _json(line: bytes) -> dict[str, Any] | None:
    """The event behind ``DLLL``; None where it is cut off."""
    text = line[line.index(_JSON) + len(_JSON) - 1 :].decode("utf-8", "replace")
    try:
        event, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None
