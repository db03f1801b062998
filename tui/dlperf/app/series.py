"""The throughput of a trial by step, read from its log as it grows. For a thread: a long log takes seconds."""

from __future__ import annotations

from array import array
from pathlib import Path

from dlperf.app.model.curve import Series
from dlperf.errors import DlperfError
from dlperf.formats.parser import LogParser
from dlperf.formats.registry import parser_for
from dlperf.measure.reading import NotEstimable, Reading
from dlperf.plan import PlannedConfiguration
from dlperf.results.logs import LogReader, is_gzip

BLOCK = 1 << 20


class SeriesReader:
    """Parses what was added to a log since the last time."""

    def __init__(self, path: Path, planned: PlannedConfiguration, formats: LogReader) -> None:
        self.path, self._planned, self._formats = path, planned, formats
        self._parser: LogParser | None = None
        self._offset = 0

    def advance(self) -> Series | None:
        """The curve so far; None where the log gives none.

        Raises:
            DlperfError: the log cannot be read, or its format is not known.
        """
        if is_gzip(self.path):
            runs = self._formats.read(self.path, self._planned.format)
            return self._series(Reading(runs[-1], *self._counts())) if runs else None
        if self._parser is None:
            self._parser = parser_for(self._planned.format, self._formats.formats)
        self._feed(self._parser)
        runs = [run for run in self._parser.runs if len(run.samples)]
        return self._series(Reading(runs[-1], *self._counts())) if runs else None

    def _feed(self, parser: LogParser) -> None:
        try:
            with self.path.open("rb") as stream:
                stream.seek(self._offset)
                while data := stream.read(BLOCK):
                    parser.feed(data)
                    self._offset += len(data)
        except OSError as error:
            raise DlperfError(f"{self.path}: {error.strerror}") from error

    def _counts(self) -> tuple[int, int, int]:
        point = self._planned.configuration
        return point.gpus_total, point.gpus, point.batch_size

    def _series(self, reading: Reading) -> Series | None:
        """A copy: the columns may be the run's own, which grow while the curve is drawn."""
        try:
            return Series(array("d", reading.steps_done), array("d", reading.rates), reading.run.unit)
        except NotEstimable:
            return None
