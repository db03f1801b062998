"""Servers that a user named are waited for a limited time, whatever they send."""

from __future__ import annotations

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
