"""Records, summaries and declarations in the order of the log → runs."""

from __future__ import annotations

from array import array
from bisect import insort
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, repeat
from math import inf, nan
from operator import ge

from dlperf.formats.declarations import ARGUMENT_LIMIT, FIELDS, is_inference, last_step, metadata
from dlperf.formats.info import FormatInfo
from dlperf.formats.progress import Progress
from dlperf.formats.samples import COLUMNS, Run, Samples, Summary, Window

RUN_LIMIT = 1000
"""Runs told apart in one log: a step counter that goes back in every other line must not grow the memory."""

Columns = Mapping[str, Sequence[float]]
"""Name of a column → its entries; a column that is absent is NaN throughout.

Two more say something of a record: ``steps``, the steps of the whole run, and ``nan_loss``, 1 where the program
itself printed that the loss is no number.
"""


class Recorder:
    """Builds the runs of one log.

    A log can hold several runs: a record whose step is back at the start of the run opens the next one. What the log
    declares is taken for the run of the record that follows; at the end of the log, for the last run.
    """

    def __init__(self, info: FormatInfo, every_rank: bool = False, facts: Mapping[str, str] | None = None) -> None:
        """Start a log.

        Args:
            info: its format.
            every_rank: every rank prints its records into the same log, so that equal steps follow each other.
            facts: what holds for every run, as if each had declared it.
        """
        self.runs: list[Run] = []
        self.on_next_run: Callable[[int, int], None] = _nothing
        """Called where a record begins a run after the first: hears what is declared between two lines, the one of the
        record before it and its own."""
        self._info = info
        self._every_rank = every_rank
        self._heard: dict[str, str] = {}
        self._facts = dict(facts or {})
        self._declared = self._facts
        self._steps = inf
        self._progress = Progress()

    def extend(
        self, columns: Columns, lines: Sequence[int], unit: str | None = None, window: Window | None = None
    ) -> None:
        """Add records, in the order of the log.

        Args:
            columns: the records.
            lines: the line of each.
            unit: the records' unit, where it is not the format's.
            window: what the records cover, where it is not what the format says.
        """
        while True:
            count = self._progress.advance(columns.get("epoch"), columns["step"]) if "step" in columns else len(lines)
            if count:
                run = self._current()
                run.unit, run.window = unit or run.unit, window or run.window
                self._append(run, {name: column[:count] for name, column in columns.items()}, lines[:count])
            if count == len(lines):
                return
            columns, lines = {name: column[count:] for name, column in columns.items()}, lines[count:]
            self._open_next_run(lines[0])

    def begin_run(self) -> None:
        """The log says that a run begins."""
        self._open_run()
        self._declare()

    def add_epoch(self, summary: Summary) -> None:
        self._current().epochs.append(summary)

    def add_summary(self, summary: Summary) -> None:
        self._current().summaries.append(summary)

    def complete(self) -> None:
        """The current run has printed what a run ends with."""
        self._current().complete = True

    def hear(self, name: str, text: str) -> None:
        """The log declares something; the first of several equal names counts, within one run."""
        if name in FIELDS or len(self._heard) < ARGUMENT_LIMIT:
            self._heard.setdefault(name, text)

    def set_unit(self, unit: str) -> None:
        """The unit of the current run."""
        self._current().unit = unit

    def settle(self) -> None:
        """What was heard last holds for the last run."""
        if self.runs:
            self._declare()

    def _current(self) -> Run:
        if not self.runs:
            self._open_run()
        self._declare()
        return self.runs[-1]

    def _open_next_run(self, line: int) -> None:
        before = self.runs[-1].samples.line
        if self._open_run():
            self.on_next_run(before[-1] if before else 0, line)

    def _open_run(self) -> bool:
        """Open a run where there is room for one more; otherwise the last one goes on, and notes it."""
        self._progress.restart()
        if len(self.runs) == RUN_LIMIT:
            _note(self.runs[-1], "run_limit")
            return False
        run = Run(self._info.id, self._info.unit, self._info.scope, self._info.window, number=len(self.runs) + 1)
        run.metadata = metadata(self._facts)
        self.runs.append(run)
        self._declared = self._facts
        self._steps = inf
        return True

    def _declare(self) -> None:
        """What was heard holds for the current run, where it has not been said before."""
        if self._heard:
            self._declared = self._heard | self._declared
            self._heard = {}
            self._steps = last_step(self._declared)
            self.runs[-1].metadata = metadata(self._declared)
            if is_inference(self._declared):
                _note(self.runs[-1], "inference")

    def _append(self, run: Run, columns: Columns, lines: Sequence[int]) -> None:
        missing = array("d", [nan]) * len(lines)
        for name in COLUMNS:
            getattr(run.samples, name).extend(array("d", columns[name]) if name in columns else missing)
        run.samples.line.extend(array("q", lines))
        if any(columns.get("nan_loss", ())):
            _note(run, "nan_loss")
        if self._every_rank and _repeats_a_step(run.samples, len(lines)):
            _note(run, "interleaved_ranks")
        steps = columns.get("steps") or repeat(self._steps)
        if any(map(ge, columns.get("step", ()), steps)):
            run.complete = True


def _nothing(after: int, before: int) -> None:
    pass


def _repeats_a_step(samples: Samples, added: int) -> bool:
    """Whether one of the records just added stands at the same epoch and step as the one before it."""
    start = max(len(samples) - added - 1, 0)
    recent = zip(samples.epoch[start:], samples.step[start:], strict=True)
    return any(before[1] == after[1] and not before[0] < after[0] for before, after in pairwise(recent))


def _note(run: Run, code: str) -> None:
    if code not in run.notes:
        insort(run.notes, code)
