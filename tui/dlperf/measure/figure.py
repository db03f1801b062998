"""One run → one figure under an estimator, with its second sources beside it."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field

from dlperf.formats.samples import Run
from dlperf.measure.columns import finite, positive
from dlperf.measure.estimate import Estimate
from dlperf.measure.estimator import Estimator, apply, parse_estimator
from dlperf.measure.estimators import between
from dlperf.measure.natural import natural_estimator
from dlperf.measure.reading import NotEstimable, Reading

OTHER_ESTIMATORS = (
    "rate(skip=20, take=100)",
    "rate(skip=20)",
    "mean()",
    "skipmean(10)",
    "tailmean(25)",
    "window(20, 120)",
    "tipc(skip=10)",
    "batch_over_time(skip=5)",
    "summary()",
    "hmean_epochs(1)",
)
"""Shown beside a figure: the same samples give visibly different figures under different rules. Each kind of rule is
among them, as a report or its reproduction used it."""


@dataclass(frozen=True)
class Figure:
    """A figure of one run, and what the same samples say by other rules."""

    estimator: str
    """Canonical text."""
    estimate: Estimate
    value_from_timestamps: float | None = None
    """Throughput of the same records by their timestamps; None without timestamps or batch size."""
    value_printed: float | None = None
    """Mean of the figures printed in the same records; None where the log prints none."""
    estimates: dict[str, float] = field(default_factory=dict)
    """Other estimators' values, by canonical text; those that the log does not give are left out."""

    @property
    def value(self) -> float:
        return self.estimate.value

    @property
    def unit(self) -> str:
        return self.estimate.unit


def figure(
    run: Run,
    rule: Estimator | str | None = None,
    gpus: int | None = None,
    gpus_per_node: int | None = None,
    batch_size: int | None = None,
) -> Figure:
    """The figure of a run; arguments as for ``estimate``, and the log's natural estimator if ``rule`` is None.

    Raises:
        NotEstimable: the run does not give this figure; the message is the reason.
        RequestError: ``rule`` is a text that names no estimator.
    """
    return figure_of(Reading(run, gpus, gpus_per_node, batch_size), rule)


def figure_of(reading: Reading, rule: Estimator | str | None = None) -> Figure:
    """``figure`` for a reading at hand."""
    rule = parse_estimator(rule) if isinstance(rule, str) else rule or natural_estimator(reading)
    estimate = apply(reading, rule)
    return Figure(
        str(rule),
        estimate,
        value_from_timestamps=estimate.value if rule.from_timestamps else _by_timestamps(reading, estimate),
        value_printed=_as_printed(reading, estimate, rule),
        estimates=_others(reading, str(rule)),
    )


def _by_timestamps(reading: Reading, estimate: Estimate) -> float | None:
    """Throughput over the windows of the records used; the first window is left out where its start is not known."""
    if estimate.first is None or estimate.last is None:
        return None
    begins = estimate.first == 0 or estimate.first in reading.epoch_starts
    try:
        return between(reading, estimate.first - (not begins), estimate.last).value
    except NotEstimable:
        return None


def _as_printed(reading: Reading, estimate: Estimate, rule: Estimator) -> float | None:
    if not rule.from_timestamps:
        return estimate.value
    if estimate.first is None or estimate.last is None:
        return None
    try:
        printed = reading.values[estimate.first + 1 : estimate.last + 1]
    except NotEstimable:
        return None
    speeds = positive(finite(printed))
    return statistics.fmean(speeds) if speeds else None


def _others(reading: Reading, chosen: str) -> dict[str, float]:
    values = {}
    for text in OTHER_ESTIMATORS:
        try:
            values[text] = apply(reading, text).value
        except NotEstimable:
            continue
    values.pop(chosen, None)
    return values
