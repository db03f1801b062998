"""A run with facts that its log may lack (GPUs, batch size), as columns for estimators."""

from __future__ import annotations

import statistics
from array import array
from collections.abc import Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, repeat
from math import isfinite, nan
from operator import mul, sub

from dlperf.catalog.units import VARYING_UNITS
from dlperf.errors import DlperfError
from dlperf.evidence.columns import entries_at, finite, finite_indices, positive, total
from dlperf.measured.throughput.micro_batches import uncounted_batches
from dlperf.measured.throughput.pauses import share_of_pauses
from dlperf.measured.throughput.steps import RunSteps
from dlperf.messages import message

UNEQUAL_BATCHES = 0.1
"""Batch sizes computed from printed rates and times differ by less if only digits are rounded."""


class NotEstimable(DlperfError):
    """The run does not give the requested value; ``message`` is the reason."""


class FactMissing(NotEstimable):
    """The run would give it if the batch size or GPU count, which the log lacks, were stated."""


@dataclass(frozen=True)
class Estimate:
    """A throughput value and the records that gave it."""

    value: float
    """Throughput of all GPUs together."""
    unit: str
    samples: int
    """Records used."""
    dropped: int
    """Records of the run that were not used."""
    first: int | None = None
    """Index of the first record used; None if the value comes from the program's own summaries."""
    last: int | None = None
    first_step: int | None = None
    last_step: int | None = None
    first_line: int | None = None
    last_line: int | None = None
    records: Sequence[int] = field(default=(), repr=False, compare=False)
    """Indices of the records whose work and time gave it."""


@dataclass(frozen=True)
class Reading(RunSteps):
    """What estimators read. A count that is None is taken from the log if the log declares it.

    Columns are computed on first use and may be the run's own: make a new reading of a run that has grown. What
    neither the log nor the stated facts give raises ``NotEstimable``.
    """

    gpus: int | None = None
    """Over all nodes."""
    gpus_per_node: int | None = None
    batch_size: int | None = None
    """Per GPU."""
    sequence_length: int | None = None
    """Tokens of a sample, where the log does not state them."""
    accumulation: int | None = None
    """Batches whose gradients are added up for one step, where the log does not state its global batch."""
    parts: int = 1
    """GPUs that hold one copy of the model together and train one batch."""
    estimates: dict[Hashable, Estimate] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Results by estimator: several rules need the same."""

    @property
    def total_gpus(self) -> int | None:
        return self.gpus or self.run.metadata.gpus

    @cached_property
    def factor(self) -> float:
        """What a printed value is multiplied by to give that of all GPUs."""
        if self.run.scope == "global":
            return 1.0
        if self.total_gpus is None:
            raise FactMissing(message("gpus_unknown"))
        per_node = self.gpus_per_node or self.total_gpus
        return self.total_gpus / (1 if self.run.scope == "per_gpu" else per_node)

    @cached_property
    def global_batch_size(self) -> int:
        """Samples per step over all GPUs.

        A global batch that the log declares holds, with its gradient accumulation and model parallelism, unless a
        batch size is given that the log does not state and of which it is no whole multiple.
        """
        declared = self.run.metadata
        per_gpu = self.batch_size or declared.batch_size
        copies = max(self.total_gpus // self.parts, 1) if self.total_gpus else None
        stated = per_gpu * copies * (self.accumulation or 1) if per_gpu and copies else None
        given = stated if per_gpu != declared.batch_size else None
        if declared.global_batch_size and (given is None or declared.global_batch_size % given == 0):
            return declared.global_batch_size
        implied = stated or self.implied_batch_size
        if implied is None:
            raise FactMissing(message("batch_unknown"))
        return implied

    @property
    def step_size(self) -> int:
        """Work of a step of all GPUs, in the run's unit: samples or tokens. Raises NotEstimable: unknown."""
        declared = self.run.metadata
        if self.run.unit not in VARYING_UNITS:
            return self.global_batch_size
        if declared.tokens_per_step:
            return declared.tokens_per_step
        length = declared.sequence_length or (self.sequence_length if self.run.unit == "tokens/s" else None)
        if length is None:
            raise self._unknown_step_size()
        return self.global_batch_size * length

    @cached_property
    def values(self) -> array[float]:
        """Global throughput of every record; NaN where a record gives none."""
        samples = self.run.samples
        if not any(map(isfinite, samples.value)):
            return array("d", map(_quotient, repeat(self.step_size), samples.seconds_per_step))
        factor = self.factor * self.uncounted_batches
        return samples.value if factor == 1.0 else array("d", map(mul, samples.value, repeat(factor)))

    @cached_property
    def uncounted_batches(self) -> int:
        """Micro-batches of a step where the printed rate counts one of them, else 1."""
        return uncounted_batches(self.run, self.batches) if self.run.metadata.accumulation_steps else 1

    @cached_property
    def with_step_seconds(self) -> Sequence[int]:
        """Indices of the records that print seconds per step."""
        return finite_indices(self.run.samples.seconds_per_step)

    @cached_property
    def speeds(self) -> Sequence[float]:
        """The value of each record of ``usable``."""
        return entries_at(self.values, self.usable)

    @cached_property
    def batches(self) -> Sequence[float]:
        """Samples per step, printed rate times printed seconds of each record, in the format's scope; NaN if absent."""
        return array("d", map(mul, self.run.samples.value, self.run.samples.seconds_per_step))

    @property
    def printed_rates(self) -> Sequence[float] | None:
        """Global throughput up to each record as printed; NaN where it prints none, None where no record does."""
        return self.values if self._prints_speed else None

    @cached_property
    def timed_rates(self) -> Sequence[float]:
        """Global throughput up to each record by timestamps; NaN where unknown."""
        counted, times = self.run.samples.samples, self.run.samples.time
        breaks = frozenset((*self.epoch_starts, *self.clock_backs))
        if any(map(isfinite, counted)):
            return array("d", _rates(counted, times, breaks))
        if self.run.unit not in VARYING_UNITS or not self._prints_work:
            return array("d", _rates(map(mul, self.steps_done, repeat(self.step_size)), times, breaks))
        steps = map(sub, self.steps_done, chain((nan,), self.steps_done))
        work = map(mul, map(mul, self.values, self.run.samples.seconds_per_step), steps)
        rates = map(_quotient, work, map(sub, times, chain((nan,), times)))
        return array("d", (nan if index in breaks else rate for index, rate in enumerate(rates)))

    @cached_property
    def usable(self) -> Sequence[int]:
        """Indices of the records with a finite value, in file order."""
        if not self._prints_speed:
            raise NotEstimable(message("no_records"))
        return finite_indices(self.values)

    @property
    def _prints_speed(self) -> bool:
        samples = self.run.samples
        return any(map(isfinite, samples.value)) or any(map(isfinite, samples.seconds_per_step))

    def work(self, first: int, last: int) -> float:
        """Return the samples that all GPUs processed after record ``first`` up to record ``last`` of one epoch."""
        counted = self.run.samples.samples
        if isfinite(counted[last] - counted[first]):
            return counted[last] - counted[first]
        if self.run.unit not in VARYING_UNITS or not self._prints_work:
            return (self.steps_done[last] - self.steps_done[first]) * self.step_size
        inside = slice(first + 1, last + 1)
        steps = map(sub, self.steps_done[inside], self.steps_done[first:last])
        printed = total(map(mul, map(mul, self.values[inside], self.run.samples.seconds_per_step[inside]), steps))
        if not isfinite(printed):
            raise self._unknown_step_size()
        return printed

    @property
    def records_state_work(self) -> bool:
        """Whether the records say how much was processed, so that no batch size is assumed."""
        counted = any(map(isfinite, self.run.samples.samples))
        return counted or (self.run.unit in VARYING_UNITS and self._prints_work)

    @property
    def _prints_work(self) -> bool:
        return any(map(isfinite, self.batches))

    def _unknown_step_size(self) -> NotEstimable:
        return NotEstimable(message("step_size_unknown", samples=self.run.unit.partition("/")[0]))

    @cached_property
    def paused_share(self) -> float:
        """Share of the time between records that fell into pauses, see ``share_of_pauses``."""
        return share_of_pauses(self)

    def has_equal_batches(self, indices: Sequence[int]) -> bool:
        """Tell whether all steps of the records are of one size, as far as they print both a rate and a step time.

        Not so for sentences, and for an interval divided by more steps than were timed (PaddleNLP, a new epoch).
        """
        if self.run.unit in VARYING_UNITS:
            return False
        sizes = positive(entries_at(self.batches, indices))
        largest = max(sizes, default=0.0)
        return not sizes or largest - min(sizes) < UNEQUAL_BATCHES * largest

    @property
    def implied_batch_size(self) -> int | None:
        """Global batch size by the records that print both a rate and a step time; None without such records."""
        sizes = () if self.run.unit in VARYING_UNITS else finite(self.batches)
        if not sizes:
            return None
        return round(round(statistics.median(sizes)) * self.factor) or None


def _rates(processed: Iterable[float], times: Iterable[float], breaks: Container[int]) -> Iterator[float]:
    """Return growth over time from each record to the next, NaN across a break or where a count goes back.

    Of several records with the same whole second, or of one step on several ranks, the first accounts for the time
    before.
    """
    before = nan, nan
    for index, here in enumerate(zip(processed, times, strict=True)):
        if index in breaks or here[0] < before[0]:
            before = nan, nan
        rate = _quotient(here[0] - before[0], here[1] - before[1]) if here[0] != before[0] else nan
        yield rate
        if isfinite(rate) or not all(map(isfinite, before)):
            before = here


def _quotient(samples: float, seconds: float) -> float:
    return samples / seconds if isfinite(seconds) and seconds > 0 else nan
