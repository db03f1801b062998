"""Removing from nodes what is archived: a trial's folder goes only when every byte of its logs is home and sealed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dlperf.errors import DlperfError
from dlperf.executors.archive import archived_size, stream_path
from dlperf.executors.base import Trial
from dlperf.executors.machines import Machines, all_of
from dlperf.executors.shares import Share, shares
from dlperf.nodes.client import NodeClient
from dlperf.nodes.transport import Machine, Transport, transport_to
from dlperf.runs.archive import TrialFiles
from dlperf.runs.paths import file_name


@dataclass(frozen=True)
class Cleaned:
    """What came of one trial on one machine."""

    trial_id: str
    machine: str
    bytes: int = 0
    kept: str = ""
    """Why its folder stays; empty where it is gone."""


async def clean(trials: Sequence[Trial], transport: Callable[[Machine], Transport] = transport_to) -> list[Cleaned]:
    """Remove the folders of these trials, which have ended, from every machine that had a share of them."""
    machines = Machines(transport)
    groups: dict[Machine, list[list[Share]]] = defaultdict(list)
    for trial in trials:
        here: dict[Machine, list[Share]] = defaultdict(list)
        for share in shares(trial):
            here[Machine.of(share.node)].append(share)
        for machine, some in here.items():
            groups[machine].append(some)
    try:
        found = await all_of(
            _clean_machine(machines.client(group[0][0].node), machine, group) for machine, group in groups.items()
        )
    finally:
        await machines.close()
    return [outcome for outcomes in found for outcome in outcomes]


async def _clean_machine(client: NodeClient, machine: Machine, group: Sequence[Sequence[Share]]) -> list[Cleaned]:
    """One trial after the other; a machine that does not answer keeps everything."""
    outcomes = []
    for some in group:
        trial = some[0].trial
        try:
            kept = await _why_kept(client, some)
            if not kept:
                (removed,) = await client.remove([file_name(trial.trial_id)])
                outcomes.append(Cleaned(trial.trial_id, str(machine), removed.bytes, removed.problem))
                continue
        except DlperfError as error:
            kept = str(error)
        outcomes.append(Cleaned(trial.trial_id, str(machine), kept=kept))
    return outcomes


async def _why_kept(client: NodeClient, some: Sequence[Share]) -> str:
    """What speaks against removing one trial from a machine: an archive that is not whole."""
    if problems := TrialFiles(some[0].trial.paths).problems():
        return f"its archive is not whole: {problems[0].file}: {problems[0].problem}: see `dlperf verify`"
    reports = await client.observe([share.directory for share in some])
    for share, report in zip(some, reports, strict=True):
        for stream, size in report.streams.items():
            missing = size - archived_size(stream_path(share.paths, stream))
            if missing:
                return f"{missing} bytes of {stream} of {share.node.name} are not in the archive"
    return ""
