"""The clients of the machines that trials run on, and requests to many machines at once."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar

from dlperf.executors.tasks import NodeTask
from dlperf.nodes.client import NodeClient
from dlperf.nodes.transport import Machine, Transport, transport_to
from dlperf.plan import Node

Result = TypeVar("Result")

BESIDE_SECONDS = 0.5
"""How long machines that have answered wait for the others, whose answers the next round takes."""


class MachineClients:
    """Opens one client for each machine, however many nodes of a plan it has, when it is first used."""

    def __init__(self, transport: Callable[[Machine], Transport] = transport_to) -> None:
        self._transport = transport
        self._clients: dict[Machine, NodeClient] = {}

    def client(self, node: Node) -> NodeClient:
        """The client of a node's machine. Raises RequestError for an unknown transport."""
        machine = Machine.of(node)
        if machine not in self._clients:
            self._clients[machine] = NodeClient(f"node {node.name}", self._transport(machine))
        return self._clients[machine]

    async def close(self) -> None:
        await all_of(client.close() for client in self._clients.values())
        self._clients.clear()


async def all_of(tasks: Iterable[Awaitable[Result]]) -> list[Result]:
    """Await all and return the results in order; the first error is raised when every task has ended."""
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]


class Rounds:
    """Do the same work for every machine, again and again, never twice at a time for one machine.

    A machine that does not answer keeps no other waiting.
    """

    def __init__(
        self, work: Callable[[NodeClient, Sequence[NodeTask]], Coroutine[Any, Any, None]], seconds: float
    ) -> None:
        """
        Args:
            work: what is done for the tasks on one machine.
            seconds: how long a round waits for a first answer, and then shortly for the others. A machine that takes
                longer is asked again once it has answered; beside others, an unreachable one is not waited for.
        """
        self._work = work
        self._seconds = seconds
        self._late: dict[NodeClient, asyncio.Task[None]] = {}

    async def run(self, machines: Sequence[tuple[NodeClient, Sequence[NodeTask]]]) -> None:
        """Do the work for each machine, but for those that are late since an earlier round.

        Raises:
            Exception: the first error of any machine.
        """
        begun = {
            client: asyncio.create_task(self._work(client, tasks))
            for client, tasks in machines
            if client not in self._late
        }
        awaited = [task for client, task in begun.items() if client.unreachable_since is None] or list(begun.values())
        if awaited:
            _, late = await asyncio.wait(awaited, timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED)
            if late and len(late) < len(awaited):
                await asyncio.wait(late, timeout=BESIDE_SECONDS)
        every = self._late | begun
        self._late = {client: task for client, task in every.items() if not task.done()}
        for error in [task.exception() for client, task in every.items() if client not in self._late]:
            if error is not None:
                raise error

    def is_late(self, client: NodeClient) -> bool:
        return client in self._late

    async def close(self) -> None:
        for task in self._late.values():
            task.cancel()
        await asyncio.gather(*self._late.values(), return_exceptions=True)
        self._late.clear()
