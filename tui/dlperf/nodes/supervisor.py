"""What runs on a node: the agent that answers the operator's machine, and the supervisor of one trial.

    supervisor.py agent         answers requests on stdin and stdout until stdin closes
    supervisor.py run DIR       starts what DIR/job.json says, watches it, writes DIR/exit.json last
    supervisor.py sweep DIR     ends what a supervisor that was killed left behind
    supervisor.py allocate DIR  in a Slurm job, once: writes what its allocation is into the scripts of all nodes
    supervisor.py task DIR      in a Slurm job, on each node: runs that node's share of the trial in DIR

This file is copied to the node as it is, so that nothing need be installed there: one file, the standard library
alone, Python 3.6 or newer, Linux. That is why it is longer than its neighbours. From top to bottom: files, processes,
facts of the machine, telemetry, the supervisor, Slurm, the agent.

A frame of the agent's protocol is four bytes of length (big endian), that much JSON, and as many raw bytes as the
JSON's ``raw`` says. Every operation can be repeated without harm.
"""

import collections
import contextlib
import fcntl
import json
import os
import platform
import pwd
import re
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
import time
from typing import IO, Any, Callable, DefaultDict, Dict, List, NamedTuple, Optional, Set, Tuple, Union

SCHEMA = 1
ROOT = os.path.join(os.path.expanduser("~"), ".dlperf")
MARK_VARIABLE = "DLPERF_TRIAL"
CONTAINER_LABEL = "dlperf.trial"
KEEPING_RUNTIMES = ("docker", "podman")
"""Those that keep images and containers of their own on the machine."""

HEARTBEAT_SECONDS = 5.0
TICK_SECONDS = 1.0
APPLICATIONS_SECONDS = 2.0
DEFAULT_GRACE_SECONDS = 10.0
UNKILLABLE_SECONDS = 30.0
START_SECONDS = 20.0
IDLE_AGENT_SECONDS = 900.0
READ_LIMIT = 4 * 1024 * 1024
PORTS = range(20000, 30000)

Json = Dict[str, Any]
Answer = Tuple[Json, bytes]
Application = Tuple[str, int]


class Moment(NamedTuple):
    wall: float
    monotonic: float


class Ending(NamedTuple):
    state: str
    cause: str


# ---------------------------------------------------------------------------------------------------- files


def write_atomic(path: str, data: bytes, mode: int = 0o600) -> None:
    """Write a whole file or nothing, also across a crash of the machine."""
    temporary = f"{path}.{os.getpid()}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.rename(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise


def write_json(path: str, value: Json) -> None:
    write_atomic(path, json.dumps(value, indent=1).encode("ascii") + b"\n")


def read_json(path: str) -> Optional[Json]:
    """The value of a JSON file, or None where there is none."""
    try:
        with open(path, "rb") as stream:
            value: Json = json.loads(stream.read().decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    return value


def confined(path: str) -> str:
    """A path below ``~/.dlperf`` as an absolute one; anything else is refused."""
    parts = path.split("/")
    if not path or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"path {path!r} does not stay below ~/.dlperf")
    return os.path.join(ROOT, *parts)


def log_streams(directory: str) -> Dict[str, int]:
    """Size in bytes of ``out.log`` and of every file below ``ranks/``, by name relative to the trial's folder."""
    names = ["out.log"]
    for folder, _, files in os.walk(os.path.join(directory, "ranks")):
        names += [os.path.relpath(os.path.join(folder, name), directory) for name in files]
    sizes = {name: regular_size(os.path.join(directory, name)) for name in sorted(names)}
    return {name: size for name, size in sizes.items() if size is not None}


def regular_size(path: str) -> Optional[int]:
    """The size of a regular file; None for anything else, and for a link."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def modified(path: str) -> Optional[float]:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return None


# ------------------------------------------------------------------------------------------------ processes


def boot_id() -> str:
    return read_text("/proc/sys/kernel/random/boot_id").strip()


def process_stat(pid: int) -> Optional[Tuple[str, int]]:
    """State letter and start time in clock ticks of a process; None where there is none."""
    fields = read_text(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return (fields[0], int(fields[19])) if fields else None


def own_identity() -> Json:
    """What tells this process from any other that may get its number later."""
    _, start_ticks = process_stat(os.getpid()) or ("", 0)
    return {"pid": os.getpid(), "start_ticks": start_ticks, "boot_id": boot_id()}


def is_alive(identity: Optional[Json]) -> bool:
    """Whether that very process runs; a zombie does not, and a number used again is another process."""
    if identity is None or identity["boot_id"] != boot_id():
        return False
    found = process_stat(identity["pid"])
    return found is not None and found[0] not in "ZX" and found[1] == identity["start_ticks"]


def carries(pid: int, mark: str) -> bool:
    """Whether a process of our user has exactly this trial's mark in its environment (a zombie has none)."""
    try:
        if os.stat(f"/proc/{pid}").st_uid != os.getuid():
            return False
        with open(f"/proc/{pid}/environ", "rb") as stream:
            entries = stream.read().split(b"\0")
    except OSError:
        return False
    return mark_entry(mark) in entries


def mark_entry(mark: str) -> bytes:
    return MARK_VARIABLE.encode("ascii") + b"=" + mark.encode("utf-8")


def marked_pids(mark: str) -> List[int]:
    """Every process of the trial, whatever session or group it fled to; never this one."""
    numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in numbers if pid != os.getpid() and carries(pid, mark)]


def send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def sweep(mark: str, grace_seconds: float) -> List[int]:
    """End every process of the trial: TERM, grace, KILL, until two looks find none; those that would not end."""
    told: Set[int] = set()
    kill_at = time.monotonic() + grace_seconds
    empty_looks = 0
    while empty_looks < 2:
        pids = marked_pids(mark)
        now = time.monotonic()
        if pids and now > kill_at + UNKILLABLE_SECONDS:
            return pids
        empty_looks = 0 if pids else empty_looks + 1
        for pid in pids:
            if now >= kill_at:
                send(pid, signal.SIGKILL)
            elif pid not in told:
                send(pid, signal.SIGTERM)
        told.update(pids)
        time.sleep(0.05 if pids else 0.005)
    return []


def remove_containers(runtime: Optional[str], mark: str) -> None:
    """Remove the trial's containers, found by label: a container outlives the client that started it."""
    if runtime in KEEPING_RUNTIMES:
        names = container_ids(runtime, mark)
        if names:
            output([runtime, "rm", "-f", *names], timeout=60)


def container_ids(runtime: str, mark: str) -> List[str]:
    label = f"label={CONTAINER_LABEL}={mark}"
    return output([runtime, "ps", "-aq", "--no-trunc", "--filter", label]).split()


def output(argv: List[str], timeout: float = 10.0) -> str:
    """What a command prints; nothing where it is missing, fails or hangs: a probe must never break a trial."""
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=timeout
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def read_text(path: str) -> str:
    """The text of a small file; nothing where it cannot be read."""
    try:
        with open(path, "rb") as stream:
            return stream.read().decode("utf-8", "replace")
    except OSError:
        return ""


# ------------------------------------------------------------------------------------- facts of the machine

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
"""Our name, nvidia-smi's name, kind."""


def has_nvidia() -> bool:
    return shutil.which("nvidia-smi") is not None and os.path.exists("/proc/driver/nvidia")


def gpu_facts() -> List[Json]:
    """One mapping per GPU of the machine; empty without an NVIDIA driver."""
    if not has_nvidia():
        return []
    query = "--query-gpu=" + ",".join(field for _, field, _ in GPU_FACTS)
    lines = output(["nvidia-smi", query, "--format=csv,noheader,nounits"], timeout=30).splitlines()
    return [gpu_fact(line) for line in lines if line.count(",") >= len(GPU_FACTS) - 1]


def gpu_fact(line: str) -> Json:
    cells = [cell.strip() for cell in line.split(",")]
    return {name: typed(cell, kind) for (name, _, kind), cell in zip(GPU_FACTS, cells)}


def typed(cell: str, kind: Callable[[str], Any]) -> Any:
    """A cell of nvidia-smi; None for ``[N/A]`` and ``[Not Supported]``."""
    try:
        return None if cell.startswith("[") else kind(cell)
    except ValueError:
        return None


def gpu_processes() -> List[Application]:
    """(GPU's UUID, pid) of every process that computes on a GPU now."""
    if not has_nvidia():
        return []
    query = ["nvidia-smi", "--query-compute-apps=gpu_uuid,pid", "--format=csv,noheader,nounits"]
    found = [application(line) for line in output(query, timeout=30).splitlines()]
    return [item for item in found if item]


def application(line: str) -> Optional[Application]:
    uuid, _, pid = line.partition(",")
    return (uuid.strip(), int(pid)) if pid.strip().isdigit() else None


def cpu_facts() -> Json:
    """Model, sockets, physical cores and hardware threads."""
    text = read_text("/proc/cpuinfo")
    values: DefaultDict[str, List[str]] = collections.defaultdict(list)
    for name, value in re.findall(r"^([^\t:]+?)\s*: (.*)$", text, re.MULTILINE):
        values[name].append(value.strip())
    packages = values["physical id"]
    return {
        "model": (values["model name"] or values["Model"] or [platform.machine()])[0],
        "sockets": len(set(packages)) or 1,
        "cores": len(set(zip(packages, values["core id"]))) or os.cpu_count(),
        "threads": os.cpu_count(),
    }


def memory_fact(name: str) -> Optional[int]:
    """A line of /proc/meminfo in bytes."""
    found = re.search(rf"^{name}:\s+(\d+) kB", read_text("/proc/meminfo"), re.MULTILINE)
    return int(found.group(1)) * 1024 if found else None


def os_name() -> str:
    found = re.search(r'^PRETTY_NAME="?([^"\n]*)', read_text("/etc/os-release"), re.MULTILINE)
    return found.group(1) if found else platform.system()


def library_version(name: str) -> Optional[str]:
    """The version that a shared library's file name tells, as the loader would find it on this machine."""
    found = re.search(rf"lib{re.escape(name)}\.so\S* .*=> (\S+)", output(["ldconfig", "-p"]))
    version = re.search(r"\.so\.([0-9.]+)$", os.path.realpath(found.group(1))) if found else None
    return version.group(1) if version else None


def cuda_version() -> Optional[str]:
    """The CUDA toolkit in its usual place."""
    facts = read_json("/usr/local/cuda/version.json") or {}
    version = facts.get("cuda", {}).get("version")
    return str(version) if version else None


def network_interfaces() -> List[Json]:
    """Name, speed in Mbit/s and state of every interface but the loopback."""
    names = sorted(os.listdir("/sys/class/net")) if os.path.isdir("/sys/class/net") else []
    return [interface_facts(name) for name in names if name != "lo"]


def interface_facts(name: str) -> Json:
    base = "/sys/class/net/" + name
    speed = read_text(base + "/speed").strip()
    return {
        "name": name,
        "state": read_text(base + "/operstate").strip(),
        "speed_mbit": int(speed) if speed.isdigit() else None,
        "driver": os.path.basename(os.path.realpath(base + "/device/driver"))
        if os.path.exists(base + "/device")
        else None,
    }


def image_digest(runtime: Optional[str], image: Optional[str]) -> Optional[str]:
    """The digest of a container image that lies on this machine; None where it does not."""
    if not image or not runtime:
        return None
    if runtime == "apptainer":
        return "file:" + image if os.path.exists(image) else None
    template = "{{if .RepoDigests}}{{index .RepoDigests 0}}{{else}}{{.Id}}{{end}}"
    return output([runtime, "image", "inspect", "--format", template, image], timeout=30).strip() or None


SLURM_FACTS = ("SLURM_JOB_ID", "SLURM_JOB_PARTITION", "SLURM_JOB_NODELIST", "SLURMD_NODENAME", "SLURM_CLUSTER_NAME")


def slurm_facts() -> Optional[Json]:
    """Job, partition, nodes, this node and cluster by Slurm's names; None outside a job."""
    facts = {name.partition("_")[2].lower(): os.environ[name] for name in SLURM_FACTS if name in os.environ}
    return facts or None


def environment(container: Optional[Json]) -> Json:
    """Everything about this machine that a careful reader of a figure asks for."""
    gpus = gpu_facts()
    container = container or {}
    facts = {
        "schema": SCHEMA,
        "hostname": socket.gethostname(),
        "boot_id": boot_id(),
        "os": os_name(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "cpu": cpu_facts(),
        "memory_bytes": memory_fact("MemTotal"),
        "python": platform.python_version(),
        "network_interfaces": network_interfaces(),
        "gpus": gpus,
        "slurm": slurm_facts(),
        "container": {
            "runtime": container.get("runtime"),
            "image": container.get("image"),
            "digest": image_digest(container.get("runtime"), container.get("image")),
        },
    }
    if gpus:
        facts.update(gpu_environment(gpus))
    return facts


def gpu_environment(gpus: List[Json]) -> Json:
    supported = re.search(r"CUDA Version: *([0-9.]+)", output(["nvidia-smi"], timeout=30))
    return {
        "driver": gpus[0]["driver"],
        "driver_cuda": supported.group(1) if supported else None,
        "cuda": cuda_version(),
        "cudnn": library_version("cudnn"),
        "nccl": library_version("nccl"),
        "topology": re.sub(r"\x1b\[[0-9;]*m", "", output(["nvidia-smi", "topo", "-m"], timeout=30)),
    }


def readiness(container: Optional[Json], files: List[str]) -> Json:
    """What a check before a trial needs to know of this machine."""
    usage = shutil.disk_usage(ROOT)
    container = container or {}
    return {
        "clock": time.time(),
        "disk_free_bytes": usage.free,
        "gpus": gpu_facts(),
        "gpu_processes": [process_facts(uuid, pid) for uuid, pid in gpu_processes()],
        "image_digest": image_digest(container.get("runtime"), container.get("image")),
        "cuda": cuda_version(),
        "missing": [path for path in files if not os.path.exists(path)],
        "load": os.getloadavg()[0],
        "threads": os.cpu_count(),
    }


def process_facts(uuid: str, pid: int) -> Json:
    try:
        user = pwd.getpwuid(os.stat(f"/proc/{pid}").st_uid).pw_name
    except (OSError, KeyError):
        user = None
    return {"gpu": uuid, "pid": pid, "user": user, "name": read_text(f"/proc/{pid}/comm").strip()}


def free_port(first: int) -> int:
    """A TCP port of this machine that nobody uses, looked for from ``first`` on."""
    for step in range(len(PORTS)):
        port = PORTS[(first + step) % len(PORTS)]
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
            except OSError:
                continue
            return port
    raise OSError(f"no TCP port of {PORTS[0]} to {PORTS[-1]} is free")


# ------------------------------------------------------------------------------------------------ telemetry


class CpuTelemetry:
    """Load of the machine's processors and memory, once a second, where there is no GPU."""

    header = "time,cpu_percent,memory_used_mib\n"

    def __init__(self) -> None:
        self.before = self.times()
        self.sources: List[IO[bytes]] = []

    @staticmethod
    def times() -> Tuple[int, int]:
        """Busy and total time of all processors, in clock ticks."""
        ticks = [int(field) for field in read_text("/proc/stat").split("\n", 1)[0].split()[1:9]]
        return sum(ticks) - ticks[3] - ticks[4], sum(ticks)

    def tick(self, moment: float) -> str:
        before, self.before = self.before, self.times()
        busy, total = self.before[0] - before[0], self.before[1] - before[1]
        memory = (memory_fact("MemTotal") or 0) - (memory_fact("MemAvailable") or 0)
        return f"{moment:.3f},{100.0 * busy / total if total else 0.0:.1f},{memory / 2.0**20:.0f}\n"

    def receive(self, source: IO[bytes], moment: float) -> str:
        return ""

    def close(self) -> None:
        pass


GPU_SAMPLES = (
    ("utilization_percent", "utilization.gpu"),
    ("memory_used_mib", "memory.used"),
    ("power_watts", "power.draw"),
    ("sm_clock_mhz", "clocks.sm"),
    ("memory_clock_mhz", "clocks.mem"),
    ("throttle_reasons", "clocks_throttle_reasons.active"),
    ("temperature_celsius", "temperature.gpu"),
)
"""Our column, nvidia-smi's field (under the name that old and new drivers know)."""


class GpuTelemetry:
    """What nvidia-smi says of our GPUs, once a second, from two of its processes that stay open.

    ``foreign_processes`` counts processes on the GPU that are not the trial's: a contended GPU measures nothing.
    """

    header = "time,gpu," + ",".join(name for name, _ in GPU_SAMPLES) + ",foreign_processes\n"

    def __init__(self, indices: List[int], mark: str, runtime: Optional[str]) -> None:
        self.mark, self.runtime = mark, runtime
        self.seen: Dict[Application, float] = {}
        self.containers: List[str] = []
        self.own: Set[int] = set()
        fields = ",".join(["uuid", "index"] + [field for _, field in GPU_SAMPLES])
        chosen = ["-i", ",".join(str(index) for index in indices)] if indices else []
        self.samples = self.open(["--query-gpu=" + fields, *chosen], TICK_SECONDS)
        self.applications = self.open(["--query-compute-apps=gpu_uuid,pid", *chosen], APPLICATIONS_SECONDS)
        self.sources = [child.stdout for child in (self.samples, self.applications) if child.stdout]
        self.rest = dict.fromkeys(self.sources, b"")

    @staticmethod
    def open(query: List[str], seconds: float) -> "subprocess.Popen[bytes]":
        loop = ["--format=csv,noheader,nounits", "-lms", str(int(seconds * 1000))]
        return subprocess.Popen(
            ["nvidia-smi", *query, *loop],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def tick(self, moment: float) -> str:
        return ""

    def receive(self, source: IO[bytes], moment: float) -> str:
        """The lines of telemetry.csv that new output of nvidia-smi gives."""
        data = os.read(source.fileno(), 65536)
        if not data:
            self.sources.remove(source)
        whole, _, self.rest[source] = (self.rest[source] + data).rpartition(b"\n")
        lines = whole.decode("utf-8", "replace").splitlines()
        if source is self.applications.stdout:
            self.see([application(line) for line in lines])
            return ""
        return "".join(self.row(line, moment) for line in lines if line.count(",") > len(GPU_SAMPLES))

    def row(self, line: str, moment: float) -> str:
        cells = [cell.strip() for cell in line.split(",")]
        values = ["" if cell.startswith("[") else cell for cell in cells[1:]]
        return ",".join([f"{moment:.3f}", *values, str(self.foreign(cells[0]))]) + "\n"

    def see(self, applications: List[Optional[Application]]) -> None:
        for found in applications:
            if found:
                self.seen[found] = time.monotonic()
                if self.is_own(found[1]):
                    self.own.add(found[1])

    def foreign(self, uuid: str) -> int:
        since = time.monotonic() - 2 * APPLICATIONS_SECONDS
        pids = [pid for (gpu, pid), seen in self.seen.items() if gpu == uuid and seen > since]
        return sum(pid not in self.own and os.path.exists(f"/proc/{pid}") for pid in pids)

    def is_own(self, pid: int) -> bool:
        """The trial's process by its mark, or, in a container of another user's, by its control group."""
        if pid in self.own or carries(pid, self.mark):
            return True
        if self.runtime in KEEPING_RUNTIMES and not self.containers:
            self.containers = container_ids(self.runtime, self.mark)
        groups = read_text(f"/proc/{pid}/cgroup")
        return any(name in groups for name in self.containers)

    def left_on_gpus(self) -> List[int]:
        """The trial's processes that a GPU still knows."""
        return [pid for _, pid in gpu_processes() if pid in self.own]

    def close(self) -> None:
        for child in (self.samples, self.applications):
            child.kill()
            child.wait()


Telemetry = Union[CpuTelemetry, GpuTelemetry]


# ------------------------------------------------------------------------------------------- the supervisor


def now() -> Moment:
    return Moment(time.time(), time.monotonic())


def iso(seconds: float) -> str:
    """A wall-clock time in ISO 8601, UTC, with milliseconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds % 1 * 1000):03d}Z"


def exit_record(ending: Ending, code: Optional[int], started: Moment, ended: Moment, left: List[int]) -> Json:
    """``exit.json``. The duration comes from the monotonic clock: the wall clock may jump while a trial runs."""
    number = signal_of(code)
    return {
        "schema": SCHEMA,
        "state": ending.state,
        "cause": ending.cause,
        "code": code if code is None or code >= 0 else None,
        "signal": number,
        "started": iso(started.wall),
        "ended": iso(ended.wall),
        "duration_seconds": round(ended.monotonic - started.monotonic, 3),
        "processes_left": left,
    }


def signal_of(code: Optional[int]) -> Optional[int]:
    """The signal that ended a payload, itself or (128 + n, as a shell tells it) the program that it ran."""
    if code is None:
        return None
    number = -code if code < 0 else code - 128
    return number if 0 < number < signal.NSIG else None


def ending_of(code: int) -> Ending:
    """How a payload ended that nobody stopped."""
    number = signal_of(code)
    if code == 0:
        return Ending("succeeded", "exit code 0")
    if number is None:
        return Ending("failed", f"exit code {code}")
    return Ending("failed", f"signal {number} ({signal_name(number)})")


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "real-time signal"


def limit_reached(job: Json, running_seconds: float, silent_seconds: float) -> Optional[Ending]:
    """The limit that a running payload has broken, or None."""
    if running_seconds >= job["deadline_seconds"]:
        return Ending("timed_out", f"deadline of {job['deadline_seconds']:g} s")
    if silent_seconds >= job["stall_seconds"]:
        return Ending("timed_out", f"no output for {job['stall_seconds']:g} s (stall limit)")
    return None


class Supervisor:
    """One trial on this node, from the start of its payload to ``exit.json``."""

    def __init__(self, directory: str) -> None:
        os.chdir(directory)
        self.job = read_json("job.json") or {}
        self.mark = str(self.job["mark"])
        self.container = self.job["container"] or {}
        self.wake, wake_end = os.pipe()
        self.terminated = False
        self.log_size, self.log_grew = 0, time.monotonic()
        self.payload: Optional[subprocess.Popen[bytes]] = None
        self.probes: Optional[threading.Thread] = None
        self.beat_at = self.tick_at = 0.0
        for end in (self.wake, wake_end):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake_end)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self.on_signal)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)

    def on_signal(self, number: int, frame: Any) -> None:
        """TERM and INT cancel the trial; HUP is what a closed connection may send, and changes nothing."""
        self.terminated = self.terminated or number != signal.SIGHUP

    def claim(self) -> bool:
        """Make this trial ours; False where another supervisor already has it. A hard link is made once."""
        self.started = now()
        record = dict(own_identity(), schema=SCHEMA, started=iso(self.started.wall), monotonic=self.started.monotonic)
        temporary = f"supervisor.json.{os.getpid()}"
        write_json(temporary, record)
        try:
            os.link(temporary, "supervisor.json")
        except FileExistsError:
            return False
        finally:
            os.unlink(temporary)
        return True

    def run(self) -> None:
        if not self.claim():
            return
        os.makedirs("ranks", 0o700, exist_ok=True)
        self.telemetry = self.open_telemetry()
        with open("telemetry.csv", "w", 1) as self.telemetry_file:
            self.telemetry_file.write(self.telemetry.header)
            self.finish(self.pull_image() or self.run_payload())

    def pull_image(self) -> Optional[Ending]:
        """Bring the container's image here, before the clock starts; why that failed, or None."""
        runtime, image = self.container.get("runtime", ""), self.container.get("image", "")
        if runtime not in KEEPING_RUNTIMES or image_digest(runtime, image):
            return None
        ending = self.run_process([runtime, "pull", image])
        self.started, self.log_grew = now(), time.monotonic()
        if ending.state == "failed":
            return Ending("failed", f"image {image} cannot be pulled: {ending.cause}")
        return None if ending.state == "succeeded" else ending

    def run_payload(self) -> Ending:
        self.probes = threading.Thread(target=self.write_environment)
        self.probes.start()
        return self.run_process(self.job["command"])

    def run_process(self, command: List[str]) -> Ending:
        try:
            self.payload = self.start_process(command)
        except OSError as error:
            return Ending("failed", f"{command[0]} cannot be started: {error.strerror}")
        return self.watch(self.payload)

    def start_process(self, command: List[str]) -> "subprocess.Popen[bytes]":
        """A process in its own session; its output goes to the file itself, not through this process."""
        surroundings = dict(os.environb)
        surroundings[MARK_VARIABLE.encode("ascii")] = self.mark.encode("utf-8")
        log = os.open("out.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=surroundings,
                start_new_session=True,
            )
        finally:
            os.close(log)

    def write_environment(self) -> None:
        write_json("environment.json", environment(self.container))

    def open_telemetry(self) -> Telemetry:
        if self.job["gpu_indices"] and has_nvidia():
            return GpuTelemetry(self.job["gpu_indices"], self.mark, self.container.get("runtime"))
        return CpuTelemetry()

    def watch(self, payload: "subprocess.Popen[bytes]") -> Ending:
        """Do the duties of every second until the payload ends or must be ended."""
        while payload.poll() is None:
            told = self.told_to_end()
            if told:
                return told
            self.do_duties()
            moment = time.monotonic()
            broken = limit_reached(self.job, moment - self.started.monotonic, moment - self.log_grew)
            if broken:
                return broken
            self.sleep(min(self.tick_at, self.started.monotonic + self.job["deadline_seconds"]))
        ending = ending_of(payload.returncode)
        return ending if ending.state == "succeeded" else self.told_to_end() or ending

    def told_to_end(self) -> Optional[Ending]:
        """By a signal, or by a file: who shares our files need not be on this machine."""
        if self.terminated or os.path.exists("cancel.json"):
            return cancelled()
        if os.path.exists(self.job.get("ends_with") or ""):
            return Ending("succeeded", "the first node has ended")
        return None

    def do_duties(self) -> None:
        moment = time.monotonic()
        if moment >= self.beat_at:
            self.beat_at = moment + HEARTBEAT_SECONDS
            with open("heartbeat", "w"):
                os.utime("heartbeat", None)
        if moment >= self.tick_at:
            self.tick_at = moment + TICK_SECONDS
            self.telemetry_file.write(self.telemetry.tick(self.time()))
            size = sum(log_streams(".").values())
            if size != self.log_size:
                self.log_size, self.log_grew = size, moment

    def time(self) -> float:
        """Wall-clock time that goes on evenly from the start of the trial, whatever is done to the clock."""
        return self.started.wall + time.monotonic() - self.started.monotonic

    def sleep(self, until: float) -> None:
        """Until then, or until a signal or telemetry comes."""
        seconds = max(0.0, until - time.monotonic())
        waited_for: List[Any] = [self.wake]
        ready, _, _ = select.select(waited_for + self.telemetry.sources, [], [], seconds)
        if self.wake in ready:
            os.read(self.wake, 4096)
        for source in [source for source in self.telemetry.sources if source in ready]:
            self.telemetry_file.write(self.telemetry.receive(source, self.time()))

    def finish(self, ending: Ending) -> None:
        """End whatever the trial left, then tell how it ended."""
        grace = (read_json("cancel.json") or self.job).get("grace_seconds", DEFAULT_GRACE_SECONDS)
        ended = now()
        left = sweep(self.mark, grace)
        remove_containers(self.container.get("runtime"), self.mark)
        code = self.payload.poll() if self.payload else None
        left += self.wait_for_gpus()
        self.telemetry.close()
        if self.probes:
            self.probes.join()
        write_json("exit.json", exit_record(ending, code, self.started, ended, left))

    def wait_for_gpus(self) -> List[int]:
        """The trial's processes that a GPU still knows after ten seconds: a driver may take a while to let go."""
        if not isinstance(self.telemetry, GpuTelemetry):
            return []
        give_up = time.monotonic() + 10.0
        left = self.telemetry.left_on_gpus()
        while left and time.monotonic() < give_up:
            time.sleep(0.5)
            left = self.telemetry.left_on_gpus()
        return left


def cancelled() -> Ending:
    """Why the trial is ended: what the request said, or just that somebody asked."""
    request = read_json("cancel.json") or {}
    return Ending(request.get("state", "cancelled"), request.get("cause", "ended from outside (TERM)"))


def sweep_after_dead_supervisor(directory: str) -> None:
    """Do what a supervisor that was killed can do no more. Two at once do no harm."""
    os.chdir(directory)
    write_json("sweeper.json", own_identity())
    job, supervisor, request = (read_json(name) or {} for name in ("job.json", "supervisor.json", "cancel.json"))
    left = sweep(job["mark"], request["grace_seconds"])
    remove_containers((job["container"] or {}).get("runtime"), job["mark"])
    if read_json("exit.json") is None:
        ended = now()
        seconds = ended.monotonic - supervisor["monotonic"]
        started = Moment(ended.wall - seconds, supervisor["monotonic"])
        write_json("exit.json", exit_record(cancelled(), None, started, ended, left))


# ---------------------------------------------------------------------------------------------------- Slurm

SLURM_PROGRAMS = ("squeue", "sacct", "scancel", "sbatch", "scontrol")
SLURM_SECONDS = 20.0
SLURM_SETTINGS = re.compile(r"^(SBATCH|SLURM|SQUEUE|SACCT|SCANCEL|SCONTROL)_(?!CONF$)")
"""Variables that change what Slurm's commands do; only SLURM_CONF, which says where Slurm is, stays."""


def slurm_command(argv: List[str], script: bytes = b"") -> Json:
    """Run one of Slurm's commands in a clean environment: its exit code, stdout and stderr."""
    if argv[0] not in SLURM_PROGRAMS:
        raise ValueError(f"{argv[0]!r} is none of {', '.join(SLURM_PROGRAMS)}")
    surroundings = {name: value for name, value in os.environ.items() if not SLURM_SETTINGS.match(name)}
    try:
        done = subprocess.run(  # noqa: UP022  (Python 3.6 has no capture_output)
            argv, input=script, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=surroundings, timeout=SLURM_SECONDS
        )
    except FileNotFoundError:
        return {"code": 127, "out": "", "err": f"{argv[0]} is not installed here: is this the cluster's login node?"}
    except subprocess.TimeoutExpired:
        return {"code": 124, "out": "", "err": f"{argv[0]} did not answer within {SLURM_SECONDS:g} s"}
    out, err = (data.decode("utf-8", "replace") for data in (done.stdout, done.stderr))
    return {"code": done.returncode, "out": out, "err": err}


def find_job(directory: str, name: str) -> Json:
    """The ``job`` of a trial, or what squeue complained of.

    The job's number is written once sbatch has told it. Who was killed between the two left a job of this name.
    """
    known = read_json(os.path.join(directory, "slurm.json"))
    if known is not None:
        return known
    answer = slurm_command(["squeue", "--noheader", "--states=all", "--name=" + name, "--format=%i"])
    return remember_job(directory, answer) if answer["out"].strip() else dict(answer, job=None)


def remember_job(directory: str, answer: Json) -> Json:
    """Note the job that a command has named."""
    record = {"schema": SCHEMA, "job": re.split(r"[;\s]", answer["out"].strip())[0], "code": 0, "err": ""}
    write_json(os.path.join(directory, "slurm.json"), record)
    return record


def allocate(directory: str) -> None:
    """What only the allocation tells, written into the scripts of all nodes, before any of them starts."""
    os.chdir(directory)
    if os.path.exists("allocation.json"):
        sys.exit("Slurm started the job again: a trial is one execution, its files are left as they are")
    listed = output(["scontrol", "show", "hostnames", os.environ["SLURM_JOB_NODELIST"]])
    names = listed.split()
    known = dict(line.split() for line in output(node_addresses(listed)).splitlines())
    addresses = [known.get(name, name) for name in names]
    port = free_port(int(os.environ["SLURM_JOB_ID"]) % len(PORTS))
    values = {f"address{rank}.dlperf.invalid": address for rank, address in enumerate(addresses)}
    values["port.dlperf.invalid"] = str(port)
    for rank in range(len(names)):
        fill_scripts(f"node{rank}", values)
    write_json("allocation.json", {"schema": SCHEMA, "nodes": names, "addresses": addresses, "port": port})


def node_addresses(names: str) -> List[str]:
    """Asks for the address by which Slurm itself reaches each node: a name need not be known to every resolver."""
    return ["sinfo", "--noheader", "--Node", "--nodes=" + ",".join(names.split()), "--format=%N %o"]


def fill_scripts(folder: str, values: Dict[str, str]) -> None:
    """Put real values in the place of stand-ins; nothing that a shell could take for more than a word."""
    for value in values.values():
        if not re.match(r"^[A-Za-z0-9._:,-]+$", value):
            raise ValueError(f"{value!r} cannot stand in a script")
    for path in (os.path.join(folder, name) for name in ("launch.sh", "payload.sh")):
        if os.path.exists(path):
            text = read_text(path)
            for name, value in values.items():
                text = text.replace(name, value)
            write_atomic(path, text.encode("utf-8"), 0o700)


def task(directory: str) -> None:
    """This node's share of a trial, in the foreground: Slurm must know that the node is in use."""
    folder = os.path.join(directory, "node" + os.environ["SLURM_NODEID"])
    job = read_json(os.path.join(folder, "job.json")) or {}
    indices = re.findall(r"\d+", os.environ.get("CUDA_VISIBLE_DEVICES", "")) or map(str, job["gpu_indices"])
    given = ",".join(indices)
    if given:
        write_json(os.path.join(folder, "job.json"), dict(job, gpu_indices=[int(index) for index in given.split(",")]))
    values = {"gpus.dlperf.invalid": given, "node.dlperf.invalid": os.environ["SLURMD_NODENAME"]}
    fill_scripts(folder, {name: value for name, value in values.items() if value})
    Supervisor(folder).run()
    ended = read_json(os.path.join(folder, "exit.json")) or {}
    sys.exit(0 if ended.get("state") == "succeeded" else 1)


# ------------------------------------------------------------------------------------------------ the agent


def hello(request: Json, raw: bytes) -> Answer:
    """Who and what answers here."""
    return {
        "python": platform.python_version(),
        "hostname": socket.gethostname(),
        "boot_id": boot_id(),
        "clock": time.time(),
        "home": os.path.expanduser("~"),
        "uid": os.getuid(),
    }, b""


def put(request: Json, raw: bytes) -> Answer:
    """Write files, each whole: ``files`` lists path, mode and size; the raw bytes follow one another."""
    offset = 0
    for entry in request["files"]:
        path = confined(entry["path"])
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        write_atomic(path, raw[offset : offset + entry["size"]], entry["mode"])
        os.chmod(path, entry["mode"])
        offset += entry["size"]
    return {}, b""


def start(request: Json, raw: bytes) -> Answer:
    """Write a trial's files and start its supervisor, unless that was done before; who supervises it."""
    directory = confined(request["directory"])
    if read_json(os.path.join(directory, "supervisor.json")) is None:
        os.makedirs(directory, 0o700, exist_ok=True)
        put(request, raw)
        detach(["run", directory], os.path.join(directory, "supervisor.log"))
    return {"supervisor": wait_for_record(directory, "supervisor.json")}, b""


def wait_for_record(directory: str, name: str) -> Json:
    """What a process that was just detached says of itself."""
    give_up = time.monotonic() + START_SECONDS
    while time.monotonic() < give_up:
        record = read_json(os.path.join(directory, name))
        if record is not None:
            return record
        time.sleep(0.002)
    said = read_text(os.path.join(directory, "supervisor.log")).strip().splitlines() or ["no message"]
    raise OSError(f"the supervisor did not start within {START_SECONDS:g} s: {said[-1]}")


def detach(arguments: List[str], log: str) -> None:
    """Run this file as a process of its own session, child of nobody here."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork() == 0:
            descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(descriptor, 1)
            os.dup2(descriptor, 2)
            os.execv(sys.executable, [sys.executable, "-I", "-S", os.path.abspath(__file__), *arguments])
    finally:
        os._exit(0)


def observe(request: Json, raw: bytes) -> Answer:
    """How many trials stand, one report each."""
    return {"reports": [report(confined(directory)) for directory in request["directories"]]}, b""


def report(directory: str) -> Json:
    """One trial: its keeper is looked at before its last word, so that an end between the two is not missed."""
    supervisor = read_json(os.path.join(directory, "supervisor.json"))
    alive = is_alive(supervisor) or is_alive(read_json(os.path.join(directory, "sweeper.json")))
    ended = read_json(os.path.join(directory, "exit.json"))
    job = read_json(os.path.join(directory, "job.json"))
    here = bool(supervisor and supervisor["boot_id"] == boot_id())
    orphaned = bool(here and not alive and not ended and job and marked_pids(job["mark"]))
    return {
        "supervisor": supervisor,
        "alive": alive,
        "orphaned": orphaned,
        "rebooted": bool(supervisor and not here),
        "exit": ended,
        "cancelled": os.path.exists(os.path.join(directory, "cancel.json")),
        "heartbeat": modified(os.path.join(directory, "heartbeat")),
        "streams": log_streams(directory),
    }


def read(request: Json, raw: bytes) -> Answer:
    """Byte ranges of many files, at most READ_LIMIT bytes together; a size of -1 is a file that is not there."""
    parts, sizes, room = [], [], READ_LIMIT
    for entry in request["ranges"]:
        part = read_range(confined(entry["path"]), entry["offset"], min(entry["limit"], room))
        sizes.append(-1 if part is None else len(part))
        parts.append(part or b"")
        room -= len(parts[-1])
    return {"sizes": sizes}, b"".join(parts)


def read_range(path: str, offset: int, limit: int) -> Optional[bytes]:
    try:
        with open(path, "rb") as stream:
            stream.seek(offset)
            return stream.read(limit)
    except (FileNotFoundError, NotADirectoryError):
        return None


def cancel(request: Json, raw: bytes) -> Answer:
    """End a trial: tell its supervisor, or do its work where it is dead. The first request is the one that counts."""
    directory = confined(request["directory"])
    supervisor = read_json(os.path.join(directory, "supervisor.json"))
    if supervisor is None or read_json(os.path.join(directory, "exit.json")) is not None:
        return {}, b""
    wish = os.path.join(directory, "cancel.json")
    if read_json(wish) is None:
        write_json(wish, {key: request[key] for key in ("grace_seconds", "state", "cause")})
    if is_alive(supervisor):
        send(supervisor["pid"], signal.SIGTERM)
    elif supervisor["boot_id"] == boot_id() and not is_alive(read_json(os.path.join(directory, "sweeper.json"))):
        detach(["sweep", directory], os.path.join(directory, "supervisor.log"))
        wait_for_record(directory, "sweeper.json")
    return {}, b""


def check(request: Json, raw: bytes) -> Answer:
    os.makedirs(ROOT, 0o700, exist_ok=True)
    return readiness(request["container"], request["files"]), b""


def slurm(request: Json, raw: bytes) -> Answer:
    """Ask Slurm; the raw bytes are a script for sbatch."""
    return slurm_command(request["argv"], raw), b""


def submit(request: Json, raw: bytes) -> Answer:
    """Write a trial's files and queue its job, unless it has one. Two at once queue one job: the other waits."""
    directory = confined(request["directory"])
    os.makedirs(directory, 0o700, exist_ok=True)
    with open(os.path.join(directory, "submit.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = find_job(directory, request["name"])
        if found["job"] is not None or found["code"] != 0:
            return found, b""
        put(request, raw)
        with open(os.path.join(directory, "batch.sh"), "rb") as script:
            answer = slurm_command(["sbatch", "--parsable"], script.read())
        return (remember_job(directory, answer) if answer["code"] == 0 else dict(answer, job=None)), b""


def job(request: Json, raw: bytes) -> Answer:
    """The job that a trial has, if it has one."""
    return find_job(confined(request["directory"]), request["name"]), b""


def probe(request: Json, raw: bytes) -> Answer:
    return environment(request["container"]), b""


def logins(request: Json, raw: bytes) -> Answer:
    """Whether this machine may log in to others by ssh, as a launcher would: ssh's complaint for each address."""
    ssh = ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", *request["options"]]
    started = [
        subprocess.Popen([*ssh, address, "true"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for address in request["addresses"]
    ]
    complaints = [child.communicate()[1].decode("utf-8", "replace").strip() for child in started]
    failed = [child.returncode != 0 for child in started]
    return {"complaints": [(said or "no message") if bad else "" for said, bad in zip(complaints, failed)]}, b""


def port(request: Json, raw: bytes) -> Answer:
    return {"port": free_port(request["first"])}, b""


def remove(request: Json, raw: bytes) -> Answer:
    """Remove the folders of trials that are over: how many bytes each held, or why it stays."""
    return {"outcomes": [remove_trial(confined(trial), trial) for trial in request["trials"]]}, b""


def remove_trial(directory: str, trial: str) -> Json:
    shares = [os.path.join(directory, name) for name in (os.listdir(directory) if os.path.isdir(directory) else ())]
    shares = [share for share in shares if os.path.exists(os.path.join(share, "job.json"))]
    problem = "" if shares else "nothing of it is here"
    problem = next((said for said in map(why_kept, shares) if said), problem)
    size = sum(
        regular_size(os.path.join(folder, name)) or 0 for folder, _, files in os.walk(directory) for name in files
    )
    try:
        if not problem:
            shutil.rmtree(directory)
    except OSError as error:
        problem = f"{error.filename}: {error.strerror}"
    return {"bytes": size, "problem": problem}


def why_kept(share: str) -> str:
    """What speaks against removing one node's share of a trial; a share that never started holds nothing."""
    supervisor, ended = (read_json(os.path.join(share, name)) for name in ("supervisor.json", "exit.json"))
    if supervisor and not ended:
        return "it left no exit file: its processes may still run"
    mark = (read_json(os.path.join(share, "job.json")) or {}).get("mark", "")
    return "processes of it still run" if is_alive(supervisor) or marked_pids(mark) else ""


OPERATIONS = {
    operation.__name__: operation
    for operation in (hello, put, start, observe, read, cancel, check, logins, slurm, submit, job, probe, port, remove)
}


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Answer requests until the other side is gone, or has been silent so long that it must be."""
    while select.select([source], [], [], IDLE_AGENT_SECONDS)[0]:
        size = source.read(4)
        if len(size) < 4:
            return
        request = json.loads(source.read(struct.unpack(">I", size)[0]).decode("utf-8"))
        answer, raw = answer_to(request, source.read(request.get("raw", 0)))
        body = json.dumps(dict(answer, raw=len(raw))).encode("ascii")
        sink.write(struct.pack(">I", len(body)) + body + raw)
        sink.flush()


def answer_to(request: Json, raw: bytes) -> Answer:
    """An operation's answer, or its error in one line: one bad request must not end the agent."""
    try:
        return OPERATIONS[request["operation"]](request, raw)
    except OSError as error:
        return {"error": f"{error.filename}: {error.strerror}" if error.filename else str(error)}, b""
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}, b""


def agent() -> None:
    """Speak on what was stdout; anything that prints by mistake goes to stderr."""
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, sink)


def main(arguments: List[str]) -> None:
    if arguments == ["agent"]:
        agent()
    elif len(arguments) == 2 and arguments[0] == "run":
        Supervisor(arguments[1]).run()
    elif len(arguments) == 2 and arguments[0] == "sweep":
        sweep_after_dead_supervisor(arguments[1])
    elif len(arguments) == 2 and arguments[0] == "allocate":
        allocate(arguments[1])
    elif len(arguments) == 2 and arguments[0] == "task":
        task(arguments[1])
    else:
        sys.exit("usage: supervisor.py agent | run DIR | sweep DIR | allocate DIR | task DIR")


if __name__ == "__main__":
    main(sys.argv[1:])
