"""The rows of ``telemetry.csv``: load of the GPUs, or of the processors where no GPU is used."""

import os
import subprocess
import time
from typing import IO, Dict, List, Optional, Set, Tuple, Union

from .containers import container_ids, keeps_containers
from .files import Json, read_text
from .gpus import Application, EnergyCounters, gpu_processes, has_nvidia, parse_application
from .machine import memory_fact
from .processes import has_mark, own_payload, process_table

TICK_SECONDS = 1.0

APPLICATIONS_SECONDS = 2.0

GPU_SAMPLES = (
    ("utilization_percent", "utilization.gpu"),
    ("memory_used_mib", "memory.used"),
    ("power_watts", "power.draw"),
    ("sm_clock_mhz", "clocks.sm"),
    ("memory_clock_mhz", "clocks.mem"),
    ("throttle_reasons", "clocks_throttle_reasons.active"),
    ("temperature_celsius", "temperature.gpu"),
)
"""Our column, nvidia-smi's field (by the name that both old and new drivers know)."""


class Table:
    """``telemetry.csv``: what a full disk refuses is counted, and the trial goes on."""

    def __init__(self, path: str) -> None:
        self.descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        self.lost_rows, self.torn = 0, False

    def write(self, rows: str) -> None:
        torn = self.torn
        data = b"\n" * torn + rows.encode("ascii", "replace")
        try:
            written = os.write(self.descriptor, data) if rows else 0
        except OSError:
            written = 0
        self.torn = 0 < written < len(data) or (torn and not written)
        self.lost_rows += data.count(b"\n", max(written, torn))


class CpuTelemetry:
    """Load of the machine's processors and memory, once a second, and the part of the load that is not the trial's."""

    header = "time,cpu_percent,memory_used_mib,foreign_cpu_percent\n"

    def __init__(self, container: Json) -> None:
        self.sees_payload = not keeps_containers(container)  # whose containers are no children of ours
        self.before = self.times()
        self.sources: List[IO[bytes]] = []

    @staticmethod
    def times() -> Tuple[int, int, int]:
        """Total, busy and our own time of all processors, in clock ticks; ours includes children that ended."""
        ticks = [int(field) for field in read_text("/proc/stat").split("\n", 1)[0].split()[1:9]]
        table = process_table()
        own = sum(int(field) for pid in own_payload(table) | {os.getpid()} for field in table[pid][11:15])
        return sum(ticks), sum(ticks) - ticks[3] - ticks[4], own

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
    """Load of the trial's GPUs, once a second, from two nvidia-smi processes that keep running.

    ``foreign_processes`` counts processes on the GPU that are not the trial's: they invalidate a measurement.
    """

    header = "time,gpu," + ",".join(name for name, _ in GPU_SAMPLES) + ",foreign_processes,energy_millijoules\n"

    def __init__(self, indices: List[int], mark: str, container: Json) -> None:
        self.mark, self.container = mark, container
        self.seen: Dict[Application, float] = {}
        self.containers: List[str] = []
        self.own: Set[int] = set()
        self.energy = EnergyCounters()
        fields = ",".join(["uuid", "index"] + [field for _, field in GPU_SAMPLES])
        chosen = ["-i", ",".join(str(index) for index in indices)] if indices else []
        self.samples = self.start_query(["--query-gpu=" + fields, *chosen], TICK_SECONDS)
        self.applications = self.start_query(["--query-compute-apps=gpu_uuid,pid", *chosen], APPLICATIONS_SECONDS)
        self.sources = [child.stdout for child in (self.samples, self.applications) if child.stdout]
        self.rest = dict.fromkeys(self.sources, b"")

    @staticmethod
    def start_query(query: List[str], seconds: float) -> "subprocess.Popen[bytes]":
        loop = ["--format=csv,noheader,nounits", "-lms", str(int(seconds * 1000))]
        null = subprocess.DEVNULL
        return subprocess.Popen(["nvidia-smi", *query, *loop], stdin=null, stdout=subprocess.PIPE, stderr=null)

    def tick(self, moment: float) -> str:
        return ""

    def receive(self, source: IO[bytes], moment: float) -> str:
        """The rows that new output of nvidia-smi gives."""
        data = os.read(source.fileno(), 65536)
        if not data:
            self.sources.remove(source)
        whole, _, self.rest[source] = (self.rest[source] + data).rpartition(b"\n")
        lines = whole.decode("utf-8", "replace").splitlines()
        if source is self.applications.stdout:
            self.add_applications([parse_application(line) for line in lines])
            return ""
        return "".join(self.row(line, moment) for line in lines if line.count(",") > len(GPU_SAMPLES))

    def row(self, line: str, moment: float) -> str:
        cells = [cell.strip() for cell in line.split(",")]
        values = ["" if cell.startswith("[") else cell for cell in cells[1:]]
        energy = self.energy.read(cells[0])
        further = [str(self.count_foreign(cells[0])), "" if energy is None else str(energy)]
        return ",".join([f"{moment:.3f}", *values, *further]) + "\n"

    def add_applications(self, applications: List[Optional[Application]]) -> None:
        for found in applications:
            if found:
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
        return [pid for _, pid in gpu_processes() if pid in self.own]

    def close(self) -> None:
        for child in (self.samples, self.applications):
            child.kill()
            child.wait()


Telemetry = Union[CpuTelemetry, GpuTelemetry]


def open_telemetry(gpu_indices: List[int], mark: str, container: Json) -> Telemetry:
    """Start telemetry of the trial's GPUs; of the processors where it uses none, or nvidia-smi is absent."""
    if gpu_indices and has_nvidia():
        return GpuTelemetry(gpu_indices, mark, container)
    return CpuTelemetry(container)
