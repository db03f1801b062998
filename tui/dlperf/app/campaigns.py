"""Summaries of the campaigns of a workspace, read again only where files have changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock

from dlperf.plan import Selection
from dlperf.runs.lock import engine_pid
from dlperf.runs.paths import CampaignPaths, Workspace
from dlperf.view.campaigns import CampaignSummary, read_summary

Stamp = tuple[int, float, float, int | None]
"""Size and modification time of the journal, that of the tags, and the engine's process id."""


class CampaignBook:
    """Summaries of all campaigns. ``refresh`` is for a thread."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.summaries: Mapping[str, CampaignSummary] = {}
        """By name; replaced as a whole, so that one thread may read it while another refreshes."""
        self.version = 0
        self._stamps: dict[str, Stamp] = {}
        self._lock = Lock()

    def list_names(self) -> None:
        """List the names of new campaigns, unread: for the first picture."""
        unread = {paths.name: CampaignSummary(paths.name) for paths in self._newest_first()}
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
        """Return name and selection of the newest campaign that was planned here."""
        planned = [item for item in self.summaries.values() if item.created and item.selection != Selection()]
        newest = max(planned, key=lambda item: item.created or "", default=None)
        return (newest.name, newest.selection) if newest else None

    def _refresh(self, stop: Callable[[], bool]) -> None:
        existing = {paths.name: paths for paths in self._newest_first()}
        if gone := self.summaries.keys() - existing.keys():
            self._replace({name: summary for name, summary in self.summaries.items() if name not in gone})
        for name, paths in existing.items():
            if stop():
                return
            stamp, known = _stamp(paths), self.summaries.get(name)
            if known is None or self._stamps.get(name) != stamp or known.live:
                summary = read_summary(paths, stamp[-1])
                self._stamps[name] = stamp
                if summary != known:
                    self._replace({**self.summaries, name: summary})

    def _replace(self, summaries: Mapping[str, CampaignSummary]) -> None:
        self.summaries = summaries
        self.version += 1

    def _newest_first(self) -> list[CampaignPaths]:
        return sorted(self.workspace.campaigns(), key=lambda paths: modified(paths.directory), reverse=True)


def _stamp(paths: CampaignPaths) -> Stamp:
    size = paths.journal.stat().st_size if paths.journal.is_file() else 0
    return size, modified(paths.journal), modified(paths.tags), engine_pid(paths)


def modified(path: Path) -> float:
    """Return when a file or folder was written; 0 where there is none."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
