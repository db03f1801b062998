"""The throughput curve of a trial, parsed from its log as it grows."""

from __future__ import annotations

from array import array
from pathlib import Path

from dlperf.app.model.curve import Series
from dlperf.app.watching import WatchedCampaign
from dlperf.derived.timeline import log_of
from dlperf.errors import DlperfError
from dlperf.evidence.gather import run_that_counts
from dlperf.evidence.growing import GrowingLog
from dlperf.evidence.logs import BLOCK, LogReader, is_plain
from dlperf.formats.samples import Run
from dlperf.measured.run import measure_planned
from dlperf.plan import PlannedConfiguration, TrialKey
from dlperf.runs.archive import TrialFiles
from dlperf.runs.records import TrialRecord
from dlperf.runs.store import read_record_if_whole


def log_of_the_figure(campaign: WatchedCampaign, key: TrialKey) -> Path | None:
    """Return the log that gave a trial's figure, else its first."""
    result = campaign.result_of(key)
    if result is not None and (log := log_of(campaign.paths.trial(key), result)):
        return log
    logs = [path for node in campaign.nodes(key) for path in node.logs()]
    return logs[0] if logs else None


def log_run_of(campaign: WatchedCampaign, key: TrialKey) -> int | None:
    """Return which run of its log a trial is; None for the last one."""
    paths = campaign.paths.trial(key)
    record = read_record_if_whole(paths.trial, TrialRecord, read=TrialFiles(paths).read)
    return record.log_run if record else None


def reader_of(campaign: WatchedCampaign, key: TrialKey, formats: LogReader) -> SeriesReader | None:
    """Return a reader of a trial's curve; None where its plan or its log is not here."""
    planned, log = campaign.planned(key.configuration), log_of_the_figure(campaign, key)
    if planned is None or log is None:
        return None
    return SeriesReader(log, planned, formats, log_run_of(campaign, key))


class SeriesReader:
    """Parses what was added to a log. For a thread: a long log takes seconds."""

    def __init__(
        self, path: Path, planned: PlannedConfiguration, formats: LogReader, log_run: int | None = None
    ) -> None:
        self.path, self._planned, self._formats, self._log_run = path, planned, formats, log_run
        self._log = GrowingLog(path, planned.format, formats.formats)

    def advance(self) -> Series | None:
        """Return the curve of a log that grows, so far; None where it gives none.

        Raises:
            DlperfError: the log cannot be read, or its format is unknown.
        """
        if not is_plain(self.path):
            return self.whole()
        try:
            while self._log.read() == BLOCK:
                pass
        except OSError as error:
            raise DlperfError(f"{self.path}: {error.strerror}") from error
        return self._series(self._log.run)

    def whole(self) -> Series | None:
        """Return the curve of a log that has ended, whose last lines may state what its records lack."""
        return self._series(run_that_counts(self._formats.read(self.path, self._planned.format), self._log_run))

    def _series(self, run: Run | None) -> Series | None:
        if run is None:
            return None
        measured = measure_planned(run, self._planned)
        steps, rates = measured.curve.steps, measured.curve.rates
        # copies: the columns may be the run's own, which grow while the curve is drawn
        return Series(array("d", steps), array("d", rates), measured.run.unit) if len(rates) else None
