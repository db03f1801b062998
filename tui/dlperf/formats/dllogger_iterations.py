"""DLLogger's iterations as text, many at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from math import nan

from dlperf.formats.clock import Clock
from dlperf.formats.dllogger_layout import Layouts
from dlperf.formats.dllogger_metrics import (
    Throughput,
    loss_values,
    rates_without_waiting,
    throughput_of_text,
    throughput_values,
)
from dlperf.formats.numbers import ABSENT, floats
from dlperf.formats.recorder import Recorder
from dlperf.formats.records import Texts, loss_columns

TIME = rb"DLL (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+) - "
NAMED = (
    TIME + rb"(?:(?:Training )?Epoch: (?P<epoch>\d+) )?(?:Training )?Iteration: (?P<step>\d+)"
    rb"(?! Validation Iteration)"
)
PLAIN = TIME + rb"\((?P<epoch>\d+), (?P<step>\d+)\)"
"""What stands before the metrics of an iteration."""

_Record = tuple[re.Match[bytes], int, Sequence[re.Match[bytes] | None]]
"""An iteration, its line, and its throughput, loss and rate without waiting."""


class Iterations:
    """Adds iterations."""

    def __init__(self, recorder: Recorder) -> None:
        self.any_throughput = False
        self._recorder = recorder
        self._clock = Clock("%Y-%m-%d %H:%M:%S.%f")

    def add(self, texts: Texts, lines: Sequence[int], throughput: Throughput | None) -> None:
        """Add iterations that all print the same metric, if any; ``throughput`` is one of theirs.

        Args:
            texts: time, epoch and step, and of value, loss and rate_without_waiting what is printed.
            lines: the line of each.
        """
        columns: dict[str, Sequence[float]] = {"time": self._clock.seconds(texts["time"])}
        columns |= {name: floats(texts[name]) for name in ("value", "epoch", "step") if name in texts}
        if "loss" in texts:
            columns |= loss_columns(texts["loss"])
        if "value" in texts and "rate_without_waiting" in texts:
            rates = zip(columns["value"], floats(texts["rate_without_waiting"]), strict=True)
            shares = [1 - total / other if other else nan for total, other in rates]
            columns["reader_share"] = [0.0 if share < 0.0 else share for share in shares]
        unit, window = (throughput.unit, throughput.window) if throughput else (None, None)
        self._recorder.extend(columns, lines, unit, window)
        self.any_throughput = self.any_throughput or throughput is not None


class IterationRule:
    """Iterations as text: those that look like the last one read together, the others metric by metric."""

    contains = b"DLL 2"

    def __init__(self, head: bytes, iterations: Iterations) -> None:
        """``head``: the expression for what stands before the metrics."""
        self._any = re.compile(head + rb"(?P<data> .*)", re.DOTALL)
        self._alike: re.Pattern[bytes] | None = None
        self._throughput: Throughput | None = None
        self._layouts = Layouts(head)
        self._iterations = iterations
        self._metrics = {
            "value": throughput_values(),
            "loss": loss_values(),
            "rate_without_waiting": rates_without_waiting(),
        }

    def search(self, line: bytes) -> re.Match[bytes] | None:
        """An iteration."""
        return (self._alike and self._alike.fullmatch(line)) or self._any.search(line)

    def act(self, found: Sequence[re.Match[bytes]], numbers: Sequence[int]) -> None:
        """Add the iterations that print a throughput or a loss."""
        if self._alike is not None and all(match.re is self._alike for match in found):
            self._iterations.add(_texts(found), numbers, self._throughput)
        else:
            self._read([match for each in found for match in self._any.finditer(each.string)], numbers)

    def _read(self, found: Sequence[re.Match[bytes]], numbers: Sequence[int]) -> None:
        texts = [match["data"] for match in found]
        metrics = [metric.search_all(texts) for metric in self._metrics.values()]
        records = [
            (match, number, values)
            for match, number, *values in zip(found, numbers, *metrics, strict=True)
            if values[0] or values[1]
        ]
        for _, group in groupby(records, key=_throughput_metric):
            self._add(list(group))
        if records:
            self._learn(*records[-1])

    def _add(self, records: Sequence[_Record]) -> None:
        """Add iterations that print the same metrics."""
        matches, lines, values = zip(*records, strict=True)
        columns = [[ABSENT if value is None else value[2] for value in column] for column in zip(*values, strict=True)]
        self._throughput = throughput_of_text(values[0][0]) if values[0][0] else None
        self._iterations.add(_texts(matches) | dict(zip(self._metrics, columns, strict=True)), lines, self._throughput)

    def _learn(self, match: re.Match[bytes], number: int, values: Sequence[re.Match[bytes] | None]) -> None:
        """Expect lines like the one that was read last."""
        expressions: dict[bytes, bytes] = {}
        for (name, metric), value in zip(self._metrics.items(), values, strict=True):
            expressions |= metric.expressions(name, value)
        self._alike = self._layouts.learn(match.string, match["data"], expressions)


def _texts(found: Sequence[re.Match[bytes]]) -> dict[str, Sequence[bytes]]:
    """What the groups of one expression matched."""
    names = found[0].re.groupindex
    columns = zip(*[match.groups(ABSENT) for match in found], strict=True)
    return dict(zip(names, columns, strict=True))


def _throughput_metric(record: _Record) -> object:
    """Name and unit of the throughput of an iteration, None if it has none."""
    value = record[2][0]
    return value and value.group(1, 3)
