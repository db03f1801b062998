"""NVIDIA's GPUs, as nvidia-smi and NVML report them."""

import contextlib
import importlib
import os
import re
import shutil
from typing import Any, Callable, Dict, List, Optional, Tuple

from ..files import Json
from ..processes import Stream, output
from .vendor import COLUMNS, ENERGY, Application, DeviceReading, Vendor, installed_version

DRIVERS = ("/proc/driver/nvidia", "/dev/dxg")
"""Of the driver under Linux, and of the GPUs of Windows under WSL 2, which shows no other trace of them."""
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
NOW_FACTS = (
    *(("index", "index", int), ("name", "name", str), ("utilization_percent", "utilization.gpu", float)),
    *(("memory_mib", "memory.total", float), ("memory_used_mib", "memory.used", float)),
    *(("power_watts", "power.draw", float), ("temperature_celsius", "temperature.gpu", float)),
)
"""What a GPU does now."""
CLOCK_FACTS = (
    ("application_sm_clock_mhz", "clocks.applications.graphics", float),
    ("application_memory_clock_mhz", "clocks.applications.memory", float),
)
"""Asked for separately: drivers after 575 call them deprecated, and an unknown field fails the whole query."""
ERROR_FACTS = (
    ("memory_errors_corrected", "ecc.errors.corrected.volatile.total", int),
    ("memory_errors_uncorrected", "ecc.errors.uncorrected.volatile.total", int),
)
"""ECC errors since the driver was loaded."""
XID = re.compile(r"NVRM: Xid \(PCI:([0-9a-fA-F:.]+)\): (\d+)")
OF_PROGRAMS = (13, 31, 43, 45)
"""Xids that a fault of the program usually causes, and not the hardware (NVIDIA, Xid errors)."""
SAMPLED = (
    *("utilization.gpu", "memory.used", "power.draw", "clocks.sm", "clocks.mem"),
    *("clocks_throttle_reasons.active", "temperature.gpu"),
)
"""nvidia-smi's fields of ``COLUMNS``, by the names that both old and new drivers know."""
APPLICATIONS = "--query-compute-apps=gpu_uuid,pid"
PLAIN = "--format=csv,noheader,nounits"

Facts = Tuple[Tuple[str, str, Callable[[str], Any]], ...]


class Nvidia(Vendor):
    """GPUs of NVIDIA."""

    name = "NVIDIA"

    def __init__(self) -> None:
        self.energy: Optional[EnergyCounters] = None

    def is_present(self) -> bool:
        return any(map(os.path.exists, DRIVERS)) and shutil.which("nvidia-smi") is not None

    def gpus(self) -> List[Json]:
        return gpu_facts(GPU_FACTS)

    def gpus_now(self) -> List[Json]:
        return gpu_facts(NOW_FACTS)

    def environment(self, gpus: List[Json]) -> Json:
        for facts in (CLOCK_FACTS, ERROR_FACTS):
            for gpu, found in zip(gpus, gpu_facts(facts)):
                gpu.update(found)
        supported = re.search(r"CUDA Version: *([0-9.]+)", output(["nvidia-smi"], timeout=30))
        return {
            "driver_cuda": supported.group(1) if supported else None,
            "cudnn": installed_version("cudnn"),
            "nccl": installed_version("nccl"),
            "topology": re.sub(r"\x1b\[[0-9;]*m", "", output(["nvidia-smi", "topo", "-m"], timeout=30)),
        }

    def applications(self) -> List[Application]:
        return self.applications_in("\n".join(query_lines(APPLICATIONS, PLAIN)))

    def links(self) -> Dict[str, int]:
        found: Dict[str, int] = {}
        uuid = ""
        for line in query_lines("nvlink", "--status"):
            gpu, link = re.search(r"UUID: (\S+?)\)", line), re.match(r"\s+Link \d+: (.*)", line)
            uuid = gpu.group(1) if gpu else uuid
            if link:
                found[uuid] = found.get(uuid, 0) + ("inactive" not in link.group(1).lower())
        return found

    def driver_error(self, line: str) -> Optional[Tuple[str, int]]:
        found = XID.search(line)
        return (found.group(1), int(found.group(2))) if found and int(found.group(2)) not in OF_PROGRAMS else None

    def reading_stream(self, indices: List[int], seconds: float) -> Stream:
        return stream("--query-gpu=" + ",".join(("uuid", "index", *SAMPLED)), indices, seconds)

    def readings(self, document: str) -> List[DeviceReading]:
        cells = ["" if cell.strip().startswith("[") else cell.strip() for cell in document.split(",")]
        if len(cells) <= len(COLUMNS) + 1:
            return []
        self.energy = self.energy or EnergyCounters()
        uuid, gpu, *values = cells
        return [DeviceReading(uuid, gpu, dict(zip(COLUMNS, values), **{ENERGY: self.energy.read(uuid)}))]

    def application_stream(self, indices: List[int], seconds: float) -> Stream:
        return stream(APPLICATIONS, indices, seconds)

    def applications_in(self, document: str) -> List[Application]:
        pairs = (line.partition(",") for line in document.splitlines())
        return [(uuid.strip(), int(pid)) for uuid, _, pid in pairs if pid.strip().isdigit()]


def query_lines(*arguments: str) -> List[str]:
    return output(["nvidia-smi", *arguments], timeout=30).splitlines()


def stream(query: str, indices: List[int], seconds: float) -> Stream:
    """nvidia-smi that repeats a query; each line is a document."""
    chosen = ["-i", ",".join(str(index) for index in indices)] if indices else []
    return Stream(["nvidia-smi", query, *chosen, PLAIN, "-lms", str(int(seconds * 1000))], b"\n")


def gpu_facts(wanted: Facts) -> List[Json]:
    """One mapping per GPU of the machine."""
    rows = [line.split(",") for line in query_lines("--query-gpu=" + ",".join(field for _, field, _ in wanted), PLAIN)]
    return [
        {name: parse_cell(cell.strip(), kind) for (name, _, kind), cell in zip(wanted, cells)}
        for cells in rows
        if len(cells) >= len(wanted)
    ]


def parse_cell(cell: str, kind: Callable[[str], Any]) -> Any:
    """A cell of nvidia-smi; None for ``[N/A]`` and ``[Not Supported]``."""
    try:
        return None if cell.startswith("[") else kind(cell)
    except ValueError:
        return None


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
