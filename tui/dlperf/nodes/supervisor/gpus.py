"""The machine's NVIDIA GPUs, as nvidia-smi reports them."""

import contextlib
import importlib
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
    ("vbios", "vbios_version", str),
    ("power_limit_watts", "power.limit", float),
    ("max_sm_clock_mhz", "clocks.max.sm", float),
    ("max_memory_clock_mhz", "clocks.max.memory", float),
    ("persistence_mode", "persistence_mode", str),
    ("ecc_mode", "ecc.mode.current", str),
    ("utilization_percent", "utilization.gpu", float),
    ("memory_used_mib", "memory.used", float),
)
"""Our name, nvidia-smi's name, type."""
CLOCK_FACTS = (
    ("application_sm_clock_mhz", "clocks.applications.graphics", float),
    ("application_memory_clock_mhz", "clocks.applications.memory", float),
)
"""Asked for separately: drivers after 575 call them deprecated, and an unknown field fails the whole query."""

Facts = Tuple[Tuple[str, str, Callable[[str], Any]], ...]
Application = Tuple[str, int]
"""GPU's UUID, pid."""


def has_nvidia() -> bool:
    return shutil.which("nvidia-smi") is not None and os.path.exists("/proc/driver/nvidia")


def query_lines(*arguments: str) -> List[str]:
    """What nvidia-smi prints; nothing without an NVIDIA driver."""
    return output(["nvidia-smi", *arguments], timeout=30).splitlines() if has_nvidia() else []


def gpu_facts(wanted: Facts = GPU_FACTS) -> List[Json]:
    """One mapping per GPU of the machine."""
    query = "--query-gpu=" + ",".join(field for _, field, _ in wanted)
    rows = [line.split(",") for line in query_lines(query, "--format=csv,noheader,nounits")]
    return [gpu_fact(wanted, cells) for cells in rows if len(cells) >= len(wanted)]


def gpu_fact(wanted: Facts, cells: List[str]) -> Json:
    return {name: parse_cell(cell.strip(), kind) for (name, _, kind), cell in zip(wanted, cells)}


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


class EnergyCounters:
    """The millijoules that each GPU used since its driver was loaded, as NVML counts them."""

    def __init__(self) -> None:
        self.nvml: Any = None
        self.devices: Dict[str, Any] = {}
        with contextlib.suppress(ImportError, OSError, AttributeError):  # a small Python has no ctypes
            self.ctypes = importlib.import_module("ctypes")
            nvml = self.ctypes.CDLL("libnvidia-ml.so.1")
            self.count = nvml.nvmlDeviceGetTotalEnergyConsumption
            self.nvml = nvml if nvml.nvmlInit_v2() == 0 else None

    def read(self, uuid: str) -> Optional[int]:
        """None where the driver or the GPU (before Volta) has no counter."""
        if self.nvml is None:
            return None
        if uuid not in self.devices:
            device = self.devices[uuid] = self.ctypes.c_void_p()
            self.nvml.nvmlDeviceGetHandleByUUID(uuid.encode(), self.ctypes.byref(device))
        counted = self.ctypes.c_ulonglong()
        return None if self.count(self.devices[uuid], self.ctypes.byref(counted)) else int(counted.value)
