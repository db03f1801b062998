"""One run → one throughput value under an estimator, with the values of other estimators."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from math import isfinite

from dlperf.evidence.columns import finite, positive, total
from dlperf.measured.throughput.estimators import Estimator, estimate, parse_estimator
from dlperf.measured.throughput.reading import Estimate, FactMissing, NotEstimable, Reading
from dlperf.measured.throughput.windows import between

WARM_UP_STEPS = 20
"""DLPerf and FleetX drop the first 20 steps."""
STEADY = f"steady(skip={WARM_UP_STEPS})"
NATURAL = (f"rate(skip={WARM_UP_STEPS})", STEADY, "hmean_epochs(1)", "summary()")
MOST_PAUSED = 0.01
"""Share of the time in pauses up to which samples over time are preferred."""
IMPLAUSIBLE_FACTOR = 1.5
"""Printed values and timestamps disagree this much only where the samples per step are wrong."""
CONTRADICTION = 10.0
"""Where the records state their work, printed values that are off by more are wrong: fairseq of 2020 printed the words
of one update over the time of a log interval."""
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
    "steady(skip=20)",
)
"""Shown with each value, because rules differ visibly on the same samples: each kind of rule, as a published report or
its reproduction used it."""


@dataclass(frozen=True)
class Figure:
    """The throughput of one run, and what the same samples give under other rules."""

    estimator: str
    """Canonical text."""
    estimate: Estimate
    value_from_timestamps: float | None = None
    """Throughput of the same records by their timestamps; None without timestamps or batch size."""
    value_printed: float | None = None
    """Throughput of all records between the first and the last by the values that they print; None without any."""
    estimates: dict[str, float] = field(default_factory=dict)
    """Values by canonical text of the other estimators that the log supports."""

    @property
    def value(self) -> float:
        return self.estimate.value

    @property
    def unit(self) -> str:
        return self.estimate.unit


def figure_of(reading: Reading, rule: Estimator | str | None = None) -> Figure:
    """Measure a run under a rule, or under the log's natural estimator if ``rule`` is None.

    Raises:
        NotEstimable: the run does not give this value; the message is the reason.
        RequestError: ``rule`` is a text that names no estimator.
    """
    rule = parse_estimator(rule) if isinstance(rule, str) else rule or natural_estimator(reading)
    result = estimate(reading, rule)
    return Figure(
        str(rule),
        result,
        value_from_timestamps=result.value if rule.from_timestamps else _by_timestamps(reading, result),
        value_printed=_value_printed(reading, result, rule.from_timestamps),
        estimates=_other_estimates(reading, str(rule)),
    )


def natural_estimator(reading: Reading) -> Estimator:
    """Choose the best rule for a log, after the first 20 steps: samples over time, else printed values, else a summary.

    Samples over time are skipped where they contradict the printed values by a factor: then the batch size is not
    what a step of this log processes (gradient accumulation, or a wrong one was given). Where the records state what
    they processed and the factor is large, the printed values are wrong. Where the time between records holds pauses,
    such as evaluations, the printed values are better. Running means of step times hold the warm-up, and the same batch
    size makes a rate of either. Where no rule applies, return the one that lacks only one fact,
    so that its reason names the fact.
    """
    rules = [parse_estimator(choice) for choice in NATURAL]
    fitting = (rule for rule in rules if _is_plausible(reading, rule))
    lacking = (rule for rule in rules if _lacks_a_fact(reading, rule))
    has_only_epochs = reading.run.epochs and not len(reading.run.samples)
    return next(chain(fitting, lacking), rules[2] if has_only_epochs else rules[0])


def _is_plausible(reading: Reading, rule: Estimator) -> bool:
    try:
        value = estimate(reading, rule).value
    except NotEstimable:
        return False
    try:
        printed = estimate(reading, STEADY).value
    except NotEstimable:
        return True
    if reading.run.window == "cumulative" and not any(map(isfinite, reading.run.samples.value)):
        return True
    if rule.from_timestamps and reading.run.window != "cumulative" and reading.paused_share > MOST_PAUSED:
        return False
    low, high = sorted((value, printed))
    is_proven = rule.from_timestamps and reading.records_state_work
    return high < IMPLAUSIBLE_FACTOR * low or (is_proven and 0 < CONTRADICTION * low < high)


def _lacks_a_fact(reading: Reading, rule: Estimator) -> bool:
    try:
        estimate(reading, rule)
    except NotEstimable as error:
        return isinstance(error, FactMissing)
    return False


def _by_timestamps(reading: Reading, result: Estimate) -> float | None:
    """Return throughput over the windows of the records used, without the first if its start is unknown."""
    if result.first is None or result.last is None:
        return None
    begins = result.first == 0 or result.first in reading.epoch_starts
    try:
        return between(reading, result.first - (not begins), result.last).value
    except NotEstimable:
        return None


def _value_printed(reading: Reading, result: Estimate, from_timestamps: bool) -> float | None:
    """Return the work of the window over its time by the printed values, with the pauses that an estimator drops."""
    if result.first is None or result.last is None:
        return None if from_timestamps else result.value
    window = slice(result.first + from_timestamps, result.last + 1)
    if not from_timestamps and result.samples == window.stop - window.start:
        return result.value
    try:
        speeds = positive(finite(reading.values[window]))
    except NotEstimable:
        return None
    return len(speeds) / total(1 / speed for speed in speeds) if speeds else None


def _other_estimates(reading: Reading, chosen: str) -> dict[str, float]:
    values = {}
    for text in OTHER_ESTIMATORS:
        try:
            values[text] = estimate(reading, text).value
        except NotEstimable:
            continue
    values.pop(chosen, None)
    return values
