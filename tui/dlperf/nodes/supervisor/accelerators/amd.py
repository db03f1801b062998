"""AMD's GPUs, as amd-smi of ROCm 6 and 7 reports them in JSON.

Developed from outputs that users published, whose addresses are in ``tests/data/amd-smi``: it never ran on such a GPU.
"""

import json
import os
import re
import shutil
from typing import Any, Dict, List, Optional

from ..files import Json, read_text
from ..processes import Stream, output, repeated
from .vendor import ENERGY, Application, DeviceReading, Vendor, installed_version

VIOLATIONS = {
    "ppt": 0x04,
    "socket_thermal": 0x40,
    "vr_thermal": 0x40,
    "hbm_thermal": 0x40,
    "prochot": 0x80,
}
"""What slows a GPU now, by amd-smi's name → its bit among NVIDIA's reasons, which telemetry holds."""
METRIC = "metric"
"""With all sections: their options differ between versions, and an unknown one fails the whole query."""


class Amd(Vendor):
    """GPUs of AMD."""

    name = "AMD"
    never_run = True

    def __init__(self) -> None:
        self.known_uuids: Dict[int, str] = {}

    def is_present(self) -> bool:
        return os.path.exists("/sys/module/amdgpu") and shutil.which("amd-smi") is not None

    def gpus(self) -> List[Json]:
        loads = {entry["gpu"]: entry for entry in query(METRIC)}
        return [self.gpu(entry, loads.get(entry["gpu"], {})) for entry in query("static")]

    def gpu(self, static: Json, metric: Json) -> Json:
        load, clocks = self.reading(metric).values if metric else {}, member(metric, "clock")
        return {
            "index": static["gpu"],
            "name": text_at(static, "asic.market_name"),
            "uuid": self.uuid(static["gpu"]),
            "pci_bus": text_at(static, "bus.bdf"),
            "memory_mib": number_at(static, "vram.size", "vram.vram_size"),
            "driver": text_at(static, "driver.version", "driver.driver_version"),
            "vbios": text_at(static, "vbios.version", "ifwi.version"),
            "power_limit_watts": number_at(static, "limit.socket_power", "limit.ppt0.socket_power_limit"),
            "max_sm_clock_mhz": mean_of(clocks, "gfx", "max_clk"),
            "max_memory_clock_mhz": mean_of(clocks, "mem", "max_clk"),
            "utilization_percent": load.get("utilization_percent"),
            "memory_used_mib": load.get("memory_used_mib"),
            "memory_errors_corrected": whole(number_at(metric, "ecc.total_correctable_count")),
            "memory_errors_uncorrected": whole(number_at(metric, "ecc.total_uncorrectable_count")),
        }

    def uuid(self, index: int) -> str:
        """What ``amd-smi list`` calls a GPU, which other outputs name by its number."""
        if index not in self.known_uuids:
            self.known_uuids = {entry["gpu"]: str(entry.get("uuid")) for entry in query("list")}
        return self.known_uuids.get(index, f"amd-{index}")

    def environment(self, gpus: List[Json]) -> Json:
        return {
            "rocm": read_text("/opt/rocm/.info/version").strip() or None,
            "rccl": installed_version("rccl"),
            "topology": output(["amd-smi", "topology"], timeout=30),
        }

    def applications(self) -> List[Application]:
        return self.applications_in(output(["amd-smi", "process", "--json"], timeout=30))

    def reading_stream(self, indices: List[int], seconds: float) -> Stream:
        return repeated(["amd-smi", METRIC, *chosen(indices), "--json"], seconds)

    def readings(self, document: str) -> List[DeviceReading]:
        return [self.reading(entry) for entry in entries(document)]

    def reading(self, entry: Json) -> DeviceReading:
        clocks, energy = member(entry, "clock"), number_at(entry, "energy.total_energy_consumption")
        values: Dict[str, Any] = {
            "utilization_percent": number_at(entry, "usage.gfx_activity"),
            "memory_used_mib": number_at(entry, "mem_usage.used_vram"),
            "power_watts": number_at(entry, "power.socket_power", "power.current_socket_power"),
            "sm_clock_mhz": mean_of(clocks, "gfx", "clk"),
            "memory_clock_mhz": mean_of(clocks, "mem", "clk"),
            "throttle_reasons": throttle_reasons(member(entry, "throttle")),
            "temperature_celsius": number_at(entry, "temperature.hotspot", "temperature.edge"),
            ENERGY: whole(1000 * energy) if energy else None,  # a GPU without a counter reports 0 J
        }
        return DeviceReading(self.uuid(entry["gpu"]), str(entry["gpu"]), values)

    def application_stream(self, indices: List[int], seconds: float) -> Stream:
        return repeated(["amd-smi", "process", *chosen(indices), "--json"], seconds)

    def applications_in(self, document: str) -> List[Application]:
        """Without processes that hold no memory of a GPU: amd-smi lists a process under every GPU."""
        found = []
        for entry in entries(document):
            listed = entry.get("process_list")
            for item in listed if isinstance(listed, list) else []:
                process = member(item, "process_info")
                held = number_at(process, "memory_usage.vram_mem", "vram_mem")
                if isinstance(process.get("pid"), int) and held != 0:
                    found.append((self.uuid(entry["gpu"]), process["pid"]))
        return found


def chosen(indices: List[int]) -> List[str]:
    return ["--gpu", *map(str, indices)] if indices else []


def query(*arguments: str) -> List[Json]:
    return entries(output(["amd-smi", *arguments, "--json"], timeout=30))


def entries(document: str) -> List[Json]:
    """The GPUs of a document: ROCm 6 prints a list, ROCm 7 puts it into ``gpu_data``; warnings may precede it."""
    start = re.search(r"^[\[{]", document, re.MULTILINE)
    try:
        found = json.loads(document[start.start() :]) if start else []
    except ValueError:
        return []
    listed = found.get("gpu_data") if isinstance(found, dict) else found
    listed = listed if isinstance(listed, list) else []
    return [entry for entry in listed if isinstance(entry, dict) and isinstance(entry.get("gpu"), int)]


def member(entry: Any, name: str) -> Json:
    """A mapping in an entry; empty where there is ``N/A`` in its place."""
    found = entry.get(name) if isinstance(entry, dict) else None
    return found if isinstance(found, dict) else {}


def value_at(entry: Json, *paths: str) -> Any:
    """The first of these dotted paths that is neither absent nor ``N/A``."""
    for path in paths:
        *outer, name = path.split(".")
        inner = entry
        for part in outer:
            inner = member(inner, part)
        found = inner.get(name)
        found = found.get("value") if isinstance(found, dict) else found
        if found not in (None, "", "N/A"):
            return found
    return None


def number_at(entry: Json, *paths: str) -> Optional[float]:
    found = value_at(entry, *paths)
    return float(found) if isinstance(found, (int, float)) else None


def whole(number: Optional[float]) -> Optional[int]:
    return None if number is None else int(number)


def text_at(entry: Json, *paths: str) -> Optional[str]:
    found = value_at(entry, *paths)
    return None if found is None else str(found)


def mean_of(clocks: Json, kind: str, name: str) -> Optional[float]:
    """The mean over a GPU's dies: ``gfx_0`` to ``gfx_7``, those that it lacks being ``N/A``."""
    known = [number_at(clocks, f"{die}.{name}") for die in clocks if die.lower().startswith(kind + "_")]
    numbers = [number for number in known if number]
    return sum(numbers) / len(numbers) if numbers else None


def throttle_reasons(throttle: Json) -> Optional[str]:
    """The reasons that are active, in hexadecimal; None where the GPU does not report them."""
    states = {name: value_at(throttle, f"{name}_violation_status") for name in VIOLATIONS}
    if not any(isinstance(state, str) for state in states.values()):
        return None
    bits = 0
    for name, state in states.items():
        bits |= VIOLATIONS[name] if state == "ACTIVE" else 0
    return hex(bits)
