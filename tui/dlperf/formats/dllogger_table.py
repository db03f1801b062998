"""The table that NVIDIA's ``benchmark.py`` for MXNet prints at its end.

    train.ips
               |    256    |
    ------------------------
         8     |   10336   |

A row for each number of GPUs, a column for each batch size per GPU: the harmonic mean of the epochs after the warm-up.
It stands behind the last record of its runs.
"""

from __future__ import annotations

import re

from dlperf.formats.numbers import floats
from dlperf.formats.parser import FunctionRule, Rule
from dlperf.formats.recorder import Recorder
from dlperf.formats.samples import Summary

NAME = "train.ips (table)"

_TITLE = re.compile(rb"^(\w+)\.ips\s*$")
_ROW = re.compile(rb"^ +(\d{0,9}) +\|((?: +[\d.e+]{1,20} +\|)+) *$")


class ThroughputTable:
    """Reads the table's rows as summaries of the runs they are of."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._is_throughput = False
        self._batch_sizes: list[float] = []
        self._last_line = 0

    def rules(self) -> list[Rule]:
        """What finds the table's title and its rows."""
        return [
            FunctionRule(b".ips", _TITLE.match, self._read_title),
            FunctionRule(b"   |   ", _ROW.match, self._read_row),
        ]

    def _read_title(self, found: re.Match[bytes], number: int) -> None:
        self._is_throughput = found[1] == b"train"
        self._batch_sizes = []

    def _read_row(self, found: re.Match[bytes], number: int) -> None:
        cells = [cell.strip() for cell in found[2].split(b"|") if cell.strip()]
        if not found[1]:
            self._batch_sizes = floats(cells)
        elif self._is_throughput and number > self._last_line:
            self._last_line = number
            for batch_size, cell in zip(self._batch_sizes, floats(cells), strict=False):
                self._add(int(found[1]), batch_size, cell, number)

    def _add(self, gpus: int, batch_size: float, value: float, number: int) -> None:
        self._recorder.settle()
        for run in self._recorder.runs:
            if (run.metadata.gpus, run.metadata.batch_size) == (gpus, batch_size):
                run.summaries.append(Summary(NAME, value, run.unit, number))
