"""The throughput curve of a trial, parsed from its log as it grows."""

from __future__ import annotations

from array import array
from pathlib import Path

from dlperf.app.model.curve import Series
from dlperf.app.watching import WatchedCampaign
from dlperf.errors import DlperfError
from dlperf.evidence.logs import LogReader, is_gzip, log_head
from dlperf.formats.parser import LogParser
from dlperf.formats.registry import parser_for, wrapping_for
from dlperf.formats.samples import Run
from dlperf.measured.run import measure_planned
from dlperf.opening import open_regular
from dlperf.plan import PlannedConfiguration, TrialKey

BLOCK = 1 << 20


def log_of_the_figure(campaign: WatchedCampaign, key: TrialKey) -> Path | None:
    """Return the log that gave a trial's figure, else its first."""
    result = campaign.result_of(key)
    if result is not None and result.log:
        return campaign.paths.trial(key).directory / result.log
    logs = [path for node in campaign.nodes(key) for path in node.logs()]
    return logs[0] if logs else None


class SeriesReader:
    """Parses what was added to a log. For a thread: a long log takes seconds."""

    def __init__(self, path: Path, planned: PlannedConfiguration, formats: LogReader) -> None:
        self.path, self._planned, self._formats = path, planned, formats
        self._parser: LogParser | None = None
        self._offset = 0

    def advance(self) -> Series | None:
        """Return the curve of a log that grows, so far; None where it gives none.

        Raises:
            DlperfError: the log cannot be read, or its format is unknown.
        """
        if is_gzip(self.path):
            return self.whole()
        self._parser = self._parser or self._first_parser()
        self._feed(self._parser)
        runs = [run for run in self._parser.runs if len(run.samples)]
        return self._series(runs[-1]) if runs else None

    def _first_parser(self) -> LogParser:
        """Return a parser that knows what stands before the lines that the log has so far."""
        wrapping = wrapping_for(self._planned.format, log_head(self.path), self._formats.formats)
        return parser_for(self._planned.format, self._formats.formats, wrapping)

    def whole(self) -> Series | None:
        """Return the curve of a log that has ended, whose last lines may state what its records lack."""
        runs = self._formats.read(self.path, self._planned.format)
        return self._series(runs[-1]) if runs else None

    def _feed(self, parser: LogParser) -> None:
        try:
            with open_regular(self.path) as stream:
                stream.seek(self._offset)
                while data := stream.read(BLOCK):
                    parser.feed(data)
                    self._offset += len(data)
        except OSError as error:
            raise DlperfError(f"{self.path}: {error.strerror}") from error

    def _series(self, run: Run) -> Series | None:
        measured = measure_planned(run, self._planned)
        steps, rates = measured.curve.steps, measured.curve.rates
        # copies: the columns may be the run's own, which grow while the curve is drawn
        return Series(array("d", steps), array("d", rates), measured.run.unit) if len(rates) else None
