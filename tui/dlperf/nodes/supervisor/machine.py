"""Facts of the machine: processors, memory, system, libraries, network."""

import collections
import os
import platform
import re
import socket
from typing import DefaultDict, List, Optional

from .files import Json, read_json, read_text
from .processes import output

PORTS = range(20000, 30000)


def cpu_facts() -> Json:
    """Model, sockets, physical cores and hardware threads."""
    text = read_text("/proc/cpuinfo")
    values: DefaultDict[str, List[str]] = collections.defaultdict(list)
    for name, value in re.findall(r"^([^\t:]+?)\s*: (.*)$", text, re.MULTILINE):
        values[name].append(value.strip())
    packages = values["physical id"]
    return {
        "model": (values["model name"] or values["Model"] or [platform.machine()])[0],
        "sockets": len(set(packages)) or 1,
        "cores": len(set(zip(packages, values["core id"]))) or os.cpu_count(),
        "threads": os.cpu_count(),
    }


def memory_fact(name: str) -> Optional[int]:
    """A line of /proc/meminfo in bytes."""
    found = re.search(rf"^{name}:\s+(\d+) kB", read_text("/proc/meminfo"), re.MULTILINE)
    return int(found.group(1)) * 1024 if found else None


def os_name() -> str:
    found = re.search(r'^PRETTY_NAME="?([^"\n]*)', read_text("/etc/os-release"), re.MULTILINE)
    return found.group(1) if found else platform.system()


def library_version(name: str) -> Optional[str]:
    """The version that a shared library's file name tells, as the loader would find it on this machine."""
    found = re.search(rf"lib{re.escape(name)}\.so\S* .*=> (\S+)", output(["ldconfig", "-p"]))
    version = re.search(r"\.so\.([0-9.]+)$", os.path.realpath(found.group(1))) if found else None
    return version.group(1) if version else None


def cuda_version() -> Optional[str]:
    """The CUDA toolkit in its usual place."""
    facts = read_json("/usr/local/cuda/version.json") or {}
    version = facts.get("cuda", {}).get("version")
    return str(version) if version else None


def network_interfaces() -> List[Json]:
    """Name, speed in Mbit/s and state of every interface but the loopback."""
    names = sorted(os.listdir("/sys/class/net")) if os.path.isdir("/sys/class/net") else []
    return [interface_facts(name) for name in names if name != "lo"]


def interface_facts(name: str) -> Json:
    base = "/sys/class/net/" + name
    speed = read_text(base + "/speed").strip()
    return {
        "name": name,
        "state": read_text(base + "/operstate").strip(),
        "speed_mbit": int(speed) if speed.isdigit() else None,
        "driver": os.path.basename(os.path.realpath(base + "/device/driver"))
        if os.path.exists(base + "/device")
        else None,
    }


def infiniband_ports(base: str = "/sys/class/infiniband") -> List[Json]:
    """Name, state (``ACTIVE``, ``DOWN`` …) and rate of every port of an InfiniBand or RoCE adapter."""
    adapters = sorted(os.listdir(base)) if os.path.isdir(base) else []
    ports = [(name, port) for name in adapters for port in sorted(os.listdir(os.path.join(base, name, "ports")))]
    return [infiniband_port(os.path.join(base, name, "ports", port), f"{name}:{port}") for name, port in ports]


def infiniband_port(folder: str, name: str) -> Json:
    state = read_text(os.path.join(folder, "state")).rpartition(":")[2].strip()
    return {"name": name, "state": state, "rate": read_text(os.path.join(folder, "rate")).strip()}


def free_port(first: int) -> int:
    """A TCP port of this machine that nobody uses, looked for from ``first`` on."""
    for step in range(len(PORTS)):
        port = PORTS[(first + step) % len(PORTS)]
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
            except OSError:
                continue
            return port
    raise OSError(f"no TCP port of {PORTS[0]} to {PORTS[-1]} is free")
