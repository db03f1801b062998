"""Ask machines whether they are ready, and which of their trials may be removed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from dlperf.campaign.create import trial_id
from dlperf.campaign.dependencies import OpenExecutor
from dlperf.executors.base import CheckItem, Trial
from dlperf.executors.machines import all_of
from dlperf.plan import Launch, Plan
from dlperf.runs.archive import TrialFiles
from dlperf.runs.journal import campaign_status
from dlperf.runs.paths import CampaignPaths, TrialPaths
from dlperf.runs.store import read_campaign


def launches_to_check(plan: Plan) -> list[Launch]:
    """Return the largest launch for each set of machines and container image."""
    largest: dict[tuple[str, str, str], Launch] = {}
    for item in plan.configurations:
        launch = item.launch
        image = launch.container.image if launch.container else ""
        key = (item.configuration.hardware, launch.executor, image)
        if key not in largest or _size(launch) > _size(largest[key]):
            largest[key] = launch
    return list(largest.values())


def _size(launch: Launch) -> tuple[int, int]:
    return (len(launch.nodes), launch.gpus)


async def check_launches(launches: Sequence[Launch], open_executor: OpenExecutor) -> list[CheckItem]:
    """Check all machines at once and return the distinct results; an unreachable machine has one."""
    executors = {name: open_executor(name) for name in {launch.executor for launch in launches}}
    try:
        found = await all_of(executors[launch.executor].check(launch) for launch in launches)
    finally:
        for executor in executors.values():
            await executor.close()
    return list({(item.node, item.check, item.ok, item.message): item for items in found for item in items}.values())


def ended_trials(campaigns: Sequence[CampaignPaths], hardware: Collection[str] = ()) -> list[Trial]:
    """Return the trials that ended and were sealed, on this hardware or on all.

    Raises:
        DlperfError: a campaign's plan cannot be read.
    """
    return [trial for paths in campaigns for trial in _of_campaign(paths, hardware)]


def _of_campaign(paths: CampaignPaths, hardware: Collection[str]) -> Iterator[Trial]:
    record, status = read_campaign(paths), campaign_status(paths)
    planned = {item.configuration.id: item for item in record.configurations}
    for key, state in status.trials.items():
        item, files = planned[key.configuration], paths.trial(key)
        wanted = not hardware or item.configuration.hardware in hardware
        if wanted and state.state.finished and _archived(files):
            yield Trial(trial_id(record, key), item.launch, files)


def _archived(paths: TrialPaths) -> bool:
    files = TrialFiles(paths)
    return files.sealed and files.has(paths.reference)
