"""What executors share whose trials are kept by supervisors: standings, logs, and how siblings are ended."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from dlperf.errors import UnreachableError
from dlperf.executors.base import NodeObservation, Observation, Reference, Trial
from dlperf.executors.logs import collect_share, log_end, tail_machine
from dlperf.executors.machines import Machines, all_of
from dlperf.executors.shares import Share, shares
from dlperf.executors.verdict import NodeStanding, first_failure, given_up, trial_observation
from dlperf.messages import Message, message
from dlperf.nodes.client import NodeClient
from dlperf.nodes.transport import Machine, Transport, transport_to
from dlperf.runs.archive import TrialFiles
from dlperf.runs.printable import printable_end
from dlperf.runs.records import State
from dlperf.runs.store import read_record_if_whole

SIBLING_GRACE_SECONDS = 15.0
"""How long the other nodes may go on, to say their own error, after one has failed."""
CANCEL_GRACE_SECONDS = 10.0


class SupervisedExecutor:
    """One supervisor per node, one connection per machine."""

    def __init__(
        self,
        workspace_catalog: Path | None = None,
        transport: Callable[[Machine], Transport] = transport_to,
        sibling_grace_seconds: float = SIBLING_GRACE_SECONDS,
    ) -> None:
        """
        Args:
            workspace_catalog: the workspace's ``catalog/``, whose programs come before the built-in ones.
            transport: how a machine is reached.
            sibling_grace_seconds: see SIBLING_GRACE_SECONDS.
        """
        self._machines = Machines(transport)
        self._workspace_catalog = workspace_catalog
        self._sibling_grace = sibling_grace_seconds
        self._known: dict[tuple[str, str], NodeStanding] = {}
        """What each share's node said last, for the time when it is silent."""
        self._silent_at: dict[tuple[str, str], float] = {}
        """Since when the node of a share does not answer while another of its trial does (monotonic)."""
        self._failed_at: dict[str, float] = {}
        """When the first node of a trial was seen to have failed (monotonic)."""
        self._cancelling: dict[str, float] = {}
        """Trials to cancel → grace; kept for nodes that do not answer yet."""
        self._told: set[tuple[str, str]] = set()
        """Shares whose node has been told to end."""

    def _note_answer(self, share: Share, told: NodeStanding) -> None:
        self._known[share.key] = told
        self._silent_at.pop(share.key, None)

    def _note_silence(self, client: NodeClient, group: Sequence[Share], error: UnreachableError) -> None:
        """Silence leaves what is known and flags it."""
        for share in group:
            known = self._standing(share)
            since = known.observation.unreachable_since or client.unreachable_since
            cause = known.observation.cause or error.cause
            silent = replace(known.observation, unreachable_since=since, cause=cause)
            self._known[share.key] = replace(known, observation=silent)
            self._silent_at.setdefault(share.key, time.monotonic())

    async def _verdict(self, trial: Trial) -> Observation:
        every = shares(trial)
        self._give_up_silent(trial, every)
        await self._end_siblings(trial, every)
        nodes = [self._standing(share) for share in every]
        first = first_failure(nodes)
        end = await self._last_output(every[nodes.index(first)]) if first and len(every) > 1 else ""
        return trial_observation(trial.trial_id, nodes, end)

    def _give_up_silent(self, trial: Trial, every: Sequence[Share]) -> None:
        """One node of several that is silent for longer than a payload may be keeps the others waiting in vain.

        Where all are silent it is we who are cut off: the trial goes on without us, and that time does not count.
        """
        now = time.monotonic()
        if all(share.key in self._silent_at for share in every):
            self._silent_at.update((share.key, now) for share in every)
            return
        latest = now - trial.launch.stall_seconds
        for share in every:
            if not self._standing(share).finished and self._silent_at.get(share.key, math.inf) <= latest:
                self._known[share.key] = given_up(self._standing(share))

    async def _end_siblings(self, trial: Trial, every: Sequence[Share]) -> None:
        """Once a node has failed, or all that had something to run have ended, the others wait in vain."""
        nodes = [self._standing(share) for share in every]
        first = first_failure(nodes)
        if first is not None:
            failed_at = self._failed_at.setdefault(trial.trial_id, time.monotonic())
            if time.monotonic() >= failed_at + self._sibling_grace:
                why = message("cancelled_with", node=first.observation.node)
                await self._end_open(every, State.CANCELLED, why)
        elif all(node.finished for node in nodes if node.starts):
            await self._end_open(every, State.SUCCEEDED, message("first_node_ended"))

    async def _end_open(self, every: Sequence[Share], state: State, cause: Message) -> None:
        waiting = [share for share in every if not self._standing(share).finished and share.key not in self._told]
        await all_of(self._tell(share, CANCEL_GRACE_SECONDS, state, cause) for share in waiting)

    async def _last_output(self, share: Share) -> str:
        try:
            size = self._standing(share).observation.log_size
            return printable_end(await log_end(self._client(share), share, size))
        except UnreachableError:
            return ""

    async def tail(self, trials: Sequence[Trial]) -> int:
        every = [share for trial in trials for share in shares(trial)]
        return sum(await all_of(tail_machine(client, group) for client, group in self._by_machine(every)))

    async def _tell(self, share: Share, grace_seconds: float, state: State, cause: Message) -> None:
        try:
            await self._client(share).cancel(share.directory, grace_seconds, state.value, cause)
            self._told.add(share.key)
        except UnreachableError:
            return

    async def collect(self, trial: Trial) -> None:
        await all_of(collect_share(self._client(share), share) for share in shares(trial))

    async def close(self) -> None:
        await self._machines.close()

    def _client(self, share: Share) -> NodeClient:
        return self._machines.client(share.node)

    def _by_machine(self, every: Sequence[Share]) -> list[tuple[NodeClient, list[Share]]]:
        groups: dict[NodeClient, list[Share]] = defaultdict(list)
        for share in every:
            groups[self._client(share)].append(share)
        return list(groups.items())

    def _standing(self, share: Share) -> NodeStanding:
        unknown = NodeObservation(share.node.name, State.SUBMITTED)
        return self._known.get(share.key, NodeStanding(unknown, starts=share.starts))

    def _reference(self, trial: Trial) -> Reference | None:
        """``ref.json``, also of a trial that an earlier engine sealed and did not journal."""
        return read_record_if_whole(trial.paths.reference, Reference, read=TrialFiles(trial.paths).read)
