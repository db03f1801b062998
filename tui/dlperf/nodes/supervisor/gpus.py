"""The machine's NVIDIA GPUs, as nvidia-smi tells of them."""

import os
import re
import shutil
from typing import Any, Callable, Dict, List, Optional, Tuple

from .files import Json
from .processes import output

GPU_FACTS = (
    ("index", "index", int),
    ("name", "name", str),
    ("uuid", "uuid", str),
    ("pci_bus", "pci.bus_id", str),
    ("memory_mib", "memory.total", float),
    ("driver", "driver_version", str),
    ("power_limit_watts", "power.limit", float),
    ("max_sm_clock_mhz", "clocks.max.sm", float),
    ("max_memory_clock_mhz", "clocks.max.memory", float),
    ("persistence_mode", "persistence_mode", str),
    ("ecc_mode", "ecc.mode.current", str),
    ("utilization_percent", "utilization.gpu", float),
    ("memory_used_mib", "memory.used", float),
)
"""Our name, nvidia-smi's name, kind."""

Application = Tuple[str, int]


def has_nvidia() -> bool:
    return shutil.which("nvidia-smi") is not None and os.path.exists("/proc/driver/nvidia")


def gpu_facts() -> List[Json]:
    """One mapping per GPU of the machine; empty without an NVIDIA driver."""
    if not has_nvidia():
        return []
    query = "--query-gpu=" + ",".join(field for _, field, _ in GPU_FACTS)
    lines = output(["nvidia-smi", query, "--format=csv,noheader,nounits"], timeout=30).splitlines()
    return [gpu_fact(line) for line in lines if line.count(",") >= len(GPU_FACTS) - 1]


def gpu_fact(line: str) -> Json:
    cells = [cell.strip() for cell in line.split(",")]
    return {name: typed(cell, kind) for (name, _, kind), cell in zip(GPU_FACTS, cells)}


def typed(cell: str, kind: Callable[[str], Any]) -> Any:
    """A cell of nvidia-smi; None for ``[N/A]`` and ``[Not Supported]``."""
    try:
        return None if cell.startswith("[") else kind(cell)
    except ValueError:
        return None


def gpu_processes() -> List[Application]:
    """(GPU's UUID, pid) of every process that computes on a GPU now."""
    if not has_nvidia():
        return []
    query = ["nvidia-smi", "--query-compute-apps=gpu_uuid,pid", "--format=csv,noheader,nounits"]
    found = [application(line) for line in output(query, timeout=30).splitlines()]
    return [item for item in found if item]


def nvlinks() -> Dict[str, int]:
    """A GPU's UUID → how many of its NVLinks are up; only GPUs that have any, up or down."""
    found: Dict[str, int] = {}
    uuid = ""
    for line in output(["nvidia-smi", "nvlink", "--status"], timeout=30).splitlines() if has_nvidia() else ():
        gpu, link = re.search(r"UUID: (\S+?)\)", line), re.match(r"\s+Link \d+: (.*)", line)
        uuid = gpu.group(1) if gpu else uuid
        if link:
            found[uuid] = found.get(uuid, 0) + ("inactive" not in link.group(1).lower())
    return found


def application(line: str) -> Optional[Application]:
    uuid, _, pid = line.partition(",")
    return (uuid.strip(), int(pid)) if pid.strip().isdigit() else None
