"""The base of executors whose trials run under supervisors: node states, logs, and ending the other nodes."""

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dlperf.catalog.files.load import read_programs
from dlperf.errors import DlperfError, UnreachableError
from dlperf.executors.base import NodeObservation, Observation, Trial, TrialReference
from dlperf.executors.logs import collect_files, tail_machine
from dlperf.executors.machines import MachineClients, Rounds, all_of
from dlperf.executors.tasks import JOB, NodeTask, node_tasks
from dlperf.executors.verdict import fail_silent, first_failure, trial_observation
from dlperf.executors.wheels import fetched_wheels
from dlperf.messages import Message, message
from dlperf.nodes.client import NodeClient
from dlperf.nodes.messages import NodeFile, NodeProblem, NodeReport
from dlperf.nodes.transport import Machine, Transport, transport_to
from dlperf.plan import Launch
from dlperf.plan.hiding import revealed
from dlperf.render.trial import Runtime, render_trial
from dlperf.runs.archive import TrialFiles, keep_sent
from dlperf.runs.names import file_name
from dlperf.runs.records import State, utc_now
from dlperf.runs.secrets import secrets_of
from dlperf.runs.store import read_record_if_whole, write_record

SIBLING_GRACE_SECONDS = 15.0
"""How long the other nodes may continue after one has failed, to log their own errors."""
CANCEL_GRACE_SECONDS = 10.0
ROUND_SECONDS = 5.0
"""How long all machines wait for one that does not answer, before it is left to answer late."""


class SupervisedExecutor:
    """One supervisor per node, one connection per machine."""

    name: str

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
        self._machines = MachineClients(transport)
        self._workspace_catalog = workspace_catalog
        self._sibling_grace = sibling_grace_seconds
        self._observing = Rounds(self._observe, ROUND_SECONDS)
        self._tailing = Rounds(self._tail, ROUND_SECONDS)
        self._known: dict[tuple[str, str], NodeObservation] = {}
        """The last observation of each task."""
        self._silent_at: dict[tuple[str, str], float] = {}
        """When the node of a task stopped answering while another of its trial answers (monotonic)."""
        self._failed_at: dict[str, float] = {}
        """When the first node of a trial was seen to have failed (monotonic)."""
        self._cancelling: dict[str, float] = {}
        """Trials to cancel → grace; kept for nodes that do not answer yet."""
        self._seen: dict[tuple[str, str], NodeReport] = {}
        """Reports of the last poll, by which the next tail knows what to fetch."""
        self._awaited: dict[tuple[str, str], NodeReport] = {}
        """Reports that ended a wait, which the next poll takes."""
        self._problems: dict[tuple[str, str], NodeProblem] = {}
        """Tasks with a file that cannot be read or archived → the first of them."""
        self._asked_to_end: set[tuple[str, str]] = set()
        """Tasks whose node has received a request to end."""

    def _render(
        self, trial: Trial, homes: Sequence[str], port: str, others: Mapping[str, bytes] | None = None
    ) -> list[list[NodeFile]]:
        """Render the files to send to each node, and archive them without secrets, together with ``others``."""
        programs = read_programs(trial.launch.files, self._workspace_catalog)
        sent = replace(trial, launch=revealed(trial.launch, secrets_of(trial.paths.directory)))
        kept = dict(others or {})
        for task, files in _files_of(trial, homes, port, programs):
            kept |= {f"{file_name(task.node.name)}/{path}": data for path, data in files.items()}
        keep_sent(trial.paths, kept)
        return [
            # programs may be executable; scripts are given to sh and may hold secrets
            [
                NodeFile(f"{task.directory}/{path}", data, 0o700 if "/" in path else 0o600)
                for path, data in files.items()
            ]
            for task, files in _files_of(sent, homes, port, programs)
        ]

    async def _send_wheels(self, client: NodeClient, launch: Launch) -> None:
        """Send the fetched wheels of locked requirements, once to a machine."""
        if launch.requirements:
            wheels = await asyncio.to_thread(fetched_wheels, launch.requirements, self._workspace_catalog)
            await client.send_wheels(wheels)

    async def poll(self, trials: Sequence[Trial]) -> list[Observation]:
        await self._observing.run(self._by_machine(trials))
        return list(await all_of(self._trial_observation(trial) for trial in trials))

    async def _observe(self, client: NodeClient, tasks: Sequence[NodeTask]) -> None:
        """Update what is known of the tasks on one machine."""
        raise NotImplementedError

    async def _reports(self, client: NodeClient, tasks: Sequence[NodeTask]) -> list[NodeReport]:
        """Ask for the states of tasks. What was once found to be unreadable remains a problem."""
        awaited = [self._awaited.pop(task.key, None) for task in tasks]
        known = [report for report in awaited if report]
        reports = known if all(awaited) else await client.observe([task.directory for task in tasks])
        for task, report in zip(tasks, reports, strict=True):
            self._seen[task.key] = report
            if report.problem is not None:
                self._problems.setdefault(task.key, report.problem)
        return [
            replace(report, problem=self._problems.get(task.key)) for task, report in zip(tasks, reports, strict=True)
        ]

    def _note_answer(self, task: NodeTask, observation: NodeObservation) -> None:
        self._known[task.key] = observation
        self._silent_at.pop(task.key, None)

    def _note_silence(self, client: NodeClient, tasks: Sequence[NodeTask], error: DlperfError) -> None:
        cause = error.cause if isinstance(error, UnreachableError) else error.message
        for task in tasks:
            known = self._last_known(task)
            since = known.unreachable_since or client.unreachable_since or utc_now()
            self._known[task.key] = replace(known, unreachable_since=since, cause=known.cause or cause)
            self._silent_at.setdefault(task.key, time.monotonic())

    async def _trial_observation(self, trial: Trial) -> Observation:
        tasks = node_tasks(trial)
        self._give_up_silent(trial, tasks)
        await self._end_siblings(trial, tasks)
        observation = trial_observation(trial.trial_id, [self._last_known(task) for task in tasks])
        return replace(observation, stale=any(self._observing.is_late(self._client(task)) for task in tasks))

    def _give_up_silent(self, trial: Trial, tasks: Sequence[NodeTask]) -> None:
        """Mark nodes failed that have been silent for longer than the stall limit.

        Where all nodes are silent the local network may be down, and the time does not count.
        """
        now = time.monotonic()
        if all(task.key in self._silent_at for task in tasks):
            self._silent_at.update((task.key, now) for task in tasks)
            return
        latest = now - trial.launch.stall_seconds
        for task in tasks:
            if not self._last_known(task).finished and self._silent_at.get(task.key, math.inf) <= latest:
                self._known[task.key] = fail_silent(self._last_known(task))

    async def _end_siblings(self, trial: Trial, tasks: Sequence[NodeTask]) -> None:
        """End the other nodes once one has failed, or once all nodes with a payload have ended."""
        nodes = [self._last_known(task) for task in tasks]
        first = first_failure(nodes)
        if first is not None:
            failed_at = self._failed_at.setdefault(trial.trial_id, time.monotonic())
            if time.monotonic() >= failed_at + self._sibling_grace:
                await self._end_unfinished(tasks, State.CANCELLED, message("cancelled_with", node=first.node))
        elif all(node.finished for node in nodes if node.starts):
            await self._end_unfinished(tasks, State.SUCCEEDED, message("first_node_ended"))

    async def _end_unfinished(self, tasks: Sequence[NodeTask], state: State, cause: Message) -> None:
        wanted = (task for task in tasks if not self._last_known(task).finished and task.key not in self._asked_to_end)
        waiting = [task for task in wanted if not self._observing.is_late(self._client(task))]
        await all_of(self._end(task, CANCEL_GRACE_SECONDS, state, cause) for task in waiting)

    async def time_out(self, trial: Trial) -> None:
        await self._end_unfinished(node_tasks(trial), State.TIMED_OUT, trial.deadline)

    async def _cancel_nodes(self, trial: Trial) -> None:
        grace = self._cancelling.get(trial.trial_id, CANCEL_GRACE_SECONDS)
        await all_of(self._end(task, grace, State.CANCELLED, message("cancelled")) for task in node_tasks(trial))

    async def _end(self, task: NodeTask, grace_seconds: float, state: State, cause: Message) -> None:
        try:
            await self._client(task).cancel(task.directory, grace_seconds, state.value, cause)
            self._asked_to_end.add(task.key)
        except DlperfError:
            return

    async def wait(self, trials: Sequence[Trial], seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def tail(self, trials: Sequence[Trial]) -> None:
        await self._tailing.run(self._by_machine(trials))

    async def _tail(self, client: NodeClient, tasks: Sequence[NodeTask]) -> None:
        seen = [report for task in tasks if (report := self._seen.pop(task.key, None))]
        failed = await tail_machine(client, tasks, seen if len(seen) == len(tasks) else ())
        for key, error in failed.items():
            self._problems.setdefault(key, {"file": error.file, "reason": error.reason})

    async def collect(self, trial: Trial) -> None:
        tasks = node_tasks(trial)
        await all_of(collect_files(self._client(task), task, self._final_report(task)) for task in tasks)

    def _final_report(self, task: NodeTask) -> NodeReport | None:
        """Return the report of the last poll if the trial had ended there, and the sizes of its logs are certain."""
        return None

    async def close(self) -> None:
        await self._observing.close()
        await self._tailing.close()
        await self._machines.close()

    def _client(self, task: NodeTask) -> NodeClient:
        return self._machines.client(task.node)

    def _by_machine(self, trials: Sequence[Trial]) -> list[tuple[NodeClient, list[NodeTask]]]:
        groups: dict[NodeClient, list[NodeTask]] = defaultdict(list)
        for trial in trials:
            for task in node_tasks(trial):
                groups[self._client(task)].append(task)
        return list(groups.items())

    def _last_known(self, task: NodeTask) -> NodeObservation:
        return self._known.get(task.key, NodeObservation(task.node.name, State.SUBMITTED, starts=task.starts))

    def _reference(self, trial: Trial) -> TrialReference | None:
        """``ref.json``, also of a trial that an earlier engine archived without a journal entry.

        None where a crash of this machine lost it: the nodes, or the scheduler, know the trial.
        """
        return read_record_if_whole(trial.paths.reference, TrialReference, read=TrialFiles(trial.paths).read)

    def _write_reference(self, trial: Trial, data: dict[str, Any]) -> TrialReference:
        reference = TrialReference(self.name, data)
        write_record(trial.paths.reference, reference, durable=False)
        return reference


def _files_of(
    trial: Trial, homes: Sequence[str], port: str, programs: Mapping[str, bytes]
) -> list[tuple[NodeTask, dict[str, bytes]]]:
    """The files of each node by their path in its folder."""
    tasks = node_tasks(trial)
    folders = {task.node.name: f"{home}/.dlperf/{task.directory}" for task, home in zip(tasks, homes, strict=True)}
    number = trial.number  # a name of its own where programs are only checked
    seed = str(int(number) + trial.launch.first_seed - 1) if number.isdecimal() else number
    runtime = Runtime(trial.launch.nodes[0].address, port, folders, programs, seed)
    rendered = render_trial(trial.trial_id, trial.launch, runtime)
    return [(task, rendered[task.node.name].files | {JOB: task.job_file()}) for task in tasks]
