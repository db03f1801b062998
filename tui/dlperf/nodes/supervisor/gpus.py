"""The machine's NVIDIA GPUs, as nvidia-smi reports them."""

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
"""Our name, nvidia-smi's name, type."""

Application = Tuple[str, int]
"""GPU's UUID, pid."""


def has_nvidia() -> bool:
    return shutil.which("nvidia-smi") is not None and os.path.exists("/proc/driver/nvidia")


def query_lines(*arguments: str) -> List[str]:
    """What nvidia-smi prints; nothing without an NVIDIA driver."""
    return output(["nvidia-smi", *arguments], timeout=30).splitlines() if has_nvidia() else []


def gpu_facts() -> List[Json]:
    """One mapping per GPU of the machine."""
    query = "--query-gpu=" + ",".join(field for _, field, _ in GPU_FACTS)
    lines = query_lines(query, "--format=csv,noheader,nounits")
    return [gpu_fact(line) for line in lines if line.count(",") >= len(GPU_FACTS) - 1]


def gpu_fact(line: str) -> Json:
    return {name: parse_cell(cell.strip(), kind) for (name, _, kind), cell in zip(GPU_FACTS, line.split(","))}


def parse_cell(cell: str, kind: Callable[[str], Any]) -> Any:
    """A cell of nvidia-smi; None for ``[N/A]`` and ``[Not Supported]``."""
    try:
        return None if cell.startswith("[") else kind(cell)
    except ValueError:
        return None


def gpu_processes() -> List[Application]:
    """Every process that computes on a GPU now."""
    lines = query_lines("--query-compute-apps=gpu_uuid,pid", "--format=csv,noheader,nounits")
    return [found for found in map(parse_application, lines) if found]


def parse_application(line: str) -> Optional[Application]:
    uuid, _, pid = line.partition(",")
    return (uuid.strip(), int(pid)) if pid.strip().isdigit() else None


def nvlinks() -> Dict[str, int]:
    """A GPU's UUID → how many of its NVLinks are up; only GPUs that have any, up or down."""
    found: Dict[str, int] = {}
    uuid = ""
    for line in query_lines("nvlink", "--status"):
        gpu, link = re.search(r"UUID: (\S+?)\)", line), re.match(r"\s+Link \d+: (.*)", line)
        uuid = gpu.group(1) if gpu else uuid
        if link:
            found[uuid] = found.get(uuid, 0) + ("inactive" not in link.group(1).lower())
    return found
