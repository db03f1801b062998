"""Recompute kept results before they are published, as far as this machine has not done so with the same content.

``result.json`` and ``timeline.json`` may have been edited by whoever sent them.
"""

import shlex
from collections.abc import Mapping, Sequence
from functools import cached_property, partial

from dlperf.derived.archived import derive_archived
from dlperf.derived.timeline import Timeline, write_timeline
from dlperf.evidence.logs import LogReader, log_reader
from dlperf.measured.model import TrialResult
from dlperf.plan import PlannedConfiguration, TrialKey
from dlperf.report.site.parallel import parallel_map
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from dlperf.runs.records import TrialStatus
from dlperf.runs.store import read_record_if_whole
from dlperf.verification.differing import compare
from dlperf.verification.remembered import RightTrials

FEW = 16
"""Trials that are recomputed faster than processes are started."""


class WorkspaceRecheck:
    """Checks the results of one workspace."""

    def __init__(self, workspace: WorkspacePaths) -> None:
        self._workspace = workspace
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
        right = RightTrials(self._workspace, campaign)
        marks = {item.key: right.mark(item) for item in trials if item.key in results}
        unknown = [item for item in trials if item.key not in marks or not right.has(marks[item.key])]
        work = partial(_recompute, campaign, planned, results, self._logs)
        found = parallel_map(work, unknown) if len(unknown) > FEW else list(map(work, unknown))
        others = {item.key: other for item, other in zip(unknown, found, strict=True) if other}
        self.wrong += [problem for _, problem in others.values() if problem]
        for key in marks.keys() - others.keys():
            right.add(marks[key])
        right.keep()
        return {**results, **{key: result for key, (result, _) in others.items()}}

    @cached_property
    def _logs(self) -> LogReader:
        return log_reader(self._workspace)


def _recompute(
    campaign: CampaignPaths,
    planned: Mapping[str, PlannedConfiguration],
    results: Mapping[TrialKey, TrialResult],
    logs: LogReader,
    status: TrialStatus,
) -> tuple[TrialResult, str] | None:
    """Return the result of a trial as its archived files give it, and what was wrong; correct its timeline.

    None where all is as it is kept, which is not sent from one process to another.
    """
    paths, kept = campaign.trial(status.key), results.get(status.key)
    derived = derive_archived(paths, planned[status.key.configuration], status, logs)
    if derived.problem and derived.has_no_value:
        problem = f"{paths.directory}: {derived.problem}: no result of it is published; dlperf verify says more"
        return derived.result, problem
    places = [str(derived.problem)] if derived.problem else []
    places += [item.what for item in compare(kept, derived.result)[0]] if kept else []
    timeline = read_record_if_whole(paths.timeline, Timeline)
    if timeline and timeline.origin == derived.timeline.origin and compare(timeline, derived.timeline)[0]:
        places.append(paths.timeline.name)
        write_timeline(paths, derived.timeline, durable=False)
    if not places:
        return None if kept == derived.result else (derived.result, "")
    advice = f"dlperf verify {shlex.quote(campaign.name)} --write corrects it"
    return derived.result, f"{paths.result}: not what the log gives ({', '.join(places)}); {advice}"
