"""Read log files, plain or packed, of any size."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedIOBase, BufferedReader
from itertools import chain, islice
from pathlib import Path

from dlperf.catalog.files.load import load_formats
from dlperf.catalog.files.problem import Problem
from dlperf.catalog.linear import compile_linear
from dlperf.catalog.log_format import LogFormat
from dlperf.errors import RequestError
from dlperf.evidence.packed import DAMAGED, GZIP, opened
from dlperf.formats.registry import (
    Recognised,
    parser_for,
    recognise_guessed,
    recognise_known,
    wrapping_for,
    wrapping_of,
)
from dlperf.formats.samples import Run
from dlperf.formats.text.lines import LineReader
from dlperf.opening import open_regular
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.secrets import redact_for_runs

BLOCK = 1 << 20
"""Bytes read at a time; the format is detected from the first block that holds a record of any format."""
SEARCHED = 64
"""Blocks in which records are looked for."""
OTHER_LINES = 20
"""Lines after the last record in which those of another program are looked for."""
TAIL = 1 << 18
"""Bytes at the end of a log in which a cause of failure is searched."""
MARGIN = 1 << 12
"""Bytes before them that are redacted and left out: the rest of a cut secret is not found."""
QUOTED = 200
"""Bytes of a line in a message."""
CUT = "truncated_archive"
"""Note of the last run in a compressed log that is cut."""


@dataclass(frozen=True)
class LogReader:
    """Reads logs in the built-in formats and in those of a workspace's catalogue."""

    formats: tuple[LogFormat, ...] = ()

    def read(self, path: Path, format_id: str | None = None) -> list[Run]:
        """Return the runs of a log that hold any throughput; none where no known format finds any.

        Of a compressed log that is cut, the readable part is parsed, and the last run notes it.

        Args:
            format_id: the log's format; detected if None.

        Raises:
            RequestError: the file cannot be read, or there is no such format.
        """
        if format_id is not None:
            head = log_head(path)
            runs = self._parse(path, Recognised(format_id, wrapping_of(head)))
            return runs or self._parse(path, Recognised(format_id, wrapping_for(format_id, head, self.formats)))
        recognised = self._recognise(path)
        return self._parse(path, recognised, looks_on=True) if recognised else []

    def _parse(self, path: Path, recognised: Recognised, looks_on: bool = False) -> list[Run]:
        """Parse a log; what is in it behind its last record is looked at, too, if wanted."""
        found = recognised.format_id
        parser = parser_for(found, self.formats, recognised.wrapping)
        cut = False
        with open_log(path) as stream:
            try:
                for block in _blocks(path, stream):
                    parser.feed(block)
            except _TruncatedError:
                cut = True
        parser.finish()
        runs = [run for run in parser.runs if run.count]
        if runs and looks_on:
            runs[-1].notes += self._program_before(path, found, _first_line(runs))
        if runs and parser.lines - _last_line(runs) >= OTHER_LINES and looks_on:
            runs[-1].notes += self._other_program(path, found, _last_line(runs))
        if cut and runs:
            runs[-1].notes.append(CUT)
        return runs

    def _program_before(self, path: Path, known: str, first: int) -> list[str]:
        """Return a note of the format of records that all stand before the first one of a format, in a first block."""
        with open_log(path) as stream, suppress(_TruncatedError):
            lines = next(_blocks(path, stream), b"").split(b"\n")
            before, rest = b"\n".join(lines[: first - 1]), b"\n".join(lines[first - 1 :])
            found = recognise_known(before, self.formats) if OTHER_LINES <= first <= len(lines) else None
            if found and found.format_id != known and not self._has_records(found.format_id, rest):
                return [f"other_program:{found.format_id}"]
        return []

    def _has_records(self, format_id: str, text: bytes) -> bool:
        parser = parser_for(format_id, self.formats)
        parser.feed(text)
        parser.finish()
        return any(run.count for run in parser.runs)

    def _other_program(self, path: Path, known: str, after: int) -> list[str]:
        """Return a note of the format of records that follow the last one of a format, in the same log."""
        with open_log(path) as stream, suppress(_TruncatedError):
            lines = 0
            for block in islice(_blocks(path, stream), SEARCHED):
                ends = block.count(b"\n")
                if lines + ends > after:
                    rest = block.split(b"\n", max(after - lines, 0))[-1]
                    found = recognise_known(rest, self.formats)
                    if found and found.format_id != known:
                        return [f"other_program:{found.format_id}"]
                lines += ends
        return []

    def _recognise(self, path: Path) -> Recognised | None:
        """Return the format of the first block that holds records of any: of the first ``SEARCHED``, or the last."""
        for recognise in (recognise_known, recognise_guessed):
            if found := next(filter(None, (recognise(block, self.formats) for block in _searched(path))), None):
                return found
        return None


def _searched(path: Path) -> Iterator[bytes]:
    """Yield the first blocks of a log, and its last one."""
    index, block = -1, b""
    with open_log(path) as stream, suppress(_TruncatedError):
        for index, block in enumerate(_blocks(path, stream)):
            if index < SEARCHED:
                yield block
    if index >= SEARCHED:
        yield block


BUILTIN_FORMATS = LogReader()


def log_reader(workspace: WorkspacePaths, complain: Callable[[Problem], object] = lambda _: None) -> LogReader:
    """Return a reader that includes the formats of a workspace's catalogue.

    Args:
        complain: called for each problem of a format that is left out.
    """
    return LogReader(load_formats(workspace.catalog, complain))


def is_gzip(path: Path) -> bool:
    """Whether a file begins as gzip does. Raises RequestError: the file cannot be read."""
    try:
        with open_regular(path) as stream:
            return stream.read(len(GZIP)) == GZIP
    except OSError as error:
        raise RequestError(f"{path}: {error.strerror}") from error


def is_plain(path: Path) -> bool:
    """Whether a log is neither packed nor converted. Raises RequestError: the file cannot be read."""
    with open_log(path) as stream:
        return isinstance(stream, BufferedReader)


def open_log(path: Path) -> BufferedIOBase:
    """Open a log: unpacked, in UTF-8. Raises RequestError: the file cannot be read."""
    try:
        return opened(open_regular(path))
    except OSError as error:
        raise RequestError(f"{path}: {error.strerror}") from error


def log_tail(path: Path) -> str:
    """Return the end of an archived log as text without secrets; empty where the file cannot be read."""
    tail = b""
    try:
        with open_log(path) as stream:
            if isinstance(stream, BufferedReader):
                stream.seek(max(0, os.fstat(stream.fileno()).st_size - TAIL - MARGIN))
            for block in _blocks(path, stream):
                tail = (tail + block)[-TAIL - MARGIN :]
    except _TruncatedError:
        pass
    except RequestError:
        return ""
    cut = MARGIN if len(tail) == TAIL + MARGIN else 0
    return redact_for_runs(path, tail)[cut:].decode("utf-8", "replace")


def log_head(path: Path) -> bytes:
    """Return the first block of a log, as it is; empty where the file cannot be read."""
    with suppress(RequestError, _TruncatedError), open_log(path) as stream:
        return next(_blocks(path, stream), b"")
    return b""


def first_lines(paths: Iterable[Path], expressions: Iterable[str]) -> dict[str, str]:
    """Return, for each regular expression, the first line of these logs that it matches, without secrets."""
    wanted = {text: compile_linear(text).search for text in expressions}
    found: dict[str, str] = {}
    for path in paths if wanted else ():
        for line in _lines(path):
            for text in [text for text, search in wanted.items() if search(line)]:
                del wanted[text]
                found[text] = redact_for_runs(path, line)[:QUOTED].decode("utf-8", "replace")
    return found


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a log without colours and ranks, as far as it can be read."""
    reader = LineReader()
    with suppress(RequestError, _TruncatedError), open_log(path) as stream:
        for block in chain(_blocks(path, stream), [b"\n"]):
            for part in reader.feed(block):
                yield from part.lines
    for part in reader.finish():
        yield from part.lines


def _first_line(runs: Iterable[Run]) -> int:
    """Return the first line that holds a record of the runs, 0 where none does."""
    return min((run.samples.line[0] for run in runs if len(run.samples)), default=0)


def _last_line(runs: Iterable[Run]) -> int:
    """Return the last line that holds a record or a summary of the runs."""
    return max(
        max([*run.samples.line[-1:], *(each.line for each in (*run.epochs[-1:], *run.summaries[-1:]))], default=0)
        for run in runs
    )


class _TruncatedError(Exception):
    """A compressed log that is cut."""


def _blocks(path: Path, stream: BufferedIOBase) -> Iterator[bytes]:
    """Yield a log in blocks of ``BLOCK`` bytes.

    Raises:
        RequestError: the file cannot be read.
        _TruncatedError: it is compressed and cut; what could be read was yielded before.
    """
    block = bytearray()
    try:
        while part := stream.read1(BLOCK - len(block)):
            block += part
            if len(block) >= BLOCK:
                yield bytes(block)
                block.clear()
    except DAMAGED as error:
        yield bytes(block)
        raise _TruncatedError from error
    except OSError as error:
        raise RequestError(f"{path}: {error.strerror or error}") from error
    if block:
        yield bytes(block)
