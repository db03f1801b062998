"""Rules of a format: which lines they match and what they do with the matches."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, nan
from operator import itemgetter
from typing import Any, Protocol

from dlperf.catalog.linear import compile_linear
from dlperf.catalog.patterns import ELAPSED, RECORD_GROUPS, WORK
from dlperf.formats.averages import EpochBars, OverlappingMeans
from dlperf.formats.held import HeldRecords
from dlperf.formats.ranks import Ranks
from dlperf.formats.recorder import METRIC, Recorder
from dlperf.formats.samples import Window
from dlperf.formats.text.literals import leading_text
from dlperf.formats.text.numbers import ABSENT, BETWEEN_THOUSANDS, Clock, floats, whole_ratio
from dlperf.formats.text.prefixes import LOGGERS, UNKNOWN, Kind, Origins

Texts = Mapping[str, Sequence[bytes]]
"""Name of a group → what it matched in each record."""

_THOUSANDS = re.compile(rf"(?:{BETWEEN_THOUSANDS}\d\d\d)+(?:\.\d+)?(?![\d.])".encode())
NOT_FINITE = (b"nan", b"inf", b"infinity")
SHORT = 4
"""Digits from which on a number has no thousands behind a space."""


class LogRule(Protocol):
    """One kind of line of a format."""

    @property
    def contains(self) -> bytes:
        """Text in every line that the rule can match: most lines are skipped by this alone."""

    def search(self, line: bytes) -> Any:
        """Return a match, or None where the rule does not apply to the line."""

    def act(self, matches: Sequence[Any], numbers: Sequence[int]) -> None:
        """Handle the matches of some lines, given their line numbers; only lines without any match lie between them."""


@dataclass(frozen=True)
class FunctionRule:
    """A rule that handles one line at a time."""

    contains: bytes
    search: Callable[[bytes], Any]
    act_on: Callable[[Any, int], None]

    def act(self, matches: Sequence[Any], numbers: Sequence[int]) -> None:
        for match, number in zip(matches, numbers, strict=True):
            self.act_on(match, number)


@dataclass(frozen=True)
class Rules:
    """The rules of a format, for one log."""

    events: Sequence[LogRule]
    """Records, summaries, ends: searched for in every line. Only the first rule that matches a line handles it."""
    declarations: Sequence[LogRule] = ()
    """Settings of a run: searched for before a run's first record and after the last record of the log."""
    held: HeldRecords | None = None
    """Records that count at the end of a log without others."""
    held_events: Sequence[LogRule] = ()
    """Their rules: searched for in every line until the log has another record."""
    pauses: Sequence[LogRule] = ()
    """Lines that tell of a pause: searched for after a run's first record."""
    early_last: bool = False
    """The time of the last record of a run does not count."""
    continues: Callable[[bytes], object] | None = None
    """Finds something in lines that continue the one before them."""


class RecordRule:
    """A rule that matches records by named groups, of ``dlperf.catalog.patterns.RECORD_GROUPS`` or of metrics."""

    def __init__(
        self,
        recorder: Recorder,
        pattern: str,
        contains: bytes,
        clock: Clock | None = None,
        window: Window | None = None,
        held: HeldRecords | None = None,
        unit: str | None = None,
        means: OverlappingMeans | None = None,
    ) -> None:
        """Make a rule for one kind of record.

        Args:
            recorder: receives the records.
            pattern: regular expression of a line.
            contains: text in every such line.
            clock: parses the group ``time``.
            window: what these records cover, where it differs from the format's.
            held: receives the records instead, where they only count in a log without others.
            unit: of these records, where it differs from the format's.
            means: separates the times of steps, where they are means that overlap.
        """
        expression = compile_linear(pattern)
        self.contains = contains
        self.search = expression.search
        self._recorder = recorder
        self._extend = held.extend if held else recorder.extend
        self._names = tuple(sorted(expression.groupindex, key=expression.groupindex.__getitem__))
        self._further = [name for name in self._names if name not in RECORD_GROUPS]
        self._clock = clock
        self._differs = unit, window
        self._means = means
        self._value = self._names.index("value") if "value" in self._names else None
        self._logger: Kind | None = UNKNOWN
        self._bars = EpochBars(self._names) if "epoch_steps" in self._names else None
        self._ranks = Ranks()

    def act(self, matches: Sequence[re.Match[bytes]], numbers: Sequence[int], origins: Origins | None = None) -> None:
        """Handle records, given the ranks and times before their lines, if any."""
        rows = [match.groups(ABSENT) for match in matches]
        if self._value is not None and min(map(len, map(itemgetter(self._value), rows))) < SHORT:
            rows = [_with_thousands(match, row, self._value) for match, row in zip(matches, rows, strict=True)]
        names = self._names
        if origins is None or origins.kind is None:
            origins = self._with_clock_of_lines(origins, matches)
        if origins is not None and len(self._further) < len(self._names):
            names, rows = self._with_origins(rows, origins)
        if self._bars is not None:
            rows, numbers = self._bars.last_of_each_epoch(rows, numbers)
        if not rows:
            return
        texts = dict(zip(names, zip(*rows, strict=True), strict=True))
        if "rank" in texts:
            kept = self._ranks.first_of_each_step(texts)
            texts = {name: tuple(column[index] for index in kept) for name, column in texts.items()}
            numbers = [numbers[index] for index in kept]
            self._ranks.declare(self._recorder)
        self._declare(texts, numbers)
        metrics = self._metrics(texts) if numbers else {}
        if len(metrics) == len(names):
            for name, values in metrics.items():
                self._recorder.add_metric(name, values)
        elif numbers:
            columns = self._columns(texts) | {METRIC + name: values for name, values in metrics.items()}
            self._extend(columns, numbers, *self._differs)
            self._ranks.hand_over(self._recorder.runs)

    def _declare(self, texts: Texts, numbers: Sequence[int]) -> None:
        """Declare what the records state of their run."""
        for name in WORK:
            if name in texts and numbers:
                self._recorder.declare_in_records(name, numbers, texts[name].__getitem__)
        if "value_per_gpu" in texts and numbers:
            pairs = texts["value"], texts["value_per_gpu"]
            self._recorder.declare_in_records(
                "derived_gpus", numbers, lambda index: whole_ratio(*(each[index] for each in pairs))
            )
        if "run_seconds" in texts:
            self._recorder.number_records(floats(texts["run_seconds"])[-1] * floats(texts["run_steps_per_second"])[-1])

    def _with_clock_of_lines(self, origins: Origins | None, matches: Sequence[re.Match[bytes]]) -> Origins | None:
        """Add the times that a logger put before the first lines and these, where the records have none."""
        if self._logger is UNKNOWN:
            found = (kind for kind in LOGGERS if kind.time_format and kind.expression.match(matches[0].string))
            self._logger = None if "time" in self._names else next(found, None)
        if self._logger is None:
            return origins
        timed = self._logger.origins([match.string for match in matches])
        return replace(timed, ranks=origins.ranks) if origins else timed

    def _with_origins(
        self, rows: Sequence[tuple[bytes, ...]], origins: Origins
    ) -> tuple[tuple[str, ...], list[tuple[bytes, ...]]]:
        """Add the ranks and times before lines as groups, where the records themselves have none."""
        added: dict[str, Sequence[bytes]] = {}
        if "rank" not in self._names and "step" in self._names and any(origins.ranks):
            added["rank"] = origins.ranks
        if "time" not in self._names and (seconds := origins.seconds()) is not None:
            added["origin"] = [str(second).encode() for second in seconds]
            self._recorder.takes_arrival = not (origins.kind and origins.kind.own_clock)
        if not added:
            return self._names, list(rows)
        return (*self._names, *added), [
            (*row, *more) for row, more in zip(rows, zip(*added.values(), strict=True), strict=True)
        ]

    def _metrics(self, texts: Texts) -> dict[str, Sequence[float]]:
        """Return the values of the groups that are metrics, by id."""
        return {name: floats(texts[name]) for name in self._further}

    def _columns(self, texts: Texts) -> dict[str, Sequence[float]]:
        columns: dict[str, Sequence[float]] = {
            name: floats(texts[name]) for name in ("value", "step", "steps", "epoch", "samples") if name in texts
        }
        if "micro_step" in texts:
            accumulated = self._recorder.accumulation_steps
            columns["step"] = [step / accumulated for step in floats(texts["micro_step"])]
        if "loss" in texts:
            columns |= loss_columns(texts["loss"])
        if "time" in texts and self._clock is not None:
            columns["time"] = self._clock.seconds(texts["time"])
        if "origin" in texts:
            columns["time"] = floats(texts["origin"])
        seconds = _seconds_per_step(texts, columns.get("step", ()))
        if seconds is not None and "elapsed" in texts:
            seconds = _by_finer_digits(texts, seconds, columns["step"])
        waits = floats(texts["reader_seconds"]) if "reader_seconds" in texts else []
        if self._means is not None and seconds is not None:
            times = {"step": seconds, "reader": waits} if waits else {"step": seconds}
            self._means.separate(times, columns["epoch"], columns["step"])
        work = next((floats(texts[name]) for name in WORK if name in texts), None)
        if work is not None and seconds is not None and "value" not in columns:
            columns["value"] = _quotients(work, seconds)
        if work is not None and seconds is None and "value" in columns:
            seconds = _quotients(work, columns["value"])
        if seconds is not None:
            columns["seconds_per_step"] = seconds
        if seconds is not None and waits:
            columns["reader_share"] = [1.0 if share > 1.0 else share for share in _quotients(waits, seconds)]
        return columns


def _quotients(above: Sequence[float], below: Sequence[float]) -> list[float]:
    return [one / other if other else nan for one, other in zip(above, below, strict=True)]


def loss_columns(texts: Sequence[bytes]) -> dict[str, Sequence[float]]:
    """Return the losses and, where one was printed as nan or infinite, a column that marks those."""
    losses = floats(texts)
    if all(map(isfinite, losses)):
        return {"loss": losses}
    return {
        "loss": losses,
        "nan_loss": [text is not ABSENT and text.lower().lstrip(b"+-") in NOT_FINITE for text in texts],
    }


def _seconds_per_step(texts: Texts, steps: Sequence[float]) -> list[float] | None:
    if "seconds_per_step" in texts:
        return floats(texts["seconds_per_step"])
    if "milliseconds_per_step" in texts:
        return [milliseconds / 1000 for milliseconds in floats(texts["milliseconds_per_step"])]
    if "steps_per_second" in texts:
        return [1 / rate if rate else nan for rate in floats(texts["steps_per_second"])]
    if "interval_seconds" in texts:
        firsts = floats(texts["first_step"]) if "first_step" in texts else [0.0] * len(steps)
        counts = [last - first for last, first in zip(steps, firsts, strict=True)]
        intervals = floats(texts["interval_seconds"])
        return [interval / count if count > 0 else nan for interval, count in zip(intervals, counts, strict=True)]
    return None


def _may_go_on(text: bytes) -> bool:
    return len(text) < SHORT and text.isdigit()


def _with_thousands(match: re.Match[bytes], row: tuple[bytes, ...], value: int) -> tuple[bytes, ...]:
    """Return the groups of a record; the value with the thousands that follow it after spaces, as 6 554."""
    found = _THOUSANDS.match(match.string, match.end(value + 1)) if _may_go_on(row[value]) else None
    return (*row[:value], row[value] + found[0], *row[value + 1 :]) if found else row


def _by_finer_digits(texts: Texts, seconds: Sequence[float], steps: Sequence[float]) -> list[float]:
    """Take the time of a step from that of an epoch where it has more digits than the rate and agrees with it."""
    rates = next(texts[name] for name in ("seconds_per_step", "steps_per_second") if name in texts)
    times = Clock(ELAPSED).seconds(texts["elapsed"])
    chosen = []
    for rate, second, text, time, count in zip(rates, seconds, texts["elapsed"], times, steps, strict=True):
        unit_of_last_digit, value = 10.0 ** -len(rate.partition(b".")[2]), floats([rate])[0]
        resolution = 0.1 if b"." in text else 1.0
        finer = (time + resolution / 2) / count if count else nan
        error = unit_of_last_digit / value if value else nan
        agrees = abs(finer / second - 1) < error + resolution / time if second and time else False
        chosen.append(finer if agrees and error > resolution / time else second)
    return chosen


def metadata_rules(recorder: Recorder, patterns: Mapping[str, Iterable[str]]) -> list[LogRule]:
    """Return a rule for each pattern, which declares what the only group of the pattern matched.

    Args:
        recorder: receives the declarations.
        patterns: name of the declared field → regular expressions.
    """
    return [_metadata_rule(recorder, name, pattern) for name, each in patterns.items() for pattern in each]


def _metadata_rule(recorder: Recorder, name: str, pattern: str) -> LogRule:
    def declare(match: re.Match[bytes], number: int) -> None:
        if match[1] is not None:
            recorder.declare(name, match[1].decode("utf-8", "replace"))

    return search_rule(pattern, declare)


def search_rule(pattern: str, act_on: Callable[[re.Match[bytes], int], None]) -> FunctionRule:
    """Return a rule that handles the lines in which a regular expression is found."""
    return FunctionRule(leading_text(pattern).encode(), compile_linear(pattern).search, act_on)
