"""The keys that files like known_hosts state for a machine, found as OpenSSH finds them.

asyncssh itself also takes a key of the address, of a network that holds it and of an alias with a port, and checks
nothing where ``UserKnownHostsFile`` is ``none``.
"""

from __future__ import annotations

import hmac
import re
from base64 import b64decode
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import asyncssh

DEFAULT_PORT = 22
_LINE = re.compile(rb"[ \t]*(@cert-authority +|@revoked +)?([^ \t#@][^ \t]*)[ \t]+([^ \t]+)[ \t]+([^ \t\r]+)")
"""Marker, names, kind of key, key."""
_HASHED = re.compile(r"\|1\|([^|]+)\|([^|]+)")


@dataclass(frozen=True)
class KnownHosts:
    """The keys of a machine; what asyncssh asks is answered for the names that are given here."""

    files: tuple[Path, ...]
    names: tuple[str, ...]
    """By which it may be known: a later one counts where there is no key of an earlier one."""

    def __call__(self, _host: str = "", _addr: str = "", _port: int | None = None) -> Any:
        """Return keys, keys of authorities, and revoked keys."""
        return self._found

    @cached_property
    def _found(self) -> Any:
        known = asyncssh.SSHKnownHosts()
        lines = [line for path in filter(Path.is_file, self.files) for line in _lines(path)]
        for name in self.names:
            for marker, hosts, key in lines:
                if _is_among(name, hosts):
                    with suppress(ValueError):  # OpenSSH passes such a line over, too
                        known.load(f"{marker}x {key}\n")
            if any((found := known.match("x", "", None))[:2]):
                return found
        return known.match("x", "", None)


def names_of(host: str, port: int, alias: str) -> tuple[str, ...]:
    """Return the names by which OpenSSH looks a machine up: its alias alone, or its name with the port and without."""
    if alias:
        return (alias,)
    return (host,) if port == DEFAULT_PORT else (f"[{host}]:{port}", host)


def _lines(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield marker, names and key of each line."""
    for line in path.read_bytes().split(b"\n"):
        if match := _LINE.match(line.partition(b"\0")[0]):
            marker, hosts, kind, key = ((part or b"").decode("latin-1") for part in match.groups())
            yield marker, hosts, f"{kind} {key}"


def _is_among(name: str, hosts: str) -> bool:
    """Whether a name is the hashed one, or one that patterns name and none of them excludes."""
    if hashed := _HASHED.fullmatch(hosts):
        with suppress(ValueError):
            salt, digest = map(b64decode, hashed.groups())
            return hmac.digest(salt, name.encode(), "sha1") == digest
        return False
    matching = [item for item in hosts.split(",") if _matches(name, item.removeprefix("!"))]
    return bool(matching) and not any(item.startswith("!") for item in matching)


def _matches(name: str, pattern: str) -> bool:
    return fnmatchcase(name.lower(), pattern.lower().replace("[", "[[]"))
