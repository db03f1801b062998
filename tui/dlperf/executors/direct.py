"""Trials on machines that are reached directly: a supervisor for each node, started over a transport."""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dlperf.errors import DlperfError, UnreachableError
from dlperf.executors import checks
from dlperf.executors.base import CheckItem, Trial, TrialReference
from dlperf.executors.machines import all_of
from dlperf.executors.supervised import CANCEL_GRACE_SECONDS, ROUND_SECONDS, SupervisedExecutor
from dlperf.executors.tasks import NodeTask, container_facts, node_tasks
from dlperf.executors.verdict import cause_of_problem, is_unswept, node_observation
from dlperf.messages import message
from dlperf.nodes.client import NodeClient
from dlperf.nodes.messages import Facts, Hello, NodeReport
from dlperf.nodes.transport import Machine
from dlperf.plan import Launch, Node
from dlperf.render.launchers import find_launcher
from dlperf.runs.records import State

SHORTEST_WAIT_SECONDS = 0.01
"""Bounds how often an agent can make the engine poll, and the delay after another request."""


class DirectExecutor(SupervisedExecutor):
    """One supervisor per node, one connection per machine. See ``Executor`` for its methods."""

    name = "direct"

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._hellos: dict[NodeClient, Hello] = {}
        """Answers to checks that no trial has used yet."""

    async def check(self, launch: Launch) -> list[CheckItem]:
        found = await all_of(self._check_node(node, launch) for node in launch.nodes)
        answers = [(node, facts) for node, (_, facts) in zip(launch.nodes, found, strict=True) if facts]
        items = [item for node_items, _ in found for item in node_items] + checks.agreement(answers)
        if len(answers) == len(launch.nodes) > 1 and not find_launcher(launch.launcher).everywhere:
            items += await self._check_logins(launch)
        return items

    async def _check_logins(self, launch: Launch) -> list[CheckItem]:
        if launch.container is not None:  # its keys cannot be tried from outside
            return []
        first = launch.nodes[0]
        others = [node for node in launch.nodes if Machine.of(node) != Machine.of(first)]
        client = self._machines.client(first)
        try:
            errors = await client.logins([node.address for node in others], checks.ssh_options(launch))
        except UnreachableError as error:
            return checks.unreachable(first, error)
        return [checks.login(launch, node, error) for node, error in zip(others, errors, strict=True)]

    async def _check_node(self, node: Node, launch: Launch) -> tuple[list[CheckItem], Facts | None]:
        """The items of one node, and its facts if it answers."""
        client = self._machines.client(node)
        wanted = [*(launch.container.mounts if launch.container else {}), *([launch.workdir] if launch.workdir else [])]
        try:
            hello = self._hellos[client] = await client.hello()
            addresses = [other.address for other in launch.nodes] if len(launch.nodes) > 1 else []
            paths = [path for path in wanted if path.startswith("/")]
            facts = await client.check(container_facts(launch), paths, addresses)
            # the lease first, because its owner explains what else is busy
            items = [checks.lease(node, facts), *checks.items(node, launch, hello, facts)]
            if node == launch.nodes[0]:
                items.append(checks.port(node, hello.port))
        except UnreachableError as error:
            return checks.unreachable(node, error), None
        return items, facts

    async def submit(self, trial: Trial) -> TrialReference:
        """Start the first node's supervisor, then the others'.

        ``ref.json`` is written before anything starts (with the port, so that a second call uses the same scripts)
        and again, with every node's supervisor, before this returns.

        Raises:
            UnreachableError: a node does not answer. Call again to continue, or ``cancel``.
            RequestError: the launch cannot be rendered.
        """
        reference = self._reference(trial)
        if reference and _is_complete(reference, trial):
            return reference
        first, *others = tasks = node_tasks(trial)
        hellos = await all_of(self._hello(self._client(task)) for task in tasks)
        port = reference.data["master_port"] if reference else hellos[0].port
        files = await asyncio.to_thread(self._render, trial, [hello.home for hello in hellos], str(port))
        clients = {self._client(task) for task in tasks}
        await all_of(self._send_wheels(client, trial.launch) for client in clients)
        self._write_reference(trial, {"master_port": port, "nodes": {}})
        supervisors = [await self._client(first).start(first.directory, files[0])]
        supervisors += await all_of(
            self._client(task).start(task.directory, sent) for task, sent in zip(others, files[1:], strict=True)
        )
        nodes = {task.node.name: supervisor for task, supervisor in zip(tasks, supervisors, strict=True)}
        return self._write_reference(trial, {"master_port": port, "nodes": nodes})

    async def _hello(self, client: NodeClient) -> Hello:
        """Return the answer to the last check, once; else ask the machine."""
        return self._hellos.pop(client, None) or await client.hello()

    async def _observe(self, client: NodeClient, tasks: Sequence[NodeTask]) -> None:
        try:
            reports = await self._reports(client, tasks)
        except DlperfError as error:
            self._note_silence(client, tasks, error)
            return
        for task, seen in zip(tasks, reports, strict=True):
            left = seen.orphaned or (is_unswept(seen) and task.key not in self._asked_to_end)
            report = replace(seen, orphaned=left)
            self._note_answer(task, node_observation(task.node.name, report, task.starts))
            await self._clean_up(task, report)

    def _final_report(self, task: NodeTask) -> NodeReport | None:
        seen = self._seen.pop(task.key, None)
        return seen if seen and seen.exit else None

    async def wait(self, trials: Sequence[Trial], seconds: float) -> None:
        ended = asyncio.Event()
        asyncio.get_running_loop().call_later(seconds, ended.set)
        machines = [
            (client, tasks)
            for client, tasks in self._by_machine(trials)
            if client.unreachable_since is None and not self._observing.is_late(client)
        ]
        waits = [asyncio.create_task(self._wait_at(client, tasks, seconds, ended)) for client, tasks in machines]
        try:
            await asyncio.gather(asyncio.sleep(SHORTEST_WAIT_SECONDS), ended.wait())
            for client, _ in machines:
                await client.end_wait()
            answered, _ = await asyncio.wait(waits, timeout=ROUND_SECONDS) if waits else ((), ())
            for wait in answered:
                wait.result()
        finally:
            for wait in waits:
                wait.cancel()

    async def _wait_at(
        self, client: NodeClient, tasks: Sequence[NodeTask], seconds: float, ended: asyncio.Event
    ) -> None:
        """Note that a task on one machine has ended; a silent machine says nothing."""
        running = [task for task in tasks if not self._last_known(task).finished]
        with contextlib.suppress(DlperfError):
            while running and not ended.is_set():
                reports = await client.wait([task.directory for task in running], seconds)
                if reports is None:
                    await asyncio.sleep(SHORTEST_WAIT_SECONDS)
                else:
                    self._awaited.update((task.key, report) for task, report in zip(running, reports, strict=True))
                    ended.set()

    async def _clean_up(self, task: NodeTask, report: NodeReport) -> None:
        """End what a dead supervisor, a reboot, an unreadable file or a cancel during silence left on a node."""
        wanted = self._cancelling.get(task.trial.trial_id)
        if report.orphaned or (report.rebooted and report.exit is None):
            await self._end(task, CANCEL_GRACE_SECONDS, State.LOST, message("supervisor_died"))
        elif not report.alive or task.key in self._asked_to_end:
            return
        elif report.problem is not None:
            cause = cause_of_problem(task.node.name, report.problem)
            await self._end(task, CANCEL_GRACE_SECONDS, State.FAILED, cause)
        elif wanted is not None:
            await self._end(task, wanted, State.CANCELLED, message("cancelled"))

    async def cancel(self, trial: Trial, grace_seconds: float = CANCEL_GRACE_SECONDS) -> None:
        """Ask every node at once. A later ``poll`` asks those that do not answer."""
        self._cancelling[trial.trial_id] = grace_seconds
        await self._cancel_nodes(trial)

    async def adopt(self, trial: Trial) -> TrialReference | None:
        """Return ``ref.json`` if it is complete, else ask the nodes.

        Raises:
            UnreachableError: ``ref.json`` is not complete and a node does not answer.
        """
        reference = self._reference(trial)
        if reference and _is_complete(reference, trial):
            return reference
        tasks = node_tasks(trial)
        reports = await all_of(self._client(task).observe([task.directory]) for task in tasks)
        nodes = {
            task.node.name: report.supervisor
            for task, (report,) in zip(tasks, reports, strict=True)
            if report.supervisor
        }
        port = reference.data["master_port"] if reference else 0
        return self._write_reference(trial, {"master_port": port, "nodes": nodes}) if nodes else None


def _is_complete(reference: TrialReference, trial: Trial) -> bool:
    return len(reference.data["nodes"]) == len(trial.launch.nodes)
