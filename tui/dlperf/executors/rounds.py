"""Requests to many machines at once, of which one that does not answer keeps no other waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Generic, TypeVar

from dlperf.executors.tasks import NodeTask
from dlperf.nodes.client import NodeClient

Result = TypeVar("Result")


class Rounds(Generic[Result]):
    """Do the same work for every machine, again and again, never twice at a time for one machine."""

    def __init__(
        self, work: Callable[[NodeClient, Sequence[NodeTask]], Coroutine[Any, Any, Result]], seconds: float
    ) -> None:
        """
        Args:
            work: what is done for the tasks on one machine.
            seconds: how long a round waits; a machine that takes longer is asked again once it has answered.
                Beside others, a machine known to be unreachable is not waited for.
        """
        self._work = work
        self._seconds = seconds
        self._late: dict[NodeClient, asyncio.Task[Result]] = {}

    async def run(self, machines: Sequence[tuple[NodeClient, Sequence[NodeTask]]]) -> list[Result]:
        """Return what the machines gave in this round, and what late ones gave since the last.

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
            await asyncio.wait(awaited, timeout=self._seconds)
        every = self._late | begun
        self._late = {client: task for client, task in every.items() if not task.done()}
        done = [task for client, task in every.items() if client not in self._late]
        for error in [task.exception() for task in done]:
            if error is not None:
                raise error
        return [task.result() for task in done]

    def is_late(self, client: NodeClient) -> bool:
        return client in self._late

    async def close(self) -> None:
        for task in self._late.values():
            task.cancel()
        await asyncio.gather(*self._late.values(), return_exceptions=True)
        self._late.clear()
