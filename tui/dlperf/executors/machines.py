"""The machines that trials lie on: one client for each, however many nodes of a plan are shares of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from dlperf.nodes.client import NodeClient
from dlperf.nodes.transport import Machine, Transport, transport_to
from dlperf.plan import Node

Result = TypeVar("Result")


class Machines:
    """Opens a client when a machine is first needed."""

    def __init__(self, transport: Callable[[Machine], Transport] = transport_to) -> None:
        self._transport = transport
        self._clients: dict[Machine, NodeClient] = {}

    def client(self, node: Node) -> NodeClient:
        """The client of the machine that a node lies on. Raises RequestError for an unknown transport."""
        machine = Machine.of(node)
        if machine not in self._clients:
            self._clients[machine] = NodeClient(f"node {node.name}", self._transport(machine))
        return self._clients[machine]

    async def close(self) -> None:
        await all_of(client.close() for client in self._clients.values())
        self._clients.clear()


async def all_of(tasks: Iterable[Awaitable[Result]]) -> list[Result]:
    """All results, in order. Every task comes to its end before the first error is raised: one silent machine
    does not keep the others from being served."""
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
