"""Ports that nobody else takes meanwhile."""

from __future__ import annotations

import random
import socket
from pathlib import Path

RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
LOWEST = 10000


def free_ports(count: int) -> list[int]:
    """Different ports of 127.0.0.1, outside of those that the kernel itself gives to connections and to port 0."""
    ephemeral = int(RANGE.read_text().split()[0])
    found: list[int] = []
    for port in random.SystemRandom().sample(range(LOWEST, ephemeral), ephemeral - LOWEST):
        if len(found) == count:
            break
        if _is_free(port):
            found.append(port)
    return found


def free_port() -> int:
    return free_ports(1)[0]


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
