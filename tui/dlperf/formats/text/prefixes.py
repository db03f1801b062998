"""Find what launchers and loggers put before every line of a log, and take it off, keeping rank and time as facts."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import nan
from pathlib import Path

from dlperf.formats.text.numbers import Clock

SAMPLED = 1000
"""Lines of the beginning that are looked at."""
LEAST_WIDTH, MOST_WIDTH, CUT = 60, 400, 0.1
"""Columns of terminals, and the least share of lines that fill them."""
MOST_WRITERS, LEAST_LINES = 64, 8
"""Different texts before the lines of a log that name who wrote them, and the lines of each on average."""
MOST_PREFIXES = 4
"""Of one line: a container's time, then a node's name, then a rank, then an indentation."""
LEAST_INDENT, MOST_INDENT = 2, 16
"""Spaces before every line: Megatron's own lines begin with one. A tab is an indentation by itself."""

PROGRAM = b" "
"""Stands behind the name of the program that a writer is one of several of."""


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of prefix, with groups ``rank``, ``time``, and ``writer`` with ``program`` where it has them.

    A rank is one of the ranks of a run; a writer only one of several, such as a node, a pod or a replica.
    """

    expression: re.Pattern[bytes]
    least: float = 0.7
    """Share of lines from which on it is one; little where nothing else looks like it."""
    repeated: bool = False
    """Only where few different ones stand before many lines: a program may count in the same way."""
    time_format: str | None = None
    own_clock: bool = False
    """The program wrote the time itself; else the time is when a line arrived."""

    def origins(self, lines: Sequence[bytes]) -> Origins:
        """Return the times before some lines."""
        matches = [self.expression.match(line) for line in lines]
        return Origins([b""] * len(lines), [match["time"] if match else b"" for match in matches], self)


UNKNOWN = Kind(re.compile(b""))
"""Stands for a kind that was not looked for yet."""


def _kinds(name: str) -> tuple[Kind, ...]:
    fields = _DATA["fields"]
    return tuple(
        Kind(re.compile(entry.pop("pattern").replace("FIELDS", fields).encode()), **entry) for entry in _DATA[name]
    )


_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
LAUNCHERS = _kinds("launchers")
"""Prefixes of launchers: always taken off."""
LOGGERS = _kinds("loggers")
"""Prefixes of loggers: taken off where no format finds a record with them, as many formats read them."""


_GROUP = re.compile(rb"\(\?P<\w+>")
"""The beginning of a group with a name, which an expression may hold once."""
_COMMA = re.compile(rb"(?<=\d),(?=\d)")
_DECIMAL_COMMA = re.compile(rb"\d,\d{1,2}(?!\d)|\d,\d{4}")
"""One that is not before thousands, nor before milliseconds."""


def has_decimal_commas(text: bytes) -> bool:
    """Whether a text may write numbers with a comma for the decimal point."""
    return _DECIMAL_COMMA.search(text) is not None


@dataclass(frozen=True)
class Wrapping:
    """The prefixes of a log, from the outside in."""

    kinds: tuple[Kind, ...]
    spaced: frozenset[Kind] = frozenset()
    """Kinds behind which a space stands in every line."""
    indent: int = 0
    """Spaces before every line."""
    decimal_commas: bool = False
    """Numbers are written with a comma for the decimal point."""
    width: int = 0
    """Columns at which a terminal cut its lines; 0 where they are whole."""

    def inside(self, outer: Wrapping | None) -> Wrapping:
        """Return these prefixes inside others."""
        if outer is None:
            return self
        return Wrapping((*outer.kinds, *self.kinds), outer.spaced | self.spaced, outer.indent)

    @cached_property
    def timed(self) -> Kind | None:
        """The kind whose time counts: the program's own before that of an arrival."""
        timed = [kind for kind in self.kinds if kind.time_format]
        return max(timed, key=lambda kind: kind.own_clock, default=None)

    def strip(self, line: bytes) -> tuple[bytes, bytes, bytes]:
        """Return a line without its prefixes, its rank and its time; these are empty where it has none."""
        rank = time = b""
        if self.indent and line[: self.indent].isspace():
            line = line[self.indent :]
        timed = self.timed
        for kind in self.kinds:
            match = kind.expression.match(line)
            if match is None:
                continue
            found = match.groupdict()
            rank = identity(rank, found.get("rank") or _writer(found))
            time = (found.get("time") or time) if kind is timed else time
            line = _rest(line, match, kind in self.spaced)
        return (_COMMA.sub(b".", line) if self.decimal_commas else line), rank, time


@dataclass(frozen=True)
class Origins:
    """Ranks and times of some lines, by their prefixes."""

    ranks: Sequence[bytes]
    times: Sequence[bytes]
    kind: Kind | None

    def at(self, indices: Iterable[int]) -> Origins:
        chosen = list(indices)
        return Origins([self.ranks[index] for index in chosen], [self.times[index] for index in chosen], self.kind)

    def seconds(self) -> list[float] | None:
        """Return the time of each line, NaN where it has none; None where none has."""
        if self.kind is None or self.kind.time_format is None or not any(self.times):
            return None
        seconds = Clock(self.kind.time_format).seconds(self.times)
        return [second if time else nan for second, time in zip(seconds, self.times, strict=True)]


def identity(outer: bytes, inner: bytes) -> bytes:
    """Return who wrote a line, by the prefix of a node or launcher and the one inside it."""
    return outer + b"/" + inner if outer and inner else outer or inner


def _writer(found: Mapping[str, bytes | None]) -> bytes:
    writer = found.get("writer") or b""
    return (found.get("program") or b"") + PROGRAM + writer if writer else b""


def find_wrapping(lines: Sequence[bytes], kinds: Sequence[Kind] = LAUNCHERS) -> Wrapping | None:
    """Return the prefixes that lines have before what the program wrote, None where there are none."""
    sample = sampled(lines)
    if len(sample) < 2:
        return None
    indent = min(len(line) - len(line.lstrip(b" \t")) for line in sample)
    least = 1 if all(line.startswith(b"\t") for line in sample) else LEAST_INDENT
    indent = indent if least <= indent <= MOST_INDENT else 0
    sample = [line[indent:] for line in sample]
    found: list[Kind] = []
    spaced: set[Kind] = set()
    anything = _any_of(tuple(kinds))
    while len(found) < MOST_PREFIXES and _share(anything, sample) >= anything.least:
        kind = next((kind for kind in kinds if _share(kind, sample) >= kind.least), None)
        if kind is None:
            break
        found.append(kind)
        matches = [(line, kind.expression.match(line)) for line in sample]
        if all(line[match.end() :][:1] in (b" ", b"") for line, match in matches if match):
            spaced.add(kind)
        sample = [_rest(line, match, kind in spaced) if match else line for line, match in matches]
    return Wrapping(tuple(found), frozenset(spaced), indent) if found or indent else None


def sampled(lines: Sequence[bytes]) -> list[bytes]:
    """Return lines that hold something, evenly from all."""
    filled = [line for line in lines if line.strip()]
    return filled[:: max(len(filled) // SAMPLED, 1)]


def cut_width(lines: Sequence[bytes]) -> int:
    """Return the length at which a terminal may have cut lines: the greatest, that many of them have; else 0."""
    lengths = [len(line) for line in lines[:SAMPLED]]
    width = max(lengths, default=0)
    return width if LEAST_WIDTH <= width <= MOST_WIDTH and lengths.count(width) >= CUT * len(lengths) else 0


def _rest(line: bytes, match: re.Match[bytes], spaced: bool) -> bytes:
    """Return what follows a prefix, without the space between them."""
    end = match.end()
    return line[end + (spaced and line[end : end + 1] == b" ") :]


@cache
def _any_of(kinds: tuple[Kind, ...]) -> Kind:
    """Return one kind for all of them: most logs have no prefix, and each of their lines is looked at once."""
    alternatives = b"|".join(_GROUP.sub(b"(?:", kind.expression.pattern) for kind in kinds)
    return Kind(re.compile(alternatives), min(kind.least for kind in kinds))


def _share(kind: Kind, lines: Sequence[bytes]) -> float:
    """Return the share of lines that begin with a kind of prefix."""
    found = [match[0] for line in lines if (match := kind.expression.match(line))]
    return 0.0 if kind.repeated and not are_few(set(found), len(lines)) else len(found) / len(lines)


def are_few(different: Collection[bytes], lines: int) -> bool:
    """Return whether so many texts may name who wrote so many lines: a count or a time differs more often."""
    return len(different) <= min(MOST_WRITERS, max(lines / LEAST_LINES, 1))


_WORDS = [re.compile(rb"(?P<writer>\S{1,128}(?:[ \t]{1,8}\S{1,128}){%d})(?=[ \t])" % more) for more in range(4)]
LEAST_SHARE = 0.9
"""Of lines with the heads that are repeated."""
_COUNTS = re.compile(
    rb"(?i)(?<![A-Za-z])(?:epochs?|steps?|iter|iters|iteration|it|eval|evaluation|val|valid|validation|test|dev)(?![A-Za-z])"
)
"""Words that begin a record, or say that it is none of training."""


def find_heads(lines: Sequence[bytes], outer: Wrapping | None) -> Iterator[Wrapping]:
    """Yield what may stand before every line inside other prefixes, one word first."""
    sample = sampled(lines)
    for expression in _WORDS:
        kind = Kind(expression)
        heads = Counter(match[1] for line in sample if (match := expression.match(line)))
        repeated = {head: lines for head, lines in heads.items() if lines > 1}
        if (
            not are_few(repeated, len(sample))
            or sum(repeated.values()) < LEAST_SHARE * len(sample)
            or any(map(_COUNTS.search, repeated))
        ):
            continue
        yield Wrapping((kind,), frozenset({kind})).inside(outer)
