"""Verify campaigns: check every hash, and recompute every figure from its log."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dlperf.derived.timeline import Timeline, derive, write_timeline
from dlperf.evidence.logs import LogReader
from dlperf.formats.registry import describe
from dlperf.measured.model import TrialResult
from dlperf.opening import read_bytes
from dlperf.plan import PlannedConfiguration
from dlperf.runs.archive import TrialFiles
from dlperf.runs.journal import CampaignReader, figure_data
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.runs.records import Event, JournaledFigure, State, TrialStatus, utc_now
from dlperf.runs.store import append_records, read_record_if_whole, record_bytes, write_record
from dlperf.table.audited import read_verdicts, write_verified
from dlperf.verification.audit import audit_workspace, write_verdicts
from dlperf.verification.differing import compare
from dlperf.verification.remembered import RightTrials

PUBLISHED = "published"
"""In place of a campaign: third-party results."""


@dataclass(frozen=True)
class Difference:
    """A file that changed, or a field that the log no longer gives."""

    campaign: str
    trial: str
    """``<configuration id>/<number>``."""
    what: str
    """A file, relative to the trial's folder, or a place in its ``result.json``."""
    problem: str
    """changed, missing, added, unreadable; of a place in a record: differs."""
    stored: Any = None
    recomputed: Any = None
    others: int = 0
    """Differences below the same field, which are not listed."""
    corrected: bool = False
    """Whether the recomputed one was written."""


@dataclass(frozen=True)
class Recomputed:
    """A value as its log gives it."""

    result: str
    """``<configuration id>/<number>`` of a trial; report and configuration of a third-party result."""
    value: float
    unit: str


@dataclass(frozen=True)
class Verification:
    """The outcome for one campaign."""

    campaign: str
    trials: int
    """Trials that ended."""
    figures: int
    """Trials with a recomputed figure."""
    differences: tuple[Difference, ...]
    values: tuple[Recomputed, ...] = ()
    more: tuple[str, ...] = ()
    """Fields that this version of dlperf records and kept results lack."""


def verify_campaign(
    paths: CampaignPaths, logs: LogReader, *, write: bool = False, right: RightTrials | None = None
) -> Verification:
    """Check every trial that ended, and change nothing unless asked to.

    Args:
        write: update ``result.json``, ``timeline.json`` and the journal where the archived files are whole; keep the
            date where all of them are.
        right: remembers the trials without differences.

    Raises:
        DlperfError: the campaign's plan cannot be read, or there is no log format of its.
    """
    reader = CampaignReader(paths)
    planned = {item.configuration.id: item for item in reader.record.configurations}
    for format_id in {item.format for item in planned.values()} - {""}:
        describe(format_id, logs.formats)
    ended = [item for item in reader.refresh().trials.values() if item.state.finished]
    differences: list[Difference] = []
    values: list[Recomputed] = []
    more: set[str] = set()
    for status in ended:
        if status.key.configuration in planned:
            found, added, result = _verify_trial(paths, status, planned[status.key.configuration], logs, write=write)
            differences += found
            more.update(added)
            if right is not None and not found and not added:
                right.add(right.mark(status))
            if result is not None and result.value is not None:
                values.append(Recomputed(str(status.key), result.value, result.unit))
    if write and all(item.corrected for item in differences):
        write_verified(paths, {item.result: item.value for item in values if not _is_profiled(item.result, planned)})
    if right is not None:
        right.keep()
    return Verification(paths.name, len(ended), len(values), tuple(differences), tuple(values), tuple(sorted(more)))


def _is_profiled(trial: str, planned: Mapping[str, PlannedConfiguration]) -> bool:
    return planned[trial.rpartition("/")[0]].profiled


def _verify_trial(
    campaign: CampaignPaths, status: TrialStatus, planned: PlannedConfiguration, logs: LogReader, *, write: bool
) -> tuple[list[Difference], list[str], TrialResult | None]:
    """Return the differences, the fields that are new, and the recomputed result; None if the trial left nothing."""
    difference = partial(Difference, campaign.name, str(status.key))
    paths = campaign.trial(status.key)
    if not paths.directory.is_dir():
        return [difference(".", "missing")] if status.state is State.SUCCEEDED else [], [], None
    broken = [difference(item.file, item.problem) for item in TrialFiles(paths).problems()]
    derived = derive(paths, planned, status, logs)
    corrected = write and not broken
    differing, more = _compare(paths.result, derived.result, partial(difference, corrected=corrected))
    stored = read_record_if_whole(paths.timeline, Timeline)
    if stored and stored.origin == derived.timeline.origin:
        changed, _ = compare(stored, derived.timeline)
        differing += [
            difference(
                f"{paths.timeline.name}: {item.what}", "differs", item.stored, item.recomputed, item.others, corrected
            )
            for item in changed
        ]
    if corrected:
        if stored != derived.timeline:
            write_timeline(paths, derived.timeline)
        if _content(paths.result) != record_bytes(derived.result):
            write_record(paths.result, derived.result)
        _journal(campaign, status, derived.result)
    return broken + differing, more, derived.result


def _compare(
    path: Path, result: TrialResult, difference: Callable[..., Difference]
) -> tuple[list[Difference], list[str]]:
    content = _content(path)
    stored = read_record_if_whole(path, TrialResult, read=lambda _: content or b"")
    if content is None or stored is None:
        return [difference(path.name, "missing or unreadable")], []
    changed, more = compare(stored, result, content)
    return [difference(item.what, "differs", item.stored, item.recomputed, item.others) for item in changed], more


def _content(path: Path) -> bytes | None:
    try:
        return read_bytes(path)
    except OSError:  # none, or a pipe lies there
        return None


def verify_published(workspace: WorkspacePaths, folders: Sequence[str] = (), *, write: bool = False) -> Verification:
    """Recompute third-party results whose raw logs are here, and compare them with the verdicts kept.

    Args:
        folders: as for ``audit_workspace``.
        write: keep the new verdicts.

    Raises:
        DlperfError: a report or a folder cannot be read.
    """
    kept, rows = read_verdicts(workspace), audit_workspace(workspace, folders, damaged=lambda _: None)
    recomputed = [row for row in rows if row.is_recomputed_now]
    differences = [
        Difference(
            f"{PUBLISHED}/{row.report}", row.id, "verdict", "differs", str(before.verdict), str(row.verdict), 0, write
        )
        for row in recomputed
        if (before := kept.get(row.key)) and before.verdict != row.verdict
    ]
    if write and recomputed:
        write_verdicts(workspace, rows)
    values = tuple(
        Recomputed(f"{row.report}/{row.id}", row.recomputed, row.unit)
        for row in recomputed
        if row.recomputed is not None
    )
    return Verification(PUBLISHED, 0, len(recomputed), tuple(differences), values)


def _journal(campaign: CampaignPaths, status: TrialStatus, result: TrialResult) -> None:
    """Append the figure where the journal, which repeats it for viewers, has another."""
    if status.figure is not None and status.figure != JournaledFigure(result.value, result.unit):
        data = figure_data(result.value, result.unit)
        append_records(campaign.journal, [Event(utc_now(), "measured", str(status.key), source="verify", data=data)])
