"""The audit of a workspace: published figures against the raw logs that were imported, or that lie in a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from dlperf.errors import DlperfError
from dlperf.formats.samples import Run
from dlperf.results.audit import AuditRow, LocalLog, audit
from dlperf.results.importing import NODE
from dlperf.results.logs import LogReader, log_reader
from dlperf.results.sources import find_files
from dlperf.runs.archive import TrialFiles
from dlperf.runs.paths import TrialPaths, Workspace
from dlperf.runs.published import load_reports
from dlperf.runs.records import CampaignRecord, TrialRecord
from dlperf.runs.store import Complain, read_campaign, read_record_if_whole

FEW = 16
"""Logs whose runs are kept: the figures of one log follow each other, and each long log has a file open."""


def audit_workspace(
    workspace: Workspace,
    folder: Path | None = None,
    records: Mapping[str, CampaignRecord] | None = None,
    damaged: Complain | None = None,
) -> list[AuditRow]:
    """One row for every published throughput of a workspace.

    Args:
        folder: raw logs beside the imported ones.
        records: the plans of the campaigns to look at; those of the workspace if None.
        damaged: is told of each imported trial whose record is there and cannot be read: its log is not looked at.

    Raises:
        DlperfError: a report, a plan or the catalogue cannot be read.
    """
    if records is None:
        records = {campaign.name: read_campaign(campaign) for campaign in workspace.campaigns()}
    places = {log: path for record in records.values() for log, path in _imported(workspace, record, damaged)}
    if folder is not None:
        places |= {LocalLog(file.name, file.name): file.path for file in find_files([folder])[0]}
    logs = log_reader(workspace)

    @lru_cache(maxsize=FEW)
    def read(log: LocalLog) -> Sequence[Run]:
        return _runs(places[log], logs)

    return audit(load_reports(workspace), list(places), read)


def _imported(
    workspace: Workspace, record: CampaignRecord, damaged: Complain | None
) -> Iterator[tuple[LocalLog, Path]]:
    """The raw logs of a campaign that was imported, with where they came from."""

    def told(problem: str) -> None:
        if damaged is not None:
            damaged(f"{problem}: left out of the audit; import its log again, or put the file back from a copy")

    imported = {item.configuration.id for item in record.configurations if item.launch.executor == NODE}
    for key in record.trials if imported else ():
        paths = workspace.campaign(record.name).trial(key)
        trial = _record(paths, told) if key.configuration in imported else None
        if trial and trial.source:
            for path in paths.node(NODE).logs()[:1]:
                yield LocalLog(trial.source, path.relative_to(workspace.root).as_posix()), path


def _record(paths: TrialPaths, complain: Complain) -> TrialRecord | None:
    return read_record_if_whole(paths.trial, TrialRecord, complain, TrialFiles(paths).read)


def _runs(path: Path, logs: LogReader) -> Sequence[Run]:
    try:
        return logs.read(path)
    except DlperfError:
        return ()
