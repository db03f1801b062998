"""Apply the rules of a format to the lines of a log."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain, groupby, islice, takewhile
from math import nan
from operator import itemgetter
from typing import Any, NamedTuple

from dlperf.formats.recorder import Recorder, ignore_run
from dlperf.formats.rules import LogRule, RecordRule, Rules
from dlperf.formats.samples import Run
from dlperf.formats.text.joined import LineJoiner
from dlperf.formats.text.lines import LineReader, Lines
from dlperf.formats.text.prefixes import Origins, Wrapping

DECLARATION_LINES = 5000
"""Lines before the first record of a run, and after the last one of the log, that are searched for declarations."""
DECLARATION_BYTES = 1 << 22
"""Their bytes: where they are more, only the last lines are searched."""


class _Matches(NamedTuple):
    """Matches of a rule, and the indices of their lines, in order."""

    rule: LogRule
    indices: Sequence[int]
    matches: Sequence[Any]


class LogParser:
    """Reads one log, fed in any chunking: samples are visible as soon as their line is whole."""

    def __init__(
        self, recorder: Recorder, rules: Callable[[Recorder], Rules], wrapping: Wrapping | None = None
    ) -> None:
        self._reader = LineReader(wrapping)
        self._recorder = recorder
        self._rules = rules(recorder)
        self._joiner = LineJoiner(self._rules.continues) if self._rules.continues else None
        self._recent = _RecentLines()
        self.has_whole_records = False
        """Whether the finished log holds records that were not held back."""
        recorder.on_next_run = self._read_declarations

    @property
    def runs(self) -> list[Run]:
        """The runs found so far; the last one grows."""
        return self._recorder.runs

    @property
    def runs_so_far(self) -> list[Run]:
        """The runs of a log that grows, as if it ended here, without an unfinished line."""
        runs = self.runs or (self._rules.held.runs_so_far() if self._rules.held else [])
        if not (self._rules.early_last and runs and len(runs[-1].samples)):
            return runs
        time = runs[-1].samples.time[:]
        time[-1] = nan
        return [*runs[:-1], replace(runs[-1], samples=replace(runs[-1].samples, time=time))]

    @property
    def lines(self) -> int:
        """Number of lines read; a last line without a line end counts once the log is finished."""
        return self._reader.count

    def feed(self, data: bytes) -> None:
        """Parse the next bytes of the log; no content of theirs raises an error."""
        for lines in self._reader.feed(data):
            self._read(self._joiner.join(lines) if self._joiner else lines)

    def count_records(self, parts: Iterable[Lines]) -> None:
        """Parse all lines of a log for its records alone, without the declarations."""
        self._rules = replace(self._rules, declarations=(), pauses=())
        for lines in parts:
            self._read(self._joiner.join(lines) if self._joiner else lines)
        self.finish()

    def finish(self) -> None:
        """Parse what is left at the end of the log: a last line without a line end, and the last declarations."""
        for lines in self._reader.finish():
            self._read(self._joiner.join(lines) if self._joiner else lines)
        if self._joiner:
            self._read(self._joiner.finish(self.lines))
        if self._rules.early_last:
            self._drop_last_times()
        self.has_whole_records = bool(self.runs)
        if self._rules.held is not None:
            self._rules.held.release()
        last = self.runs[-1].samples.line if self.runs else ()
        self._read_declarations(last[-1] if last else 0, self.lines + 1)
        self._recorder.apply_declarations()
        self._recorder.on_next_run = ignore_run  # or parser and recorder keep each other, and the log, in memory

    def _drop_last_times(self) -> None:
        for run in self.runs:
            if len(run.samples):
                run.samples.time[-1] = nan

    def _read(self, lines: Lines) -> None:
        self._recent.add(lines)
        start = 0 if self.runs else self._read_head(lines)
        self._apply(self._rules.events, lines, start)
        if self.runs and self._rules.pauses:
            self._apply(self._rules.pauses, lines, start)
        if not self.runs:
            self._apply(self._rules.held_events, lines, 0)

    def _apply(self, rules: Sequence[LogRule], lines: Lines, start: int) -> None:
        """Let rules handle the lines from an index on."""
        possible = _possible_rules(rules, lines.text)
        for found in _in_line_order(_find_matches(possible, lines.lines, start)):
            numbers = list(map(lines.numbers.__getitem__, found.indices))
            if lines.origins is not None and isinstance(found.rule, RecordRule):
                found.rule.act(found.matches, numbers, lines.origins.at(found.indices))
            else:
                found.rule.act(found.matches, numbers)

    def _read_head(self, lines: Lines) -> int:
        """Read everything up to the first record, declarations included, and return the index after that record."""
        if not self._rules.declarations:
            return 0
        events = _possible_rules(self._rules.events, lines.text)
        declarations = _possible_rules(self._rules.declarations, lines.text)
        if not events and not declarations:
            return len(lines.lines)
        for index, (number, line) in enumerate(zip(lines.numbers, lines.lines, strict=True)):
            origins = lines.origins.at((index,)) if lines.origins else None
            if not any(_apply_rule(rule, number, line, origins) for rule in events):
                _apply_all(declarations, number, line)
            if self.runs:
                return index + 1
        return len(lines.lines)

    def _read_declarations(self, after: int, before: int) -> None:
        if not self._rules.declarations:
            return
        for number, line in self._recent.between(after, before):
            _apply_all(self._rules.declarations, number, line)


class _RecentLines:
    """The last lines of the log, searched for declarations where a run begins."""

    def __init__(self) -> None:
        self._lines: deque[Lines] = deque()
        self._bytes = 0

    def add(self, lines: Lines) -> None:
        """Add the lines in which a run may begin; what can no longer be searched is forgotten."""
        while self._lines and self._is_superfluous(self._lines[0]):
            self._bytes -= len(self._lines.popleft().text)
        self._lines.append(lines)
        self._bytes += len(lines.text)

    def _is_superfluous(self, oldest: Lines) -> bool:
        enough_lines = oldest.end < self._lines[-1].end - DECLARATION_LINES
        return enough_lines or self._bytes - len(oldest.text) > DECLARATION_BYTES

    def between(self, after: int, before: int) -> list[tuple[int, bytes]]:
        """Return the last lines between two lines, at most ``DECLARATION_LINES`` of ``DECLARATION_BYTES``."""
        after = max(after, before - DECLARATION_LINES)
        recent = takewhile(lambda lines: lines.end > after, reversed(self._lines))
        numbered = (zip(reversed(lines.numbers), reversed(lines.lines), strict=True) for lines in recent)
        between = (each for each in chain.from_iterable(numbered) if after < each[0] < before)
        found = list(islice(between, DECLARATION_LINES))
        sizes = accumulate(len(line) + 1 for _, line in found)
        return [each for each, size in zip(found, sizes, strict=True) if size <= DECLARATION_BYTES][::-1]


def _possible_rules(rules: Sequence[LogRule], text: bytes) -> list[LogRule]:
    """Return the rules that can match some line of a text."""
    present = {contains: contains in text for contains in {rule.contains for rule in rules}}
    return [rule for rule in rules if present[rule.contains]]


def _find_matches(rules: Sequence[LogRule], lines: Sequence[bytes], start: int) -> list[_Matches]:
    """Match rules with the lines from an index on."""
    found = []
    indices_by_text: dict[bytes, list[int]] = {}
    matched: set[int] = set()
    for rule in rules:
        contains, search = rule.contains, rule.search
        if contains not in indices_by_text:
            indices_by_text[contains] = [
                index for index, line in enumerate(lines) if contains in line and index >= start
            ]
        candidates = indices_by_text[contains]
        if matched:
            candidates = [index for index in candidates if index not in matched]
        matches = [search(lines[index]) for index in candidates]
        if not all(matches):  # the quick way to see that there can be a None
            pairs = [(index, match) for index, match in zip(candidates, matches, strict=True) if match is not None]
            candidates, matches = [index for index, _ in pairs], [match for _, match in pairs]
        if matches:
            found.append(_Matches(rule, candidates, matches))
            matched.update(candidates)
    return found


def _in_line_order(found: Sequence[_Matches]) -> Iterator[_Matches]:
    """Cut matches where the lines of one rule lie between those of another."""
    if len(found) < 2:
        yield from found
        return
    hits = sorted((index, number) for number, each in enumerate(found) for index in each.indices)
    matches = [iter(each.matches) for each in found]
    for number, group in groupby(hits, key=itemgetter(1)):
        indices = [index for index, _ in group]
        yield _Matches(found[number].rule, indices, list(islice(matches[number], len(indices))))


def _apply_all(rules: Sequence[LogRule], number: int, line: bytes) -> None:
    for rule in rules:
        _apply_rule(rule, number, line)


def _apply_rule(rule: LogRule, number: int, line: bytes, origins: Origins | None = None) -> bool:
    """Let a rule handle a line if it matches; return whether it did."""
    match = rule.search(line) if rule.contains in line else None
    if match is None:
        return False
    if origins is not None and isinstance(rule, RecordRule):
        rule.act((match,), (number,), origins)
    else:
        rule.act((match,), (number,))
    return True
