"""What a log says, as data: samples in columns, the program's own summaries, and what it declares about itself."""

from __future__ import annotations

import statistics
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from dlperf.catalog.units import Direction

Scope = Literal["per_gpu", "per_node", "global"]
Window = Literal["step", "interval", "cumulative", "epoch", "run"]

COLUMNS = ("value", "seconds_per_step", "step", "epoch", "time", "loss", "reader_share", "samples")
"""Columns of ``Samples`` that a format can fill."""
STEPS_PER_SECOND = "steps/s"
"""Unit of a total that states time alone: the rate needs the work of a step."""
SUMMARY_LIMIT = 10_000
"""Throughputs of epochs, and of the whole run, that are kept of a run."""


def _empty_column() -> array[float]:
    return array("d")


@dataclass(frozen=True)
class FormatInfo:
    """A log format. Unit and window are those of most logs; a run of a log states its own."""

    id: str
    title: str
    unit: str
    scope: Scope
    window: Window
    source: str = ""
    """The programs that print it."""
    marks_end: bool = True
    """Every complete run has a line that ends it."""
    generic: bool = False
    """Of no known program: tried where no other format finds a record."""


@dataclass
class Samples:
    """Throughput records of one run, one entry per record in every column: 72 bytes a record.

    A missing number is NaN.
    """

    value: array[float] = field(default_factory=_empty_column)
    """Throughput in the format's unit and scope, or NaN where the record gives seconds per step only."""
    seconds_per_step: array[float] = field(default_factory=_empty_column)
    step: array[float] = field(default_factory=_empty_column)
    """Number of the record's last step, as the log counts: from 0 or 1, over the run or over each epoch."""
    epoch: array[float] = field(default_factory=_empty_column)
    time: array[float] = field(default_factory=_empty_column)
    """Seconds since 1970 (or since some midnight or start: only differences count)."""
    loss: array[float] = field(default_factory=_empty_column)
    reader_share: array[float] = field(default_factory=_empty_column)
    """Part of the step spent waiting for data, 0 … 1."""
    samples: array[float] = field(default_factory=_empty_column)
    """Samples processed by all GPUs since the run began."""
    line: array[int] = field(default_factory=lambda: array("q"))
    """1-based line of the log."""

    def __len__(self) -> int:
        return len(self.line)

    def last(self, count: int) -> Samples:
        """Return the last records; all where there are fewer."""
        return Samples(**{name: column[-count:] for name, column in vars(self).items()})


@dataclass
class Metadata:
    """What the log declares about the run; None for what it does not."""

    gpus: int | None = None
    """GPUs of all nodes."""
    gpus_per_node: int | None = None
    batch_size: int | None = None
    """Per GPU."""
    global_batch_size: int | None = None
    """Samples per step of all GPUs, accumulated micro-batches included."""
    accumulation_steps: int | None = None
    """Micro-batches of a GPU in one step."""
    sequence_length: int | None = None
    """Tokens of a sample."""
    tokens_per_step: int | None = None
    """Of all GPUs; stated by programs that count no samples."""
    precision: str | None = None
    """As the catalogue names it: ``fp32``, ``amp``, ``bf16`` …"""
    model: str | None = None
    framework: str | None = None
    arguments: dict[str, str] = field(default_factory=dict)
    """Other settings of the program, by name."""


@dataclass(frozen=True)
class Summary:
    """A throughput that the program itself printed for an epoch or for the whole run."""

    name: str
    """The program's own name for it."""
    value: float
    """In ``unit`` and in the scope of the run."""
    unit: str
    line: int
    """1-based line of the log."""
    epoch: int | None = None
    """None for the whole run."""


def append_latest(summaries: list[Summary], summary: Summary) -> None:
    """Append to a list that keeps only the latest: a log may print any number."""
    del summaries[: max(0, len(summaries) + 1 - SUMMARY_LIMIT)]
    summaries.append(summary)


@dataclass
class PrintedMetric:
    """What a program printed of one metric, in the order of the log."""

    unit: str = ""
    """Empty for that of the catalogue."""
    direction: Direction = "higher"
    values: array[float] = field(default_factory=_empty_column)


SLOW = 1.02
"""Time of a step relative to the median of all ranks from which on a rank holds up the others."""


@dataclass
class RankTimes:
    """Times of the steps of each rank, relative to the median of all ranks at the same step."""

    count: dict[str, int] = field(default_factory=dict)
    """Rank → its steps."""
    total: dict[str, float] = field(default_factory=dict)
    """Rank → the sum of its relative times."""
    slow: dict[str, int] = field(default_factory=dict)
    """Rank → its steps that take longer than ``SLOW`` of the median."""

    def add(self, times: Mapping[str, float]) -> None:
        """Add the times of one step, of all ranks that printed it; nothing where it is only one."""
        usual = statistics.median(times.values()) if len(times) > 1 else 0.0
        for rank, time in times.items() if usual > 0 else ():
            self.count[rank] = self.count.get(rank, 0) + 1
            self.total[rank] = self.total.get(rank, 0.0) + time / usual
            self.slow[rank] = self.slow.get(rank, 0) + (time > SLOW * usual)


@dataclass
class Run:
    """One training run found in a log."""

    format: str
    unit: str
    scope: Scope
    window: Window
    number: int = 1
    """1-based: a log can hold several runs."""
    samples: Samples = field(default_factory=Samples)
    epochs: list[Summary] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)
    metrics: dict[str, PrintedMetric] = field(default_factory=dict)
    """By id, beside the throughput."""
    metadata: Metadata = field(default_factory=Metadata)
    pauses: dict[str, array[int]] = field(default_factory=dict)
    """Kind of pause → lines of the log, of all its runs, that tell of one."""
    ranks: RankTimes = field(default_factory=RankTimes)
    """Of a log in which every rank prints its own records."""
    complete: bool = False
    """The log holds the line that ends a run of this format."""
    timed_on_arrival: bool = False
    """The times are when lines arrived at a launcher or logger, not the program's own."""
    marks_end: bool = True
    """A complete run would have that line, or its number of steps is known."""
    notes: list[str] = field(default_factory=list)
    """Codes of oddities seen while parsing, such as ``nan_loss``, which become findings."""

    @property
    def count(self) -> int:
        """How many records, summaries and metrics the run has."""
        return len(self.samples) + len(self.epochs) + len(self.summaries) + len(self.metrics)

    @property
    def prints_only_metrics(self) -> bool:
        """Whether a throughput is neither printed nor computable."""
        return self.count == len(self.metrics) > 0
