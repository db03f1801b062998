"""Removing archived trials from nodes: a folder goes only when all of its files are archived."""

import glob
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from dlperf.errors import DlperfError
from dlperf.executors.base import Trial
from dlperf.executors.machines import MachineClients, all_of
from dlperf.executors.tasks import NodeTask, node_tasks
from dlperf.messages import Message, message, quoted
from dlperf.nodes.client import NodeClient
from dlperf.nodes.transport import Machine
from dlperf.plan import Node
from dlperf.runs.archive import RENDERED, TrialFiles
from dlperf.runs.names import file_name, text_of
from dlperf.runs.paths import TrialPaths

SECONDS_A_DAY = 86400.0


@dataclass(frozen=True)
class Cleaned:
    """The result of cleaning one trial on one machine."""

    trial_id: str
    machine: str
    bytes: int = 0
    kept: Message | None = None
    """Why its folder stays; None where it was removed."""


async def clean(
    trials: Sequence[Trial],
    discarded: Sequence[str] = (),
    tidy: bool = False,
    caches: bool = False,
) -> list[Cleaned]:
    """Remove the folders of finished trials from all of their machines.

    Args:
        discarded: patterns of files that may be lost, as paths in a node's folder.
        tidy: remove the program of dlperf, too, from a machine on which no trial is left.
        caches: with the builds and wheels there.
    """
    machines = MachineClients()
    groups: dict[Machine, dict[str, list[NodeTask]]] = defaultdict(lambda: defaultdict(list))
    for trial in trials:
        for task in node_tasks(trial):
            groups[Machine.of(task.node)][trial.trial_id].append(task)
    try:
        found = await all_of(
            _clean_machine(machines, machine, group.values(), discarded) for machine, group in groups.items()
        )
        if tidy:
            nodes = [next(iter(group.values()))[0].node for group in groups.values()]
            await all_of(_tidy(machines.client(node), caches) for node in nodes)
    finally:
        await machines.close()
    return [outcome for outcomes in found for outcome in outcomes]


async def _clean_machine(
    machines: MachineClients, machine: Machine, group: Iterable[Sequence[NodeTask]], discarded: Sequence[str]
) -> list[Cleaned]:
    outcomes = []
    for tasks in group:
        trial_id, size = tasks[0].trial.trial_id, 0
        try:
            first = next(iter(TrialFiles(tasks[0].trial.paths).problems()), None)
            kept = message("kept_damaged", file=first.file, problem=first.problem) if first else None
            if not kept:
                paths = tasks[0].trial.paths
                archived, free = archived_digests(paths), [*discarded, *_redacted_files(paths)]
                removed = await machines.client(tasks[0].node).remove(file_name(trial_id), archived, free)
                size, kept = removed.bytes, removed.problem
        except DlperfError as error:
            kept = quoted(error)
        outcomes.append(Cleaned(trial_id, str(machine), size, kept))
    return outcomes


async def _tidy(client: NodeClient, caches: bool) -> None:
    with suppress(DlperfError):  # said before, for each trial
        await client.tidy(caches)


async def clean_orphans(
    nodes: Sequence[Node],
    known: Collection[str],
    days: float,
    remove: bool,
) -> list[Cleaned]:
    """Find the folders of trials on the nodes' machines that are none of the known ones, and remove them if wanted.

    Args:
        known: ids of trials.
        days: for which nothing in a folder has changed.
        remove: with all that they hold, and the caches where no trial is left.
    """
    machines = MachineClients()
    distinct = {Machine.of(node): node for node in nodes}
    limit = days * SECONDS_A_DAY
    try:
        found = await all_of(
            _clean_orphans(machines.client(node), str(machine), known, limit, remove)
            for machine, node in distinct.items()
        )
    finally:
        await machines.close()
    return [outcome for outcomes in found for outcome in outcomes]


async def _clean_orphans(
    client: NodeClient, machine: str, known: Collection[str], seconds: float, remove: bool
) -> list[Cleaned]:
    outcomes = []
    try:
        for there in await client.trials():
            if there.directory not in known and there.age >= seconds:
                kept = there.problem
                if remove and not kept:
                    kept = (await client.remove(there.directory, {}, ("*",))).problem
                outcomes.append(Cleaned(there.directory, machine, there.bytes, kept))
        if remove:
            await client.tidy(caches=True)
    except DlperfError as error:
        outcomes.append(Cleaned("", machine, kept=quoted(error)))
    return outcomes


def _redacted_files(paths: TrialPaths) -> list[str]:
    """Return patterns of files in a node's folder whose archived copies lack only their secrets."""
    names = (name.split("/", 2)[2] for name in TrialFiles(paths).redacted() if name.count("/") > 1)
    return sorted({glob.escape(name) for name in names})


def archived_digests(paths: TrialPaths) -> dict[str, list[str]]:
    """Return path in the trial's folder on its nodes → SHA-256 of what is archived of it, as sent and as collected."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, digest in TrialFiles(paths).digests().items():
        root, _, below = name.partition("/")
        if root == RENDERED:
            found[below].append(digest)
        elif root == "nodes":
            found["/".join(map(text_of, below.split("/")))].append(digest)
        else:
            found[name].append(digest)
    return found
