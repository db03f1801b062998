"""Energy of the processors by RAPL, and power of the whole machine by its management controller (IPMI)."""

import os
import re
import shutil
from typing import IO, Dict, List, Optional

from .files import read_text
from .processes import Documents, repeated

POWERCAP = "/sys/class/powercap"
IPMI_DEVICES = ("/dev/ipmi0", "/dev/ipmi/0", "/dev/ipmidev/0")
IPMI_SECONDS = 2.0
"""Between two readings: a controller measures no more often than once a second, and takes its time to answer."""
_WATTS = re.compile(r"Instantaneous power reading: +(\d+) Watts")


class NodePower:
    """The cells of ``telemetry.csv`` that are the machine's; empty where the user may not read them."""

    columns = ("cpu_package_millijoules", "node_watts")

    def __init__(self, powercap: str = POWERCAP) -> None:
        self.packages = Packages(powercap)
        self.watts = ""
        self.controller: Optional[Documents] = None
        self.sources: List[IO[bytes]] = []
        if any(os.access(path, os.R_OK | os.W_OK) for path in IPMI_DEVICES) and shutil.which("ipmitool"):
            self.controller = Documents(repeated(["ipmitool", "dcmi", "power", "reading"], IPMI_SECONDS))
            self.sources = [self.controller.source]

    def added_to(self, rows: str) -> str:
        """These rows with the machine's cells at the end of each."""
        energy = self.packages.millijoules() if rows else None
        return rows.replace("\n", f",{'' if energy is None else energy},{self.watts}\n")

    def receive(self) -> None:
        """Take the last power that the controller reports; one that measures nothing says 0 W."""
        documents, goes_on = self.controller.receive() if self.controller else ([], False)
        for document in documents:
            found = _WATTS.search(document)
            self.watts = found.group(1) if found and found.group(1) != "0" else ""
        if not goes_on:
            self.sources, self.watts = [], ""

    def close(self) -> None:
        if self.controller:
            self.controller.close()


class Packages:
    """The energy counters of all processor packages, which wrap around at ``max_energy_range_uj``."""

    def __init__(self, powercap: str) -> None:
        names = os.listdir(powercap) if os.path.isdir(powercap) else []
        zones = [os.path.join(powercap, name) for name in names if re.fullmatch(r"intel-rapl:\d+", name)]
        zones = [zone for zone in zones if read_text(zone + "/name").startswith("package")]
        self.ranges = {zone: microjoules(zone, "max_energy_range_uj") or 0 for zone in zones}
        self.last: Dict[str, int] = {}
        self.total = 0
        """Microjoules since the start."""

    def millijoules(self) -> Optional[int]:
        """Energy since the first call; None where a counter is unreadable. Asked for at least once in their round."""
        counts = {zone: microjoules(zone, "energy_uj") for zone in self.ranges}
        known = {zone: count for zone, count in counts.items() if count is not None}
        if not known or len(known) < len(counts):
            return None
        for zone, count in known.items():
            used = count - self.last.get(zone, count)
            self.total += used if used >= 0 else used + self.ranges[zone]
        self.last = known
        return self.total // 1000


def microjoules(zone: str, name: str) -> Optional[int]:
    text = read_text(os.path.join(zone, name)).strip()
    return int(text) if text.isdigit() else None
