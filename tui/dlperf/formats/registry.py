"""The log formats: list them, detect the format of a log, and make a parser for it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain

from dlperf.catalog.files.entries import read_layer
from dlperf.catalog.files.load import BUILTIN
from dlperf.catalog.files.problem import hint
from dlperf.catalog.linear import compile_linear
from dlperf.catalog.log_format import Dialect, LogFormat
from dlperf.catalog.plugins import FORMATS, installed, load_plugin
from dlperf.errors import RequestError
from dlperf.formats.averages import OverlappingMeans, TotalRule
from dlperf.formats.dllogger import parser as dllogger
from dlperf.formats.held import HeldRecords
from dlperf.formats.parser import LogParser
from dlperf.formats.programs import mllog, own, paddleclas
from dlperf.formats.recorder import Recorder
from dlperf.formats.rules import LogRule, RecordRule, Rules, metadata_rules, search_rule
from dlperf.formats.samples import FormatInfo
from dlperf.formats.text.lines import ESCAPES, LineReader, Lines
from dlperf.formats.text.literals import leading_text, texts_in
from dlperf.formats.text.numbers import Clock
from dlperf.formats.text.prefixes import LOGGERS, Wrapping, cut_width, find_heads, find_wrapping, has_decimal_commas
from dlperf.formats.text.sections import SectionRule


@dataclass(frozen=True)
class _Format:
    info: FormatInfo
    rules: Callable[[Recorder], Rules]
    facts: Mapping[str, str] = field(default_factory=dict)
    every_rank: bool = False
    stated_once: bool = False
    detect: str = ""
    """Regular expression of what is in some line of every log of the format."""
    contains: Sequence[bytes] = (b"",)
    """Texts of which every log holds one."""

    def parser(self, wrapping: Wrapping | None = None) -> LogParser:
        return LogParser(Recorder(self.info, self.every_rank, self.facts, self.stated_once), self.rules, wrapping)

    def count_records(self, parts: Sequence[Lines]) -> tuple[int, int]:
        """Return the records of a log, and those of one that holds none but unfinished ones."""
        if self.detect:
            search = compile_linear(self.detect).search
            if not any(any(map(search, part.lines)) for part in parts):
                return 0, 0
        parser = self.parser(None)
        parser.count_records(parts)
        count = sum(run.count for run in parser.runs)
        return (count, 0) if parser.has_whole_records else (0, count)


_CODE_FORMATS = (
    _Format(own.INFO, own.rules),
    _Format(dllogger.INFO, dllogger.rules),
    _Format(mllog.INFO, mllog.rules),
    _Format(paddleclas.INFO, paddleclas.rules, {"framework": "paddlepaddle"}),
)


def format_ids(extra: Iterable[LogFormat] = ()) -> tuple[str, ...]:
    """Return the ids of all formats, sorted."""
    return tuple(sorted(_formats(extra)))


def describe_code_formats() -> dict[str, FormatInfo]:
    """Return the descriptions of the formats that are code, by id; no entry of the catalogue is read."""
    return {name: entry.info for name, entry in sorted(_code_formats().items())}


def describe(format_id: str, extra: Iterable[LogFormat] = ()) -> FormatInfo:
    """Return the description of a format. Raises RequestError: there is no such format."""
    return _format(format_id, extra).info


def parser_for(format_id: str, extra: Iterable[LogFormat] = (), wrapping: Wrapping | None = None) -> LogParser:
    """Return a parser for one log.

    Args:
        format_id: the log's format.
        wrapping: what launchers and loggers put before its lines.
        extra: formats of a workspace's catalogue; one with the id of a built-in format replaces it.

    Raises:
        RequestError: there is no such format.
    """
    return _format(format_id, extra).parser(wrapping)


@dataclass(frozen=True)
class Recognised:
    """The format of a log, and what launchers and loggers put before its lines."""

    format_id: str
    wrapping: Wrapping | None


def detect(head: bytes, extra: Iterable[LogFormat] = ()) -> str | None:
    """Return the format that finds most records in a part of a log, None where none finds any."""
    found = recognise(head, extra)
    return found.format_id if found else None


def recognise(head: bytes, extra: Iterable[LogFormat] = ()) -> Recognised | None:
    """Return the format that finds most records in a part of a log, with its prefixes; None where none finds any."""
    return recognise_known(head, extra) or recognise_guessed(head, extra)


def recognise_known(head: bytes, extra: Iterable[LogFormat] = ()) -> Recognised | None:
    """Do the same for formats of known programs behind known prefixes.

    Prefixes of launchers are taken off. Those of loggers belong to many formats, so that they are taken off only where
    no format finds a record with them.
    """
    return _known(head, _formats(extra))


def recognise_guessed(head: bytes, extra: Iterable[LogFormat] = ()) -> Recognised | None:
    """Do the same for formats behind words that stand before every line, and for formats of no known program.

    This costs more, and is meant for logs in which the rest found nothing.
    """
    return _guessed(head, _formats(extra))


def wrapping_for(format_id: str, head: bytes, extra: Iterable[LogFormat] = ()) -> Wrapping | None:
    """Return what stands before the lines of a log of a known format, by its first bytes."""
    formats = {format_id: _format(format_id, extra)}
    found = _known(head, formats) or _guessed(head, formats)
    return found.wrapping if found else wrapping_of(head)


def _known(head: bytes, formats: Mapping[str, _Format]) -> Recognised | None:
    possible, _ = _possible(head, formats)
    if not possible:
        return None
    outer = wrapping_of(head)
    parts = _parts(head, outer)
    if (found := _most_records(possible, parts, outer)) is not None:
        return found
    inside = _inner_wrappings(head, _lines(parts), outer)
    return next(filter(None, (_most_records(possible, _parts(head, each), each) for each in inside)), None)


def _guessed(head: bytes, formats: Mapping[str, _Format]) -> Recognised | None:
    known, generic = _possible(head, formats)
    if not (known or generic):
        return None
    outer = wrapping_of(head)
    parts = _parts(head, outer)
    lines = _lines(parts)
    heads = [(each, _parts(head, each)) for each in find_heads(lines, outer)]
    inner = find_wrapping(lines, LOGGERS) if generic else None
    inside = [(each, _parts(head, each)) for each in ((inner.inside(outer),) if inner else ())]
    tried = ((known, heads), (generic, [(outer, parts), *inside, *heads]))
    found_in = (_most_records(group, read, each) for group, ways in tried for each, read in ways)
    return next(filter(None, found_in), None)


def _possible(head: bytes, formats: Mapping[str, _Format]) -> tuple[dict[str, _Format], dict[str, _Format]]:
    """Return the formats of known programs of which a text is in some bytes, and those of none."""
    texts = frozenset(text for entry in formats.values() for text in entry.contains)
    present = texts_in(head, texts)
    if b"\x1b" in head:  # colours stand inside such a text
        present |= texts_in(ESCAPES.sub(b"", head), texts)
    possible = {format_id: entry for format_id, entry in formats.items() if not present.isdisjoint(entry.contains)}
    known = {format_id: entry for format_id, entry in possible.items() if not entry.info.generic}
    return known, {format_id: entry for format_id, entry in possible.items() if entry.info.generic}


def _lines(parts: Iterable[Lines]) -> list[bytes]:
    return [line for part in parts for line in part.lines]


def _inner_wrappings(head: bytes, lines: Sequence[bytes], outer: Wrapping | None) -> Iterator[Wrapping]:
    """Yield what may stand before lines beside the prefixes of launchers, and other ways of writing them."""
    inner = find_wrapping(lines, LOGGERS)
    if inner is not None:
        yield inner.inside(outer)
    if has_decimal_commas(head):
        yield replace(outer or Wrapping(()), decimal_commas=True)
    if width := cut_width(lines):
        yield replace(outer or Wrapping(()), width=width)


def wrapping_of(head: bytes) -> Wrapping | None:
    """Return what launchers put before the lines of a log."""
    first_pieces = {
        number: line
        for part in _parts(head)
        for number, line in zip(reversed(part.numbers), reversed(part.lines), strict=True)
    }
    return find_wrapping(list(first_pieces.values()))


def _parts(head: bytes, wrapping: Wrapping | None = None) -> list[Lines]:
    reader = LineReader(wrapping)
    return list(chain(reader.feed(head), reader.finish()))


def _most_records(
    formats: Mapping[str, _Format], parts: Sequence[Lines], wrapping: Wrapping | None
) -> Recognised | None:
    if not formats:
        return None
    counts = {format_id: entry.count_records(parts) for format_id, entry in formats.items()}
    best = max(counts, key=counts.__getitem__)
    return Recognised(best, wrapping) if any(counts[best]) else None


def _format(format_id: str, extra: Iterable[LogFormat]) -> _Format:
    formats = _formats(extra)
    if format_id not in formats:
        raise RequestError(f"no log format {format_id!r}: {hint(format_id, formats)}")
    return formats[format_id]


def _formats(extra: Iterable[LogFormat]) -> dict[str, _Format]:
    return _builtin_formats() | {entry.id: _declared_format(entry) for entry in extra}


@cache
def _builtin_formats() -> dict[str, _Format]:
    declared = read_layer(BUILTIN, ("formats",)).entries["formats"].values()
    return _code_formats() | {located.entry.id: _declared_format(located.entry) for located in declared}


def _code_formats() -> dict[str, _Format]:
    modules = [load_plugin(FORMATS, name) for name in installed(FORMATS)]
    formats = (*(_Format(module.INFO, module.rules) for module in modules), *_CODE_FORMATS)
    return {entry.info.id: entry for entry in formats}


def _declared_format(entry: LogFormat) -> _Format:
    """Return the format that the regular expressions of a catalogue entry describe."""
    described = entry.id, entry.title, entry.unit, entry.scope, entry.window, entry.source
    info = FormatInfo(*described, entry.end is not None, entry.generic)
    rules = partial(_declared_rules, entry)
    contains = [_contains(dialect).encode() for dialect in (entry, *entry.dialects, *entry.unfinished)]
    return _Format(info, rules, entry.facts, entry.every_rank, entry.stated_once, entry.detect, contains)


def _declared_rules(entry: LogFormat, recorder: Recorder) -> Rules:
    for name, metric in entry.metrics.items():
        recorder.describe_metric(name, metric.unit, metric.direction)
    held = HeldRecords(recorder) if entry.unfinished else None
    means = OverlappingMeans(entry.means_of_last) if entry.means_of_last else None
    events: list[LogRule] = [_record_rule(recorder, dialect, means=means) for dialect in (entry, *entry.dialects)]
    events += [TotalRule(recorder, dialect.record, _contains(dialect).encode()) for dialect in entry.totals]
    held_events = [_record_rule(recorder, dialect, held) for dialect in entry.unfinished]
    if entry.end is not None:
        events.append(search_rule(entry.end, lambda match, number: recorder.complete()))
    declarations = metadata_rules(recorder, entry.metadata)
    declarations += [SectionRule(recorder, name, each.begins, each.holds) for name, each in entry.sections.items()]
    if entry.final_settings is not None:
        declarations.append(search_rule(entry.final_settings, lambda match, number: recorder.override_declarations()))
    pauses = [_pause_rule(recorder, kind, line) for kind, each in entry.pauses.items() for line in each]
    continues = compile_linear(entry.continues).search if entry.continues else None
    return Rules(events, declarations, held, held_events, pauses, entry.early_last, continues)


def _pause_rule(recorder: Recorder, kind: str, pattern: str) -> LogRule:
    return search_rule(pattern, lambda match, number: recorder.mark_pause(kind, number))


def _record_rule(
    recorder: Recorder, dialect: Dialect, held: HeldRecords | None = None, means: OverlappingMeans | None = None
) -> LogRule:
    clock = None if dialect.time_format is None else Clock(dialect.time_format)
    differs = (None, None, None) if isinstance(dialect, LogFormat) else (dialect.window, held, dialect.unit)
    return RecordRule(recorder, dialect.record, _contains(dialect).encode(), clock, *differs, means)


def _contains(dialect: Dialect) -> str:
    return dialect.contains or leading_text(dialect.record)
