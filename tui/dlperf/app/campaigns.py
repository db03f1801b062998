"""The campaigns of a workspace, read from their files and kept fresh at the price of a few ``stat`` calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

from dlperf.app.model.summary import CampaignSummary, Standing, summary_of
from dlperf.errors import DlperfError
from dlperf.runs.lock import engine_pid
from dlperf.runs.paths import CampaignPaths, Workspace
from dlperf.runs.records import Progress

Stamp = tuple[int, int, int | None]
"""Size and time of change of the journal, and the engine's process."""


@dataclass(frozen=True)
class _Known:
    stamp: Stamp
    summary: CampaignSummary


class CampaignBook:
    """Summaries of all campaigns. ``refresh`` reads what changed, and is meant for a thread."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._known: dict[str, _Known] = {}
        self._lock = Lock()

    @contextmanager
    def reading(self) -> Iterator[bool]:
        """Whether nobody else reads now; who comes second leaves the reading to the first."""
        first = self._lock.acquire(blocking=False)
        try:
            yield first
        finally:
            if first:
                self._lock.release()

    def names(self) -> list[CampaignSummary]:
        """Every campaign without having read it: for the first picture."""
        return [self._summary(paths) for paths in self._newest_first()]

    def _summary(self, paths: CampaignPaths) -> CampaignSummary:
        known = self._known.get(paths.name)
        return known.summary if known else CampaignSummary(paths.name)

    def refresh(self) -> Iterator[CampaignSummary]:
        """The campaigns that are not as they were, newest first, one by one as they are read."""
        for paths in self._newest_first():
            stamp = _stamp(paths)
            known = self._known.get(paths.name)
            if known is None or known.stamp != stamp or known.summary.live:
                summary = read_summary(paths, stamp[2])
                self._known[paths.name] = _Known(stamp, summary)
                if known is None or known.summary != summary:
                    yield summary

    def _newest_first(self) -> list[CampaignPaths]:
        return sorted(self.workspace.campaigns(), key=lambda paths: _changed(paths), reverse=True)


def read_summary(paths: CampaignPaths, pid: int | None) -> CampaignSummary:
    """The summary of one campaign; an unreadable one says why."""
    from dlperf.runs.journal import CampaignReader

    try:
        reader = CampaignReader(paths)
        return summary_of(reader.record, reader.refresh(), read_progress(paths), pid)
    except DlperfError as error:
        return CampaignSummary(paths.name, Standing.UNREADABLE, problem=str(error))


def read_progress(paths: CampaignPaths) -> Progress | None:
    """What the engine wrote last, or None."""
    from dlperf.runs.store import read_record

    try:
        return read_record(paths.progress, Progress)
    except DlperfError:
        return None


def _stamp(paths: CampaignPaths) -> Stamp:
    try:
        status = paths.journal.stat()
        return status.st_size, status.st_mtime_ns, engine_pid(paths)
    except OSError:
        return 0, 0, engine_pid(paths)


def _changed(paths: CampaignPaths) -> float:
    try:
        return paths.directory.stat().st_mtime
    except OSError:
        return 0.0
