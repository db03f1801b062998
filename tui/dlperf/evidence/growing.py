"""Read a log while it grows."""

from collections.abc import Sequence
from os import SEEK_END
from pathlib import Path

from dlperf.catalog.log_format import LogFormat
from dlperf.evidence.logs import BLOCK
from dlperf.formats.registry import parser_for, wrapping_for
from dlperf.formats.samples import Run
from dlperf.opening import open_regular


class GrowingLog:
    """Parses what was added to a log, and all of one that was truncated or replaced."""

    def __init__(self, path: Path, format_id: str, formats: Sequence[LogFormat] = ()) -> None:
        self.path = path
        self._format, self._formats = format_id, formats
        self._parser = parser_for(format_id, formats)
        self._offset = 0
        self._head: bytes | None = b""
        """All that was read, until it holds a record: only then it shows what launchers put before the lines."""

    def read(self, most: int = BLOCK) -> int:
        """Parse what was added; return how many bytes that was, ``most`` where there may be more.

        Raises:
            OSError: the log cannot be read.
        """
        with open_regular(self.path) as stream:
            if stream.seek(0, SEEK_END) < self._offset:
                self._offset = 0
            stream.seek(self._offset)
            data = stream.read(most)
        if data:
            self._head = b"" if not self._offset else self._head
            self._feed(data)
        self._offset += len(data)
        return len(data)

    def _feed(self, data: bytes) -> None:
        if self._head is not None:
            data = self._head = self._head + data
            self._parser = parser_for(self._format, self._formats, wrapping_for(self._format, data, self._formats))
        self._parser.feed(data)
        if self._head is not None and (self.run or len(self._head) >= BLOCK):
            self._head = None

    @property
    def run(self) -> Run | None:
        """The last run that has a record so far."""
        return next((run for run in reversed(self._parser.runs_so_far) if len(run.samples)), None)
