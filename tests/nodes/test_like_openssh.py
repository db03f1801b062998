"""dlperf connects where OpenSSH's own client does, and where ~/.ssh says that it may.

``openssh`` connects in exactly the same cases; ``ssh``, by asyncssh, in no other, and says where it cannot.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from dlperf.errors import RefusedError, UnreachableError
from dlperf.nodes import openssh
from dlperf.nodes.client import NodeClient
from dlperf.nodes.openssh import OpenSshTransport
from dlperf.nodes.ssh import SshTransport
from dlperf.nodes.transport import Transport
from sshd import Sshd, make_key, with_openssh
from waiting import until


@dataclass(frozen=True)
class Case:
    """A destination with what ~/.ssh holds, and whether the connection must come about."""

    connects: bool
    known_hosts: Callable[[Sshd], str | bytes]
    config: str = ""
    """Before the lines of ``node-*``."""
    prepare: Callable[[Sshd], None] = lambda server: None
    destination: str = "node-a"


def _name(server: Sshd) -> str:
    return f"[127.0.0.1]:{server.port}"


def _key(server: Sshd, key: str = "host_key") -> str:
    return " ".join((server.folder / f"{key}.pub").read_text().split()[:2])


def _known(server: Sshd) -> str:
    return server.known_hosts_line()


def _other_key(server: Sshd) -> None:
    make_key(server.folder / "other_key")


def _changed(server: Sshd) -> str:
    return f"{_name(server)} {_key(server, 'other_key')}\n"


def _hashed(server: Sshd) -> str:
    path = server.folder / "to_hash"
    path.write_text(_known(server))
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", path], check=True, capture_output=True)
    return path.read_text()


def _named(*names: str) -> Callable[[Sshd], str]:
    return lambda server: "".join(f"{name} {_key(server)}\n" for name in names)


def _revoked(server: Sshd) -> str:
    return f"{_known(server)}@revoked * {_key(server)}\n"


def _several(server: Sshd) -> str:
    return f"{_name(server)} {_key(server, 'other_key')}\n{_known(server)}"


def _authority(server: Sshd) -> str:
    return f"@cert-authority {_name(server)} {_key(server, 'other_key')}\n"


def _certified(principal: str) -> Callable[[Sshd], None]:
    """The server has a certificate of the authority ``other_key`` for that name."""

    def prepare(server: Sshd) -> None:
        _other_key(server)
        sign = ["ssh-keygen", "-q", "-s", server.folder / "other_key", "-I", "x", "-h", "-n", principal]
        subprocess.run([*sign, server.folder / "host_key.pub"], check=True)
        with (server.folder / "sshd_config").open("a") as config:
            config.write(f'HostCertificate "{server.folder}/host_key-cert.pub"\n')
        server.stop()
        server.start()

    return prepare


def _second_kind_of_key(server: Sshd) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", server.folder / "other_key"], check=True)
    with (server.folder / "sshd_config").open("a") as config:
        config.write(f'HostKey "{server.folder}/other_key"\n')
    server.stop()
    server.start()


def _address_known_as(name: str) -> Callable[[Sshd], str]:
    """``name`` has another key; the address, where the connection arrives, has the right one."""
    return lambda server: f"{name} {_key(server, 'other_key')}\n{_known(server)}"


def _comments(server: Sshd) -> bytes:
    return b"# caf\xe9 \xff\n" + _known(server).encode()[:-1] + b" caf\xe9\n"


def _locked_key(server: Sshd) -> None:
    key = server.operator / ".ssh" / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-p", "-N", "a passphrase", "-f", key], check=True)


def _included_alias(server: Sshd) -> None:
    (server.operator / ".ssh" / "more").write_text(_ALIAS.format("foo"))


def _known_elsewhere(server: Sshd) -> None:
    (server.operator / ".ssh" / "more").write_text(_known(server))


def _small_key(server: Sshd) -> None:
    """The server has an RSA key of 2048 bits alone."""
    new = ["ssh-keygen", "-q", "-t", "rsa", "-b", "2048", "-N", "", "-f", server.folder / "other_key"]
    subprocess.run(new, check=True)
    config = server.folder / "sshd_config"
    config.write_text(config.read_text().replace(f"{server.folder}/host_key", f"{server.folder}/other_key"))
    server.stop()
    server.start()


def _revoked_by_a_file(server: Sshd) -> None:
    (server.operator / ".ssh" / "revoked").write_text(f"{_key(server)}\n")


def _revoked_by_a_command(server: Sshd) -> None:
    (server.operator / ".ssh" / "more").write_text(f"@revoked * {_key(server)}\n")


_ALIAS = "Host node-*\n HostKeyAlias {}\n"
_JUMP = "Host inner\n HostName 127.0.0.1\n ProxyJump node-jump\nHost node-jump\n HostKeyAlias jump\n"

_JUMPS = _JUMP.replace("node-jump\nHost", "node-first,node-jump\nHost node-first\n HostKeyAlias first\nHost")

_BY_BASH = "bash -c 'exec 3<>/dev/tcp/%h/%p; cat <&3 & cat >&3; kill $!'"

CASES = {
    "known": Case(True, _known),
    "unknown": Case(False, lambda server: ""),
    "changed": Case(False, _changed, prepare=_other_key),
    "hashed": Case(True, _hashed),
    "revoked": Case(False, _revoked),
    "several keys, one of them right": Case(True, _several, prepare=_other_key),
    "alias known": Case(True, _named("foo"), _ALIAS.format("foo")),
    "alias unknown, the address known": Case(False, _known, _ALIAS.format("foo")),
    "alias changed, the address known": Case(False, _address_known_as("foo"), _ALIAS.format("foo"), prepare=_other_key),
    "known by a name that was not given": Case(False, _known, destination="localhost"),
    "the name changed, the address known": Case(
        False,
        lambda server: _address_known_as(f"[localhost]:{server.port}")(server),
        prepare=_other_key,
        destination="localhost",
    ),
    "known without the port": Case(True, _named("127.0.0.1")),
    "known by a pattern": Case(True, _named("[127.0.0.*]:*")),
    "excluded by a pattern": Case(False, _named("[127.0.0.*]:*,![127.0.0.1]:*")),
    "certified by an authority": Case(True, _authority, prepare=_certified("127.0.0.1")),
    "certified for another name": Case(False, _authority, prepare=_certified("elsewhere")),
    "the server has two keys, the second is known": Case(True, _known, prepare=_second_kind_of_key),
    "jump host and machine known": Case(
        True, lambda server: _named("jump")(server) + _known(server), _JUMP, destination="inner"
    ),
    "jump host unknown": Case(False, _known, _JUMP, destination="inner"),
    "jump host unknown, and its check turned off": Case(
        True, _known, f"StrictHostKeyChecking no\n{_JUMP}", destination="inner"
    ),
    "machine behind the jump host unknown": Case(False, _named("jump"), _JUMP, destination="inner"),
    "two jump hosts and the machine known": Case(
        True, lambda server: _named("first", "jump")(server) + _known(server), _JUMPS, destination="inner"
    ),
    "first of two jump hosts unknown": Case(
        False, lambda server: _named("jump")(server) + _known(server), _JUMPS, destination="inner"
    ),
    "an entry in a comment, after what Python takes for the end of a line": Case(
        False, lambda server: f"# x\x0b{_known(server)}# x\u2028{_known(server)}# x\r{_known(server)}".encode()
    ),
    "an entry in the comment of another one": Case(False, lambda server: f"foo {_key(server)} x\x1c{_known(server)}"),
    "known by a network": Case(False, _named("127.0.0.0/8")),
    "an alias known with the port": Case(
        False, lambda server: f"[foo]:{server.port} {_key(server)}\n", _ALIAS.format("foo")
    ),
    "changed at the port, known without it": Case(
        False, lambda server: _changed(server) + _named("127.0.0.1")(server), prepare=_other_key
    ),
    "a key that is smaller than required": Case(False, _changed, "RequiredRSASize 4096\n", prepare=_small_key),
    "localhost, whose check is turned off": Case(False, lambda server: "", "NoHostAuthenticationForLocalhost yes\n"),
    "comments that are not UTF-8": Case(True, _comments, "# caf\udce9\n"),
    "no file for the first key": Case(True, _known, "IdentityFile ~/.ssh/no_such_key\n"),
    "Match exec": Case(True, _named("foo"), 'Match exec "test %h = node-a"\n HostKeyAlias foo\n'),
    "Match final": Case(True, _named("foo"), "Match final host 127.0.0.1\n HostKeyAlias foo\n"),
    "a pipe in ProxyCommand": Case(True, _known, f"Host node-*\n ProxyCommand {_BY_BASH} | cat\n"),
    "a key with a passphrase": Case(False, _known, prepare=_locked_key),
    "an alias in an included file": Case(True, _named("foo"), "Include more\n", prepare=_included_alias),
    "an alias in capitals": Case(True, _named("foo"), _ALIAS.format("FOO")),
    "known in another file": Case(False, _known, "UserKnownHostsFile ~/.ssh/none\n"),
    "known in a further file": Case(
        True, lambda server: "", "UserKnownHostsFile ~/.ssh/none ~/.ssh/more\n", prepare=_known_elsewhere
    ),
    "revoked by a file": Case(False, _known, "RevokedHostKeys ~/.ssh/revoked\n", prepare=_revoked_by_a_file),
    "revoked by a command": Case(
        False, _known, "KnownHostsCommand /bin/cat ~/.ssh/more\n", prepare=_revoked_by_a_command
    ),
    "a comma in Host, which is a letter": Case(False, _named("foo"), "Host node-a,node-b\n HostKeyAlias foo\n"),
    "capitals in Match": Case(False, _known, "Match host NODE-A\n HostKeyAlias foo\n"),
    "no input, and in the background": Case(True, _known, "StdinNull yes\nForkAfterAuthentication yes\n"),
    "addresses are checked, too": Case(True, _known, "CheckHostIP yes\n"),
    "revoked as an authority": Case(
        False,
        lambda server: f"{_authority(server)}@revoked * {_key(server, 'other_key')}\n",
        prepare=_certified("127.0.0.1"),
    ),
    "an option that none knows, for another machine": Case(False, _known, "Host other\n NoOption yes\n"),
    "an option that none knows, to be ignored": Case(True, _known, "IgnoreUnknown NoO*,x\nNoOption yes\n"),
    "a terminal and a command in the configuration": Case(True, _known, "RequestTTY force\nLogLevel QUIET\n"),
}


def _write(server: Sshd, case: Case) -> None:
    case.prepare(server)
    known, folder = case.known_hosts(server), server.operator / ".ssh"
    (folder / "known_hosts").write_bytes(known if isinstance(known, bytes) else known.encode())
    usual = (folder / "config").read_text()
    place = f"Match all\nHost localhost inner\n Port {server.port}\n"
    config = case.config.replace("~/.ssh", str(folder))  # ssh has the home of its user for ~
    (folder / "config").write_bytes(os.fsencode(f"{config}{place}{usual}"))


def _ssh_connects(destination: str) -> bool:
    strict = ("-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", "-o", "NoHostAuthenticationForLocalhost=no")
    return subprocess.run(["ssh", "-T", *strict, destination, "true"], capture_output=True, check=False).returncode == 0


async def _connects(transport: Transport) -> bool:
    client = NodeClient("a", transport)
    try:
        await client.hello()
    except UnreachableError:
        return False
    finally:
        await client.close()
    return True


@pytest.mark.parametrize("name", CASES)
async def test_dlperf_connects_where_ssh_does(sshd: Sshd, name: str):
    case = CASES[name]
    _write(sshd, case)
    assert _ssh_connects(case.destination) is case.connects
    assert await _connects(OpenSshTransport(case.destination)) is case.connects


BEYOND_ASYNCSSH = (
    *("comments that are not UTF-8", "no file for the first key", "Match exec", "Match final"),
    *("addresses are checked, too", "jump host unknown, and its check turned off"),
)
"""Where ``transport: openssh`` is needed."""


@pytest.mark.parametrize("name", CASES)
async def test_asyncssh_connects_nowhere_else(sshd: Sshd, name: str):
    case = CASES[name]
    _write(sshd, case)
    assert await _connects(SshTransport(case.destination)) is (case.connects and name not in BEYOND_ASYNCSSH)


@pytest.mark.parametrize(
    ("name", "text"),
    {
        "alias unknown, the address known": "foo is not in known_hosts",
        "alias changed, the address known": "the host key of foo does not match known_hosts",
        "revoked": "does not match known_hosts",
        "certified for another name": "does not match known_hosts",
        "jump host unknown": "node-jump is not in known_hosts",
        "a key with a passphrase": "id_ed25519 needs one: `ssh-add ",
    }.items(),
)
async def test_why_a_machine_is_refused_is_said(sshd: Sshd, name: str, text: str):
    _write(sshd, CASES[name])
    with pytest.raises(RefusedError) as caught:
        await NodeClient("a", OpenSshTransport(CASES[name].destination)).hello()
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", BEYOND_ASYNCSSH)
async def test_what_asyncssh_does_not_read_names_the_other_transport(sshd: Sshd, name: str):
    _write(sshd, CASES[name])
    with pytest.raises(RefusedError, match="set `transport: openssh`"):
        await NodeClient("a", SshTransport(CASES[name].destination)).hello()


@with_openssh
async def test_a_configuration_that_waits_without_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(openssh, "LOGIN_SECONDS", 0.5)
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text('Match exec "sleep 300"\n User nobody\n')
    for transport in (OpenSshTransport("a"), SshTransport("a")):
        with pytest.raises(UnreachableError, match="no answer from a within"):
            await transport.open(["true"])


@pytest.fixture
def agent(sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An agent that holds the operator's key."""
    socket = sshd.folder / "agent"
    monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
    with subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.DEVNULL) as process:
        until(socket.is_socket, lambda: "no agent")
        subprocess.run(["ssh-add", "-q", sshd.operator / ".ssh" / "id_ed25519"], check=True)
        yield
        process.kill()


@pytest.mark.usefixtures("agent")
async def test_a_key_with_a_passphrase_is_used_from_the_agent(sshd: Sshd):
    _locked_key(sshd)
    assert await _connects(OpenSshTransport("node-a"))
