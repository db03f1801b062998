"""Connect to a machine by asyncssh with OpenSSH's ~/.ssh/config, agent and known_hosts. Host keys are always checked.

Options by which OpenSSH refuses machines and which asyncssh does not read are refused; ``openssh`` is the transport for
them. Where there is a client of OpenSSH, what it does not read as its configuration, and what asyncssh reads otherwise,
is refused, too.
"""

from __future__ import annotations

import asyncio
import random
import shlex
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import asyncssh
from asyncssh.config import SSHClientConfig

from dlperf.errors import RefusedError, UnreachableError
from dlperf.messages import Message, message
from dlperf.nodes.known_hosts import KnownHosts, names_of
from dlperf.nodes.openssh import Destination, resolve_destination
from dlperf.nodes.transport import connection_gate, last_line

CONNECT_SECONDS = 10.0
LOGIN_SECONDS = 30.0
KEEPALIVE_SECONDS = 15.0
KEEPALIVE_COUNT = 4

CONNECT_ATTEMPTS = 6

_PREFERRED_CIPHER = "^aes128-gcm@openssh.com"
"""The fastest where the processor has AES instructions; the caret keeps the others as alternatives."""
_KNOWN_HOSTS = ("~/.ssh/known_hosts", "~/.ssh/known_hosts2")
_DENYING = {"RevokedHostKeys": "none", "KnownHostsCommand": "none", "CheckHostIP": "no", "RequiredRSASize": "1024"}
"""Options by which OpenSSH refuses further machines, and which asyncssh passes over → the value that refuses none."""
SSHClientConfig._handlers |= {name.lower(): (name, SSHClientConfig._set_string) for name in _DENYING}
_BROKEN = (asyncssh.Error, OSError, ValueError)
"""What asyncssh raises of a connection: a ValueError for packets that are none."""
_GLOBAL_KNOWN_HOSTS = ("/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2")


@dataclass(frozen=True)
class SshTransport:
    """Opens a connection for each process: the client of a machine needs only one."""

    host: str
    """Name, address, or alias of ~/.ssh/config."""
    port: int | None = None
    user: str | None = None
    python: ClassVar[None] = None

    async def open(self, argv: Sequence[str]) -> SshChannel:
        connection = await connect(self.host, self.port, self.user)
        try:
            async with asyncio.timeout(LOGIN_SECONDS):
                process = await connection.create_process(shlex.join(argv), encoding=None, request_pty=False)
        except TimeoutError as error:
            connection.abort()
            raise UnreachableError(message("no_answer", server=self.host, seconds=LOGIN_SECONDS)) from error
        except _BROKEN as error:
            connection.abort()
            raise UnreachableError(message("no_session", server=self.host, reason=str(error))) from error
        return SshChannel(connection, process)


class SshChannel:
    """A remote process and the connection that carries it."""

    def __init__(self, connection: asyncssh.SSHClientConnection, process: asyncssh.SSHClientProcess[bytes]) -> None:
        self._process = process
        self._connection = connection

    async def read(self, size: int) -> bytes:
        with _broken_connections():
            return await self._process.stdout.read(size)

    async def write(self, data: bytes) -> None:
        with _broken_connections():
            self._process.stdin.write(data)
            await self._process.stdin.drain()

    async def complaint(self) -> str:
        try:
            return await last_line(self._process.stderr)
        except _BROKEN:
            return ""

    async def close(self) -> None:
        self._connection.close()
        try:
            await asyncio.wait_for(self._connection.wait_closed(), 1.0)
        except TimeoutError:
            self._connection.abort()


@contextmanager
def _broken_connections() -> Iterator[None]:
    """Convert asyncssh's errors to OSError."""
    try:
        yield
    except (asyncssh.Error, ValueError) as error:
        raise ConnectionError(str(error)) from error


async def connect(
    host: str, port: int | None = None, user: str | None = None, hops: str = ""
) -> asyncssh.SSHClientConnection:
    """Connect, through the jump hosts of ~/.ssh/config.

    Args:
        hops: jump hosts in place of those.

    Raises:
        RefusedError: the host key is unknown or wrong, or the server takes none of our keys.
        UnreachableError: the machine does not answer.
    """
    place = await resolve_destination(host, port, user)
    user = user or (place.first("user") if place else None)
    given = {name: value for name, value in (("port", port), ("username", user)) if value is not None}
    try:
        options = asyncssh.SSHClientConnectionOptions(config=(), host=host, **given)
    except (ValueError, OSError) as error:
        raise RefusedError(message("ssh_configuration", host=host, reason=str(error))) from error
    if reason := _denied(options, place) or (place and _other_place(options, place, hops)):
        raise RefusedError(message("ssh_configuration", host=host, reason=reason))
    jump = await _connect_to_jump_hosts(hops or options.tunnel)
    try:
        async with connection_gate(f"{options.host}:{options.port}"):
            known = _known_hosts(options, place)
            connection = await _connect_with_retries(host, options, known, given | {"tunnel": jump})
    except BaseException:
        if jump is not None:
            jump.abort()
        raise
    connection.set_tunnel(jump)  # closed with it
    return connection


def _denied(options: asyncssh.SSHClientConnectionOptions, place: Destination | None) -> str:
    """Return which option of the configuration needs another transport; empty where none does."""
    for name, harmless in _DENYING.items():
        values = str(options.config.get(name, harmless)), (place and place.first(name.lower())) or harmless
        if any(value.lower() != harmless for value in values):
            return f"{name} needs `transport: openssh`"
    return ""


def _other_place(options: asyncssh.SSHClientConnectionOptions, place: Destination, hops: str) -> str:
    """Return what asyncssh reads otherwise than ssh; empty where it is nothing that leads elsewhere."""
    config = options.config
    jump = "" if str(options.tunnel or "none").lower() == "none" else str(options.tunnel)
    read = {
        "HostName": (options.host.lower(), place.first("hostname").lower()),
        "Port": (str(options.port), place.first("port")),
        "HostKeyAlias": ((options.host_key_alias or "").lower(), place.first("hostkeyalias").lower()),
        "ProxyJump": (hops or jump, hops or place.first("proxyjump")),
        "ProxyCommand": ("set" if config.get("ProxyCommand") else "", "set" if place.first("proxycommand") else ""),
    }
    different = ((name, ours or "none", theirs or "none") for name, (ours, theirs) in read.items() if ours != theirs)
    return next((f"{name} is {ours} as asyncssh reads it, {theirs} for `ssh`" for name, ours, theirs in different), "")


async def _connect_to_jump_hosts(hops: Any) -> asyncssh.SSHClientConnection | None:
    """Connect to the last of ``ProxyJump``'s hosts through the others; the key of each is checked."""
    if not isinstance(hops, str) or hops.lower() == "none":
        return None
    before, _, last = hops.rpartition(",")
    user, _, server = last.rpartition("@")
    host, _, port = server.rpartition(":") if server.rpartition(":")[2].isdigit() else (server, "", "")
    return await connect(host, int(port) if port else None, user or None, before)


async def _connect_with_retries(
    host: str, options: asyncssh.SSHClientConnectionOptions, known: KnownHosts, given: dict[str, Any]
) -> asyncssh.SSHClientConnection:
    """Connect; a busy server that drops connections at once is tried again after a random delay."""
    ciphers = {} if options.config.get("Ciphers") else {"encryption_algs": _PREFERRED_CIPHER}
    for attempt in range(CONNECT_ATTEMPTS):
        try:
            return await asyncssh.connect(
                host,
                known_hosts=known,
                connect_timeout=options.connect_timeout or CONNECT_SECONDS,
                login_timeout=LOGIN_SECONDS,
                keepalive_interval=KEEPALIVE_SECONDS,
                keepalive_count_max=KEEPALIVE_COUNT,
                **ciphers,
                **given,
            )
        except (asyncssh.ConnectionLost, ConnectionResetError) as error:
            last = error
            await asyncio.sleep(random.uniform(0.05, 0.2) * 2**attempt)
        except _BROKEN as error:
            raise _connection_error(error, options, known) from error
    raise UnreachableError(message("dropped", server=_server(options), reason=str(last)))


def _known_hosts(options: asyncssh.SSHClientConnectionOptions, place: Destination | None) -> KnownHosts:
    own = cast("Sequence[str]", options.config.get("UserKnownHostsFile", _KNOWN_HOSTS))
    shared = cast("Sequence[str]", options.config.get("GlobalKnownHostsFile", _GLOBAL_KNOWN_HOSTS))
    files = [str(Path(name).expanduser()) for name in (*own, *shared)]
    if place is not None and place.known_hosts_files != " ".join(files):  # which does not say where a name has a space
        files = [name for name in place.known_hosts_files.split() if name.startswith("/")]
    names = names_of(options.host, options.port, options.host_key_alias or "")
    return KnownHosts(tuple(Path(name) for name in files if name.lower() != "none"), names)


def _server(options: asyncssh.SSHClientConnectionOptions) -> str:
    return f"{options.host} port {options.port}"


def _connection_error(
    error: Exception, options: asyncssh.SSHClientConnectionOptions, known: KnownHosts
) -> UnreachableError:
    """Convert an error; RefusedError if trying again cannot help."""
    server = _server(options)
    match error:
        case asyncssh.HostKeyNotVerifiable() | asyncssh.KeyExchangeFailed():
            return RefusedError(_host_key_problem(error, options, known))
        case FileNotFoundError() | asyncssh.KeyImportError() | asyncssh.ConfigParseError():
            return RefusedError(message("ssh_configuration", host=options.host, reason=_one_line(error)))
        case asyncssh.PermissionDenied():
            return RefusedError(message("key_refused", server=server, user=repr(options.username)))
        case socket.gaierror():
            return UnreachableError(message("no_name", host=repr(options.host), reason=str(error.strerror)))
        case ConnectionRefusedError():
            return UnreachableError(message("nothing_listens", server=server))
        case TimeoutError():
            seconds = float(options.connect_timeout or CONNECT_SECONDS)
            return UnreachableError(message("no_answer", server=server, seconds=seconds))
    return UnreachableError(message("not_reached", server=server, reason=_one_line(error)))


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _host_key_problem(error: Exception, options: asyncssh.SSHClientConnectionOptions, known: KnownHosts) -> Message:
    if any(known()[:3]):
        return message("host_key_changed", server=_server(options), reason=str(error))
    return message("host_key_unknown_by_name", server=_server(options))
