"""Recompute kept results before they are published, as far as this machine has not done so with the same files.

``result.json`` and ``timeline.json`` may have been edited by whoever sent them. What was found to be right is kept in
the user's cache, outside of the workspace, with all that the system says of the files: a file cannot be changed without
another time of change.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path

from dlperf.derived.timeline import VERSION, Timeline, derive, write_timeline
from dlperf.errors import DlperfError
from dlperf.evidence.logs import LogReader, log_reader
from dlperf.measured.model import TrialResult
from dlperf.messages import message
from dlperf.messages.finding import error
from dlperf.opening import read_bytes
from dlperf.plan import PlannedConfiguration, TrialKey
from dlperf.report.site.parallel import parallel_map
from dlperf.runs.archive import TrialFiles
from dlperf.runs.paths import CampaignPaths, TrialPaths, WorkspacePaths
from dlperf.runs.records import TrialStatus
from dlperf.runs.store import read_record_if_whole, write_atomic
from dlperf.verification.differing import compare
from dlperf.version import version

CACHE = "DLPERF_CHECKED"
"""Variable with the folder where it is remembered."""
FEW = 16
"""Trials that are recomputed faster than processes are started."""


class WorkspaceRecheck:
    """Checks the results of one workspace."""

    def __init__(self, workspace: WorkspacePaths) -> None:
        self._workspace = workspace
        name = hashlib.sha256(os.fsencode(workspace.root)).hexdigest()[:32]
        self._kept = _cache_folder() / name
        self._right: set[str] = set()
        self.wrong: list[str] = []
        """Files that say something else than what their log gives, one a line."""

    def __call__(
        self,
        campaign: CampaignPaths,
        planned: Mapping[str, PlannedConfiguration],
        trials: Sequence[TrialStatus],
        results: Mapping[TrialKey, TrialResult],
    ) -> dict[TrialKey, TrialResult]:
        """Return the results, recomputed where they are not what the files of the trial give."""
        context = self._context(campaign)
        marks = {item.key: _mark(context, campaign.trial(item.key), item) for item in trials if item.key in results}
        unknown = [item for item in trials if item.key in marks and marks[item.key] not in self._before]
        work = partial(_recompute, campaign, planned, results, self._logs)
        found = parallel_map(work, unknown) if len(unknown) > FEW else list(map(work, unknown))
        for item, (_, problem) in zip(unknown, found, strict=True):
            if problem:
                marks.pop(item.key)
                self.wrong.append(problem)
        self._right.update(marks.values())
        return {**results, **{item.key: result for item, (result, _) in zip(unknown, found, strict=True)}}

    def remember(self) -> None:
        """Keep what was found to be right; a cache that cannot be written is none."""
        with suppress(DlperfError):
            write_atomic(self._kept, "".join(f"{mark}\n" for mark in sorted(self._right)).encode(), private=True)

    @cached_property
    def _before(self) -> frozenset[str]:
        try:
            return frozenset(read_bytes(self._kept).decode().split())
        except (OSError, ValueError):
            return frozenset()

    @cached_property
    def _logs(self) -> LogReader:
        return log_reader(self._workspace)

    @cached_property
    def _formats(self) -> tuple[object, ...]:
        return tuple(_states(self._workspace.catalog))

    def _context(self, campaign: CampaignPaths) -> bytes:
        """What the results of all trials of a campaign depend on."""
        shared = (*_states(campaign.directory / "objects"), _state(campaign.plan))
        return repr((version(), VERSION, self._formats, shared)).encode()


def _cache_folder() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dlperf" / "checked"
    return Path(os.environ.get(CACHE) or cache).resolve()


def _mark(context: bytes, paths: TrialPaths, status: TrialStatus) -> str:
    files = tuple(_states(paths.directory))
    return hashlib.sha256(context + repr((os.fspath(paths.directory), files, status)).encode()).hexdigest()[:32]


def _states(folder: Path | str) -> Iterator[tuple[object, ...]]:
    """What the system says of everything below a folder."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_dir(follow_symlinks=False):
                yield from _states(entry.path)
            else:
                found = entry.stat(follow_symlinks=False)
                yield entry.name, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _state(path: Path) -> tuple[int, ...]:
    try:
        found = os.lstat(path)
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _recompute(
    campaign: CampaignPaths,
    planned: Mapping[str, PlannedConfiguration],
    results: Mapping[TrialKey, TrialResult],
    logs: LogReader,
    status: TrialStatus,
) -> tuple[TrialResult, str]:
    """Return the result of a trial as its archived files give it, and what was wrong; correct its timeline."""
    paths, kept = campaign.trial(status.key), results[status.key]
    derived = derive(paths, planned[status.key.configuration], status, logs)
    broken = TrialFiles(paths).problems()
    cause = message("files_changed", files=", ".join(f"{item.file} ({item.problem})" for item in broken))
    if any(item.file == derived.result.log and item.problem == "changed" for item in broken):
        none = TrialResult(kept.number, status.state, status.cause, findings=(error("no_figure", reason=cause),))
        return none, f"{paths.directory}: {cause}: no result of it is published; dlperf verify says more"
    places = [str(cause)] if broken else []
    places += [item.what for item in compare(kept, derived.result)[0]]
    timeline = read_record_if_whole(paths.timeline, Timeline)
    if timeline and timeline.origin == derived.timeline.origin and compare(timeline, derived.timeline)[0]:
        places.append(paths.timeline.name)
        with suppress(DlperfError):
            write_timeline(paths, derived.timeline, durable=False)
    if not places:
        return derived.result, ""
    advice = f"dlperf verify {campaign.name} --write corrects it"
    return derived.result, f"{paths.result}: not what the log gives ({', '.join(places)}); {advice}"
