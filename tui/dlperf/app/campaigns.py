"""Summaries of the campaigns of a workspace, read again only where files have changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from dlperf.app.model.choice import can_be_chosen
from dlperf.plan import Selection
from dlperf.runs.lock import engine_pid
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.view.campaigns import CampaignSummary, read_summary

if TYPE_CHECKING:
    from dlperf.evidence.logs import LogReader

Stamp = tuple[int, int]
"""Size and modification time of a file."""


class CampaignBook:
    """Summaries of all campaigns. ``refresh`` is for a thread."""

    def __init__(self, workspace: WorkspacePaths) -> None:
        self.workspace = workspace
        self.summaries: Mapping[str, CampaignSummary] = {}
        """By name; replaced as a whole, so that one thread may read it while another refreshes."""
        self.version = 0
        self._files: dict[str, tuple[str, ...]] = {}
        """Of which a summary is made, and the lock, which an engine writes when it starts; looked up often."""
        self._stamps: dict[str, list[Stamp]] = {}
        self._lock = Lock()

    def list_names(self) -> None:
        """List the names of new campaigns, unread: for the first picture."""
        unread = {paths.name: CampaignSummary(paths.name) for paths in _newest_first(self.workspace.campaigns())}
        self._replace(unread | dict(self.summaries))

    def refresh(self, stop: Callable[[], bool]) -> None:
        """Read the campaigns that have changed, newest first; a concurrent refresh is skipped."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            self._refresh(stop)
        finally:
            self._lock.release()

    def trial_seconds(self) -> dict[str, float]:
        """Return the duration of a trial by configuration id, from the newest campaign that has one."""
        known: dict[str, float] = {}
        for summary in sorted(self.summaries.values(), key=lambda item: item.created or ""):
            known |= summary.trial_seconds
        return known

    def last_selection(self) -> tuple[str, Selection] | None:
        """Return name and selection of the newest campaign that can be chosen again."""
        planned = [item for item in self.summaries.values() if item.created and can_be_chosen(item.selection)]
        newest = max(planned, key=lambda item: item.created or "", default=None)
        return (newest.name, newest.selection) if newest else None

    def _refresh(self, stop: Callable[[], bool]) -> None:
        existing = {paths.name: paths for paths in self.workspace.campaigns()}
        if gone := self.summaries.keys() - existing.keys():
            self._replace({name: summary for name, summary in self.summaries.items() if name not in gone})
        for paths in _newest_first(filter(self._has_changed, existing.values())):
            if stop():
                return
            self._read(paths)

    def _has_changed(self, paths: CampaignPaths) -> bool:
        known = self.summaries.get(paths.name)
        if known is None or self._stamps.get(paths.name) != self._stamps_of(paths):
            return True
        return known.live and known.engine_pid != engine_pid(paths)

    def _stamps_of(self, paths: CampaignPaths) -> list[Stamp]:
        if paths.name not in self._files:
            self._files[paths.name] = tuple(map(str, (paths.journal, paths.progress, paths.tags, paths.lock)))
        return list(map(_stamp, self._files[paths.name]))

    def _read(self, paths: CampaignPaths) -> None:
        stamps = self._stamps_of(paths)
        summary = read_summary(paths, engine_pid(paths), self._open_reader, self.summaries.get(paths.name))
        self._stamps[paths.name] = stamps
        if summary != self.summaries.get(paths.name):
            self._replace({**self.summaries, paths.name: summary})

    def _open_reader(self) -> LogReader:
        from dlperf.evidence.logs import log_reader  # seldom needed, and slow to import

        return log_reader(self.workspace)

    def _replace(self, summaries: Mapping[str, CampaignSummary]) -> None:
        self.summaries = summaries
        self.version += 1


def _newest_first(campaigns: Iterable[CampaignPaths]) -> list[CampaignPaths]:
    return sorted(campaigns, key=lambda paths: modified(paths.directory), reverse=True)


def _stamp(file: str) -> Stamp:
    try:
        status = os.stat(file)
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns


def modified(path: Path) -> float:
    """Return when a file or folder was written; 0 where there is none."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
