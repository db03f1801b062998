"""All formats: which there are, which one a log is in, and a parser for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from dlperf.catalog.entries import read_layer
from dlperf.catalog.load import BUILTIN
from dlperf.catalog.model import LogFormat
from dlperf.catalog.problem import hint
from dlperf.errors import RequestError
from dlperf.formats import dllogger, own, paddleclas
from dlperf.formats.declared import DeclaredFormat
from dlperf.formats.info import FormatInfo
from dlperf.formats.parser import LogParser, Rules
from dlperf.formats.recorder import Recorder


@dataclass(frozen=True)
class _CodeFormat:
    info: FormatInfo
    rules: Callable[[Recorder], Rules]
    facts: Mapping[str, str]
    detects: None = None

    def recorder(self) -> Recorder:
        return Recorder(self.info, facts=self.facts)


Format = _CodeFormat | DeclaredFormat

_CODE: tuple[_CodeFormat, ...] = (
    _CodeFormat(own.INFO, own.rules, {}),
    _CodeFormat(dllogger.INFO, dllogger.rules, {}),
    _CodeFormat(paddleclas.INFO, paddleclas.rules, {"framework": "paddlepaddle"}),
)


def format_ids(extra: Iterable[LogFormat] = ()) -> tuple[str, ...]:
    """Ids of all formats, in order."""
    return tuple(sorted(_formats(extra)))


def describe(format_id: str, extra: Iterable[LogFormat] = ()) -> FormatInfo:
    """What a format is.

    Raises:
        RequestError: there is no such format.
    """
    return _format(format_id, extra).info


def parser_for(format_id: str, extra: Iterable[LogFormat] = ()) -> LogParser:
    """A parser for one log. ``extra`` are formats of a workspace's catalogue; an equal id replaces the built-in one.

    Raises:
        RequestError: there is no such format.
    """
    return _parser(_format(format_id, extra))


def detect(head: bytes, extra: Iterable[LogFormat] = ()) -> str | None:
    """The format that finds most records in the first megabyte of a log; None where none finds any."""
    found = {format_id: _records(entry, head) for format_id, entry in _formats(extra).items()}
    best = max(found, key=found.__getitem__)
    return best if found[best] else None


def _records(entry: Format, head: bytes) -> int:
    if entry.detects is not None and not any(map(entry.detects.search, head.splitlines())):
        return 0
    parser = _parser(entry)
    parser.feed(head)
    parser.finish()
    return sum(len(run.samples) + len(run.epochs) + len(run.summaries) for run in parser.runs)


def _parser(entry: Format) -> LogParser:
    return LogParser(entry.recorder(), entry.rules)


def _format(format_id: str, extra: Iterable[LogFormat]) -> Format:
    formats = _formats(extra)
    if format_id not in formats:
        raise RequestError(f"no log format {format_id!r}: {hint(format_id, formats)}")
    return formats[format_id]


def _formats(extra: Iterable[LogFormat]) -> dict[str, Format]:
    builtin: tuple[Format, ...] = (*_CODE, *_builtin())
    formats = {entry.info.id: entry for entry in builtin}
    return formats | {entry.id: DeclaredFormat(entry) for entry in extra}


@cache
def _builtin() -> tuple[DeclaredFormat, ...]:
    formats = read_layer(BUILTIN, ("formats",)).entries["formats"]
    return tuple(DeclaredFormat(located.entry) for located in formats.values())
