"""Trials on machines that are reached directly: a supervisor for each node, started over a transport."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from dlperf.catalog.programs import read_programs
from dlperf.errors import UnreachableError
from dlperf.executors import checks
from dlperf.executors.base import CheckItem, Observation, Reference, Trial
from dlperf.executors.machines import all_of
from dlperf.executors.shares import Share, container_facts, contents, first_port, node_files, sent_names, shares
from dlperf.executors.supervised import CANCEL_GRACE_SECONDS, SupervisedExecutor
from dlperf.executors.verdict import standing
from dlperf.messages import message
from dlperf.nodes.client import NodeClient
from dlperf.nodes.messages import NodeReport
from dlperf.nodes.transport import Machine
from dlperf.plan import Launch, Node
from dlperf.render import Runtime, render_trial
from dlperf.render.launchers import find_launcher
from dlperf.runs.archive import keep_sent
from dlperf.runs.records import State
from dlperf.runs.store import write_record

NAME = "direct"


class DirectExecutor(SupervisedExecutor):
    """One supervisor per node, one connection per machine. See ``Executor`` for what each method promises."""

    async def check(self, launch: Launch) -> list[CheckItem]:
        found = await all_of(self._check_node(node, launch) for node in launch.nodes)
        answers = [(node, facts) for node, (_, facts) in zip(launch.nodes, found, strict=True) if facts]
        every = [item for items, _ in found for item in items] + checks.agreement(answers)
        if len(answers) == len(launch.nodes) > 1 and not find_launcher(launch.launcher).everywhere:
            every += await self._check_logins(launch)
        return every

    async def _check_logins(self, launch: Launch) -> list[CheckItem]:
        """A launcher in a container has keys of its own there, which cannot be tried from outside."""
        if launch.container is not None:
            return []
        first = launch.nodes[0]
        others = [node for node in launch.nodes if Machine.of(node) != Machine.of(first)]
        client = self._machines.client(first)
        try:
            complaints = await client.logins([node.address for node in others], checks.ssh_options(launch))
        except UnreachableError as error:
            return checks.unreachable(first, error)
        return [checks.login(launch, node, said) for node, said in zip(others, complaints, strict=True)]

    async def _check_node(self, node: Node, launch: Launch) -> tuple[list[CheckItem], dict[str, Any] | None]:
        """The lines of one node, and its facts if it answers."""
        client = self._machines.client(node)
        wanted = [*(launch.container.mounts if launch.container else {}), *([launch.workdir] if launch.workdir else [])]
        try:
            hello = await client.hello()
            facts = await client.check(container_facts(launch), [path for path in wanted if path.startswith("/")])
            items = checks.items(node, launch, hello, facts)
            if node == launch.nodes[0]:
                items.append(checks.port(node, await client.free_port(first_port(node.name))))
        except UnreachableError as error:
            return checks.unreachable(node, error), None
        return items, facts

    async def submit(self, trial: Trial) -> Reference:
        """Start the first node's supervisor, then the others'.

        ``ref.json`` is written before anything starts (with the port, so that a second call goes on with the same
        scripts) and again, with every node's supervisor, before this returns.

        Raises:
            UnreachableError: a node does not answer. Call again to go on, or ``cancel``.
            RequestError: the launch cannot be rendered.
        """
        reference = self._reference(trial)
        if reference and len(reference.data["nodes"]) == len(trial.launch.nodes):
            return reference
        every = shares(trial)
        homes = [hello.home for hello in await all_of(self._client(share).hello() for share in every)]
        port = reference.data["master_port"] if reference else await self._free_port(every[0])
        files = await asyncio.to_thread(self._render, every, homes, port)
        self._write_reference(trial, port, {})
        first = await self._start(every[0], files[0])
        rest = await all_of(self._start(share, sent) for share, sent in zip(every[1:], files[1:], strict=True))
        nodes = {share.node.name: told for share, told in zip(every, [first, *rest], strict=True)}
        return self._write_reference(trial, port, nodes)

    async def _free_port(self, share: Share) -> int:
        return await self._client(share).free_port(first_port(share.trial.trial_id))

    def _render(self, every: Sequence[Share], homes: Sequence[str], port: int) -> list[dict[str, bytes]]:
        """The files of each share, kept at home as well."""
        trial = every[0].trial
        runtime = Runtime(
            master_address=trial.launch.nodes[0].address,
            master_port=str(port),
            folders={s.node.name: f"{home}/.dlperf/{s.directory}" for s, home in zip(every, homes, strict=True)},
            programs=read_programs(trial.launch.files, self._workspace_catalog),
        )
        rendered = render_trial(trial.trial_id, trial.launch, runtime)
        files = [contents(share, rendered[share.node.name]) for share in every]
        keep_sent(trial.paths, sent_names(every, files))
        return files

    async def _start(self, share: Share, files: dict[str, bytes]) -> dict[str, object]:
        return await self._client(share).start(share.directory, node_files(share, files))

    async def poll(self, trials: Sequence[Trial]) -> list[Observation]:
        every = [share for trial in trials for share in shares(trial)]
        await all_of(self._observe(client, group) for client, group in self._by_machine(every))
        return list(await all_of(self._verdict(trial) for trial in trials))

    async def _observe(self, client: NodeClient, group: Sequence[Share]) -> None:
        """Ask one machine for all its shares; silence leaves what is known and flags it."""
        try:
            reports = await client.observe([share.directory for share in group])
            for share, report in zip(group, reports, strict=True):
                self._note_answer(share, standing(share.node.name, report, share.starts))
                await self._act_on(client, share, report)
        except UnreachableError as error:
            self._note_silence(client, group, error)

    async def _act_on(self, client: NodeClient, share: Share, report: NodeReport) -> None:
        """What a node must be told: to sweep after a dead supervisor, to remove what a restart left of a container, to
        end what was cancelled while it was silent."""
        if report.orphaned:
            await client.cancel(share.directory, CANCEL_GRACE_SECONDS, "lost", message("supervisor_died"))
        elif report.rebooted and report.exit is None:
            await client.clear(share.directory)
        elif report.alive and share.trial.trial_id in self._cancelling and share.key not in self._told:
            await self._tell(share, self._cancelling[share.trial.trial_id], State.CANCELLED, message("cancelled"))

    async def cancel(self, trial: Trial, grace_seconds: float = CANCEL_GRACE_SECONDS) -> None:
        """Tell every node at once. One that does not answer is told by a later ``poll``, when it does."""
        self._cancelling[trial.trial_id] = grace_seconds
        await all_of(self._tell(share, grace_seconds, State.CANCELLED, message("cancelled")) for share in shares(trial))

    async def adopt(self, trial: Trial) -> Reference | None:
        """Ask the nodes; ``ref.json`` alone is believed of those that do not answer.

        Raises:
            UnreachableError: there is no complete ``ref.json`` and a node that must know does not answer.
        """
        reference = self._reference(trial)
        if reference and len(reference.data["nodes"]) == len(trial.launch.nodes):
            return reference
        every = shares(trial)
        reports = await all_of(self._client(share).observe([share.directory]) for share in every)
        nodes = {
            s.node.name: asked[0].supervisor for s, asked in zip(every, reports, strict=True) if asked[0].supervisor
        }
        if not nodes:
            return None
        return self._write_reference(trial, reference.data["master_port"] if reference else 0, nodes)

    def _write_reference(self, trial: Trial, port: int, nodes: dict[str, dict[str, object]]) -> Reference:
        reference = Reference(NAME, {"master_port": port, "nodes": nodes})
        write_record(trial.paths.reference, reference)
        return reference
