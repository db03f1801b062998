"""The interface to the accelerators of one vendor; CONTRIBUTING.md says how to add one."""

import os
import re
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ..files import Json
from ..processes import Stream, output

Application = Tuple[str, int]
"""GPU's UUID, pid."""
COLUMNS = (
    *("utilization_percent", "memory_used_mib", "power_watts", "sm_clock_mhz", "memory_clock_mhz"),
    *("throttle_reasons", "temperature_celsius"),
)
"""Of telemetry; ``throttle_reasons`` is a bit mask of ``measured/findings/telemetry.py``."""
NOW = ("index", "name", "utilization_percent", "memory_mib", "memory_used_mib", "power_watts", "temperature_celsius")
"""Of what a GPU does now."""
ENERGY = "energy_millijoules"
"""Since the driver was loaded; empty where the GPU has no counter."""


class DeviceReading(NamedTuple):
    """A GPU at one moment."""

    uuid: str
    gpu: str
    """Its index."""
    values: Dict[str, Any]
    """By the names of ``COLUMNS`` and ``ENERGY``; what the GPU does not report is absent, None or empty."""


class Vendor:
    """The accelerators of a machine that has none, in whose place a vendor puts what its tools report."""

    name = ""
    never_run = False
    """Developed from published outputs: no machine of this vendor has run it yet."""

    def is_present(self) -> bool:
        """Whether this machine has the vendor's driver and tool."""
        return False

    def gpus(self) -> List[Json]:
        """A mapping for each GPU with the keys of ``docs/files.md``; index, name, uuid and driver are required."""
        return []

    def gpus_now(self) -> List[Json]:
        """What each GPU does now, by the keys of ``NOW``; None for what it does not report."""
        return [{key: gpu.get(key) for key in NOW} for gpu in self.gpus()]

    def environment(self, gpus: List[Json]) -> Json:
        """Versions of libraries and the topology, for ``environment.json``; may add to what ``gpus`` gave."""
        return {}

    def applications(self) -> List[Application]:
        """Every process that computes on a GPU now."""
        return []

    def links(self) -> Dict[str, int]:
        """A GPU's UUID → how many of its links to other GPUs are up; only GPUs that have any, up or down."""
        return {}

    def driver_error(self, line: str) -> Optional[Tuple[str, int]]:
        """PCI address and number of the error of failing hardware in a line of the kernel's log; None in any other."""
        return None

    def reading_stream(self, indices: List[int], seconds: float) -> Stream:
        """What prints the load of these GPUs (all, if none is named) every so many seconds."""
        raise NotImplementedError

    def readings(self, document: str) -> List[DeviceReading]:
        """What a document of ``reading_stream`` says."""
        raise NotImplementedError

    def application_stream(self, indices: List[int], seconds: float) -> Stream:
        """What prints the processes on these GPUs every so many seconds."""
        raise NotImplementedError

    def applications_in(self, document: str) -> List[Application]:
        """What a document of ``application_stream`` says."""
        raise NotImplementedError


def bus_of(address: str) -> Tuple[int, ...]:
    """Domain, bus and device of a PCI address, which tools write with four or eight digits, in either case."""
    parts = address.partition(".")[0].split(":")
    return tuple(int(part, 16) for part in parts) if all(re.fullmatch("[0-9a-fA-F]+", part) for part in parts) else ()


def installed_version(name: str) -> Optional[str]:
    """The version in a shared library's file name, as the loader would find it on this machine."""
    found = re.search(rf"lib{re.escape(name)}\.so\S* .*=> (\S+)", output(["ldconfig", "-p"]))
    version = re.search(r"\.so\.([0-9.]+)$", os.path.realpath(found.group(1))) if found else None
    return version.group(1) if version else None
