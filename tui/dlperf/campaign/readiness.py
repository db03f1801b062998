"""The user's machines: whether they are ready, what they are, and which trials on them may be removed."""

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from dlperf.campaign.create import trial_id
from dlperf.campaign.dependencies import OpenExecutor
from dlperf.campaign.starting import start_items, starts_of
from dlperf.catalog.files.load import Catalog
from dlperf.catalog.files.problem import hint
from dlperf.catalog.hardware import Hardware
from dlperf.errors import DlperfError, RequestError
from dlperf.executors.base import CheckItem, Executor, Trial
from dlperf.executors.looking import MachineNow
from dlperf.executors.machines import all_of
from dlperf.messages import Message, message
from dlperf.plan import Launch, Node, Plan
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
        found = await all_of(_check_of(executors, *item) for item in launches.items())
        unfit = {key[0] for key, items in zip(launches, found, strict=True) if not all(item.ok for item in items)}
        found += await all_of(
            _named(hardware, start_items(executors[starts[0].planned.launch.executor], starts))
            for hardware, starts in starts_of(plan).items()
            if hardware not in unfit
        )
    finally:
        for executor in executors.values():
            await executor.close()
    return list({(item.node, item.check, item.ok, item.message): item for items in found for item in items}.values())


async def _check_of(executors: Mapping[str, Executor], key: tuple[str, str, str], launch: Launch) -> list[CheckItem]:
    return await _named(key[0], executors[launch.executor].check(launch))


async def _named(hardware: str, items: Awaitable[Sequence[CheckItem]]) -> list[CheckItem]:
    return [replace(item, hardware=hardware) for item in await items]


def known_trials(campaigns: Sequence[CampaignPaths]) -> set[str]:
    """Return the ids of all trials, repeated ones too; raise DlperfError where a campaign cannot be read."""
    known = ((read_campaign(paths), campaign_status(paths)) for paths in campaigns)
    return {trial_id(record, key) for record, status in known for key in status.trials}


def nodes_of(hardware: Sequence[str], catalog: Catalog) -> list[Node]:
    """Return the nodes of machines by their ids; of a cluster the login node.

    Raises:
        RequestError: there is no such hardware, or it is an example.
    """
    nodes: list[Node] = []
    for name in hardware:
        entry = catalog.hardware.get(name)
        if entry is None or entry.example:
            known = sorted(found.id for found in catalog.hardware.values() if not found.example)
            raise RequestError(f"--hardware {name}: no machine of yours ({hint(name, known)})")
        listed = entry.nodes[:1] if entry.job else entry.nodes
        nodes += [replace(node, host=node.host or node.name) for node in listed]
    return nodes


def machines_of(catalog: Catalog, names: Sequence[str] = ()) -> dict[Node, list[str]]:
    """Return the user's machines, or these, each with the entries that name it; see ``nodes_of`` for errors."""
    found: dict[Node, list[str]] = defaultdict(list)
    for name in names or catalog.machines:
        for node in nodes_of([name], catalog):
            found[node].append(name)
    return found


def as_described(found: MachineNow, catalog: Catalog) -> list[MachineNow]:
    """Divide an answer of this machine: entries that describe one with other GPUs say so instead."""
    if found.state is None:
        return [found]
    gpus = {gpu["index"]: gpu["name"] or "" for gpu in found.state["gpus"] if gpu["index"] is not None}
    known = (catalog.hardware.get(name) for name in found.hardware)
    elsewhere = [entry for entry in known if entry and entry.is_here and not catalog.describes(entry.id, gpus)]
    here = tuple(name for name in found.hardware if name not in {entry.id for entry in elsewhere})
    absent = [
        replace(found, hardware=(entry.id,), state=None, problem=_other_gpus(entry, [*gpus.values()]), elsewhere=True)
        for entry in elsewhere
    ]
    return [*([replace(found, hardware=here)] if here or not found.hardware else []), *absent]


def _other_gpus(described: Hardware, names: Sequence[str]) -> Message:
    wanted = f"{described.gpus_per_node} × {described.accelerator}"
    found = ", ".join(f"{count} × {name}" for name, count in Counter(names).items())
    code = "other_gpus_here" if names else "no_gpu_here"
    return message(code, described=wanted, found=found)


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
