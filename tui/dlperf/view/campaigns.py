"""Summarize the campaigns of a workspace and their trials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from os import SEEK_END
from typing import TYPE_CHECKING

from dlperf.errors import DlperfError
from dlperf.messages import N_, Message, _, render
from dlperf.opening import open_regular
from dlperf.plan import Selection
from dlperf.runs.journal import CampaignReader
from dlperf.runs.lookup import tags_of
from dlperf.runs.paths import CampaignPaths
from dlperf.runs.records import (
    CampaignRecord,
    CampaignStatus,
    JournaledFigure,
    Progress,
    State,
    TrialProgress,
    TrialStatus,
    seconds_between,
    trial_seconds,
)
from dlperf.runs.store import read_record_if_whole
from dlperf.view.text import local_time, printable, value_text

if TYPE_CHECKING:
    from dlperf.evidence.logs import LogReader

LOG_TAIL_BYTES = 8192
ENGINE_STARTS, ENGINE_STOPS = "campaign ", ("dlperf: ", "stopped by ")
"""How lines of ``engine.log`` begin: when an engine starts, and when it stops for a reason that it knows."""
BAD = (State.FAILED, State.TIMED_OUT, State.LOST)


class Standing(StrEnum):
    RUNNING = N_("running")
    PAUSED = N_("paused")
    INTERRUPTED = N_("engine stopped")
    """Unfinished trials and no engine: `dlperf resume` continues."""
    FINISHED = N_("finished")
    LOADING = N_("reading")
    UNREADABLE = N_("unreadable")


RESUMABLE = (Standing.PAUSED, Standing.INTERRUPTED)


@dataclass(frozen=True)
class CampaignSummary:
    """One line of the list of campaigns."""

    name: str
    standing: Standing = Standing.LOADING
    created: str | None = None
    done: int = 0
    total: int = 0
    bad: int = 0
    """Trials that failed, timed out or were lost."""
    cancelled: int = 0
    seconds: float | None = None
    """From its start to the end of the trial that ended last."""
    best: tuple[float, str] | None = None
    """Value of the best configuration, and its text; None for several cases, which cannot be compared."""
    is_marked: bool = False
    """Whether that value has caveats."""
    scaling: tuple[float, int] | None = None
    """Speed-up over one GPU on the largest number of GPUs, of the configuration that scales best, and that number."""
    hardware: tuple[str, ...] = ()
    seconds_left: float | None = None
    engine_pid: int | None = None
    selection: Selection = field(default_factory=Selection)
    unreachable: dict[str, str] = field(default_factory=dict)
    stopped: dict[str, Message] = field(default_factory=dict)
    """Configuration id → why no more of its trials are started."""
    trial_seconds: dict[str, float] = field(default_factory=dict)
    """Configuration id → median seconds of its successful trials."""
    tags: tuple[str, ...] = ()
    stop_reason: str = ""
    """What the engine printed last, where it has stopped before the end and said why."""
    damaged_lines: int = 0
    """Of the journal, which cannot be read."""
    problem: str = ""
    """Why the campaign cannot be read."""

    @property
    def succeeded(self) -> int:
        return self.done - self.bad - self.cancelled

    @property
    def live(self) -> bool:
        """Whether an engine runs."""
        return self.engine_pid is not None


def summary_of(
    record: CampaignRecord, status: CampaignStatus, progress: Progress | None, engine_pid: int | None
) -> CampaignSummary:
    finished = [trial.state for trial in status.trials.values() if trial.state.finished]
    return CampaignSummary(
        name=record.name,
        standing=standing_of(status, engine_pid),
        created=record.created,
        done=len(finished),
        total=len(status.trials),
        bad=sum(state in BAD for state in finished),
        cancelled=finished.count(State.CANCELLED),
        seconds=_seconds(record, status),
        hardware=tuple(dict.fromkeys(item.configuration.hardware for item in record.configurations)),
        seconds_left=progress.seconds_left if progress and engine_pid is not None else None,
        engine_pid=engine_pid,
        selection=record.selection,
        unreachable=status.unreachable if engine_pid is not None else {},
        stopped=status.stopped_configurations,
        trial_seconds=trial_seconds(status.trials.values()),
    )


def _seconds(record: CampaignRecord, status: CampaignStatus) -> float | None:
    ends = [trial.ended for trial in status.trials.values() if trial.ended]
    return seconds_between(record.created, max(ends)) if ends else None


def standing_of(status: CampaignStatus, engine_pid: int | None) -> Standing:
    if status.finished:
        return Standing.FINISHED
    if engine_pid is not None:
        return Standing.PAUSED if status.paused else Standing.RUNNING
    unfinished = any(not trial.state.finished for trial in status.trials.values())
    return Standing.INTERRUPTED if unfinished else Standing.FINISHED


def sort_campaigns(summaries: list[CampaignSummary]) -> list[CampaignSummary]:
    """Return running campaigns, then interrupted ones, then the newest."""
    newest_first = sorted(summaries, key=lambda item: item.created or "", reverse=True)
    return sorted(newest_first, key=lambda item: (not item.live, item.standing is not Standing.INTERRUPTED))


def read_summary(
    paths: CampaignPaths,
    pid: int | None,
    open_reader: Callable[[], LogReader] | None = None,
    before: CampaignSummary | None = None,
) -> CampaignSummary:
    """Return the summary of a campaign.

    Args:
        pid: of its engine.
        open_reader: called where a log must be read for the best result and the scaling; None: without these.
        before: summary whose results still hold where no trial has ended since.
    """
    try:
        reader = CampaignReader(paths)
        summary = summary_of(reader.record, reader.refresh(), read_progress(paths), pid)
        stopped = stop_reason(paths) if summary.standing is Standing.INTERRUPTED else ""
        tags, damaged = tags_of(paths), reader.damaged_lines
        summary = replace(summary, name=paths.name, tags=tags, stop_reason=stopped, damaged_lines=damaged)
        if open_reader is None:
            return summary
        if before and (before.done, before.total, before.tags) == (summary.done, summary.total, summary.tags):
            return replace(summary, best=before.best, is_marked=before.is_marked, scaling=before.scaling)
        return _with_results(summary, paths, open_reader)
    except DlperfError as error:
        return CampaignSummary(paths.name, Standing.UNREADABLE, problem=str(error))


def _with_results(
    summary: CampaignSummary, paths: CampaignPaths, open_reader: Callable[[], LogReader]
) -> CampaignSummary:
    """Add the best result and the scaling: those of the rows of ``dlperf results``."""
    from dlperf.table.load import load_campaign

    record, rows = load_campaign(paths, open_reader)
    rows = [row for row in rows if row.value is not None]
    scaled = [(row.gpus_total, row.speedup) for row in rows if row.speedup and row.gpus_total > 1]
    summary = replace(summary, scaling=max(scaled)[::-1] if scaled else None)
    if not rows or len({(item.configuration.case, item.primary.id) for item in record.configurations}) > 1:
        return summary
    best = max(rows, key=lambda row: row.score)
    return replace(summary, best=(best.value or 0.0, value_text(best, best.unit)), is_marked=bool(best.caveats))


def stop_reason(paths: CampaignPaths) -> str:
    """Return why the newest engine has stopped by its own account, without the campaign's folder before a file.

    Empty where it was ended without a word.
    """
    try:
        with open_regular(paths.engine_log) as stream:
            stream.seek(max(0, stream.seek(0, SEEK_END) - LOG_TAIL_BYTES))
            lines = stream.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    for line in reversed(lines):
        if line.startswith(ENGINE_STARTS):
            break
        if line.startswith(ENGINE_STOPS):
            return printable(line.removeprefix(ENGINE_STOPS[0]).replace(f"{paths.directory}/", ""))
    return ""


def with_figures(paths: CampaignPaths, status: CampaignStatus) -> CampaignStatus:
    """Read the figures of trials that ended before journals held them."""
    from dlperf.measured.model import TrialResult

    read = {}
    for key, trial in status.trials.items():
        if trial.figure is None and trial.state in (State.SUCCEEDED, *BAD):
            result = read_record_if_whole(paths.trial(key).result, TrialResult)
            if result is not None:
                read[key] = replace(trial, figure=JournaledFigure(result.value, result.unit))
    return replace(status, trials={**status.trials, **read}) if read else status


def read_progress(paths: CampaignPaths) -> Progress | None:
    """Return what the engine wrote last; None if it is missing or damaged."""
    return read_record_if_whole(paths.progress, Progress)


def step_text(progress: TrialProgress | None) -> str:
    """Return ``1,200/10,000``, or ``1,200`` if the number of steps is unknown."""
    if progress is None or progress.step is None:
        return ""
    return f"{progress.step:,}/{progress.steps:,}" if progress.steps else f"{progress.step:,}"


def trial_notes(trial: TrialStatus, progress: TrialProgress | None) -> list[str]:
    """Return why a trial waits, which trial it repeats, and why it ended, in the current language."""
    notes = []
    if progress and not trial.state.finished:
        for node, since in progress.unreachable_since.items():
            notes.append(_("{node} unreachable since {time}", node=printable(node), time=local_time(since)))
        if progress.pending_reason:
            notes.append(_("waits: {reason}", reason=printable(render(progress.pending_reason))))
    if trial.retry_of is not None:
        notes.append(_("again after #{number}", number=trial.retry_of))
    if trial.cause and trial.state is not State.SUCCEEDED and trial.cause.code != trial.state:
        notes.append(printable(render(trial.cause)))
    return notes
