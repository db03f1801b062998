"""A wire of some length and width: a TCP proxy that hands on every byte later, in order.

There is no netem everywhere.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field


@dataclass
class DelayProxy:
    """Listens on 127.0.0.1 and hands on to one address."""

    host: str
    port: int
    seconds: float
    """Delay in each direction."""
    rate: float = math.inf
    """Bytes per second in each direction."""
    listens_at: int = 0
    passed: int = 0
    """Bytes in both directions."""
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    def drop_connections(self) -> None:
        """Break every connection; what is on its way is lost."""
        for task in self.tasks:
            task.cancel()
        for writer in self.writers:
            writer.transport.abort()
        self.writers.clear()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(self.host, self.port)
        self.writers += (writer, far_writer)
        for source, sink in ((reader, far_writer), (far_reader, writer)):
            task = asyncio.create_task(self._pass_on(source, sink))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def _pass_on(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        """Read at once, write later: the delay is one of time and not of bandwidth."""
        loop = asyncio.get_running_loop()
        due: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        writing = asyncio.create_task(self._write_when_due(due, sink))
        with suppress(ConnectionError):
            while data := await source.read(1 << 16 if self.rate == math.inf else 1 << 11):
                due.put_nowait((loop.time() + self.seconds, data))
                await asyncio.sleep(len(data) / self.rate)
        due.put_nowait((loop.time() + self.seconds, b""))
        await writing

    async def _write_when_due(self, due: asyncio.Queue[tuple[float, bytes]], sink: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while True:
                when, data = await due.get()
                await asyncio.sleep(when - asyncio.get_running_loop().time())
                if not data:
                    break
                sink.write(data)
                await sink.drain()
                self.passed += len(data)
        sink.close()


@asynccontextmanager
async def delay_proxy(host: str, port: int, seconds: float, rate: float = math.inf) -> AsyncIterator[DelayProxy]:
    """The proxy while it runs."""
    proxy = DelayProxy(host, port, seconds, rate)
    server = await asyncio.start_server(proxy.accept, "127.0.0.1", 0)
    proxy.listens_at = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        for task in proxy.tasks:
            task.cancel()
        await asyncio.gather(*proxy.tasks, return_exceptions=True)
