"""Read DLLogger's iterations as text, many at a time.

A program prints all its iterations alike: the words between the values are learned from one line. A line that differs
only in the values of its metrics is then read by one expression instead of one for each metric, with the same result:
every ``name : value`` of it has the same position as in the learned line.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from math import nan

from dlperf.formats.dllogger.metrics import (
    LOSSES,
    RATE_WITHOUT_WAITING,
    THROUGHPUTS,
    NamedValue,
    Throughput,
    throughput_of_text,
)
from dlperf.formats.recorder import Recorder
from dlperf.formats.rules import Texts, loss_columns
from dlperf.formats.text.numbers import ABSENT, Clock, floats

LAYOUT_LIMIT = 20
"""Layouts learned per log: learning takes much longer than reading a line."""

LAYOUT_BYTES = 2000
"""A longer line is read metric by metric."""

_SEPARATOR = b" : "
_ANY_VALUE = rb"[^ :]*"

TIME = rb"DLL (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+) - "
NAMED = (
    TIME + rb"(?:(?:Training )?Epoch: (?P<epoch>\d+) )?(?:Training )?Iteration: (?P<step>\d+)"
    rb"(?! Validation Iteration)"
)
PLAIN = TIME + rb"\((?P<epoch>\d+), (?P<step>\d+)\)"
"""The text before the metrics of an iteration."""

_Record = tuple[re.Match[bytes], int, Sequence[re.Match[bytes] | None]]
"""An iteration, its line, and its throughput, loss and rate without waiting."""


class Iterations:
    """Adds iterations, as text or JSON, to the runs of one log."""

    def __init__(self, recorder: Recorder) -> None:
        self.any_throughput = False
        self._recorder = recorder
        self._clock = Clock("%Y-%m-%d %H:%M:%S.%f")

    def add(self, texts: Texts, lines: Sequence[int], throughput: Throughput | None) -> None:
        """Add iterations with the same metrics.

        Args:
            texts: time, epoch, step and those of value, loss and rate_without_waiting that are printed.
            lines: the line of each.
            throughput: the throughput of one of them, if they have any.
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
    """Reads iterations as text: those with the layout of the last one together, the others metric by metric."""

    contains = b"DLL 2"

    def __init__(self, head: bytes, iterations: Iterations) -> None:
        """``head``: the expression for the text before the metrics."""
        self._any = re.compile(head + rb"(?P<data> .*)", re.DOTALL)
        self._alike: re.Pattern[bytes] | None = None
        self._throughput: Throughput | None = None
        self._head = head
        self._layouts: dict[bytes, re.Pattern[bytes]] = {}
        self._iterations = iterations
        self._metrics = {
            "value": NamedValue(THROUGHPUTS),
            "loss": NamedValue(LOSSES, rb"[^\s\[]+"),
            "rate_without_waiting": NamedValue((RATE_WITHOUT_WAITING,)),
        }

    def search(self, line: bytes) -> re.Match[bytes] | None:
        return (self._alike and self._alike.fullmatch(line)) or self._any.search(line)

    def act(self, matches: Sequence[re.Match[bytes]], numbers: Sequence[int]) -> None:
        """Add the iterations that print a throughput or a loss."""
        if self._alike is not None and all(match.re is self._alike for match in matches):
            self._iterations.add(_group_texts(matches), numbers, self._throughput)
        else:
            self._read_metrics([match for each in matches for match in self._any.finditer(each.string)], numbers)

    def _read_metrics(self, matches: Sequence[re.Match[bytes]], numbers: Sequence[int]) -> None:
        texts = [match["data"] for match in matches]
        metrics = [metric.search_all(texts) for metric in self._metrics.values()]
        records = [
            (match, number, values)
            for match, number, *values in zip(matches, numbers, *metrics, strict=True)
            if values[0] or values[1]
        ]
        for _, group in groupby(records, key=_throughput_metric):
            self._add(list(group))
        if records:
            match, _, values = records[-1]
            self._alike = self._learn_layout(match.string, match["data"], values)

    def _add(self, records: Sequence[_Record]) -> None:
        """Add iterations that print the same metrics."""
        matches, lines, values = zip(*records, strict=True)
        columns = [[ABSENT if value is None else value[2] for value in column] for column in zip(*values, strict=True)]
        self._throughput = throughput_of_text(values[0][0]) if values[0][0] else None
        texts = _group_texts(matches) | dict(zip(self._metrics, columns, strict=True))
        self._iterations.add(texts, lines, self._throughput)

    def _learn_layout(
        self, line: bytes, data: bytes, values: Sequence[re.Match[bytes] | None]
    ) -> re.Pattern[bytes] | None:
        """Return the expression for lines with the layout of a line, None where it would be unreliable.

        Args:
            line: the whole line.
            data: its metrics, ``name : value words name : value …``, with a space before the first name.
            values: its throughput, loss and rate without waiting.
        """
        if len(line) > LAYOUT_BYTES:
            return None
        expressions: dict[bytes, bytes] = {}
        for (name, metric), value in zip(self._metrics.items(), values, strict=True):
            expressions |= metric.expressions(name, value)
        layout = _layout(data, expressions)
        if layout is None:
            return None
        if layout not in self._layouts and len(self._layouts) < LAYOUT_LIMIT:
            self._layouts[layout] = re.compile(self._head + layout)
        pattern = self._layouts.get(layout)
        return pattern if pattern is not None and pattern.fullmatch(line) else None


def _layout(data: bytes, values: Mapping[bytes, bytes]) -> bytes | None:
    """Return the expression for metrics, None where a value could be mistaken for a name or a name is repeated.

    Args:
        data: the metrics of a line.
        values: name of a metric to capture → expression for its value, which holds no space.
    """
    first, *rest = data.split(_SEPARATOR)
    names = [text.rpartition(b" ")[2] for text in (first, *rest[:-1])]
    cells = [text.partition(b" ") for text in rest]
    if not all(space for _, space, _ in cells[:-1]) or len(set(names)) < len(names):
        return None
    tail = [
        _SEPARATOR + values.get(name, _ANY_VALUE) + re.escape(space + words)
        for name, (_, space, words) in zip(names, cells, strict=True)
    ]
    return re.escape(first) + b"".join(tail)


def _group_texts(matches: Sequence[re.Match[bytes]]) -> dict[str, Sequence[bytes]]:
    names = matches[0].re.groupindex
    columns = zip(*[match.groups(ABSENT) for match in matches], strict=True)
    return dict(zip(names, columns, strict=True))


def _throughput_metric(record: _Record) -> object:
    """Return name and unit of the throughput of an iteration, None if it has none."""
    value = record[2][0]
    return value and value.group(1, 3)
