"""Reach a machine with the system's OpenSSH client, so that dlperf connects where ``ssh`` does and only there."""

from __future__ import annotations

import asyncio
import os
import random
import shlex
import shutil
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from dlperf.errors import RefusedError, UnreachableError
from dlperf.messages import message
from dlperf.nodes.openssh_complaints import TIMED_OUT, connection_error, is_dropped, is_refused, one_line
from dlperf.nodes.transport import ProcessChannel, connection_gate, start_process

CONNECT_SECONDS = 10
"""Where ~/.ssh/config has no ``ConnectTimeout``."""
LOGIN_SECONDS = 60.0
"""From the start of the connection until the first output of the machine, besides the time to connect."""

KEEPALIVE_SECONDS = 15
KEEPALIVE_COUNT = 4

CONNECT_ATTEMPTS = 6

_OPTIONS = (
    "BatchMode=yes",
    "StrictHostKeyChecking=yes",
    "NoHostAuthenticationForLocalhost=no",
    "UpdateHostKeys=no",
    "ClearAllForwardings=yes",
    "ControlMaster=no",
    "RemoteCommand=none",
    "LogLevel=ERROR",
)
"""Nothing is asked, no host key is accepted without being known, and only the agent uses the connection.

A master connection that somebody opened by ``ssh`` is used: where a login takes a second factor, it is the only way.
"""
_AGENT = {"SessionType": "default", "StdinNull": "no", "ForkAfterAuthentication": "no"}
"""Options that a client before OpenSSH 8.7 does not know → the value that an agent needs."""


@dataclass(frozen=True)
class OpenSshTransport:
    """Opens a connection for each process: the client of a machine needs only one."""

    host: str
    """Name, address, or alias of ~/.ssh/config."""
    port: int | None = None
    user: str | None = None
    python: ClassVar[None] = None

    async def open(self, argv: Sequence[str]) -> ProcessChannel:
        """Start a process that prints something first.

        Raises:
            RefusedError: the host key is unknown or wrong, or the server takes none of our keys.
            UnreachableError: the machine does not answer.
        """
        destination = _destination(self.host, self.port, self.user)
        server = await _resolve(destination)
        command = ("ssh", "-T", *server.options, *destination, shlex.join(argv))
        complaint = ""
        for attempt in range(CONNECT_ATTEMPTS):
            await asyncio.sleep(random.uniform(0.05, 0.2) * 2**attempt if attempt else 0)
            async with connection_gate(server.first_hop):
                channel, complaint = await _connect(command, server)
            if channel is not None:
                return channel
            if not is_dropped(complaint):
                break
        locked = await _locked_key(complaint, server)
        raise connection_error(complaint, server.name, server.connect_seconds, server.first("proxyjump"), locked)


async def resolve_destination(host: str, port: int | None, user: str | None) -> Destination | None:
    """Return what ssh makes of a destination; None without a client of OpenSSH.

    Raises:
        RefusedError: ssh cannot read its configuration, such as for an option that it does not know.
        UnreachableError: ssh does not say so in time.
    """
    return await _resolve(_destination(host, port, user)) if shutil.which("ssh") else None


def _destination(host: str, port: int | None, user: str | None) -> tuple[str, ...]:
    port_words = ("-p", str(port)) if port else ()
    user_words = ("-l", user) if user else ()
    return (*port_words, *user_words, "--", host)


@dataclass(frozen=True)
class Destination:
    """What ``ssh -G`` makes of a destination with ~/.ssh/config."""

    settings: dict[str, list[str]]

    @property
    def name(self) -> str:
        return f"{self.first('hostname')} port {self.first('port')}"

    def first(self, name: str) -> str:
        return self.settings.get(name, [""])[0]

    @property
    def connect_seconds(self) -> float:
        value = self.first("connecttimeout")
        return float(value) if value.isdecimal() else CONNECT_SECONDS

    @property
    def options(self) -> list[str]:
        alive = (f"ServerAliveInterval={KEEPALIVE_SECONDS}", f"ServerAliveCountMax={KEEPALIVE_COUNT}")
        usual = (f"{name}={value}" for name, value in _AGENT.items() if self.first(name.lower()) not in ("", value))
        given = (*_OPTIONS, *usual, *alive, f"ConnectTimeout={self.connect_seconds:.0f}")
        return [word for option in given for word in ("-o", option)]

    @property
    def first_hop(self) -> str:
        """The server to which this machine connects: many machines may be behind one."""
        return self.first("proxyjump").partition(",")[0] or self.first("proxycommand") or self.name

    @property
    def known_hosts_files(self) -> str:
        return f"{self.first('userknownhostsfile')} {self.first('globalknownhostsfile')}"

    @property
    def keys(self) -> list[str]:
        """The files of keys that exist."""
        names = self.settings.get("identityfile", [])
        return [str(path) for name in names if (path := Path(name).expanduser()).is_file()]


async def _resolve(destination: Sequence[str]) -> Destination:
    """Resolve a destination.

    Raises:
        RefusedError: ssh cannot use it.
        UnreachableError: ssh does not say so in time.
    """
    try:
        code, out, err = await _output("ssh", "-T", "-G", "-o", "RemoteCommand=none", *destination, "true")
    except FileNotFoundError:
        raise RefusedError(message("no_ssh")) from None
    except TimeoutError:
        raise UnreachableError(message("no_answer", server=destination[-1], seconds=LOGIN_SECONDS)) from None
    if code:
        raise RefusedError(message("openssh_configuration", host=destination[-1], reason=one_line(err)))
    settings: dict[str, list[str]] = {}
    for line in out.splitlines():
        name, _, value = line.partition(" ")
        settings.setdefault(name, []).append(value)
    return Destination(settings)


async def _output(*command: str) -> tuple[int, str, str]:
    """Run a command that needs no terminal: exit code, stdout and stderr.

    Raises:
        TimeoutError: it does not end, as where a ``Match exec`` of the configuration waits.
    """
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe, start_new_session=True
    )
    try:
        async with asyncio.timeout(LOGIN_SECONDS):
            out, err = await process.communicate()
    except BaseException:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        raise
    return process.returncode or 0, out.decode(errors="replace"), err.decode(errors="replace")


async def _connect(command: Sequence[str], server: Destination) -> tuple[ProcessChannel | None, str]:
    """Start ssh and wait for the first output of the machine; where there is none, return what ssh complained of."""
    channel = await start_process(command, os.environ | {"SSH_ASKPASS_REQUIRE": "never"})
    complaint = TIMED_OUT
    try:
        async with asyncio.timeout(server.connect_seconds + LOGIN_SECONDS):
            if await channel.peek():
                return channel, ""
            complaint = await channel.complaints()
    except TimeoutError:
        pass
    except BaseException:
        await channel.close()
        raise
    await channel.close()
    return None, complaint


async def _locked_key(complaint: str, server: Destination) -> str:
    """The first key that needs a passphrase and that no agent holds, where the server refused all others."""
    with suppress(TimeoutError):
        for path in server.keys if is_refused(complaint) else ():
            code, _, why = await _output("ssh-keygen", "-y", "-P", "", "-f", path)
            if code and "passphrase" in why and (await _output("ssh-add", "-T", f"{path}.pub"))[0]:
                return path
    return ""
