"""Formats that are data: a ``LogFormat`` of the catalogue → the rules that read it."""

from __future__ import annotations

import re

from dlperf.catalog.model import Dialect, LogFormat
from dlperf.formats.clock import Clock
from dlperf.formats.info import FormatInfo
from dlperf.formats.parser import FunctionRule, Rule, Rules
from dlperf.formats.recorder import Recorder
from dlperf.formats.records import RecordRule

_LITERAL = re.compile(r"\^?(?P<text>(?:[A-Za-z0-9 _:;,=<>@#%&'\"/!~`-]|\\[^A-Za-z0-9])*)(?P<next>.?)", re.DOTALL)
_QUANTIFIERS = ("*", "?", "{")


class DeclaredFormat:
    """A format that regular expressions describe; the catalogue has found nothing wrong with them."""

    def __init__(self, entry: LogFormat) -> None:
        self.info = FormatInfo(entry.id, entry.title, entry.unit, entry.scope, entry.window, entry.source)
        self.detects = re.compile(entry.detect.encode())
        self._entry = entry
        self._records = [(dialect, re.compile(dialect.record.encode())) for dialect in (entry, *entry.dialects)]
        self._metadata = [
            (name, re.compile(pattern.encode())) for name, patterns in entry.metadata.items() for pattern in patterns
        ]
        self._end = None if entry.end is None else re.compile(entry.end.encode())

    def recorder(self) -> Recorder:
        """What builds the runs of one log."""
        return Recorder(self.info, self._entry.every_rank, self._entry.facts)

    def rules(self, recorder: Recorder) -> Rules:
        """The rules for one log."""
        records = [_record_rule(recorder, dialect, pattern) for dialect, pattern in self._records]
        ends = [] if self._end is None else [_end_rule(recorder, self._end)]
        metadata = [metadata_rule(recorder, name, pattern) for name, pattern in self._metadata]
        return Rules([*records, *ends], metadata)


def leading_text(pattern: str) -> str:
    """Text that every match of a regular expression begins with, "" where none is plain to see.

    >>> leading_text(r"total step: (?P<step>\\d+)")
    'total step: '
    """
    if _alternates(pattern):
        return ""
    match = _LITERAL.match(pattern)
    text = "" if match is None else match["text"]
    if match is not None and match["next"] in _QUANTIFIERS:
        text = text[:-2] if text[-2:-1] == "\\" else text[:-1]
    return re.sub(r"\\(.)", r"\1", text)


def _alternates(pattern: str) -> bool:
    """Whether the pattern as a whole is an alternation: then no text is in every match."""
    text, groups = re.sub(r"\\.|\[\^?\]?[^\]]*\]", "", pattern, flags=re.DOTALL), 1
    while groups:
        text, groups = re.subn(r"\([^()]*\)", "", text)
    return "|" in text


def _record_rule(recorder: Recorder, dialect: Dialect, pattern: re.Pattern[bytes]) -> Rule:
    clock = None if dialect.time_format is None else Clock(dialect.time_format)
    return RecordRule(recorder, pattern, (dialect.contains or leading_text(dialect.record)).encode(), clock)


def metadata_rule(recorder: Recorder, name: str, pattern: re.Pattern[bytes]) -> Rule:
    """The rule that hears what the pattern's only group declares."""

    def hear(found: re.Match[bytes], number: int) -> None:
        if found[1] is not None:
            recorder.hear(name, found[1].decode("utf-8", "replace"))

    return FunctionRule(leading_text(pattern.pattern.decode()).encode(), pattern.search, hear)


def _end_rule(recorder: Recorder, pattern: re.Pattern[bytes]) -> Rule:
    def complete(found: re.Match[bytes], number: int) -> None:
        recorder.complete()

    return FunctionRule(leading_text(pattern.pattern.decode()).encode(), pattern.search, complete)
