"""The rows of ``telemetry.csv``: load of GPUs, or of processors where none is used, and power of the machine."""

import os
import re
import shutil
import time
from typing import IO, Dict, List, Optional, Set, Tuple, Union

from ..accelerators.vendor import COLUMNS, ENERGY, Application, DeviceReading, Vendor
from ..files import Json, read_text
from ..processes import Documents, all_pids, has_mark, own_payload, process_table, repeated
from .containers import container_ids, keeps_containers
from .machine import memory_fact, vendor_here

TICK_SECONDS = 1.0
FIRST_TICK_SECONDS = 0.1
"""After the start: a trial may be short, and one that is shorter has no load."""

APPLICATIONS_SECONDS = 2.0

POWERCAP = "/sys/class/powercap"
IPMI_DEVICES = ("/dev/ipmi0", "/dev/ipmi/0", "/dev/ipmidev/0")
IPMI_SECONDS = 2.0
"""Between two readings: a controller measures no more often than once a second, and takes its time to answer."""
_WATTS = re.compile(r"Instantaneous power reading: +(\d+) Watts")


class RowFile:
    """A file that rows are added to: what a full disk refuses is counted, and the trial goes on."""

    def __init__(self, path: str) -> None:
        self.descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        self.lost_rows, self.torn = 0, False
        """Whether the file ends within a row, which the next row must not continue."""

    def write(self, rows: str) -> None:
        start = b"\n" if self.torn else b""
        data = start + rows.encode("ascii", "replace")
        try:
            written = os.write(self.descriptor, data) if rows else 0
        except OSError:
            written = 0
        if written:
            self.torn = written < len(data)
        self.lost_rows += data.count(b"\n", max(written, len(start)))


class CpuTelemetry:
    """Load of the machine's processors and memory, once a second, and the part of the load that is not the trial's."""

    header = "time,cpu_percent,memory_used_mib,foreign_cpu_percent\n"

    def __init__(self, container: Json) -> None:
        self.sees_payload = not keeps_containers(container)  # whose containers are no children of ours
        self.foreign = set(all_pids()) - {os.getpid()}  # there is no payload yet
        self.before = self.times()
        self.sources: List[IO[bytes]] = []

    def times(self) -> Tuple[int, int, int]:
        """Total, busy and our own time of all processors, in clock ticks; ours includes children that ended."""
        ticks = [int(field) for field in read_text("/proc/stat").split("\n", 1)[0].split()[1:9]]
        own = sum(int(field) for fields in self.own_stats() for field in fields[11:15])
        return sum(ticks), sum(ticks) - ticks[3] - ticks[4], own

    def own_stats(self) -> List[List[str]]:
        """``stat_fields`` of this process and of the payload's.

        Of the others, which may be thousands, only new ones are read: looking must not load what it looks at.
        """
        pids = set(all_pids())
        self.foreign &= pids
        table = process_table(pids - self.foreign)
        own = own_payload(table) | {os.getpid()}
        self.foreign.update(table.keys() - own)
        return [table[pid] for pid in own]

    def tick(self, moment: float) -> str:
        before, self.before = self.before, self.times()
        total, busy, own = (now - then for now, then in zip(self.before, before))
        memory = (memory_fact("MemTotal") or 0) - (memory_fact("MemAvailable") or 0)
        percent = 100.0 / total if total else 0.0
        foreign = f"{max(0, busy - own) * percent:.1f}" if self.sees_payload else ""
        return f"{moment:.3f},{busy * percent:.1f},{memory / 2.0**20:.0f},{foreign}\n"

    def receive(self, source: IO[bytes], moment: float) -> str:
        return ""

    def left_on_gpus(self) -> List[int]:
        return []

    def close(self) -> None:
        pass


class GpuTelemetry:
    """Load of the trial's GPUs, once a second, from two programs of their vendor that keep running.

    ``foreign_processes`` counts processes on the GPU that are not the trial's: they invalidate a measurement.
    """

    header = ",".join(("time", "gpu", *COLUMNS, "foreign_processes", ENERGY)) + "\n"

    def __init__(self, vendor: Vendor, indices: List[int], mark: str, container: Json) -> None:
        self.vendor, self.mark, self.container = vendor, mark, container
        self.seen: Dict[Application, float] = {}
        self.containers: List[str] = []
        self.own: Set[int] = set()
        self.readings = Documents(vendor.reading_stream(indices, TICK_SECONDS))
        self.applications = Documents(vendor.application_stream(indices, APPLICATIONS_SECONDS))
        self.sources = [self.readings.source, self.applications.source]

    def tick(self, moment: float) -> str:
        return ""

    def receive(self, source: IO[bytes], moment: float) -> str:
        """The rows that new output of the vendor's programs gives."""
        documents = self.readings if source is self.readings.source else self.applications
        found, goes_on = documents.receive()
        if not goes_on:
            self.sources.remove(source)
        if documents is self.applications:
            self.add_applications([one for text in found for one in self.vendor.applications_in(text)])
            return ""
        return "".join(self.row(reading, moment) for text in found for reading in self.vendor.readings(text))

    def row(self, reading: DeviceReading, moment: float) -> str:
        values = reading.values
        cells = (*map(values.get, COLUMNS), self.count_foreign(reading.uuid), values.get(ENERGY))
        return ",".join([f"{moment:.3f}", reading.gpu, *("" if cell is None else str(cell) for cell in cells)]) + "\n"

    def add_applications(self, applications: List[Application]) -> None:
        for found in applications:
            self.seen[found] = time.monotonic()
            if self.is_own(found[1]):
                self.own.add(found[1])

    def count_foreign(self, uuid: str) -> int:
        since = time.monotonic() - 2 * APPLICATIONS_SECONDS
        pids = [pid for (gpu, pid), seen in self.seen.items() if gpu == uuid and seen > since]
        return sum(pid not in self.own and os.path.exists(f"/proc/{pid}") for pid in pids)

    def is_own(self, pid: int) -> bool:
        """Whether a process has the trial's mark or, in a container under another user, its control group."""
        if pid in self.own or has_mark(pid, self.mark):
            return True
        self.containers = self.containers or container_ids(self.container, self.mark)
        groups = read_text(f"/proc/{pid}/cgroup")
        return any(name in groups for name in self.containers)

    def left_on_gpus(self) -> List[int]:
        """The trial's processes that are still on a GPU."""
        return [pid for _, pid in self.vendor.applications() if pid in self.own]

    def close(self) -> None:
        for documents in (self.readings, self.applications):
            documents.close()


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


class Telemetry:
    """The rows of GPUs or processors, to each of which the power of the whole machine is added."""

    def __init__(self, rows: Union[CpuTelemetry, GpuTelemetry], power: NodePower) -> None:
        self.rows, self.power = rows, power
        self.header = rows.header.replace("\n", f",{','.join(power.columns)}\n")

    @property
    def sources(self) -> List[IO[bytes]]:
        return self.rows.sources + self.power.sources

    def tick(self, moment: float) -> str:
        return self.power.added_to(self.rows.tick(moment))

    def receive(self, source: IO[bytes], moment: float) -> str:
        if source in self.power.sources:
            self.power.receive()
            return ""
        return self.power.added_to(self.rows.receive(source, moment))

    def left_on_gpus(self) -> List[int]:
        return self.rows.left_on_gpus()

    def close(self) -> None:
        self.rows.close()
        self.power.close()


def open_telemetry(gpu_indices: List[int], mark: str, container: Json) -> Telemetry:
    """Start telemetry of the trial's GPUs; of the processors where it uses none, or no vendor's tool is there."""
    vendor = vendor_here()
    is_gpu = bool(gpu_indices and vendor.name)
    rows = GpuTelemetry(vendor, gpu_indices, mark, container) if is_gpu else CpuTelemetry(container)
    return Telemetry(rows, NodePower())
