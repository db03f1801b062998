"""One run → one throughput value under an estimator, with the values of other estimators."""

from __future__ import annotations

from array import array
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from math import inf, isfinite, nan
from typing import Literal

from dlperf.catalog.units import is_time
from dlperf.formats.samples import STEPS_PER_SECOND
from dlperf.measured.throughput.estimators import Estimator, estimate, parse_estimator
from dlperf.measured.throughput.reading import Estimate, FactMissing, NotEstimable, Reading
from dlperf.measured.throughput.steady import pauses_between, printed_speed
from dlperf.measured.throughput.windows import between

WARM_UP_STEPS = 20
"""DLPerf and FleetX drop the first 20 steps."""
RATE = f"rate(skip={WARM_UP_STEPS})"
STEADY_RATE = f"steady_rate(skip={WARM_UP_STEPS})"
STEADY = f"steady(skip={WARM_UP_STEPS})"
GOODPUT = f"goodput(skip={WARM_UP_STEPS})"
TOTALS, ONLY_TOTAL, SUMMARY = "hmean_epochs(1)", "hmean_epochs(0)", "summary()"
NATURAL = (RATE, STEADY, STEADY_RATE, TOTALS, SUMMARY)
_WITHOUT_PAUSES = ("steady", "steady_rate")
_WITH_PAUSES = (
    *("mean", "skipmean", "tailmean", "window", "batch_over_time"),
    *("time_window", "rate", "settled", "goodput"),
)
MOST_PAUSED = 0.01
"""Share of the time in pauses up to which samples over time are preferred."""
SAME = 0.01
"""Values of one run that differ by less agree."""
MOST_SHORT_PAUSES = 0.1
"""Share of the time that pauses too short to be found may take; a printed rate that differs by more is wrong."""
IMPLAUSIBLE_FACTOR = 1.5
"""Printed values and timestamps disagree this much only where the samples per step are wrong."""
CONTRADICTION = 10.0
"""Where the records state their work, printed values that are off by more are wrong: fairseq of 2020 printed the words
of one update over the time of a log interval."""
THOUSAND, MOST_OF_THOUSAND = 1000.0, 0.1
"""A printed rate that is so far from the timestamps has a dot between its thousands, or another unit than its program
prints: 6.554 are 6,554 tokens/s."""
OTHER_ESTIMATORS = (
    "rate(skip=20, take=100)",
    "rate(skip=20)",
    "mean()",
    "skipmean(10)",
    "tailmean(25)",
    "window(20, 120)",
    "tipc(skip=10)",
    "batch_over_time(skip=5)",
    SUMMARY,
    "hmean_epochs(1)",
    "steady(skip=20)",
    "steady_rate(skip=20)",
    "goodput(skip=20)",
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
    goodput: float | None = None
    """Throughput with all pauses after the steps that the rule skips: evaluations, checkpoints, stalls. None where
    the log does not give it."""
    steady: float | None = None
    """The same without pauses."""
    skip: int = WARM_UP_STEPS
    """Steps that these leave out."""
    estimates: dict[str, float] = field(default_factory=dict)
    """Values by canonical text of the other estimators that the log supports."""

    @property
    def value(self) -> float:
        return self.estimate.value

    @property
    def unit(self) -> str:
        return self.estimate.unit

    @property
    def is_timed(self) -> bool:
        """Whether the value follows from the times of the records, not from what they print."""
        return parse_estimator(self.estimator).from_timestamps or is_time(self.unit)

    @property
    def pauses(self) -> Literal["", "with", "without"]:
        return pauses_of(self.estimator)


def pauses_of(rule: str) -> Literal["", "with", "without"]:
    """Return whether a value under an estimator holds the pauses of its run; nothing of one that leaves it open."""
    name = rule.partition("(")[0]
    return "without" if name in _WITHOUT_PAUSES else "with" if name in _WITH_PAUSES else ""


def figure_of(reading: Reading, rule: Estimator | str | None = None) -> Figure:
    """Measure a run under a rule, or under the log's natural estimator if ``rule`` is None.

    Raises:
        NotEstimable: the run does not give this value; the message is the reason.
        RequestError: ``rule`` is a text that names no estimator.
    """
    rule = parse_estimator(rule) if isinstance(rule, str) else rule or natural_estimator(reading)
    result = estimate(reading, rule)
    skip = dict(rule.arguments).get("skip", WARM_UP_STEPS)
    return Figure(
        str(rule),
        result,
        value_from_timestamps=result.value if rule.from_timestamps else _by_timestamps(reading, result, str(rule)),
        value_printed=_value_printed(reading, result, rule),
        goodput=_goodput(reading, skip),
        steady=_first_of(reading, *_steady_rules(reading, skip)),
        skip=skip,
        estimates=_other_estimates(reading, str(rule), result),
    )


def natural_estimator(reading: Reading) -> Estimator:
    """Choose the best rule for a log, after the first 20 steps: samples over time, else printed values, else a summary.

    Samples over time are skipped where they contradict the printed values by a factor: then the batch size is not
    what a step of this log processes (gradient accumulation, or a wrong one was given). Where the records state what
    they processed and the factor is large, the printed values are wrong. Where the time between records holds pauses,
    such as evaluations, the printed values are better. Running means of step times hold the warm-up, and the same batch
    size makes a rate of either. The time that a program states for its epochs comes before its records.
    A time to train is what its program is run for. The mean of a whole run holds its pauses. Where no rule applies,
    return the one that lacks only one fact, so that its reason names the fact.
    """
    is_whole = reading.run.window == "run"
    rules = [parse_estimator(GOODPUT if is_whole and choice == STEADY else choice) for choice in NATURAL]
    if any(is_time(summary.unit) for summary in reading.run.summaries[-1:]):
        return parse_estimator(SUMMARY)
    if reading.run.epochs and reading.run.epochs[-1].unit == STEPS_PER_SECOND:
        totals = parse_estimator(TOTALS if len(reading.run.epochs) > 1 else ONLY_TOTAL)
        if _first_of(reading, totals) is not None:
            return totals
    fitting = (rule for rule in rules if _is_plausible(reading, rule))
    lacking = (rule for rule in rules if _lacks_a_fact(reading, rule))
    has_only_epochs = reading.run.epochs and not len(reading.run.samples)
    return next(chain(fitting, lacking), parse_estimator(TOTALS) if has_only_epochs else rules[0])


def _is_plausible(reading: Reading, rule: Estimator) -> bool:
    value = _first_of(reading, rule)
    if value is None or (str(rule) == RATE and reading.paused_share > MOST_PAUSED):
        return False
    printed = _first_of(reading, STEADY)
    if printed is None:
        return True
    if rule.from_timestamps and reading.run.timed_on_arrival:
        return False
    if reading.run.window == "cumulative" and not any(map(isfinite, reading.run.samples.value)):
        return True
    if str(rule) == STEADY:
        return not _contradicts_clock(reading, value)
    low, high = sorted((value, printed))
    if rule.from_timestamps and (_are_thousandfold(value, printed) or log_states_work(reading)):
        return True
    is_proven = rule.from_timestamps and reading.records_state_work
    if rule.from_timestamps and counts_micro_batches(reading, printed, value):
        return True
    return high < IMPLAUSIBLE_FACTOR * low or (is_proven and 0 < CONTRADICTION * low < high)


def counts_micro_batches(reading: Reading, printed: float, timed: float) -> bool:
    """Return whether a printed rate is too low, or too high, by the declared number of micro-batches of a step."""
    accumulated, (low, high) = reading.run.metadata.accumulation_steps or 1, sorted((printed, timed))
    return accumulated > 1 and low > 0 and abs(high / low / accumulated - 1) < MOST_SHORT_PAUSES


def _contradicts_clock(reading: Reading, printed: float) -> bool:
    """Return whether a printed rate is too high for the timestamps, which hold short pauses, too."""
    timed = _first_of(reading, STEADY_RATE)
    if timed is None or reading.run.timed_on_arrival:
        return False
    most = SAME if reading.run.window == "cumulative" else MOST_SHORT_PAUSES
    least = inf if log_states_work(reading) else IMPLAUSIBLE_FACTOR - 1
    return most < abs(printed / timed - 1) < least or _are_thousandfold(printed, timed)


def log_states_work(reading: Reading) -> bool:
    """Return whether a log states the batch of a step and its accumulation, so that neither can be what is wrong."""
    stated = reading.run.metadata
    return bool(stated.global_batch_size and stated.accumulation_steps) and reading.run.window != "run"


def _are_thousandfold(one: float, other: float) -> bool:
    low, high = sorted((one, other))
    return low > 0 and abs(high / low / THOUSAND - 1) < MOST_OF_THOUSAND


def _lacks_a_fact(reading: Reading, rule: Estimator) -> bool:
    try:
        estimate(reading, rule)
    except NotEstimable as error:
        return isinstance(error, FactMissing)
    return False


def _first_of(reading: Reading, *rules: Estimator | str) -> float | None:
    """Return the value, which is above 0, of the first rule that the run supports."""
    for rule in rules:
        with suppress(NotEstimable):
            return estimate(reading, rule).value
    return None


def _goodput(reading: Reading, skip: int) -> float | None:
    """Return the throughput with all pauses; None where only timestamps show them, which give no rate of samples."""
    timed = _first_of(reading, f"rate(skip={skip})")
    if timed is not None:
        return timed
    printed, steady = (_first_of(reading, f"{name}(skip={skip})") for name in ("goodput", "steady"))
    return None if printed == steady and reading.paused_share > MOST_PAUSED else printed


def _steady_rules(reading: Reading, skip: int) -> tuple[str, ...]:
    """Return the rules without pauses, the one to believe first; none for the mean of a whole run, which holds them."""
    if reading.run.window == "run":
        return ()
    rules = f"steady_rate(skip={skip})", f"steady(skip={skip})"
    if reading.paused_share > MOST_PAUSED:
        rules = rules[1], rules[0]
    return tuple(rule for rule in rules if _is_plausible(reading, parse_estimator(rule)))


def _by_timestamps(reading: Reading, result: Estimate, rule: str) -> float | None:
    """Return throughput over the windows of the records used, without the first if its start is unknown."""
    if result.first is None or result.last is None:
        return None
    return _over_time(reading, result.first, result.last, rule)


def rate_at(reading: Reading, figure: Figure, first: int, last: int, times: array[float]) -> float | None:
    """Return the throughput of these records by other times of all records; None where they give none."""
    run = replace(reading.run, samples=replace(reading.run.samples, time=times))
    return _over_time(replace(reading, run=run), first, last, figure.estimator)


def _over_time(reading: Reading, first: int, last: int, rule: str) -> float | None:
    begins = first == 0 or first in reading.epoch_starts
    start = first - (not begins)
    try:
        pauses = pauses_between(reading, start, last) if pauses_of(rule) == "without" else ()
        return between(reading, start, last, pauses).value
    except NotEstimable:
        return None


def _value_printed(reading: Reading, result: Estimate, rule: Estimator) -> float | None:
    """Return the work of the window over its time by the printed values, with the pauses that an estimator keeps."""
    if result.first is None or result.last is None:
        return None if rule.from_timestamps else result.value
    window = range(result.first + rule.from_timestamps, result.last + 1)
    if not rule.from_timestamps and (pauses_of(str(rule)) == "without" or result.samples == len(window)):
        return result.value
    try:
        pauses = frozenset(pauses_between(reading, result.first, result.last) if rule.name == "steady_rate" else ())
        values = reading.values
        used = [index for index in window if 0 < values[index] < inf and index not in pauses]
    except NotEstimable:
        return None
    value = printed_speed(reading, used) if used else nan
    return value if 0 < value < inf else None


def _other_estimates(reading: Reading, rule: str, chosen: Estimate) -> dict[str, float]:
    values = {}
    for text in OTHER_ESTIMATORS:
        with suppress(NotEstimable):
            found = estimate(reading, text)
            if found.unit == chosen.unit:
                values[text] = found.value
    values.pop(rule, None)
    return values
