"""AMD's GPUs, as rocm-smi reports them where there is no amd-smi, as before ROCm 6.

Developed from outputs that users published, whose addresses are in ``tests/data/amd-smi``: it never ran on such a GPU.
"""

import json
import os
import re
import shutil
from typing import Any, Dict, List, Optional

from ..files import Json
from ..processes import Stream, output, repeated
from .vendor import ENERGY, Application, DeviceReading, Vendor

QUERY = (
    *(
        "rocm-smi",
        "--showproductname",
        "--showuniqueid",
        "--showbus",
        "--showvbios",
        "--showdriverversion",
        "--showuse",
    ),
    *("--showmeminfo", "vram", "--showpower", "--showmaxpower", "--showclocks", "--showtemp", "--showenergycounter"),
    "--json",
)
POWER = ("Average Graphics Package Power (W)", "Current Socket Graphics Package Power (W)")
SAMPLED = {
    "utilization_percent": ("GPU use (%)",),
    "power_watts": POWER,
    "sm_clock_mhz": ("sclk clock speed:",),
    "memory_clock_mhz": ("mclk clock speed:",),
    "temperature_celsius": ("Temperature (Sensor junction) (C)", "Temperature (Sensor edge) (C)"),
}
"""Column of telemetry → rocm-smi's names, of which a version has one."""


class RocmSmi(Vendor):
    """GPUs of AMD without amd-smi: reasons of throttling, links and processes stay unknown."""

    name = "AMD"
    never_run = True

    def is_present(self) -> bool:
        return os.path.exists("/sys/module/amdgpu") and shutil.which("rocm-smi") is not None

    def gpus(self) -> List[Json]:
        document = output(list(QUERY), timeout=30)
        driver = cards(document).get("system", {}).get("Driver version")
        return [gpu_of(index, card, driver) for index, card in gpu_cards(document).items()]

    def reading_stream(self, indices: List[int], seconds: float) -> Stream:
        chosen = ["-d", *map(str, indices)] if indices else []
        return repeated([*QUERY, *chosen], seconds)

    def readings(self, document: str) -> List[DeviceReading]:
        return [
            DeviceReading(uuid_of(index, card), str(index), values(card)) for index, card in gpu_cards(document).items()
        ]

    def application_stream(self, indices: List[int], seconds: float) -> Stream:
        return Stream(["true"], b"\n")

    def applications_in(self, document: str) -> List[Application]:
        return []


def gpu_of(index: int, card: Json, driver: Any) -> Json:
    load = values(card)
    return {
        "index": index,
        "name": str(first(card, "Card Series", "Card series", "Device Name", "Card Model") or "") or None,
        "uuid": uuid_of(index, card),
        "pci_bus": first(card, "PCI Bus"),
        "memory_mib": mebibytes(card, "VRAM Total Memory (B)"),
        "driver": None if driver is None else str(driver),
        "vbios": first(card, "VBIOS version"),
        "power_limit_watts": number(card, "Max Graphics Package Power (W)"),
        "utilization_percent": load["utilization_percent"],
        "memory_used_mib": load["memory_used_mib"],
    }


def values(card: Json) -> Dict[str, Any]:
    energy = number(card, "Accumulated Energy (uJ)")
    found: Dict[str, Any] = {column: number(card, *names) for column, names in SAMPLED.items()}
    found["memory_used_mib"] = mebibytes(card, "VRAM Total Used Memory (B)")
    found[ENERGY] = int(energy / 1000) if energy else None
    return found


def cards(document: str) -> Dict[str, Json]:
    """What follows the warnings that may precede it."""
    start = re.search(r"^\{", document, re.MULTILINE)
    try:
        found = json.loads(document[start.start() :]) if start else {}
    except ValueError:
        return {}
    return {name: card for name, card in found.items() if isinstance(card, dict)}


def gpu_cards(document: str) -> Dict[int, Json]:
    found = {re.fullmatch(r"card(\d+)", name): card for name, card in cards(document).items()}
    return {int(name.group(1)): card for name, card in found.items() if name}


def uuid_of(index: int, card: Json) -> str:
    return str(first(card, "Unique ID", "PCI Bus") or f"amd-{index}")


def first(card: Json, *names: str) -> Optional[str]:
    """The first of these that is there and known."""
    return next((str(card[name]) for name in names if card.get(name) not in (None, "", "N/A")), None)


def number(card: Json, *names: str) -> Optional[float]:
    """A number in a text such as ``(1269Mhz)``."""
    found = re.search(r"\d+(\.\d+)?", first(card, *names) or "")
    return float(found.group()) if found else None


def mebibytes(card: Json, name: str) -> Optional[float]:
    count = number(card, name)
    return None if count is None else count / 2.0**20
