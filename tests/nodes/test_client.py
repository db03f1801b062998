"""The client of a machine, over a process of this one."""

from __future__ import annotations

import pytest

from dlperf.errors import RefusedError
from dlperf.nodes.client import NodeClient
from dlperf.nodes.supervisor.machine import environment
from dlperf.nodes.transport import LocalTransport


class _NoPython(LocalTransport):
    python = "/no/such/python3"


async def test_a_machine_without_python_is_refused_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    client = NodeClient("node alpha", _NoPython())
    with pytest.raises(RefusedError, match=r"^node alpha: no Python 3\.6 or newer was found"):
        await client.hello()


async def test_a_home_that_cannot_be_written_is_said_in_one_line(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    client = NodeClient("node alpha", LocalTransport())
    with pytest.raises(RefusedError, match=r"^node alpha: cannot write .*\.dlperf/bin"):
        await client.hello()


def test_the_environment_of_a_machine_is_told():
    facts = environment({})
    assert facts["memory_bytes"] > 0
    assert facts["cpu"]["cores"] <= facts["cpu"]["threads"]
