"""Reaching a machine by ssh, as OpenSSH's own client would; each refusal in one line that names node and cause."""

from __future__ import annotations

import asyncio
import socket
import sys
from pathlib import Path

import asyncssh
import pytest

from dlperf.errors import DlperfError, RefusedError, UnreachableError
from dlperf.nodes import openssh, ssh
from dlperf.nodes.client import NodeClient
from dlperf.nodes.messages import ByteRange
from dlperf.nodes.transport import Machine, transport_to
from sshd import Sshd, make_key, with_openssh
from waiting import until_async


@pytest.fixture(autouse=True, params=["ssh", "openssh"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each transport in turn."""
    monkeypatch.setattr(sys.modules[__name__], "_transport", request.param)
    return request.param


_transport = "ssh"


def _client(host: str = "node-a", port: int | None = None, user: str | None = None) -> NodeClient:
    return NodeClient("node alpha", transport_to(Machine(_transport, host, port, user)))


async def _error(client: NodeClient) -> DlperfError:
    """The error with which a machine cannot be reached: one line that begins with the node."""
    with pytest.raises(UnreachableError) as caught:
        await client.hello()
    assert str(caught.value).startswith("node alpha: ")
    assert "\n" not in str(caught.value)
    return caught.value


async def _everybody_left(sshd: Sshd) -> None:
    await until_async(lambda: not sshd.sessions(), "connections are left open")


async def test_an_alias_of_the_ssh_configuration_is_reached(sshd: Sshd):
    client = _client()
    hello = await client.hello()
    await client.close()
    assert hello.home == str(sshd.home)
    assert abs(hello.clock_offset_seconds) <= hello.clock_error_seconds


async def test_the_supervisor_is_copied_once(sshd: Sshd):
    for _ in range(2):
        client = _client()
        await client.hello()
        await client.close()
    (copied,) = (sshd.home / ".dlperf" / "bin").iterdir()
    assert copied.stat().st_mode & 0o777 == 0o600


async def test_files_come_back(sshd: Sshd):
    client = _client()
    data = bytes(range(256)) * 5000
    folder = sshd.home / ".dlperf" / "some trial"
    folder.mkdir(parents=True)
    (folder / "a").write_bytes(data)
    (folder / "b").touch()
    got = await client.read([ByteRange("some trial/a", 100, 10**7), ByteRange("some trial/b", 0, 5)])
    missing = await client.read([ByteRange("some trial/c", 0, 5)])
    await client.close()
    assert got == [data[100:], b""]
    assert missing == [None]


async def test_one_bad_request_does_not_end_the_agent(sshd: Sshd):
    client = _client()
    with pytest.raises(DlperfError, match=r"node alpha: read: .*does not stay below"):
        await client.read([ByteRange("../.ssh/id_ed25519", 0, 100)])
    assert (await client.hello()).hostname
    await client.close()


async def test_what_a_login_shell_prints_is_passed_over(sshd: Sshd):
    (sshd.home / ".bashrc").write_text("echo Welcome; printf 'no newline'\n")
    client = _client()
    assert (await client.hello()).home == str(sshd.home)
    await client.close()


async def test_a_dropped_connection_is_opened_again_for_the_next_request(sshd: Sshd):
    client = _client()
    await client.hello()
    assert sshd.drop_connections() > 0
    assert (await client.hello()).home == str(sshd.home)
    assert client.unreachable_since is None
    await client.close()


async def test_a_host_that_is_not_known_is_refused(sshd: Sshd):
    (sshd.operator / ".ssh" / "known_hosts").unlink()
    error = await _error(_client())
    assert isinstance(error, RefusedError)
    assert "is not in known_hosts" in str(error)
    assert str(sshd.port) in str(error)


async def test_a_wrong_host_key_is_refused(sshd: Sshd):
    make_key(sshd.folder / "other_key")
    (sshd.operator / ".ssh" / "known_hosts").write_text(sshd.known_hosts_line("other_key"))
    error = await _error(_client())
    assert isinstance(error, RefusedError)
    assert "does not match known_hosts" in str(error)


@pytest.mark.parametrize(
    "option", ["StrictHostKeyChecking no", "UserKnownHostsFile none", "UserKnownHostsFile /dev/null"]
)
async def test_no_option_turns_the_check_of_host_keys_off(sshd: Sshd, option):
    (sshd.operator / ".ssh" / "known_hosts").unlink()
    with (sshd.operator / ".ssh" / "config").open("a") as config:
        config.write(f"Host *\n {option}\n")
    assert isinstance(await _error(_client()), RefusedError)


async def test_a_key_that_the_server_does_not_take_is_refused(sshd: Sshd):
    (sshd.folder / "authorized_keys").write_text("")
    error = await _error(_client())
    assert isinstance(error, RefusedError)
    assert "it accepts none of your keys" in str(error)


async def test_a_closed_port_is_named(sshd: Sshd):
    sshd.stop()
    error = await _error(_client())
    assert not isinstance(error, RefusedError)
    assert f"127.0.0.1 port {sshd.port}" in str(error)


async def test_a_name_that_does_not_resolve_is_named(sshd: Sshd):
    error = await _error(_client("no-such-host.invalid"))
    assert "'no-such-host.invalid' cannot be resolved" in str(error)


async def test_a_server_that_says_nothing_is_given_up(sshd: Sshd):
    with (sshd.operator / ".ssh" / "config").open("a") as config:
        config.write("Host *\n ConnectTimeout 1\n")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        error = await _error(_client("127.0.0.1", silent.getsockname()[1]))
    assert "no answer from 127.0.0.1" in str(error)


async def test_while_a_machine_is_away_requests_fail_at_once(sshd: Sshd, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("dlperf.nodes.connection.FIRST_DELAY_SECONDS", 600.0)
    client = _client()
    sshd.stop()
    first = await _error(client)
    second = await _error(client)
    assert second is first
    assert client.unreachable_since is not None


async def test_a_jump_host_is_passed_and_its_key_checked(sshd: Sshd):
    config = sshd.operator / ".ssh" / "config"
    config.write_text(config.read_text() + "Host inner\n HostName 127.0.0.1\n ProxyJump node-jump\n")
    client = _client("inner", sshd.port)
    assert (await client.hello()).home == str(sshd.home)
    assert len(sshd.sessions()) == 2
    await client.close()
    await _everybody_left(sshd)
    (sshd.operator / ".ssh" / "known_hosts").unlink()
    assert isinstance(await _error(_client("inner", sshd.port)), RefusedError)


async def test_a_jump_host_is_let_go_where_the_machine_behind_it_is_not_reached(sshd: Sshd):
    config = sshd.operator / ".ssh" / "config"
    config.write_text(config.read_text() + "Host inner\n HostName 127.0.0.1\n ProxyJump node-jump\n")
    await _error(_client("inner", 1))
    await _everybody_left(sshd)


async def test_sixty_four_connections_at_once_all_come_through(sshd: Sshd):
    clients = [NodeClient(f"node {index}", transport_to(Machine(_transport, "node-a"))) for index in range(64)]
    hellos = await asyncio.gather(*(client.hello() for client in clients))
    await asyncio.gather(*(client.close() for client in clients))
    assert {hello.home for hello in hellos} == {str(sshd.home)}


@pytest.mark.parametrize("sent", [bytes(8), b"\0\0\0\x1c\x04\x14" + bytes(16) + b"\0\0\0\1\xff" + bytes(5)])
async def test_a_server_that_sends_no_packets_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: bytes):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(ssh, "CONNECT_ATTEMPTS", 1)

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-x\r\n" + sent)
        await writer.drain()
        await asyncio.sleep(0.2)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        await _error(_client("127.0.0.1", server.sockets[0].getsockname()[1]))


class _WithoutSessions(asyncssh.SSHServer):
    """Lets everybody in, and never opens a session."""

    def begin_auth(self, username: str) -> bool:
        return False

    async def session_requested(self) -> None:  # type: ignore[override]
        await asyncio.Event().wait()


@with_openssh
async def test_a_server_that_opens_no_session_is_given_up(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(ssh, "LOGIN_SECONDS", 1.0)
    monkeypatch.setattr(openssh, "LOGIN_SECONDS", 1.0)
    monkeypatch.setattr(openssh, "CONNECT_SECONDS", 1)
    (tmp_path / ".ssh").mkdir()
    for name in ("host_key", ".ssh/id_ed25519"):
        make_key(tmp_path / name)
    server = await asyncssh.listen(
        "127.0.0.1", 0, server_factory=_WithoutSessions, server_host_keys=[tmp_path / "host_key"]
    )
    port, key = server.get_port(), (tmp_path / "host_key.pub").read_text()
    (tmp_path / ".ssh" / "known_hosts").write_text(f"[127.0.0.1]:{port} {key}")
    async with server:
        assert "no answer" in str(await _error(_client("127.0.0.1", port)))
