"""The parser of every format: lines → rules → runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice, takewhile
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

from dlperf.formats.lines import LineReader, Lines
from dlperf.formats.recorder import Recorder
from dlperf.formats.samples import Run

DECLARATION_LINES = 5000
"""Lines before the first record of a run, and after the last one of the log, in which declarations are looked for."""


class Rule(Protocol):
    """What a format does with some lines."""

    @property
    def contains(self) -> bytes:
        """Text that every line has which the rule can take: most lines are passed over by this alone."""

    def search(self, line: bytes) -> Any:
        """What the rule finds in a line; None where the line is not one of its."""

    def act(self, found: Sequence[Any], numbers: Sequence[int]) -> None:
        """What was found in lines that follow each other, but for lines that no rule takes, and their numbers."""


@dataclass(frozen=True)
class FunctionRule:
    """A rule that acts on one line at a time."""

    contains: bytes
    search: Callable[[bytes], Any]
    act_on: Callable[[Any, int], None]

    def act(self, found: Sequence[Any], numbers: Sequence[int]) -> None:
        for each, number in zip(found, numbers, strict=True):
            self.act_on(each, number)


@dataclass(frozen=True)
class Rules:
    """The rules of a format, for one log."""

    events: Sequence[Rule]
    """Records, summaries, ends: looked for in every line. The first rule that takes a line has it alone."""
    declarations: Sequence[Rule] = ()
    """What the log says of a run: looked for before a run's first record and after the last record of the log."""


class _Found(NamedTuple):
    """What a rule found: the indices of the lines, in order, and what it found in each."""

    rule: Rule
    indices: Sequence[int]
    matches: Sequence[Any]


class LogParser:
    """Reads one log, fed in any chunking: samples are visible as soon as their line is whole."""

    def __init__(self, recorder: Recorder, rules: Callable[[Recorder], Rules]) -> None:
        self._reader = LineReader()
        self._recorder = recorder
        self._rules = rules(recorder)
        self._recent = _RecentLines()
        recorder.on_next_run = self._read_declarations

    @property
    def runs(self) -> list[Run]:
        """The runs found so far; the last one grows."""
        return self._recorder.runs

    @property
    def lines(self) -> int:
        """Lines read; a last line without a line end counts once the log is finished."""
        return self._reader.count

    def feed(self, data: bytes) -> None:
        """The next bytes of the log. Never raises for what they hold."""
        for lines in self._reader.feed(data):
            self._read(lines)

    def finish(self) -> None:
        """The log is at its end: a last line without a line end is read now."""
        for lines in self._reader.finish():
            self._read(lines)
        last = self.runs[-1].samples.line if self.runs else ()
        self._read_declarations(last[-1] if last else 0, self.lines + 1)
        self._recorder.settle()

    def _read(self, lines: Lines) -> None:
        self._recent.add(lines)
        start = 0 if self.runs else self._read_head(lines)
        events = _possible(self._rules.events, lines.text)
        for found in _in_order(_find(events, lines.lines, start)):
            found.rule.act(found.matches, list(map(lines.numbers.__getitem__, found.indices)))

    def _read_head(self, lines: Lines) -> int:
        """Read what comes before the first record, declarations included; the index after that record."""
        events = _possible(self._rules.events, lines.text)
        declarations = _possible(self._rules.declarations, lines.text)
        if not events and not declarations:
            return len(lines.lines)
        for index, (number, line) in enumerate(zip(lines.numbers, lines.lines, strict=True)):
            if not _act_on_line(events, number, line, first_only=True):
                _act_on_line(declarations, number, line)
            if self.runs:
                return index + 1
        return len(lines.lines)

    def _read_declarations(self, after: int, before: int) -> None:
        """What the lines between two lines declare."""
        for number, line in self._recent.between(after, before):
            _act_on_line(self._rules.declarations, number, line)


class _RecentLines:
    """The last lines of the log, to look back at where a run begins."""

    def __init__(self) -> None:
        self._lines: deque[Lines] = deque()

    def add(self, lines: Lines) -> None:
        while self._lines and self._lines[0].end < self._lines[-1].end - DECLARATION_LINES:
            self._lines.popleft()
        self._lines.append(lines)

    def between(self, after: int, before: int) -> Iterator[tuple[int, bytes]]:
        """The lines between two lines, at most ``DECLARATION_LINES`` before the second."""
        after = max(after, before - DECLARATION_LINES)
        recent = list(takewhile(lambda lines: lines.end > after, reversed(self._lines)))
        for lines in reversed(recent):
            for number, line in zip(lines.numbers, lines.lines, strict=True):
                if after < number < before:
                    yield number, line


def _possible(rules: Sequence[Rule], text: bytes) -> list[Rule]:
    """The rules that some line of a text can be for."""
    present = {contains: contains in text for contains in {rule.contains for rule in rules}}
    return [rule for rule in rules if present[rule.contains]]


def _find(rules: Sequence[Rule], lines: Sequence[bytes], start: int) -> list[_Found]:
    """What rules find in lines from an index on."""
    found = []
    left: dict[bytes, list[int]] = {}
    taken: set[int] = set()
    for rule in rules:
        if rule.contains not in left:
            contains = rule.contains
            left[contains] = [index for index, line in enumerate(lines) if contains in line and index >= start]
        candidates = [index for index in left[rule.contains] if index not in taken] if taken else left[rule.contains]
        search = rule.search
        matches = [search(lines[index]) for index in candidates]
        if not all(matches):  # the quick way to see that there can be a None
            pairs = [(index, match) for index, match in zip(candidates, matches, strict=True) if match is not None]
            candidates, matches = [index for index, _ in pairs], [match for _, match in pairs]
        if matches:
            found.append(_Found(rule, candidates, matches))
            taken.update(candidates)
    return found


def _in_order(found: Sequence[_Found]) -> Iterator[_Found]:
    """What was found, cut where the lines of one rule stand between those of another."""
    if len(found) < 2:
        yield from found
        return
    hits = sorted((index, number) for number, each in enumerate(found) for index in each.indices)
    matches = [iter(each.matches) for each in found]
    for number, group in groupby(hits, key=itemgetter(1)):
        indices = [index for index, _ in group]
        yield _Found(found[number].rule, indices, list(islice(matches[number], len(indices))))


def _act_on_line(rules: Iterable[Rule], number: int, line: bytes, first_only: bool = False) -> bool:
    """Let every rule act that takes the line, or the first of them only; whether one did."""
    acted = False
    for rule in rules:
        if rule.contains in line and not (acted and first_only):
            found = rule.search(line)
            if found is not None:
                rule.act((found,), (number,))
                acted = True
    return acted
