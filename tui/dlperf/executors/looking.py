"""What machines do now: asked again and again, each on its own, so that a silent one keeps no other waiting."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass

from dlperf.catalog.machines import host_and_port
from dlperf.errors import DlperfError
from dlperf.executors.machines import MachineClients
from dlperf.messages import Message
from dlperf.nodes.messages import StateNow
from dlperf.plan import Node
from dlperf.runs.records import utc_now


@dataclass(frozen=True)
class MachineNow:
    """What a machine answered, or why it did not."""

    node: str
    hardware: tuple[str, ...]
    """Entries of the catalogue that name it."""
    seen: str
    """When it was asked: ISO 8601, UTC."""
    state: StateNow | None
    problem: Message | None = None
    elsewhere: bool = False
    """Whether the entries say of themselves that they are this machine, and describe another one."""


async def look(
    machines: MachineClients, nodes: Mapping[Node, Sequence[str]], every: float | None
) -> AsyncIterator[MachineNow]:
    """Yield the state of each machine as it answers, then again after so many seconds; once where ``every`` is None.

    Args:
        nodes: each machine with the entries of the catalogue that name it.
    """
    found: asyncio.Queue[MachineNow] = asyncio.Queue()
    tasks = [asyncio.create_task(_watch(machines, node, tuple(names), every, found)) for node, names in nodes.items()]
    try:
        if every is None:
            for _task in tasks:
                yield await found.get()
        else:
            while tasks:
                yield await found.get()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _watch(
    machines: MachineClients, node: Node, names: tuple[str, ...], every: float | None, found: asyncio.Queue[MachineNow]
) -> None:
    while True:
        found.put_nowait(await _ask(machines, node, names))
        if every is None:
            return
        await asyncio.sleep(every)


async def _ask(machines: MachineClients, node: Node, names: tuple[str, ...]) -> MachineNow:
    try:
        state = await machines.client(node).now()
    except DlperfError as error:
        return MachineNow(node.name, names, utc_now(), None, error.message)
    return MachineNow(node.name, names, utc_now(), state)


def machine_of_login(login: str) -> Node:
    """Return the machine that ``ssh`` knows by ``[USER@]HOST[:PORT]``, or this one (``local``)."""
    if login == "local":
        return Node("local", "local")
    user, _, place = login.rpartition("@")
    host, port = host_and_port(place)
    return Node(place, "ssh", host, host, port=port, user=user or None)
