"""A run of a log and what is stated of it → ``Measured``: unit, value, window, curve and findings. Pure.

Values, curves, live rates and parsed output are projections of it; nothing else reads the records of a run.
"""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from dlperf.catalog.axes import ACCUMULATION, SEQUENCE_LENGTH, parts_of
from dlperf.catalog.units import VARYING_UNITS, counts_samples
from dlperf.formats.samples import Metadata, Run, Samples, Summary
from dlperf.measured.throughput.curve import Curve, curve_of
from dlperf.measured.throughput.estimators import Estimator, estimate, parse_estimator
from dlperf.measured.throughput.figure import Figure, figure_of, natural_estimator
from dlperf.measured.throughput.reading import Estimate, NotEstimable, Reading
from dlperf.messages import Message, message
from dlperf.messages.finding import Finding, note
from dlperf.plan import Configuration, PlannedConfiguration


@dataclass(frozen=True)
class StatedFacts:
    """What a plan, options or the name of a log state of its run; None for what they do not."""

    gpus: int | None = None
    """Over all nodes."""
    gpus_per_node: int | None = None
    batch_size: int | None = None
    """Per GPU."""
    sequence_length: int | None = None
    accumulation: int | None = None
    """Batches whose gradients are added up for one step."""
    parts: int = 1
    """GPUs that hold one copy of the model together and train one batch."""


@dataclass(frozen=True)
class Measured:
    """One run, measured under one rule. Make it anew of a run that has grown."""

    run: Run
    """In the unit that is asked for, if it can be converted to it."""
    facts: StatedFacts
    rule: Estimator | None = None
    """The log's natural estimator if None."""
    other_unit: Message | None = None
    """Why the log cannot give the unit that is asked for."""
    is_converted: bool = False
    """By the stated length of its samples, which its log does not state."""

    @cached_property
    def reading(self) -> Reading:
        return _reading(self.run, self.facts)

    @cached_property
    def estimator(self) -> Estimator:
        return self.rule or natural_estimator(self.reading)

    @property
    def logged_batch_size(self) -> int | None:
        """Batch size of all GPUs that the log states, or that its rates and times imply."""
        try:
            return self.run.metadata.global_batch_size or self.reading.implied_batch_size
        except NotEstimable:
            return None

    @property
    def value(self) -> float | None:
        """Throughput of all GPUs."""
        return self._estimate.value if isinstance(self._estimate, Estimate) else None

    @cached_property
    def outcome(self) -> Figure | Message:
        """The value with its window and what other estimators give, or the reason why there is none."""
        return self._estimate if isinstance(self._estimate, Message) else figure_of(self.reading, self.estimator)

    @property
    def figure(self) -> Figure | None:
        return self.outcome if isinstance(self.outcome, Figure) else None

    @property
    def shortage(self) -> Message | None:
        return self.outcome if isinstance(self.outcome, Message) else None

    @cached_property
    def curve(self) -> Curve:
        """Throughput by step in the unit of ``run`` and from the source of its value; empty without any."""
        try:
            found = self._estimate if isinstance(self._estimate, Estimate) else None
            return curve_of(self.reading, found, self.estimator.from_timestamps)
        except OverflowError:  # numbers that nothing measures
            return Curve()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Name the stated facts that the value rests on and that the log does not state."""
        facts = tuple(message(f"stated_{name}", count=count) for name, count in self._stated_alone())
        return (note("declared_not_logged", facts=facts),) if facts else ()

    @cached_property
    def _estimate(self) -> Estimate | Message:
        if self.other_unit:
            return self.other_unit
        try:
            return estimate(self.reading, self.estimator)
        except NotEstimable as shortage:
            return shortage.message

    def _stated_alone(self) -> Iterator[tuple[str, int]]:
        if not isinstance(self._estimate, Estimate):
            return
        for name in ("gpus", "batch_size", "sequence_length", "accumulation"):
            count = getattr(self.facts, name)
            if count and not _is_logged(name, self.run.metadata) and self._rests_on(name, self._estimate.value):
                yield name, count
        if self.is_converted and self.facts.sequence_length:
            yield "sequence_length", self.facts.sequence_length

    def _rests_on(self, fact: str, value: float) -> bool:
        try:
            without = _reading(self.run, _without(self.facts, fact))
            return estimate(without, self.estimator).value != value
        except NotEstimable:
            return True


def _without(facts: StatedFacts, name: str) -> StatedFacts:
    return replace(facts, **{name: None})  # type: ignore[arg-type]  # a name of those that may be absent


def _reading(run: Run, facts: StatedFacts) -> Reading:
    counts = (facts.gpus, facts.gpus_per_node, facts.batch_size, facts.sequence_length, facts.accumulation)
    return Reading(run, *counts, facts.parts)


def _is_logged(fact: str, declared: Metadata) -> bool:
    stated = {
        "gpus": declared.gpus,
        "batch_size": declared.batch_size or declared.global_batch_size,
        "sequence_length": declared.sequence_length or declared.tokens_per_step,
        "accumulation": declared.global_batch_size,
    }
    return bool(stated[fact])


def measure_run(run: Run, facts: StatedFacts, rule: Estimator | str | None = None, unit: str | None = None) -> Measured:
    """Measure a run under a rule, or the log's natural estimator, in its own unit if None is asked for.

    Raises:
        RequestError: ``rule`` is a text that names no estimator.
    """
    rule = parse_estimator(rule) if isinstance(rule, str) else rule
    try:
        converted = _in_unit(run, unit, facts.sequence_length) if unit is not None else run
    except NotEstimable as reason:
        return Measured(run, facts, rule, other_unit=reason.message)
    is_converted = run.metadata.sequence_length is None and converted.samples is not run.samples
    return Measured(converted, facts, rule, is_converted=is_converted)


def _in_unit(run: Run, unit: str, length: int | None = None) -> Run:
    """Return a run in another unit: samples as tokens where the log, or else ``length``, states how many each has.

    Raises:
        NotEstimable: the log measures something else; the message is the reason.
    """
    if run.unit == unit:
        return run
    are_rates = counts_samples(run.unit) and counts_samples(unit)
    if are_rates and (run.unit in VARYING_UNITS) == (unit in VARYING_UNITS):
        return replace(run, unit=unit)
    if {summary.unit for summary in (*run.summaries, *run.epochs)} == {unit}:
        return replace(run, unit=unit, samples=Samples())
    if not are_rates:
        raise NotEstimable(message("other_quantity", logged=run.unit or "-", unit=unit))
    length = run.metadata.sequence_length or length
    if unit != "tokens/s" or length is None:
        raise NotEstimable(message("length_unknown", logged=run.unit, unit=unit))
    columns = run.samples.value, run.samples.samples
    values, counts = (array("d", (number * length for number in column)) for column in columns)
    return replace(
        run,
        unit=unit,
        samples=replace(run.samples, value=values, samples=counts),
        summaries=[_in_tokens(summary, unit, length) for summary in run.summaries],
        epochs=[_in_tokens(epoch, unit, length) for epoch in run.epochs],
        metadata=replace(run.metadata, sequence_length=length),
    )


def _in_tokens(summary: Summary, unit: str, length: int) -> Summary:
    return replace(summary, value=summary.value * length, unit=unit) if counts_samples(summary.unit) else summary


def measure_planned(run: Run, planned: PlannedConfiguration) -> Measured:
    """Measure a run under the protocol of its plan, in the unit of the plan where its primary metric is throughput."""
    unit = planned.unit if planned.primary.estimator == "protocol" else None
    return measure_run(run, facts_of(planned.configuration), planned.protocol.estimator, unit)


def facts_of(point: Configuration) -> StatedFacts:
    """Return what a configuration states of its runs."""
    counts = {name: value for name, value in point.axes if isinstance(value, int)}
    length, accumulation = counts.get(SEQUENCE_LENGTH), counts.get(ACCUMULATION)
    return StatedFacts(point.gpus_total, point.gpus, point.batch_size, length, accumulation, parts_of(point.axes))
