"""What a log says, as data: samples in columns, the program's own summaries, and what it declares of itself."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Literal

Scope = Literal["per_gpu", "per_node", "global"]
Window = Literal["step", "interval", "cumulative", "epoch", "run"]


@dataclass
class Samples:
    """Throughput records of one run, one entry per record in every column.

    A missing number is NaN. Columns are arrays of doubles: a record costs 72 bytes, so that a run of ten million
    records costs 720 MB, and a real one of a hundred thousand 7 MB.
    """

    value: array[float] = field(default_factory=lambda: array("d"))
    """Throughput in the format's unit and scope, or NaN where the record gives seconds per step only."""
    seconds_per_step: array[float] = field(default_factory=lambda: array("d"))
    step: array[float] = field(default_factory=lambda: array("d"))
    epoch: array[float] = field(default_factory=lambda: array("d"))
    time: array[float] = field(default_factory=lambda: array("d"))
    """Seconds since the epoch (or since some midnight or start: only differences count)."""
    loss: array[float] = field(default_factory=lambda: array("d"))
    reader_share: array[float] = field(default_factory=lambda: array("d"))
    """Part of the step spent waiting for data, 0 … 1."""
    samples: array[float] = field(default_factory=lambda: array("d"))
    """Samples processed by all GPUs since the run began, up to this record."""
    line: array[int] = field(default_factory=lambda: array("q"))
    """1-based line of the log."""

    def __len__(self) -> int:
        return len(self.line)

    def last(self, count: int) -> Samples:
        """The last records alone; all where there are fewer."""
        return Samples(**{name: column[-count:] for name, column in vars(self).items()})


@dataclass
class Metadata:
    """What the log declares of the run; None where it is silent."""

    gpus: int | None = None
    """GPUs over all nodes."""
    batch_size: int | None = None
    """Per GPU."""
    global_batch_size: int | None = None
    precision: str | None = None
    model: str | None = None
    framework: str | None = None
    arguments: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Summary:
    """A figure that the program itself printed for an epoch or for the whole run."""

    name: str
    value: float
    unit: str
    line: int
    epoch: int | None = None


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
    metadata: Metadata = field(default_factory=Metadata)
    complete: bool = False
    """The log holds the line that ends a run of this format."""
    notes: list[str] = field(default_factory=list)
    """Codes of oddities seen while parsing, such as ``nan_loss``; ``measure.findings`` gives them words."""
