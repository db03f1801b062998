"""The rows of ``telemetry.csv``: load of the GPUs, or of the processors where no GPU is used."""

import os
import time
from typing import IO, Dict, List, Set, Tuple, Union

from .containers import container_ids, keeps_containers
from .files import Json, read_text
from .machine import memory_fact, vendor_here
from .node_power import NodePower
from .processes import Documents, all_pids, has_mark, own_payload, process_table
from .vendor import COLUMNS, ENERGY, Application, Reading, Vendor

TICK_SECONDS = 1.0
FIRST_TICK_SECONDS = 0.1
"""After the start: a trial may be short, and one that is shorter has no load."""

APPLICATIONS_SECONDS = 2.0


class Table:
    """``telemetry.csv``: what a full disk refuses is counted, and the trial goes on."""

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

    def row(self, reading: Reading, moment: float) -> str:
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
