"""Build runs from records, summaries and declarations, in the order of the log."""

from __future__ import annotations

from array import array
from bisect import insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import partial
from itertools import islice, pairwise, repeat
from math import inf, isfinite, isnan, nan
from operator import ge, sub

from dlperf.catalog.units import Direction
from dlperf.formats.declarations import Declarations, declared_notes, last_step, metadata
from dlperf.formats.progress import Position, RunPosition
from dlperf.formats.samples import COLUMNS, FormatInfo, PrintedMetric, Run, Samples, Summary, Window, append_latest
from dlperf.formats.text.numbers import LARGEST, bounded

RUN_LIMIT = 1000
"""Runs of one log: a step counter that goes back in every other line must not exhaust the memory."""

METRIC_LIMIT = 100
"""Metrics of a run."""
PAUSE_LIMIT = 100_000
"""Lines that tell of a pause, of one kind."""
METRIC = "metric."
"""What the column of a metric begins with."""

Columns = Mapping[str, Sequence[float]]
"""Name of a column → its entries; an absent column is NaN throughout.

In addition to ``COLUMNS``: ``metric.`` with the id of a metric, ``steps``, the steps of the whole run, and
``nan_loss``, 1 where the program printed the loss as nan or infinite.
"""


def ignore_run(after: int, before: int) -> None:
    """Read nothing where a run begins."""


class Recorder(Declarations):
    """Builds the runs of one log.

    A log can hold several runs: a record whose step is back at the start of the run opens the next one. A declaration
    belongs to the run of the next record; at the end of the log, to the last run.
    """

    def __init__(
        self,
        info: FormatInfo,
        every_rank: bool = False,
        facts: Mapping[str, str] | None = None,
        stated_once: bool = False,
    ) -> None:
        """Start a log.

        Args:
            info: its format.
            every_rank: every rank prints its records into the same log, so that equal steps follow each other.
            facts: what holds for every run, as if each had declared it.
            stated_once: a program states each setting, and the rate of a whole run, once, so that two values are those
                of two programs.
        """
        super().__init__(facts or {}, stated_once)
        self.runs: list[Run] = []
        self.on_next_run: Callable[[int, int], None] = ignore_run
        """Called where a record begins or may begin a run after the first, with the line of the record before it and
        its own: reads the declarations between them."""
        self.takes_arrival = False
        """Whether the times of records are when their lines arrived."""
        self._info = info
        self._every_rank = every_rank
        self._steps = inf
        self._rate = nan
        self._progress = RunPosition()
        self._drawn: Position | None = None
        self._is_full = False
        self._pauses: dict[str, array[int]] = {}
        self._described: dict[str, tuple[str, Direction]] = {}

    def without_runs(self) -> Recorder:
        """Return a recorder of the same log that knows what was declared and no record."""
        other = copy(self)
        other.runs, other.on_next_run = [], ignore_run
        return other

    def extend(
        self, columns: Columns, lines: Sequence[int], unit: str | None = None, window: Window | None = None
    ) -> None:
        """Add records, in the order of the log.

        Args:
            columns: the records.
            lines: the line of each.
            unit: the records' unit, where it differs from the format's.
            window: what the records cover, where it differs from the format's.
        """
        if window == "run" and self.runs and self.runs[-1].window != "run" and len(self.runs[-1].samples):
            return  # a mean of a run whose records are known
        if not self.runs:
            self._open_run()
        if self._info.window == "epoch" and "epoch" in columns and "step" in columns:
            kept = self._drawn_first(columns["epoch"], columns["step"])
            columns, lines = chosen(columns, kept), [lines[index] for index in kept]
        while lines:
            count = len(lines) if self._is_full else self._count_of_run(columns, lines, window or self._info.window)
            if count:
                run = self._current_run()
                run.unit, run.window = unit or run.unit, window or run.window
                self._append(run, {name: column[:count] for name, column in columns.items()}, lines[:count])
            columns, lines = {name: column[count:] for name, column in columns.items()}, lines[count:]
            if lines:
                self._open_next_run(lines[0])

    def _drawn_first(self, epochs: Sequence[float], steps: Sequence[float]) -> list[int]:
        """Return the indices of records that are no bar of an epoch drawn anew, which holds its validation, too."""
        positions = list(zip(epochs, steps, strict=True))
        before, self._drawn = [self._drawn, *positions], positions[-1]
        return [index for index, position in enumerate(positions) if position != before[index]]

    def _count_of_run(self, columns: Columns, lines: Sequence[int], window: Window) -> int:
        """Return how many of the records belong to the current run."""
        if "step" not in columns:
            once = self._stated_once and window == "run" and "value" in columns
            return self._count_of_equal(columns["value"]) if once else len(lines)

        def begins(index: int) -> bool:
            before = lines[index - 1] if index else self.runs[-1].samples.line[-1]
            return self._restates_settings(partial(self.on_next_run, before, lines[index]))

        return self._progress.advance(columns.get("epoch"), columns["step"], begins)

    def _count_of_equal(self, values: Sequence[float]) -> int:
        """Return how many values, each of a whole run, repeat that of the current run; NaN differs from none."""
        for index, value in enumerate(values):
            if isnan(self._rate):
                self._rate = value
            elif value < self._rate or value > self._rate:
                return index
        return len(values)

    def begin_run(self) -> None:
        """Open a run where the log announces one."""
        self._open_run()
        self.apply_declarations()

    def add_epoch(self, summary: Summary) -> None:
        append_latest(self._current_run().epochs, summary)

    def add_summary(self, summary: Summary) -> None:
        append_latest(self._current_run().summaries, summary)

    def number_records(self, steps: float) -> None:
        """Number the records of the current run, where they have no step, given the steps of all of them."""
        samples = self.runs[-1].samples if self.runs else Samples()
        count = len(samples)
        is_whole = bool(self.runs) and self.runs[-1].window != "run" and "continued_rate" not in self.runs[-1].notes
        if is_whole and count and all(map(isnan, samples.step)) and count <= steps < LARGEST:
            samples.step = array("d", (round(steps * (index + 1) / count) for index in range(count)))

    def describe_metric(self, name: str, unit: str, direction: Direction) -> None:
        """State unit and direction of a metric of this log's records."""
        self._described[name] = unit, direction

    def add_metric(self, name: str, values: Iterable[float], unit: str = "", direction: Direction = "higher") -> None:
        """Add values of a metric to the current run; those that are not finite are left out."""
        found, metrics = array("d", filter(isfinite, bounded(values))), self._current_run().metrics
        if found and (name in metrics or len(metrics) < METRIC_LIMIT):
            unit, direction = self._described.get(name, (unit, direction))
            metrics.setdefault(name, PrintedMetric(unit, direction)).values.extend(found)

    def mark_pause(self, kind: str, line: int) -> None:
        """Note a line that tells of a pause."""
        lines = self._pauses.setdefault(kind, array("q"))
        if len(lines) < PAUSE_LIMIT:
            lines.append(line)

    def complete(self) -> None:
        """Mark the current run as complete."""
        self._current_run().complete = True

    def set_unit(self, unit: str) -> None:
        self._current_run().unit = unit

    def apply_declarations(self) -> None:
        """Apply the noted declarations to the last run, except those that it has already."""
        if self.runs and (self._pending or self._in_record):
            if self._settle_declarations():
                _note(self.runs[-1], "mixed_settings")
            self._steps = last_step(self._declared)
            self.runs[-1].metadata = metadata(self._declared)
            if self.runs[-1].metadata.tokens_per_step:
                self.runs[-1].unit = "tokens/s"
            for code in declared_notes(self._declared):
                _note(self.runs[-1], code)

    def _current_run(self) -> Run:
        if not self.runs:
            self._open_run()
        self.apply_declarations()
        return self.runs[-1]

    def _open_next_run(self, line: int) -> None:
        before = self.runs[-1].samples.line
        if self._open_run():
            self.on_next_run(before[-1] if before else 0, line)
            self._declare_at(line)

    def _open_run(self) -> bool:
        """Open a run and return True; at the limit, note that in the last run, which goes on, and return False."""
        self._progress = RunPosition()
        if len(self.runs) == RUN_LIMIT:
            _note(self.runs[-1], "run_limit")
            self._is_full = True
            return False
        run = Run(self._info.id, self._info.unit, self._info.scope, self._info.window, number=len(self.runs) + 1)
        run.metadata = metadata(self._facts)
        run.marks_end = self._info.marks_end
        run.notes = ["unknown_program"] if self._info.generic else []
        run.pauses = self._pauses
        self.runs.append(run)
        self._declared = self._facts
        self._steps = inf
        self._rate = nan
        return True

    def _append(self, run: Run, columns: Columns, lines: Sequence[int]) -> None:
        missing = array("d", [nan]) * len(lines)
        for name in COLUMNS:
            getattr(run.samples, name).extend(bounded(columns[name]) if name in columns else missing)
        run.samples.line.extend(array("q", lines))
        for name in columns:
            if name.startswith(METRIC):
                self.add_metric(name.removeprefix(METRIC), columns[name])
        if any(columns.get("nan_loss", ())):
            _note(run, "nan_loss")
        if self._every_rank and _repeats_a_step(run.samples, len(lines)):
            _note(run, "interleaved_ranks")
        run.timed_on_arrival = self.takes_arrival and "time" in columns
        stated = columns.get("steps") or repeat(self._steps)
        run.marks_end = run.marks_end or any(map(isfinite, islice(stated, 1)))
        after_last = _steps_after_last(run.samples.step)
        if not run.complete and any(map(ge, columns.get("step", ()), map(sub, stated, repeat(after_last)))):
            run.complete = True


def _steps_after_last(steps: Sequence[float]) -> float:
    """Return how far below their number the last record of a run may be: the next one would be of no step of it.

    A run that counts from 0 has no step of that number.
    """
    gaps = [after - before for before, after in pairwise(steps[-3:])]
    interval = max(min(gaps), 1.0) if gaps else 1.0
    return interval if gaps and steps[0] == 0 else interval - 1


def chosen(columns: Columns, indices: Sequence[int]) -> Columns:
    return {name: [column[index] for index in indices] for name, column in columns.items()}


def _repeats_a_step(samples: Samples, added: int) -> bool:
    """Return whether one of the records just added has the epoch and step of the one before it."""
    start = max(len(samples) - added - 1, 0)
    recent = zip(samples.epoch[start:], samples.step[start:], strict=True)
    return any(before[1] == after[1] and not before[0] < after[0] for before, after in pairwise(recent))


def _note(run: Run, code: str) -> None:
    if code not in run.notes:
        insort(run.notes, code)
