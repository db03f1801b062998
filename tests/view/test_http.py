"""Servers that a user named are waited for a limited time, whatever they send."""

from __future__ import annotations

import socket
import threading

import pytest

from dlperf.view import http
from dripping import dripping_server


def test_a_server_that_sends_a_byte_now_and_then_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "EXCHANGE_SECONDS", 0.5)
    with (
        dripping_server() as address,
        pytest.raises(http.SendError, match=r"127\.0\.0\.1:\d+: no whole answer within 0\.5 s"),
    ):
        http.send(address)


def test_an_answer_of_an_error_that_stops_is_that_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "SECONDS", 0.3)
    done = threading.Event()

    def answer(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(1 << 16)
            connection.sendall(b"HTTP/1.1 503 Busy\r\nContent-Length: 100000\r\n\r\nno")
            done.wait()

    with socket.create_server(("127.0.0.1", 0)) as server:
        answering = threading.Thread(target=answer, args=(server,))
        answering.start()
        with pytest.raises(http.SendError, match="answered 503"):
            http.send(f"http://127.0.0.1:{server.getsockname()[1]}/")
        done.set()
        answering.join()
