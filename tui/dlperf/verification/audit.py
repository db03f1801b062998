"""Recompute third-party figures from their raw logs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path

from dlperf.catalog.axes import Configuration, field_values
from dlperf.errors import DlperfError
from dlperf.evidence.logs import LogReader, log_reader
from dlperf.formats.samples import Run
from dlperf.measured.run import StatedFacts, measure_run
from dlperf.measured.throughput.figure import Figure
from dlperf.messages import Message, message
from dlperf.runs.archive import sha256_of
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.published import PublishedFigure, PublishedReport, load_reports
from dlperf.runs.records import CampaignRecord, utc_now
from dlperf.runs.store import Complain, each_readable, read_campaign, write_record
from dlperf.table.audited import (
    DIFFERS,
    EXACT,
    NONE_KEPT,
    AuditVerdict,
    Key,
    Verdicts,
    key_of,
    noted_verdict,
    read_verdicts,
)
from dlperf.table.published import FIGURES, configuration_of, gpus_per_node, unit_of
from dlperf.verification.raw_logs import LocalLog, find_log, imported_logs, logs_in_folder, parts_of_name
from dlperf.version import version

LOGS_IN_MEMORY = 16
"""Logs whose runs are kept in memory; figures of one log are adjacent."""
OTHER_VERSION = "other_version"


@dataclass(frozen=True, slots=True)
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
    """recomputed / published - 1, by dlperf or when the report was transcribed."""
    verdict: Message
    """exact (within one unit of the last printed digit), the difference, what was noted at the transcription, or why
    nothing was recomputed."""
    log: str
    """The raw log as the source names it."""
    local_log: str | None = None
    """Path of the local copy, relative to the workspace or to the given folder."""
    source: str = ""
    log_sha256: str = ""
    """Of the raw log from which the value was recomputed."""
    date: str = ""
    """Day of the verdict; empty if it was recomputed now."""
    version: str = ""
    """Version of dlperf that recomputed it."""

    @property
    def key(self) -> Key:
        return self.report, self.log, self.rule, self.published

    @property
    def is_recomputed_now(self) -> bool:
        return self.recomputed is not None and not self.date


_FIRST = ("report", "framework", "case")
COLUMNS = (*_FIRST, *(item.name for item in fields(AuditRow) if item.name not in _FIRST))
"""Fields in the order of tables and files."""
_OF_A_VERDICT = ("recomputed", "from_timestamps", "verdict", "log_sha256", "date", "version")


ReadRuns = Callable[[LocalLog], Sequence[Run]]
Digest = Callable[[LocalLog], str]
"""SHA-256 of a log."""


def audit(
    reports: Iterable[PublishedReport],
    logs: Sequence[LocalLog],
    read: ReadRuns,
    kept: Mapping[Key, AuditVerdict] = NONE_KEPT,
    digest: Digest = lambda log: "",
    complain: Complain = lambda problem: None,
) -> list[AuditRow]:
    """Return one row for every published throughput, in the order of the reports.

    Args:
        kept: verdicts for figures whose log is not among ``logs``, or is an imported one of another hash.
        complain: called for each of the latter.
    """
    reports = list(reports)
    index: dict[str, list[LocalLog]] = {}
    for log in logs:
        index.setdefault(log.source.rpartition("/")[2], []).append(log)
    versions = _versions(figure for report in reports for figure in report.figures)
    rows = []
    for report in reports:
        for item in report.figures:
            if item.metric in FIGURES and item.value is not None:
                found = find_log(item, index)
                before = kept.get(key_of(report.id, item))
                if found and found.imported and before and digest(found) != before.log_sha256:
                    complain(f"{found.location}: not the log that gave {item.printed} on {before.date}: not counted")
                    found = None
                certain = (
                    bool(found and parts_of_name(found.source)[0]) or len(versions[parts_of_name(item.log)[1]]) == 1
                )
                row = _row(report, item, found, certain, read)
                if found and row.recomputed is not None:
                    row = replace(row, log_sha256=digest(found))
                is_same = before is not None and before.id == row.id
                rows.append(row if row.local_log else _kept(row, before if is_same else None, item))
    return rows


def _versions(figures: Iterable[PublishedFigure]) -> dict[str, set[str]]:
    """Return the commits of each published log, by its path."""
    found: dict[str, set[str]] = {}
    for item in figures:
        commit, path = parts_of_name(item.log)
        found.setdefault(path, set()).add(commit)
    return found


def _row(
    report: PublishedReport, item: PublishedFigure, log: LocalLog | None, certain: bool, read: ReadRuns
) -> AuditRow:
    outcome = _recomputed(item, log, read)
    recomputed = outcome if isinstance(outcome, Figure) else None
    verdict = verdict_of(item.printed, outcome.value) if isinstance(outcome, Figure) else outcome
    if recomputed and verdict.code != EXACT and not certain:
        log, recomputed, verdict = None, None, message(OTHER_VERSION)
    return AuditRow(
        **field_values(configuration_of(item)),
        report=report.id,
        unit=unit_of(item),
        published=item.printed,
        rule=item.estimator,
        recomputed=recomputed.value if recomputed else None,
        from_timestamps=recomputed.value_from_timestamps if recomputed else None,
        difference=recomputed.value / item.value - 1 if recomputed and item.value else None,
        verdict=verdict,
        log=item.log,
        local_log=log.location if log else None,
        source=item.source,
        version=version() if recomputed else "",
    )


def _kept(row: AuditRow, kept: AuditVerdict | None, item: PublishedFigure) -> AuditRow:
    """Return a row whose log is not here with the verdict that was kept, or else noted in its report."""
    if kept is None or kept.recomputed is None:
        return replace(row, verdict=noted_verdict(item) or row.verdict, difference=item.difference)
    return replace(
        row,
        **{name: getattr(kept, name) for name in _OF_A_VERDICT},
        difference=kept.recomputed / item.value - 1 if item.value else None,
    )


def _recomputed(item: PublishedFigure, log: LocalLog | None, read: ReadRuns) -> Figure | Message:
    """Return the figure of a log, or the reason why there is none."""
    if log is None:
        return message("no_log_here" if item.log else "no_log_published")
    if not item.estimator:
        return message("no_rule")
    runs = read(log)
    if not runs:
        return message("no_records")
    facts = StatedFacts(item.gpus, gpus_per_node(item), item.batch_size)
    return measure_run(runs[-1], facts, item.estimator).outcome


def verdict_of(printed: str, recomputed: float) -> Message:
    """Return ``exact`` within one unit of the last printed digit, which some sources truncate, else the difference."""
    digits = len(printed.partition(".")[2])
    if abs(recomputed - float(printed)) <= 10.0**-digits * (1 + 1e-9):
        return message(EXACT)
    return message(DIFFERS, difference=recomputed / float(printed) - 1)


def audit_workspace(
    workspace: WorkspacePaths,
    folders: Sequence[str] = (),
    records: Mapping[str, CampaignRecord] | None = None,
    damaged: Complain | None = None,
    reports: Iterable[PublishedReport] | None = None,
) -> list[AuditRow]:
    """Audit every published throughput of a workspace, with the verdicts kept there where a raw log is not here.

    Args:
        folders: raw logs in addition to the imported ones, each ``[owner/repository@commit:]folder``.
        records: plans of the campaigns to search; those of the workspace if None.
        damaged: called for each damaged plan or record, whose logs are skipped, and for damaged verdicts.
        reports: those of the workspace if None.

    Raises:
        DlperfError: a report, a plan, a folder or the catalogue cannot be read.
    """
    if records is None:
        found = each_readable(
            workspace.campaigns(),
            lambda paths: (paths.name, read_campaign(paths)),
            damaged and (lambda error: damaged(str(error))),
        )
        records = dict(found)
    places = {
        log: path
        for name, record in records.items()
        for log, path in imported_logs(workspace.campaign(name), record, damaged)
    }
    places |= {log: path for folder in folders for log, path in logs_in_folder(folder)}
    logs = log_reader(workspace)

    @lru_cache(maxsize=LOGS_IN_MEMORY)
    def read(log: LocalLog) -> Sequence[Run]:
        return _runs(places[log], logs)

    reports = load_reports(workspace) if reports is None else reports
    kept = read_verdicts(workspace, damaged)
    digest = lru_cache(maxsize=LOGS_IN_MEMORY)(lambda log: sha256_of(places[log]))
    return audit(reports, list(places), read, kept, digest, damaged or (lambda _: None))


def verdicts_of(rows: Iterable[AuditRow]) -> dict[Key, AuditVerdict]:
    """Return the verdicts of the rows that were recomputed, those recomputed now with the present date."""
    today, names = utc_now()[:10], [item.name for item in fields(AuditVerdict)]
    facts = [{name: getattr(row, name) for name in names} for row in rows if row.recomputed is not None]
    found = [AuditVerdict(**fact | {"date": fact["date"] or today}) for fact in facts]
    return {verdict.key: verdict for verdict in found}


def write_verdicts(workspace: WorkspacePaths, rows: Iterable[AuditRow]) -> None:
    """Keep the verdicts of an audit in the folder of the owner."""
    kept = verdicts_of(rows)
    write_record(workspace.audit, Verdicts(tuple(kept[key] for key in sorted(kept))))


def _runs(path: Path, logs: LogReader) -> Sequence[Run]:
    try:
        return logs.read(path)
    except DlperfError:
        return ()
