"""A server that answers with a byte now and then, for ever."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def dripping_server() -> Iterator[str]:
    """Yield its address."""
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            with suppress(OSError), server.accept()[0] as connection:  # nobody came, or who came went
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                while not done.is_set():
                    connection.sendall(b"x")
                    time.sleep(0.05)

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        finally:
            done.set()
            server.shutdown(socket.SHUT_RDWR)  # wakes what waits for a client that was ended before it came
            dripping.join()
