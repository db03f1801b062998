"""Log formats that regular expressions describe."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from dlperf.catalog.entry import Entry, MetricId, Model
from dlperf.catalog.patterns import with_numbers
from dlperf.catalog.units import Direction

PauseKind = Literal["evaluation", "checkpoint"]
OneOrMore = Annotated[tuple[str, ...], BeforeValidator(lambda given: (given,) if isinstance(given, str) else given)]
"""Texts, of which one may stand without a list around it."""


class Dialect(Model):
    """How one release of a program writes a record."""

    contains: str = ""
    """Text that is in every such line. Lines without it are passed over, which makes reading a log fast."""
    record: Annotated[str, StringConstraints(min_length=1), AfterValidator(with_numbers)]
    """Regular expression with named groups: value (or seconds_per_step, …), step, epoch, loss, time, reader_seconds …

    All are listed below under "Groups of a record". ``(?P<value>NUMBER)`` also takes
    a number with thousands separators or a suffix: 5,615 or 14.2K.
    """
    time_format: str | None = None
    """strptime format of the group ``time``, ``seconds`` for a plain number of seconds, or ``elapsed`` for the 1:05:12
    of a progress bar."""
    unit: str | None = None
    """Of the rate, where it differs from the format's."""
    window: Literal["step", "interval", "cumulative", "epoch", "run"] | None = None
    """What a record covers, where it differs from the format's. One of the whole run is passed over beside others."""


class OtherRecords(Dialect):
    """Records that count in a log that holds no others."""

    window: Literal["step", "interval", "cumulative", "epoch", "run"] = "cumulative"
    """What a record covers: all since the start (of its epoch)."""


class Section(Model):
    """A setting in a part of a configuration that a program prints over several lines."""

    begins: Annotated[str, StringConstraints(min_length=1)]
    """Regular expression of the line that the part begins with."""
    holds: Annotated[str, StringConstraints(min_length=1)]
    """Regular expression of a line of it, with one group: those that follow and are indented."""


class PrintedUnit(Model):
    """How a program prints a metric."""

    unit: str = ""
    """That of the metric in the catalogue if empty."""
    direction: Direction = "higher"
    """Which values are better."""


class LogFormat(Dialect, Entry):
    """A log format that one regular expression describes. Code formats register themselves in ``formats/``."""

    unit: str
    """Of the rate that is printed, such as images/s."""
    scope: Literal["per_gpu", "per_node", "global"]
    """What the printed rate counts."""
    window: Literal["step", "interval", "cumulative", "epoch", "run"]
    """What a record covers: its step, the steps since the last record, all since the start …"""
    detect: Annotated[str, StringConstraints(min_length=1)]
    """Regular expression found in a line of any log of this format."""
    dialects: tuple[Dialect, ...] = ()
    """How other releases write a record."""
    totals: tuple[Dialect, ...] = ()
    """The program's own totals: of an epoch where there is the group epoch, else of the run. They are compared with the
    records. ``interval_seconds`` with ``steps_per_second`` of a run also number records that have no step."""
    unfinished: tuple[OtherRecords, ...] = ()
    """Records of a log that holds no other, such as the progress within a first epoch that did not end."""
    continues: str | None = None
    """Regular expression of lines that continue the one before them: together they are one line."""
    means_of_last: int | None = Field(default=None, ge=2)
    """The times of steps are means of so many last steps of the epoch, which records closer to each other share."""
    early_last: bool = False
    """A record is printed after the next step, but the last one of a run at once: its time does not count."""
    every_rank: bool = False
    """Every rank writes its records into the same log."""
    generic: bool = False
    """Its lines are of no known program: it is tried where no other format finds a record, and a finding says so."""
    facts: dict[str, str] = Field(default_factory=dict)
    """Facts of every log of this format: field → value."""
    metadata: dict[str, OneOrMore] = Field(default_factory=dict)
    """Field (batch_size, global_batch_size, gpus, precision …) → regular expressions, each with one group.

    The text that each begins with is what lines are searched for first, so several are faster than an alternation.

    Those with a meaning are listed below under "Declared facts"; others become arguments of the run.
    """
    sections: dict[str, Section] = Field(default_factory=dict)
    """Field, as in ``metadata`` → a line in a part of a printed configuration."""
    metrics: dict[MetricId, PrintedUnit] = Field(default_factory=dict)
    """Groups of records beyond the known ones: id of a metric → its unit and direction.

    A dialect whose groups are all metrics is no record: what it matches may stand on any line.
    """
    stated_once: bool = False
    """A program states each setting once: where one has two values before a record, two programs share the log, and it
    is not known. So do two rates of whole runs."""
    final_settings: str | None = None
    """Regular expression of the line below which a program states the settings that count, command line included."""
    pauses: dict[PauseKind, OneOrMore] = Field(default_factory=dict)
    """Kind of pause → regular expressions of lines that the program prints in one."""
    end: str | None = None
    """Regular expression of the line that a complete run ends with."""

    @property
    def units(self) -> frozenset[str]:
        """Of the rates of any of its records."""
        return frozenset({self.unit, *(record.unit or self.unit for record in self.unfinished)})

    @property
    def states_length(self) -> bool:
        """Whether a log may state how many tokens a sample has."""
        return bool({"sequence_length", "tokens_per_step"}.intersection((*self.metadata, *self.facts)))
