"""The clients of the machines that trials run on: one for each machine, however many nodes of a plan it has."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from dlperf.nodes.client import NodeClient
from dlperf.nodes.transport import Machine, Transport, transport_to
from dlperf.plan import Node

Result = TypeVar("Result")


class Machines:
    """Opens a client when a machine is first used."""

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
