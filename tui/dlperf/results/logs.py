"""A log file, plain or gzipped, of any size → its runs."""

from __future__ import annotations

import gzip
import os
import zlib
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path

from dlperf.catalog.load import load_formats
from dlperf.catalog.model import LogFormat
from dlperf.errors import RequestError
from dlperf.formats.registry import detect, parser_for
from dlperf.formats.samples import Run
from dlperf.runs.paths import Workspace

BLOCK = 1 << 20
"""Bytes read at a time; also how much of a log its format is told by."""
TAIL = 1 << 16
"""Bytes at the end of a log that are searched for the cause of a failure."""
_GZIP = b"\x1f\x8b"
CUT = "truncated_archive"
"""What the last run of a compressed log notes whose end is missing; ``measure`` has the words."""


@dataclass(frozen=True)
class LogReader:
    """Reads logs in the built-in formats and in those of a workspace's catalogue."""

    formats: tuple[LogFormat, ...] = ()

    def read(self, path: Path, format_id: str | None = None) -> list[Run]:
        """The runs of a log that hold any throughput; none where no known format finds any.

        Of a compressed log that is cut, the whole part is read, and the last run notes it.

        Args:
            format_id: the log's format; found out if None.

        Raises:
            RequestError: the file cannot be read, or there is no such format.
        """
        with open_log(path) as stream:
            blocks = _Blocks(path, stream)
            head = next(blocks, b"")
            found = format_id or detect(head, self.formats)
            if found is None:
                return []
            parser = parser_for(found, self.formats)
            parser.feed(head)
            for block in blocks:
                parser.feed(block)
            parser.finish()
        runs = [run for run in parser.runs if len(run.samples) or run.summaries or run.epochs]
        if blocks.cut and runs:
            runs[-1].notes.append(CUT)
        return runs


BUILTIN_FORMATS = LogReader()


def log_reader(workspace: Workspace) -> LogReader:
    """A reader that knows the formats of a workspace's catalogue too.

    Raises:
        CatalogError: something is wrong with one of them.
    """
    return LogReader(load_formats(workspace.catalog))


def is_gzip(path: Path) -> bool:
    """Whether a file is compressed, by its first bytes.

    Raises:
        RequestError: the file cannot be read.
    """
    try:
        with path.open("rb") as stream:
            return stream.read(len(_GZIP)) == _GZIP
    except OSError as error:
        raise RequestError(f"{path}: {error.strerror}") from error


def open_log(path: Path) -> BufferedIOBase:
    """The bytes of a log as the program wrote them.

    Raises:
        RequestError: the file cannot be read.
    """
    try:
        return gzip.open(path, "rb") if is_gzip(path) else path.open("rb")
    except OSError as error:
        raise RequestError(f"{path}: {error.strerror}") from error


def log_tail(path: Path) -> str:
    """The end of a log as text; empty where the file cannot be read."""
    tail = b""
    try:
        with open_log(path) as stream:
            if stream.seekable() and not isinstance(stream, gzip.GzipFile):
                stream.seek(max(0, os.fstat(stream.fileno()).st_size - TAIL))
            for block in _Blocks(path, stream):
                tail = (tail + block)[-TAIL:]
    except RequestError:
        return ""
    return tail.decode("utf-8", "replace")


class _Blocks:
    """A stream in blocks. One that was compressed and cut ends where its whole part ends.

    Raises:
        RequestError: while iterating, if the file cannot be read.
    """

    def __init__(self, path: Path, stream: BufferedIOBase) -> None:
        self.cut = False
        self._path = path
        self._stream = stream

    def __iter__(self) -> _Blocks:
        return self

    def __next__(self) -> bytes:
        parts: list[bytes] = []
        wanted = BLOCK
        while wanted and (part := self._part(wanted)):
            parts.append(part)
            wanted -= len(part)
        if not parts:
            raise StopIteration
        return b"".join(parts)

    def _part(self, size: int) -> bytes:
        try:
            return self._stream.read1(size)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            self.cut = True
            return b""
        except OSError as error:
            raise RequestError(f"{self._path}: {error.strerror or error}") from error
