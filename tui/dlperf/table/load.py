"""Load the results of a workspace: campaigns and third-party reports, one row per configuration."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Protocol

from dlperf.catalog.axes import parse_scale
from dlperf.catalog.files.problem import CatalogError, Problem
from dlperf.errors import DlperfError, RequestError
from dlperf.measured.findings.program_faults import findings_of_programs
from dlperf.measured.model import TrialResult
from dlperf.messages.finding import warning
from dlperf.plan import PlannedConfiguration, Selection, TrialKey
from dlperf.plan.axes import parse_axes
from dlperf.runs.journal import fold
from dlperf.runs.lookup import tag_campaign, tags_of
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.runs.published import load_reports
from dlperf.runs.records import CampaignRecord, CampaignStatus, Event, TrialStatus
from dlperf.runs.store import Complain, each_readable, read_campaign, read_record_if_whole, read_records
from dlperf.table.audited import read_verdicts
from dlperf.table.model import SUPERSEDED, ConfigurationResult, Status
from dlperf.table.published import campaign_of, rows_of_report
from dlperf.table.rows import rows_of_campaign, rows_of_metrics

if TYPE_CHECKING:
    from dlperf.evidence.logs import LogReader


PROGRAMS = "programs."
"""Of a condition that is the hash of a program's file."""


class Recheck(Protocol):
    """Returns the results of a campaign that count, given those that are kept."""

    def __call__(
        self,
        campaign: CampaignPaths,
        planned: Mapping[str, PlannedConfiguration],
        trials: Sequence[TrialStatus],
        results: Mapping[TrialKey, TrialResult],
    ) -> dict[TrialKey, TrialResult]: ...


def _scale(word: str) -> str:
    try:
        nodes, gpus = parse_scale(word)
    except ValueError as error:
        raise RequestError(f"--gpus: {error}") from error
    return f"{nodes}n{gpus}g"


@dataclass(frozen=True)
class Filters:
    """Wanted values; what is empty matches all. Raises RequestError: a scale or an axis of the selection is invalid."""

    selection: Selection = field(default_factory=Selection)
    campaigns: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    """Ids, or ``all``: a row for each metric of a configuration; empty for one row with the primary metric."""
    statuses: tuple[str, ...] = ()
    """Codes such as ``timed_out``, or texts of a status with or without the cause."""

    _scales: tuple[str, ...] = field(init=False)
    _axes: dict[str, list[str]] = field(init=False)

    def __post_init__(self) -> None:
        vars(self).update(_scales=tuple(map(_scale, self.selection.scales)), _axes=parse_axes(self.selection.axes))

    def wants_campaign(self, name: str) -> bool:
        return not self.campaigns or name in self.campaigns

    def matches(self, row: ConfigurationResult) -> bool:
        chosen = self.selection
        axes: tuple[tuple[Collection[object], object], ...] = (
            (self.campaigns, row.campaign),
            (chosen.hardware, row.hardware),
            (chosen.frameworks, row.framework),
            (chosen.cases, row.case),
            (chosen.precisions, row.precision),
            (chosen.batch_sizes, row.batch_size),
            (self._scales, row.scale),
            *((values, str(dict(row.axes).get(name))) for name, values in self._axes.items()),
        )
        return all(not wanted or value in wanted for wanted, value in axes) and self._wants_status(row.status)

    def _wants_status(self, status: Status) -> bool:
        return not self.statuses or not {status.code, status.kind(), status.text()}.isdisjoint(self.statuses)


EVERYTHING = Filters()
SEARCH = "search"
"""Tag of a step of a search, for a commit or the fastest settings: results are listed only where it is named."""


def load_results(
    workspace: WorkspacePaths, filters: Filters = EVERYTHING, complain: Callable[[DlperfError], object] | None = None
) -> list[ConfigurationResult]:
    """Return the filtered rows: campaigns in name order, each in the order of its plan, then third-party reports.

    Args:
        complain: called for each campaign or report that cannot be read, which is left out.

    Raises:
        DlperfError: without ``complain``, a report or a campaign cannot be read; the message names the file.
    """

    open_reader = reader_of_formats(workspace, complain)
    rows: list[ConfigurationResult] = []
    known = workspace.campaigns() if filters.campaigns else campaigns_of_results(workspace)
    wanted = (paths for paths in known if filters.wants_campaign(paths.name))
    for _, found in each_readable(wanted, partial(load_campaign, open_reader=open_reader), complain):
        rows += found
    verdicts = read_verdicts(workspace)
    for report in load_reports(workspace, complain):
        if filters.wants_campaign(campaign_of(report)):
            rows += rows_of_report(report, verdicts)
    rows = [row for row in rows if filters.matches(row)]
    return rows_of_metrics(rows, filters.metrics) if filters.metrics else rows


def reader_of_formats(
    workspace: WorkspacePaths, complain: Callable[[DlperfError], object] | None
) -> Callable[[], LogReader]:
    """Return what opens a reader with the formats of a workspace, once.

    Args:
        complain: called for each problem of a format, which is left out; None: it is raised as CatalogError.
    """

    def leave_out(problem: Problem) -> None:
        if complain is None:
            raise CatalogError([problem])
        complain(CatalogError([problem]))

    @cache
    def open_reader() -> LogReader:
        from dlperf.evidence.logs import log_reader  # seldom needed, and slow to import

        return log_reader(workspace, leave_out)

    return open_reader


def mark_search(paths: CampaignPaths) -> None:
    """Mark the campaign of a step of a search, whose trials are no results."""
    tag_campaign(paths, SEARCH)


def campaigns_of_results(workspace: WorkspacePaths) -> Iterator[CampaignPaths]:
    """Yield the campaigns whose trials are results: all but the steps of searches."""
    return (paths for paths in workspace.campaigns() if SEARCH not in tags_of(paths))


def load_campaign(
    paths: CampaignPaths,
    open_reader: Callable[[], LogReader],
    damaged: Complain | None = None,
    recheck: Recheck | None = None,
) -> tuple[CampaignRecord, list[ConfigurationResult]]:
    """Return the plan and the rows of one campaign; a missing or damaged result is derived again.

    Args:
        open_reader: called where a log must be read.
        damaged: called for each damaged result.
        recheck: returns the results that count, given those that are kept.

    Raises:
        DlperfError: the plan cannot be read.
    """

    def complain(problem: str) -> None:
        if damaged is not None:
            name = shlex.quote(paths.name)
            damaged(f"{problem}: measured again from its log; dlperf verify {name} --write writes it anew")

    record = replace(read_campaign(paths), name=paths.name)  # another name in the plan is no other campaign's
    status = fold(record, read_records(paths.journal, Event)[0])
    results = _trial_results(paths, record, status, open_reader, complain, recheck)
    rows = rows_of_campaign(record, status, results)
    return record, with_caveats_of_tags(rows, tags_of(paths))


def with_caveats_of_tags(rows: list[ConfigurationResult], tags: Collection[str]) -> list[ConfigurationResult]:
    """Add the caveats that the tags of a campaign give its rows."""
    if SUPERSEDED not in tags:
        return rows
    return [replace(row, findings=(*row.findings, warning(SUPERSEDED))) for row in rows]


def _trial_results(
    paths: CampaignPaths,
    record: CampaignRecord,
    status: CampaignStatus,
    open_reader: Callable[[], LogReader],
    complain: Complain,
    recheck: Recheck | None,
) -> dict[TrialKey, TrialResult]:
    planned = {item.configuration.id: item for item in record.configurations}
    ended = [item for item in status.trials.values() if item.state.finished and item.key.configuration in planned]
    results = {
        item.key: _with_known_faults(result, planned[item.key.configuration])
        for item in ended
        if (result := read_record_if_whole(paths.trial(item.key).result, TrialResult, complain)) is not None
    }
    if recheck:
        results = recheck(paths, planned, ended, results)
    missing = [item for item in ended if item.key not in results]
    if missing:
        from dlperf.derived.archived import derive_archived

        logs = open_reader()
        for item in missing:
            derived = derive_archived(paths.trial(item.key), planned[item.key.configuration], item, logs)
            results[item.key] = derived.result
    return results


def _with_known_faults(result: TrialResult, planned: PlannedConfiguration) -> TrialResult:
    """Return a kept result with the faults of its program that were found after it was measured."""
    known = {finding.code for finding in result.findings}
    programs = {name.removeprefix(PROGRAMS): digest for name, digest in result.conditions.items()}
    found = findings_of_programs(programs, planned.launch.command, planned.configuration.gpus_total)
    return replace(result, findings=(*(each for each in found if each.code not in known), *result.findings))
