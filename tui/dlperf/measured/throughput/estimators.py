"""Estimators: named rules that turn the samples of a run into one throughput value.

Each is a function of a ``Reading``, registered under its name; ``skipmean(10)`` is a rule with its arguments.
"""

import inspect
import re
import statistics
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import isfinite

from dlperf.catalog import plugins
from dlperf.catalog.patterns import BY_TIME
from dlperf.catalog.plugins import installed, load_plugin
from dlperf.catalog.units import counts_samples
from dlperf.errors import RequestError
from dlperf.evidence.columns import MOST, entries_at
from dlperf.formats.samples import STEPS_PER_SECOND
from dlperf.measured.throughput.reading import Estimate, NotEstimable, Reading
from dlperf.measured.throughput.steady import speed_by_clock, speed_of_records
from dlperf.measured.throughput.windows import (
    between,
    estimate_from,
    estimate_from_summaries,
    first_at,
    need,
    need_steps,
    start_after,
)
from dlperf.messages import Value, message

Rule = Callable[..., Estimate]

CONTINUED = "continued_rate"
"""Note of a run that continues a checkpoint, and whose only rate counts what was done before."""
ESTIMATORS: dict[str, Rule] = {}
"""Rules by name."""
TIPC_TRIM_SHARE = 0.05
TIPC_TRIM_LEAST = 5
"""Paddle's test script ``analysis.py`` drops max(5 % of the records, 5) at either end of the sorted records."""

STEADY_SECONDS, STEADY = 5, 0.01
"""The warm-up is over where the rates of two such spans differ by less."""
MOST_WARM_UP = 600
"""Seconds."""

_CALL = re.compile(r"\s*([a-z_]+)\s*(?:\(([^()]*)\))?\s*")
_NUMBER = re.compile(r"[0-9]{1,9}")
_AT_LEAST_ONE = ("n", "take")


@dataclass(frozen=True)
class Estimator:
    """A rule's name with arguments."""

    name: str
    arguments: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        required = _required(self.name)
        words = [str(value) if name in required else f"{name}={value}" for name, value in self.arguments]
        return f"{self.name}({', '.join(words)})"

    @property
    def from_timestamps(self) -> bool:
        """Whether it divides samples by time instead of averaging printed values."""
        return self.name in BY_TIME

    def __call__(self, reading: Reading) -> Estimate:
        """Apply the rule, or return the result of an earlier application to this reading."""
        if self not in reading.estimates:
            reading.estimates[self] = _rule(self.name)(reading, **dict(self.arguments))
        return reading.estimates[self]


def estimator(rule: Rule) -> Rule:
    """Register a rule. Its arguments without a default are written bare, the others by name."""
    ESTIMATORS[rule.__name__] = rule
    return rule


def estimate(reading: Reading, rule: Estimator | str) -> Estimate:
    """Return the throughput of all GPUs, positive and at most ``MOST``.

    Raises:
        NotEstimable: the run does not give this value; the message is the reason.
        RequestError: ``rule`` is a text that names no estimator.
    """
    rule = parse_estimator(rule) if isinstance(rule, str) else rule
    if reading.run.window == "run" and CONTINUED in reading.run.notes:
        raise NotEstimable(message(CONTINUED))
    result = rule(reading)
    if not 0 < result.value <= MOST:
        raise NotEstimable(message("no_speed", rule=str(rule), value=str(result.value)))
    return result


@lru_cache(maxsize=256)
def parse_estimator(text: str) -> Estimator:
    """Parse ``skipmean(10)`` or ``rate(skip=20, take=100)``.

    Raises:
        RequestError: an unknown name, or arguments that the estimator does not take.
    """
    match = _CALL.fullmatch(text)
    names = {**ESTIMATORS, **installed(plugins.ESTIMATORS)}
    if match is None or match[1] not in names:
        raise RequestError(f"estimator {text!r} is unknown: choose {', '.join(map(signature, names))}")
    words = [word.strip() for word in (match[2] or "").split(",") if word.strip()]
    try:
        return Estimator(match[1], _bind(match[1], words))
    except (TypeError, ValueError) as error:
        raise RequestError(f"estimator {text!r}: {error}; write {signature(match[1])} with whole numbers") from error


def _rule(name: str) -> Rule:
    """Return a rule, built in or of an installed package."""
    return ESTIMATORS[name] if name in ESTIMATORS else load_plugin(plugins.ESTIMATORS, name)


def signature(name: str) -> str:
    """Return how an estimator is written, with the names of its arguments."""
    required = _required(name)
    return f"{name}({', '.join(key if key in required else f'{key}=…' for key in _parameters(name))})"


def _parameters(name: str) -> dict[str, inspect.Parameter]:
    """Return the rule's arguments behind the reading, in order."""
    return _parameters_of(_rule(name))


@cache
def _parameters_of(rule: Rule) -> dict[str, inspect.Parameter]:
    return dict(list(inspect.signature(rule).parameters.items())[1:])


def _required(name: str) -> list[str]:
    return [key for key, parameter in _parameters(name).items() if parameter.default is inspect.Parameter.empty]


def _bind(name: str, words: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Assign arguments, each written bare or as ``name=value``, to the rule's names in their order."""
    bare = [_number(word) for word in words if "=" not in word]
    named: dict[str, int] = {}
    for key, value in (map(str.strip, word.split("=", 1)) for word in words if "=" in word):
        if key in named:
            raise ValueError(f"{key} is given twice")
        named[key] = _number(value)
    bound = inspect.Signature(list(_parameters(name).values())).bind(*bare, **named)
    bound.apply_defaults()
    arguments = {key: value for key, value in bound.arguments.items() if value is not None}
    for key in _AT_LEAST_ONE:
        if arguments.get(key) == 0:
            raise ValueError(f"{key} must be at least 1")
    if "b" in arguments and arguments["b"] <= arguments["a"]:
        raise ValueError("b must be more than a")
    return tuple(arguments.items())


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text.strip()):
        raise ValueError(f"{text.strip()!r} is not a whole number")
    return int(text)


@estimator
def mean(reading: Reading) -> Estimate:
    """Average all records."""
    return skipmean(reading, 0)


@estimator
def skipmean(reading: Reading, k: int) -> Estimate:
    """Average all records but the first k."""
    return _mean_of(reading, slice(k, None), "none_after", records=k)


@estimator
def tailmean(reading: Reading, n: int) -> Estimate:
    """Average the last n records."""
    need(len(reading.usable) >= n, "few_last", count=len(reading.usable), wanted=n)
    return _mean_of(reading, slice(-n, None), "none_of_last", records=n)


@estimator
def window(reading: Reading, a: int, b: int) -> Estimate:
    """Average the records that end iterations a+1 … b: a dropped, b − a measured."""
    need_steps(reading, a)
    done, before = reading.steps_done, reading.steps_before
    done = [step - before for step in done] if before else done
    need(max(filter(isfinite, done)) + reading.spacings.usual > b, "few_before", iteration=b)
    ends = zip(reading.usable, entries_at(done, reading.usable), strict=True)
    inside = [index for index, end in ends if a < end <= b]
    need(len(inside) > 0, "none_between", first=a + 1, last=b)
    return estimate_from(reading, inside, statistics.fmean(entries_at(reading.values, inside)))


@estimator
def time_window(reading: Reading, a: int, b: int) -> Estimate:
    """Divide the samples between the ends of iterations a and b by the time between them."""
    return rate(reading, skip=a, take=b - a)


@estimator
def rate(reading: Reading, skip: int = 0, take: int | None = None) -> Estimate:
    """Divide the samples of ``take`` steps (or all) after the first ``skip`` by the time between their timestamps.

    The window begins at the first record with ``skip`` steps done and ends at the first with ``take`` more,
    so a log that prints every tenth step is measured from one printed step to another.
    """
    timed, start = reading.timed, start_after(reading, skip)
    if take is None:
        return between(reading, start, timed[-1])
    need_steps(reading, skip)
    goal = reading.steps_done[start] - reading.steps_before + take
    return between(reading, start, first_at(timed, reading, goal, "few_steps", wanted=take, steps=skip))


@estimator
def settled(reading: Reading, skip: int = 0, cap: int = 20, least: int | None = None) -> Estimate:
    """Divide all samples after the warm-up by the time between their timestamps.

    The warm-up ends after ``skip`` steps at the first whole second from which the rate of 5 s is within 1 % of that of
    the 5 s after them, ``least`` seconds after its first record at the earliest and ``cap`` at the latest.
    """
    timed, start = reading.timed, start_after(reading, skip)
    times = entries_at(reading.run.samples.time, timed)
    begin = reading.run.samples.time[start]
    for second in range(least or 0, min(cap, MOST_WARM_UP) + 1):
        places = [bisect_left(times, begin + second + later) for later in (0, STEADY_SECONDS, 2 * STEADY_SECONDS)]
        if places[-1] >= len(timed):
            break
        first, middle, last = (timed[place] for place in places)
        start = first
        if first < middle < last and _is_steady(reading, first, middle, last):
            break
    return between(reading, start, timed[-1])


def _is_steady(reading: Reading, first: int, middle: int, last: int) -> bool:
    return abs(between(reading, first, middle).value / between(reading, middle, last).value - 1) < STEADY


@estimator
def tipc(reading: Reading, skip: int = 10) -> Estimate:
    """Apply Paddle's rule: drop the first ``skip`` records, then the slowest and the fastest 5 % (at least 5)."""
    rest, speeds = reading.usable[skip:], reading.speeds[skip:]
    trim = max(int(len(rest) * TIPC_TRIM_SHARE), TIPC_TRIM_LEAST)
    need(len(rest) > 2 * TIPC_TRIM_LEAST, "few_tipc", least=skip + 2 * TIPC_TRIM_LEAST)
    by_speed = sorted(range(len(rest)), key=speeds.__getitem__)
    kept = sorted(by_speed[trim:-trim])
    return estimate_from(reading, [rest[place] for place in kept], statistics.fmean(entries_at(speeds, kept)))


@estimator
def batch_over_time(reading: Reading, skip: int = 0) -> Estimate:
    """Divide the global batch by the mean seconds per step, without the first ``skip`` records.

    Refused where the printed rates show that steps differ in size.
    """
    indices = reading.with_step_seconds
    need(bool(indices), "no_step_seconds")
    need(len(indices) > skip, "few_skipped", count=len(indices), skipped=skip)
    used = indices[skip:]
    need(counts_samples(reading.run.unit), "no_sample_rate", unit=reading.run.unit)
    need(reading.has_equal_batches(used), "unequal_steps")
    duration = statistics.fmean(entries_at(reading.run.samples.seconds_per_step, used))
    need(duration > 0, "zero_step_seconds")
    return estimate_from(reading, used, reading.global_batch_size / duration)


@estimator
def steady(reading: Reading, skip: int = 0) -> Estimate:
    """Divide the work of the records by their time, as printed, without the first ``skip`` steps and without pauses.

    A record weighs as much as the steps that it covers. A pause is a record of less than half the usual speed, where
    such records are rare.
    """
    return speed_of_records(reading, skip, with_pauses=False)


@estimator
def goodput(reading: Reading, skip: int = 0) -> Estimate:
    """Divide the work of the records by their time, as printed, without the first ``skip`` steps, with all pauses."""
    return speed_of_records(reading, skip, with_pauses=True)


@estimator
def steady_rate(reading: Reading, skip: int = 0) -> Estimate:
    """Divide the samples after the first ``skip`` steps by the time between timestamps, without pauses.

    A pause is the time between two records at less than half the usual speed, where such times are rare.
    """
    return speed_by_clock(reading, skip, with_pauses=False)


@estimator
def summary(reading: Reading) -> Estimate:
    """Return the value that the program printed at its end."""
    need(bool(reading.run.summaries), "no_summary")
    last = reading.run.summaries[-1]
    work = reading.step_size if last.unit == STEPS_PER_SECOND else reading.factor
    return estimate_from_summaries(reading, [last], 0, last.value * work)


@estimator
def printed(reading: Reading) -> Estimate:
    """Return the last value that the program printed, in its summary or else in a record."""
    if reading.run.summaries:
        return summary(reading)
    need(len(reading.usable) > 0, "no_records")
    last = reading.usable[-1]
    line = reading.run.samples.line[last]
    dropped = len(reading.run.samples) - 1
    return Estimate(reading.values[last], reading.run.unit, 1, dropped, first_line=line, last_line=line)


@estimator
def hmean_epochs(reading: Reading, w: int) -> Estimate:
    """Return the harmonic mean of the values printed for each epoch, without the first w epochs."""
    epochs = [epoch for epoch in reading.run.epochs if isfinite(epoch.value) and epoch.value > 0]
    used = epochs[w:]
    need(bool(used), "few_epochs", count=len(epochs), skipped=w)
    harmonic_mean = statistics.harmonic_mean([epoch.value for epoch in used])
    work = reading.step_size if used[0].unit == STEPS_PER_SECOND else reading.factor
    return estimate_from_summaries(reading, used, len(epochs) - len(used), harmonic_mean * work)


def _mean_of(reading: Reading, used: slice, shortage: str, /, **values: Value) -> Estimate:
    indices = reading.usable[used]
    need(len(indices) > 0, shortage, **values)
    return estimate_from(reading, indices, statistics.fmean(reading.speeds[used]))
