"""Cut bytes into the lines that programs wrote, with the number of the physical line each began in.

In the log of several processes, progress bars overwrite themselves with carriage returns, terminals add colours, and
launchers put the rank before every piece that a process wrote, also in the middle of a line
(``storage.cc:[1,6]<stderr>:…``). All of that is removed here, so that a format sees whole, plain lines; ranks are kept.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

from dlperf.formats.text.prefixes import Origins, Wrapping, identity

LINE_LIMIT = 64 * 1024
"""Bytes kept of a line, so that memory stays bounded."""
BLOCK = 1 << 17
"""Bytes that are split into lines at a time."""
RANK_LIMIT = 1024
"""Ranks whose unfinished lines are kept."""

ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])")
_BACK = re.compile(rb"\x08+")
"""Backspaces, by which Keras overwrites its progress bar."""
_TAG_MARK = b"]<std"
_TAG = re.compile(rb"(\[(?:\d+,)?\d+\]<std(?:out|err|diag)>):")
"""mpirun ``-tag-output`` and horovodrun write ``[1,0]<stdout>:``, with ``-timestamp-output`` after a date."""
_DATE = re.compile(rb"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}")
_DATE_LENGTH = 24
_LAST_NUMBER = re.compile(rb"(loss\W{1,3})?\d[\d.,]*(?:[eE][+-]?\d*)?\Z")
"""The number that a line ends with; the group matches where it is a loss."""

_Line = tuple[int, bytes, bytes]
"""Number of a physical line, what was written, and the rank that wrote it, empty where no tag says it."""


@dataclass(frozen=True)
class Lines:
    """Consecutive lines of a log, without line ends."""

    text: bytes
    """All lines in one text, so that one search can exclude them all."""
    lines: Sequence[bytes]
    numbers: Sequence[int]
    """1-based physical line in which each began."""
    end: int
    """Last physical line read for them."""
    origins: Origins | None = None
    """Ranks and times of the lines, where launchers or loggers put them before."""


class LineReader:
    """Cuts a stream of bytes, in any chunking, into lines."""

    def __init__(self, wrapping: Wrapping | None = None) -> None:
        self.count = 0
        """Number of physical lines; the last one counts when the log is finished."""
        self._wrapping = wrapping
        self._origin = 0, b"", b""
        """Number, rank and time of the last physical line: they hold for all of a progress bar."""
        self._cut: tuple[int, bytes] | None = None
        """Number and text of a line of which more follows."""
        self._parts: list[bytes] = []
        self._pending_size = 0
        self._inside_line = False
        self._ranks = _RankJoiner()

    def feed(self, data: bytes) -> Iterator[Lines]:
        """Yield the lines that these bytes complete."""
        for start in range(0, len(data), BLOCK):
            lines = self._feed(data[start : start + BLOCK])
            yield from map(self._unwrap, lines) if self._wrapping else lines

    def finish(self) -> Iterator[Lines]:
        """Yield the last line, where it has no line end, and the unfinished lines of ranks.

        A number at the end of such a line may be cut off and too small: it is removed.
        """
        for lines in self._finish():
            yield self._unwrap(lines) if self._wrapping else lines

    def _unwrap(self, lines: Lines) -> Lines:
        """Take the prefixes off the lines, and join those that a terminal cut."""
        if self._wrapping is None:
            return lines
        if self._wrapping.width:
            return self._whole(lines, self._wrapping.width)
        texts, ranks, times = [], [], []
        tagged = lines.origins.ranks if lines.origins else repeat(b"")
        for number, line, tag in zip(lines.numbers, lines.lines, tagged, strict=False):
            text, rank, time = self._wrapping.strip(line)
            rank = identity(tag, rank)
            if number != self._origin[0] or rank or time:
                self._origin = number, rank, time
            texts.append(text)
            ranks.append(self._origin[1])
            times.append(self._origin[2])
        origins = Origins(ranks, times, self._wrapping.timed)
        return Lines(b"\n".join(texts), texts, lines.numbers, lines.end, origins)

    def _whole(self, lines: Lines, width: int) -> Lines:
        whole: list[_Line] = []
        for number, piece in zip(lines.numbers, lines.lines, strict=True):
            first, before = self._cut or (number, b"")
            text = (before + piece)[:LINE_LIMIT]
            self._cut = (first, text) if len(piece) == width else None
            if self._cut is None:
                whole.append((first, text, b""))
        return _join_lines(whole, lines.end)

    def _finish(self) -> Iterator[Lines]:
        last = self._take_pending()
        if last:
            yield self._split(_without_last_number(last))
        self.count += self._inside_line
        self._inside_line = False
        unfinished = [(number, _without_last_number(line), rank) for number, line, rank in self._ranks.finish()]
        if unfinished:
            yield _join_lines(unfinished, self.count)

    def _feed(self, block: bytes) -> Iterator[Lines]:
        end = max(block.rfind(b"\n"), block.rfind(b"\r")) + 1
        if end:
            self._add(block[:end])
            yield self._split(self._take_pending())
        self._add(block[end:])

    def _add(self, part: bytes) -> None:
        if b"\n" not in part and b"\r" not in part:
            part = part[: max(LINE_LIMIT - self._pending_size, 0)]
        self._parts.append(part)
        self._pending_size += len(part)

    def _take_pending(self) -> bytes:
        text = b"".join(self._parts)
        self._parts.clear()
        self._pending_size = 0
        return text

    def _split(self, text: bytes) -> Lines:
        first, lines = self.count + 1, text.split(b"\n")
        self.count += len(lines) - 1
        self._inside_line = not text.endswith(b"\n")
        if not self._is_plain(text):
            return _join_lines(list(self._clean_lines(lines, first)), self.count + 1)
        if _may_hold_a_long_line(text):
            lines = [line[:LINE_LIMIT] for line in lines]
            text = b"\n".join(lines)
        return Lines(text, lines, range(first, first + len(lines)), self.count + 1)

    def _is_plain(self, text: bytes) -> bool:
        if self._ranks.inside_tagged_line or b"\r" in text or b"\x1b" in text or b"\0" in text or b"\b" in text:
            return False
        return not (b"<" in text and _TAG_MARK in text)  # a search for one character is much faster

    def _clean_lines(self, physical_lines: Sequence[bytes], first: int) -> Iterator[_Line]:
        """Remove colours, overwriting, NUL bytes and the tags of ranks."""
        last = len(physical_lines) - 1
        for index, physical in enumerate(physical_lines):
            overwritten = _BACK.sub(b"\r", physical) if b"\b" in physical else physical
            pieces = [piece[:LINE_LIMIT] for piece in overwritten.split(b"\r") if piece]
            if b"\x1b" in physical or b"\0" in physical:
                pieces = [_strip_escapes(piece) for piece in pieces]
            yield from self._ranks.read(pieces, first + index)
            if index < last:
                self._ranks.end_line()


def _without_last_number(line: bytes) -> bytes:
    """Remove the number at the end of a line, except a loss, from which nothing is computed."""
    found = _LAST_NUMBER.search(line, max(len(line) - 60, 0))
    return line if found is None or found[1] else line[: found.start()]


def _may_hold_a_long_line(text: bytes) -> bool:
    """Return whether a line may exceed the limit: it then covers half of it from a multiple of that on."""
    half = LINE_LIMIT // 2
    return any(text.find(b"\n", start, start + half) < 0 for start in range(0, len(text) - half + 1, half))


def _without_date(text: bytes) -> bytes:
    """Remove the date at the end of a text that a tag follows."""
    return text[:-_DATE_LENGTH] if _DATE.fullmatch(text, max(len(text) - _DATE_LENGTH, 0)) else text


def _strip_escapes(piece: bytes) -> bytes:
    if b"\x1b" in piece:
        piece = ESCAPES.sub(b"", piece)
    return piece.replace(b"\0", b"") if b"\0" in piece else piece


def _join_lines(numbered: list[_Line], end: int) -> Lines:
    lines, ranks = [line for _, line, _ in numbered], [rank for *_, rank in numbered]
    origins = Origins(ranks, [b""] * len(ranks), None) if any(ranks) else None
    return Lines(b"\n".join(lines), lines, [number for number, *_ in numbered], end, origins)


class _RankJoiner:
    """Joins the pieces of each rank, where a launcher tagged every piece with its rank.

    A tag of another rank in the middle of a line means that the line continues in a later piece of its own rank;
    a tag of the same rank separates two reads.
    """

    def __init__(self) -> None:
        self._open: dict[bytes, tuple[int, bytes]] = {}
        self._tag: bytes | None = None

    @property
    def inside_tagged_line(self) -> bool:
        return self._tag is not None

    def read(self, pieces: Sequence[bytes], number: int) -> Iterator[_Line]:
        """Yield the lines that the pieces of a physical line complete; each ends with a carriage return or a line end.

        Most have no tag, and there may be very many.
        """
        if self._tag is None and not any(_TAG_MARK in piece for piece in pieces):
            yield from ((number, piece, b"") for piece in pieces if piece)
            return
        for piece in pieces:
            yield from self._read_piece(piece, number)

    def _read_piece(self, piece: bytes, number: int) -> Iterator[_Line]:
        *texts, last = _TAG.split(piece)
        texts[::2] = map(_without_date, texts[::2])
        untagged, *tagged = *texts, last
        if self._tag is not None:
            self._append(self._tag, untagged, number)
        elif untagged:
            yield number, untagged, b""
        for tag, text in zip(tagged[::2], tagged[1::2], strict=True):
            self._tag = tag
            self._append(tag, text, number)
        while len(self._open) > RANK_LIMIT:
            yield from self._close(next(iter(self._open)))
        if self._tag is not None:
            yield from self._close(self._tag)

    def end_line(self) -> None:
        self._tag = None

    def finish(self) -> Iterator[_Line]:
        for tag in list(self._open):
            yield from self._close(tag)

    def _append(self, tag: bytes, text: bytes, number: int) -> None:
        number, before = self._open.get(tag, (number, b""))
        self._open[tag] = number, (before + text)[:LINE_LIMIT]

    def _close(self, tag: bytes) -> Iterator[_Line]:
        number, line = self._open.pop(tag, (0, b""))
        if line:
            yield number, line, tag[1 : tag.index(b"]")].rpartition(b",")[2]
