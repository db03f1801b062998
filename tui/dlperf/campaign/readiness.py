"""Ask machines whether they are ready, and which of their trials may be removed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence

from dlperf.campaign.create import trial_id
from dlperf.campaign.dependencies import OpenExecutor
from dlperf.campaign.starting import start_items, starts_of
from dlperf.errors import DlperfError
from dlperf.executors.base import CheckItem, Trial
from dlperf.executors.machines import all_of
from dlperf.plan import Launch, Plan
from dlperf.runs.archive import TrialFiles
from dlperf.runs.journal import campaign_status
from dlperf.runs.paths import CampaignPaths, TrialPaths
from dlperf.runs.store import each_readable, read_campaign


def launches_to_check(plan: Plan) -> dict[tuple[str, str, str], Launch]:
    """Return hardware, executor and container image → the largest launch; Slurm's login node needs no image."""
    groups: dict[tuple[str, str, str], list[Launch]] = defaultdict(list)
    for item in plan.configurations:
        launch = item.launch
        image = launch.container.image if launch.container and launch.executor == "direct" else ""
        groups[item.configuration.hardware, launch.executor, image].append(launch)
    return {key: max(group, key=lambda launch: (len(launch.nodes), launch.gpus)) for key, group in groups.items()}


async def check_plan(plan: Plan, open_executor: OpenExecutor) -> list[CheckItem]:
    """Check all machines at once, then start the chosen frameworks on ready ones; return the distinct results."""
    launches = launches_to_check(plan)
    executors = {name: open_executor(name) for name in {launch.executor for launch in launches.values()}}
    try:
        found = await all_of(executors[launch.executor].check(launch) for launch in launches.values())
        unfit = {key[0] for key, items in zip(launches, found, strict=True) if not all(item.ok for item in items)}
        found += await all_of(
            start_items(executors[starts[0].planned.launch.executor], starts)
            for hardware, starts in starts_of(plan).items()
            if hardware not in unfit
        )
    finally:
        for executor in executors.values():
            await executor.close()
    return list({(item.node, item.check, item.ok, item.message): item for items in found for item in items}.values())


def ended_trials(
    campaigns: Sequence[CampaignPaths], hardware: Collection[str], complain: Callable[[DlperfError], object]
) -> list[Trial]:
    """Return the trials that ended and were sealed, on this hardware or on all.

    Args:
        complain: called for each campaign that cannot be read, which is left out.
    """
    found = each_readable(campaigns, lambda paths: list(_of_campaign(paths, hardware)), complain)
    return [trial for trials in found for trial in trials]


def _of_campaign(paths: CampaignPaths, hardware: Collection[str]) -> Iterator[Trial]:
    record, status = read_campaign(paths), campaign_status(paths)
    planned = {item.configuration.id: item for item in record.configurations}
    for key, state in status.trials.items():
        item, files = planned.get(key.configuration), paths.trial(key)
        if item is None or (hardware and item.configuration.hardware not in hardware):
            continue
        if state.state.finished and _archived(files):
            yield Trial(trial_id(record, key), item.launch, files)


def _archived(paths: TrialPaths) -> bool:
    files = TrialFiles(paths)
    return files.sealed and files.has(paths.reference)
