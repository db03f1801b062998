"""The client of a machine, over a process of this one."""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import sys

import pytest

from dlperf.errors import RefusedError, UnreachableError
from dlperf.nodes.bootstrap import supervisor_archive, supervisor_name
from dlperf.nodes.client import NodeClient
from dlperf.nodes.openssh import OpenSshTransport
from dlperf.nodes.ssh import SshTransport
from dlperf.nodes.supervisor.files import read_text
from dlperf.nodes.supervisor.host.machine import environment
from dlperf.nodes.transport import LocalTransport, ProcessChannel

WRITE = ProcessChannel.write


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


@pytest.mark.parametrize("transport", [LocalTransport(), OpenSshTransport("a"), SshTransport("a")])
async def test_an_operator_s_machine_without_free_descriptors_is_said_and_tries_again(tmp_path, monkeypatch, transport):
    monkeypatch.setenv("HOME", str(tmp_path))
    client = NodeClient("node alpha", transport)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")), limits[1]))
    try:
        with pytest.raises(UnreachableError, match=r"^node alpha: "):
            await client.hello()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


async def write_late(channel: ProcessChannel, data: bytes) -> None:
    """Write to a process that has ended."""
    await channel._process.wait()
    await WRITE(channel, data)


@pytest.mark.parametrize("writing", [WRITE, write_late], ids=["while it runs", "after its end"])
async def test_a_home_that_takes_no_more_bytes_is_said_and_keeps_no_part_of_the_agent(tmp_path, monkeypatch, writing):
    monkeypatch.setattr(ProcessChannel, "write", writing)
    full = tmp_path / "programs" / "head"
    full.parent.mkdir()
    full.write_text("#!/bin/sh\necho half\nexit 1\n")
    full.chmod(0o755)
    monkeypatch.setenv("PATH", f"{full.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(RefusedError, match=r"cannot write .*\.dlperf/bin"):
        await NodeClient("node alpha", LocalTransport()).hello()
    assert list((tmp_path / ".dlperf/bin").iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"x" * len(supervisor_archive())], ids=["nothing", "as many bytes"])
async def test_an_agent_that_is_not_the_one_that_was_sent_is_sent_again(tmp_path, monkeypatch, content):
    monkeypatch.setenv("HOME", str(tmp_path))
    agent = tmp_path / ".dlperf/bin" / supervisor_name()
    agent.parent.mkdir(parents=True)
    agent.write_bytes(content)
    client = NodeClient("node alpha", LocalTransport())
    assert (await client.hello()).home == str(tmp_path)
    await client.close()
    assert agent.read_bytes() == supervisor_archive()


def test_the_environment_of_a_machine_is_told():
    facts = environment({})
    assert facts["memory_bytes"] > 0
    assert facts["cpu"]["cores"] <= facts["cpu"]["threads"]
    assert 1 <= facts["cpu"]["usable"] <= facts["cpu"]["threads"]
    name = read_text("/etc/machine-id").strip()
    assert len(facts["machine_id"]) == (32 if name else 0)
    assert not name or name not in str(facts), "which is confidential"


def test_a_closed_channel_leaves_no_pipe_to_the_end_of_the_loop(monkeypatch: pytest.MonkeyPatch):
    """What the process started holds its pipes open; asyncio complained of them where nobody can catch it."""
    complaints: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", complaints.append)

    async def open_and_close() -> None:
        await (await LocalTransport().open(["sh", "-c", "sleep 3 & exec cat"])).close()

    asyncio.run(open_and_close())
    gc.collect()
    assert complaints == []
