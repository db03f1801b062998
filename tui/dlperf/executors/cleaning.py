"""Removing archived trials from nodes: a folder goes only when all bytes of its logs are archived."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dlperf.errors import DlperfError
from dlperf.executors.base import Trial
from dlperf.executors.logs import archived_size, stream_path
from dlperf.executors.machines import Machines, all_of
from dlperf.executors.tasks import NodeTask, node_tasks
from dlperf.nodes.client import NodeClient
from dlperf.nodes.transport import Machine, Transport, transport_to
from dlperf.runs.archive import TrialFiles
from dlperf.runs.paths import file_name


@dataclass(frozen=True)
class Cleaned:
    """The result of cleaning one trial on one machine."""

    trial_id: str
    machine: str
    bytes: int = 0
    kept: str = ""
    """Why its folder stays; empty where it was removed."""


async def clean(trials: Sequence[Trial], transport: Callable[[Machine], Transport] = transport_to) -> list[Cleaned]:
    """Remove the folders of finished trials from all of their machines."""
    machines = Machines(transport)
    groups: dict[Machine, dict[str, list[NodeTask]]] = defaultdict(lambda: defaultdict(list))
    for trial in trials:
        for task in node_tasks(trial):
            groups[Machine.of(task.node)][trial.trial_id].append(task)
    try:
        found = await all_of(_clean_machine(machines, machine, group.values()) for machine, group in groups.items())
    finally:
        await machines.close()
    return [outcome for outcomes in found for outcome in outcomes]


async def _clean_machine(machines: Machines, machine: Machine, group: Iterable[Sequence[NodeTask]]) -> list[Cleaned]:
    outcomes = []
    for tasks in group:
        trial_id, size = tasks[0].trial.trial_id, 0
        try:
            client = machines.client(tasks[0].node)
            kept = await _why_kept(client, tasks)
            if not kept:
                (removed,) = await client.remove([file_name(trial_id)])
                size, kept = removed.bytes, removed.problem
        except DlperfError as error:
            kept = str(error)
        outcomes.append(Cleaned(trial_id, str(machine), size, kept))
    return outcomes


async def _why_kept(client: NodeClient, tasks: Sequence[NodeTask]) -> str:
    """Why a trial's folder on a machine must stay: its archive is not complete."""
    if problems := TrialFiles(tasks[0].trial.paths).problems():
        return f"its archive is not whole: {problems[0].file}: {problems[0].problem}: see `dlperf verify`"
    reports = await client.observe([task.directory for task in tasks])
    for task, report in zip(tasks, reports, strict=True):
        for stream, size in report.streams.items():
            missing = size - archived_size(stream_path(task.paths, stream))
            if missing:
                return f"{missing} bytes of {stream} of {task.node.name} are not in the archive"
    return ""
