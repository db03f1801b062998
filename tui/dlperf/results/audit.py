"""Recompute third-party figures from their raw logs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path

from dlperf.catalog.axes import Configuration
from dlperf.errors import DlperfError
from dlperf.formats.samples import Run
from dlperf.measure.figure import Figure, figure_of
from dlperf.measure.reading import NotEstimable, Reading
from dlperf.messages import Message, message
from dlperf.results.importing import NODE
from dlperf.results.logs import LogReader, log_reader
from dlperf.results.published import FIGURES, configuration_of, gpus_per_node, unit_of
from dlperf.results.sources import find_files
from dlperf.runs.archive import TrialFiles
from dlperf.runs.paths import CampaignPaths, Workspace
from dlperf.runs.published import PublishedFigure, PublishedReport, load_reports
from dlperf.runs.records import CampaignRecord, TrialRecord
from dlperf.runs.store import Complain, read_campaign, read_record_if_whole

LOGS_IN_MEMORY = 16
"""Logs whose runs are kept in memory; figures of one log are adjacent."""
EXACT = "exact"
OTHER_VERSION = "other_version"


@dataclass(frozen=True)
class AuditRow(Configuration):
    """A published figure and the one recomputed from its raw log."""

    report: str
    unit: str
    published: str
    """The figure as printed."""
    rule: str
    """The estimator that the source used, "" where unknown."""
    recomputed: float | None
    from_timestamps: float | None
    """Samples over the time between two log lines, whatever the program printed."""
    difference: float | None
    """recomputed / published - 1."""
    verdict: Message
    """exact (within one unit of the last printed digit), the difference, or why nothing was recomputed."""
    log: str
    """The raw log as the source names it."""
    local_log: str | None = None
    """Path of the local copy, relative to the workspace or to the given folder."""
    source: str = ""


_FIRST = ("report", "framework", "case")
COLUMNS = (*_FIRST, *(item.name for item in fields(AuditRow) if item.name not in _FIRST))
"""Fields in the order of tables and files."""


@dataclass(frozen=True)
class LocalLog:
    """A local copy of a raw log."""

    source: str
    """``owner/repository@commit:path``, or the path alone, from any folder on."""
    location: str


ReadRuns = Callable[[LocalLog], Sequence[Run]]

_ESTIMATORS: tuple[tuple[str, str], ...] = (
    (r"(tipc\(skip=\d+\)|skipmean\(\d+\))", r"\1"),
    (r"tailmean\([^()]*last (\d+)\)", r"tailmean(\1)"),
    (r"summary\(", "summary()"),
    (r"harmonic mean of epoch [\w.]+, drop epoch 0", "hmean_epochs(1)"),
    (r"mean\(time\[(\d+):\]\)", r"batch_over_time(skip=\1)"),
    (r"mean of all ", "mean()"),
)
"""Pattern of a rule in ``figures.csv`` → estimator."""


def estimator_of(rule: str) -> str | None:
    """Return the estimator that a figure's rule names."""
    for pattern, estimator in _ESTIMATORS:
        if match := re.search(pattern, rule):
            return match.expand(estimator)
    return None


def audit(reports: Iterable[PublishedReport], logs: Sequence[LocalLog], read: ReadRuns) -> list[AuditRow]:
    """Return one row for every published throughput, in the order of the reports."""
    reports = list(reports)
    index: dict[str, list[LocalLog]] = {}
    for log in logs:
        index.setdefault(log.source.rpartition("/")[2], []).append(log)
    versions = _versions(figure for report in reports for figure in report.figures)
    rows = []
    for report in reports:
        for item in report.figures:
            if item.metric in FIGURES and item.value is not None:
                found = _find_log(item, index)
                certain = bool(found and _parts(found.source)[0]) or len(versions[_parts(item.log)[1]]) == 1
                rows.append(_row(report, item, found, certain, read))
    return rows


def same_log(published: str, local: str) -> bool:
    """Whether two names are of one log: the shorter path ends the longer one, and commits do not differ."""
    (commit, path), (local_commit, local_path) = _parts(published), _parts(local)
    if commit and local_commit and commit != local_commit:
        return False
    shorter, longer = sorted((path.split("/"), local_path.split("/")), key=len)
    return longer[-len(shorter) :] == shorter


def _parts(name: str) -> tuple[str, str]:
    """Split a name into ``owner/repository@commit``, which may be "", and the path."""
    commit, colon, path = name.partition(":")
    return (commit, path) if colon and "@" in commit else ("", name)


def _versions(figures: Iterable[PublishedFigure]) -> dict[str, set[str]]:
    """Return the commits of each published log, by its path."""
    found: dict[str, set[str]] = {}
    for item in figures:
        commit, path = _parts(item.log)
        found.setdefault(path, set()).add(commit)
    return found


def _find_log(item: PublishedFigure, index: Mapping[str, list[LocalLog]]) -> LocalLog | None:
    path = _parts(item.log)[1]
    logs = index.get(path.rpartition("/")[2], ()) if path else ()
    return next((log for log in logs if same_log(item.log, log.source)), None)


def _row(
    report: PublishedReport, item: PublishedFigure, log: LocalLog | None, certain: bool, read: ReadRuns
) -> AuditRow:
    rule = estimator_of(item.rule)
    outcome = _recomputed(item, rule, log, read)
    recomputed = outcome if isinstance(outcome, Figure) else None
    verdict = verdict_of(item.printed, outcome.value) if isinstance(outcome, Figure) else outcome
    if recomputed and verdict.code != EXACT and not certain:
        log, recomputed, verdict = None, None, message(OTHER_VERSION)
    return AuditRow(
        **vars(configuration_of(item)),
        report=report.id,
        unit=unit_of(item),
        published=item.printed,
        rule=rule or "",
        recomputed=recomputed.value if recomputed else None,
        from_timestamps=recomputed.value_from_timestamps if recomputed else None,
        difference=recomputed.value / item.value - 1 if recomputed and item.value else None,
        verdict=verdict,
        log=item.log,
        local_log=log.location if log else None,
        source=item.source,
    )


def _recomputed(item: PublishedFigure, rule: str | None, log: LocalLog | None, read: ReadRuns) -> Figure | Message:
    """Return the figure of a log, or the reason why there is none."""
    if log is None:
        return message("no_log_here" if item.log else "no_log_published")
    if rule is None:
        return message("no_rule")
    runs = read(log)
    if not runs:
        return message("no_records")
    try:
        return figure_of(Reading(runs[-1], item.gpus, gpus_per_node(item), item.batch_size), rule)
    except NotEstimable as error:
        return error.message


def verdict_of(printed: str, recomputed: float) -> Message:
    """Return ``exact`` within one unit of the last printed digit, which some sources truncate, else the difference."""
    digits = len(printed.partition(".")[2])
    if abs(recomputed - float(printed)) <= 10.0**-digits * (1 + 1e-9):
        return message(EXACT)
    return message("differs_by", difference=recomputed / float(printed) - 1)


def audit_workspace(
    workspace: Workspace,
    folder: Path | None = None,
    records: Mapping[str, CampaignRecord] | None = None,
    damaged: Complain | None = None,
    reports: Iterable[PublishedReport] | None = None,
) -> list[AuditRow]:
    """Audit every published throughput of a workspace.

    Args:
        folder: raw logs in addition to the imported ones.
        records: plans of the campaigns to search; those of the workspace if None.
        damaged: called for each imported trial with a damaged record, whose log is skipped.
        reports: those of the workspace if None.

    Raises:
        DlperfError: a report, a plan or the catalogue cannot be read.
    """
    if records is None:
        records = {campaign.name: read_campaign(campaign) for campaign in workspace.campaigns()}
    places = {
        log: path
        for name, record in records.items()
        for log, path in _imported(workspace.campaign(name), record, damaged)
    }
    if folder is not None:
        places |= {LocalLog(file.name, file.name): file.path for file in find_files([folder])[0]}
    logs = log_reader(workspace)

    @lru_cache(maxsize=LOGS_IN_MEMORY)
    def read(log: LocalLog) -> Sequence[Run]:
        return _runs(places[log], logs)

    return audit(load_reports(workspace) if reports is None else reports, list(places), read)


def _imported(
    campaign: CampaignPaths, record: CampaignRecord, damaged: Complain | None
) -> Iterator[tuple[LocalLog, Path]]:
    """Yield the raw logs of an imported campaign and their paths."""

    def complain(problem: str) -> None:
        if damaged is not None:
            damaged(f"{problem}: left out of the audit; import its log again, or put the file back from a copy")

    imported = {item.configuration.id for item in record.configurations if item.launch.executor == NODE}
    for key in record.trials:
        if key.configuration in imported:
            paths = campaign.trial(key)
            trial = read_record_if_whole(paths.trial, TrialRecord, complain, TrialFiles(paths).read)
            if trial and trial.source:
                for path in paths.node(NODE).logs()[:1]:
                    yield LocalLog(trial.source, path.relative_to(campaign.directory.parents[1]).as_posix()), path


def _runs(path: Path, logs: LogReader) -> Sequence[Run]:
    try:
        return logs.read(path)
    except DlperfError:
        return ()
