"""Servers that a user named are waited for a limited time, whatever they send."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from dlperf.view import http


def test_a_server_that_sends_a_byte_now_and_then_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "EXCHANGE_SECONDS", 0.5)
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                while not done.is_set():
                    connection.sendall(b"x")
                    time.sleep(0.05)

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            with pytest.raises(http.SendError, match=r"127\.0\.0\.1:\d+: no whole answer within 0\.5 s"):
                http.send(f"http://127.0.0.1:{server.getsockname()[1]}/")
        finally:
            done.set()
            dripping.join()
