"""The format ``dllogger``: NVIDIA DeepLearningExamples, for every framework and model.

DLLogger writes the same events as text to the terminal and as JSON to a file; both are read:

    DLL 2023-08-04 05:46:28.892809 - Epoch: 0 Iteration: 2  train.loss : 7.85750 None train.total_ips : 365.85 images/s
    DLL 2022-11-24 04:06:17.895552 - (0, 200) total_ips : 3285.2818984560968
    DLL 2023-08-01 03:12:28.132442 - Iteration: 2  throughput_train : 350.185 sequences/s mlm_loss : 10.5395
    DLLL {"datetime": "2023-08-04 05:46:28.892809", "type": "LOG", "step": [0, 2], "data": {"train.total_ips": 365.85}}

A step of two numbers is an iteration, of one an epoch, of none the whole run; ``PARAMETER`` declares arguments. The
metric that is the training throughput differs between programs (see ``dllogger_metrics``) and is chosen by content, as
are the unit and what a record covers. All are global. An iteration with a loss and no throughput (BERT on PyTorch) is
a record that has only a time. A throughput of the whole run is a summary. It ends the run, as any metrics of the step
``()`` do.
"""

import re
from typing import Any

from dlperf.formats.dllogger.declarations import ECHOED, declare_parameter_text, declare_parameters
from dlperf.formats.dllogger.iterations import NAMED, PLAIN, TIME, IterationRule, Iterations
from dlperf.formats.dllogger.metrics import (
    THROUGHPUTS,
    NamedValue,
    Throughput,
    loss_of_data,
    throughput_of_data,
    throughput_of_text,
)
from dlperf.formats.recorder import Recorder
from dlperf.formats.rules import FunctionRule, LogRule, Rules, metadata_rules
from dlperf.formats.samples import FormatInfo, Summary, append_latest
from dlperf.formats.text.numbers import ABSENT, floats, parse_object

INFO = FormatInfo(
    "dllogger", "NVIDIA DeepLearningExamples (DLLogger)", "images/s", "global", "step", "NVIDIA DLLogger, text and JSON"
)

_EVENT = re.compile(
    TIME + rb"(?:(?:Training )?Epoch: (?P<epoch>\d+)(?! (?:Training )?Iteration)|\((?P<plain_epoch>\d*),?\)"
    rb"|Summary:|(?P<parameters>PARAMETER)|)(?P<data> .*)",
    re.DOTALL,
)
_SHORT_EPOCH = re.compile(rb"^ train_throughput : \S++(?! images/s)(?!.* train_epoch_time : [1-9])", re.DOTALL)
"""NCF prints three digits of seconds, and epochs of 3 ms, which are no measurement. A line that was cut has no time."""
_JSON = b"DLLL {"
_TABLE_TITLE = re.compile(rb"^(\w+)\.ips\s*$")
_TABLE_ROW = re.compile(rb"^ +(?:(\d{1,9}) +)?\|([ \d.e+|]+)$")


def rules(recorder: Recorder) -> Rules:
    """Return the rules for one log."""
    records = Iterations(recorder)
    events = _Events(recorder, records)
    return Rules(
        [
            IterationRule(NAMED, records),
            IterationRule(PLAIN, records),
            FunctionRule(b"DLL 2", _EVENT.search, events.read_text),
            FunctionRule(_JSON, _parse_json, events.read_json),
        ],
        [*metadata_rules(recorder, ECHOED), *_ThroughputTable(recorder).rules()],
    )


class _Events:
    """Reads epochs, summaries and parameters, and every event in JSON."""

    def __init__(self, recorder: Recorder, records: Iterations) -> None:
        self._recorder = recorder
        self._records = records
        self._throughputs = NamedValue(THROUGHPUTS)
        self._units: dict[str, str] = {}

    def read_text(self, match: re.Match[bytes], number: int) -> None:
        data: bytes = match["data"]
        if match["parameters"] is not None:
            declare_parameter_text(self._recorder, data)
            return
        value, epoch = self._throughputs.search(data), match["epoch"] or match["plain_epoch"] or b""
        if value is not None and not (epoch and _SHORT_EPOCH.search(data)):
            self._add_summary(epoch, throughput_of_text(value), number)
        elif match["plain_epoch"] == b"":
            self._end_run()

    def read_json(self, event: dict[str, Any], number: int) -> None:
        data, step = event.get("data"), event.get("step")
        if event.get("type") == "METADATA":
            declared = event.get("metadata")
            if isinstance(declared, dict) and isinstance(declared.get("unit"), str):
                self._units[str(event.get("metric"))] = declared["unit"]
        elif isinstance(data, dict) and step == "PARAMETER":
            declare_parameters(self._recorder, {str(name): str(value) for name, value in data.items()})
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
        elif not step and data:
            self._end_run()

    def _end_run(self) -> None:
        if self._recorder.runs:
            self._recorder.complete()

    def _add_summary(self, epoch: bytes, throughput: Throughput, number: int) -> None:
        epoch_number = int(epoch) if epoch.isdigit() and len(epoch) < 10 else None
        summary = Summary(throughput.name, floats([throughput.value])[0], throughput.unit, number, epoch_number)
        if epoch:
            self._recorder.add_epoch(summary)
        else:
            self._recorder.add_summary(summary)
            self._recorder.complete()
        if not self._records.any_throughput:
            self._recorder.set_unit(throughput.unit)


def _parse_json(line: bytes) -> dict[str, Any] | None:
    """Return the event after ``DLLL``, None where it is cut off."""
    return parse_object(line[line.index(_JSON) + len(_JSON) - 1 :])


class _ThroughputTable:
    """Reads the table that NVIDIA's ``benchmark.py`` for MXNet prints after the last record of its runs.

        train.ips
                   |    256    |
        ------------------------
             8     |   10336   |

    A row for each number of GPUs, a column for each batch size per GPU: the harmonic mean of the epochs after the
    warm-up, which becomes a summary of the run with these numbers.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._is_throughput = False
        self._batch_sizes: list[float] = []
        self._last_line = 0

    def rules(self) -> list[LogRule]:
        return [
            FunctionRule(b".ips", _TABLE_TITLE.match, self._read_title),
            FunctionRule(b"   |   ", _TABLE_ROW.match, self._read_row),
        ]

    def _read_title(self, match: re.Match[bytes], number: int) -> None:
        self._is_throughput = match[1] == b"train"
        self._batch_sizes = []

    def _read_row(self, match: re.Match[bytes], number: int) -> None:
        cells = [cell.strip() for cell in match[2].split(b"|")[:-1]]
        if not cells:
            return
        if not match[1]:
            self._batch_sizes = floats(cells)
        elif self._is_throughput and number > self._last_line:
            self._last_line = number
            for batch_size, cell in zip(self._batch_sizes, floats(cells), strict=False):
                self._add(int(match[1]), batch_size, cell, number)

    def _add(self, gpus: int, batch_size: float, value: float, number: int) -> None:
        self._recorder.apply_declarations()
        for run in self._recorder.runs:
            if (run.metadata.gpus, run.metadata.batch_size) == (gpus, batch_size):
                append_latest(run.summaries, Summary("train.ips (table)", value, run.unit, number))
