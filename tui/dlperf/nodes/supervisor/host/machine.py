"""Facts of this machine: its environment for readers of a result, its readiness before a trial."""

import collections
import hashlib
import os
import platform
import pwd
import re
import shutil
import socket
import tempfile
import time
from typing import DefaultDict, List, Optional, Tuple

from ..accelerators.amd import Amd
from ..accelerators.nvidia import Nvidia
from ..accelerators.rocm_smi import RocmSmi
from ..accelerators.vendor import Vendor, bus_of
from ..files import ROOT, SCHEMA, Json, read_text, readable_json
from ..lease import lease_owner
from ..processes import boot_id
from .containers import image_digest, runtime_error
from .kernel_log import kernel_lines

MOST_ERRORS = 100
PROBE_FILES, PROBE_BYTES = 24, 1 << 16
PORTS = range(20000, 30000)
SLURM_FACTS = ("SLURM_JOB_ID", "SLURM_JOB_PARTITION", "SLURM_JOB_NODELIST", "SLURMD_NODENAME", "SLURM_CLUSTER_NAME")
VENDORS: Tuple[Vendor, ...] = (Nvidia(), Amd(), RocmSmi())
"""Of accelerators, by whose tools they are known."""


def vendor_here() -> Vendor:
    """The vendor of this machine's accelerators; one that has none where there is no driver."""
    return next((vendor for vendor in VENDORS if vendor.is_present()), Vendor())


def environment(container: Json) -> Json:
    """The content of ``environment.json``."""
    vendor = vendor_here()
    gpus = vendor.gpus()
    facts = {
        "schema": SCHEMA,
        "hostname": socket.gethostname(),
        "boot_id": boot_id(),
        "machine_id": machine_id(),
        "os": os_name(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "cpu": cpu_facts(),
        "memory_bytes": memory_fact("MemTotal"),
        "python": platform.python_version(),
        "network_interfaces": [interface_facts(name) for name in names_in("/sys/class/net") if name != "lo"],
        "gpus": gpus,
        "slurm": slurm_facts(),
        "container": {
            **{name: container.get(name) for name in ("runtime", "image")},
            "digest": image_digest(container),
        },
    }
    if gpus:
        facts.update(vendor.environment(gpus), driver=gpus[0]["driver"], cuda=cuda_version())
        add_driver_errors(vendor, gpus)
        facts["never_run_vendor"] = vendor.name if vendor.never_run else None
    return facts


def machine_id() -> str:
    """What names this machine across its boots, hashed because it is confidential (machine-id(5)); empty if unknown."""
    name = read_text("/etc/machine-id").strip()
    return hashlib.sha256(f"dlperf {name}".encode()).hexdigest()[:32] if name else ""


def add_driver_errors(vendor: Vendor, gpus: List[Json]) -> None:
    """Add to each GPU the errors that its driver reported since the boot; None where the log may not be read."""
    found = driver_errors(vendor)
    for gpu in gpus:
        own = [error["code"] for error in found or () if bus_of(error["pci_bus"]) == bus_of(gpu.get("pci_bus") or "")]
        gpu["driver_errors"] = None if found is None else own


def driver_errors(vendor: Vendor, since: float = 0.0) -> Optional[List[Json]]:
    """The errors of failing GPUs in the kernel's log, from a time on in seconds since the boot."""
    lines = kernel_lines(since) if vendor.name else []
    found = [vendor.driver_error(line) for line in lines or ()]
    return None if lines is None else [{"pci_bus": one[0], "code": one[1]} for one in found if one][:MOST_ERRORS]


def slurm_facts() -> Optional[Json]:
    """Job, partition, nodes, this node and cluster by Slurm's names; None outside a job."""
    facts = {name.partition("_")[2].lower(): os.environ[name] for name in SLURM_FACTS if name in os.environ}
    return facts or None


def readiness(container: Json, files: List[str], addresses: List[str]) -> Json:
    """What a check before a trial needs to know of this machine."""
    digest, vendor = image_digest(container), vendor_here()
    return {
        "clock": time.time(),
        "lease": lease_owner(),
        "disk_free_bytes": shutil.disk_usage(ROOT if os.path.isdir(ROOT) else os.path.dirname(ROOT)).free,
        "files_free": files_free(),
        "disk_problem": disk_problem(),
        "gpus": vendor.gpus(),
        "never_run_vendor": vendor.name if vendor.never_run else None,
        "nvlinks": vendor.links(),
        "infiniband": infiniband_ports(),
        "gpu_processes": [process_facts(uuid, pid) for uuid, pid in vendor.applications()],
        "image_digest": digest,
        "runtime_complaint": "" if digest else runtime_error(container),
        "cuda": cuda_version(),
        "missing": [path for path in files if not os.path.exists(path)],
        "unresolved": {address: error for address in addresses for error in [resolution_error(address)] if error},
        "load": os.getloadavg()[0],
        "threads": os.cpu_count(),
    }


def state_now() -> Json:
    """What this machine does now, found out without writing a file or taking much of it."""
    return {
        "lease": lease_owner(),
        "disk_free_bytes": shutil.disk_usage(ROOT if os.path.isdir(ROOT) else os.path.dirname(ROOT)).free,
        "gpus": vendor_here().gpus_now(),
        "load": os.getloadavg()[0],
        "threads": os.cpu_count(),
    }


def files_free() -> Optional[int]:
    """How many files can still be made in ``~/.dlperf``; None where its file system has no such limit."""
    status = os.statvfs(ROOT if os.path.isdir(ROOT) else os.path.dirname(ROOT))
    return status.f_favail if status.f_files else None


def disk_problem() -> str:
    """Why the files of a trial cannot be made here, as by a quota: some are made for a moment. Empty where they can."""
    folder = ""
    try:
        folder = tempfile.mkdtemp(prefix=".probe-", dir=ROOT)
        for number in range(PROBE_FILES):
            with open(os.path.join(folder, str(number)), "wb") as stream:
                os.posix_fallocate(stream.fileno(), 0, PROBE_BYTES)
    except OSError as error:
        return error.strerror or str(error)
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
    return ""


def resolution_error(address: str) -> str:
    """Why this machine cannot resolve the name of a host; empty where it can."""
    try:
        socket.getaddrinfo(address, None)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def process_facts(uuid: str, pid: int) -> Json:
    try:
        user = pwd.getpwuid(os.stat(f"/proc/{pid}").st_uid).pw_name
    except (OSError, KeyError):
        user = None
    return {"gpu": uuid, "pid": pid, "user": user, "name": read_text(f"/proc/{pid}/comm").strip()}


def cpu_facts() -> Json:
    """Model, sockets, physical cores, hardware threads, and how many of these this process and its children may use."""
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
        "usable": len(os.sched_getaffinity(0)),
    }


def memory_fact(name: str) -> Optional[int]:
    """A line of /proc/meminfo in bytes."""
    found = re.search(rf"^{name}:\s+(\d+) kB", read_text("/proc/meminfo"), re.MULTILINE)
    return int(found.group(1)) * 1024 if found else None


def os_name() -> str:
    found = re.search(r'^PRETTY_NAME="?([^"\n]*)', read_text("/etc/os-release"), re.MULTILINE)
    return found.group(1) if found else platform.system()


def cuda_version(path: str = "/usr/local/cuda/version.json") -> Optional[str]:
    """The version of the CUDA toolkit in its usual place."""
    found = readable_json(path).get("cuda")
    version = found.get("version") if isinstance(found, dict) else None
    return str(version) if version else None


def names_in(folder: str) -> List[str]:
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def interface_facts(name: str) -> Json:
    """Name, speed in Mbit/s, state and driver of a network interface."""
    base = "/sys/class/net/" + name
    speed = read_text(base + "/speed").strip()
    driver = os.path.realpath(base + "/device/driver") if os.path.exists(base + "/device") else None
    return {
        "name": name,
        "state": read_text(base + "/operstate").strip(),
        "speed_mbit": int(speed) if speed.isdigit() else None,
        "driver": driver and os.path.basename(driver),
    }


def infiniband_ports(base: str = "/sys/class/infiniband") -> List[Json]:
    """Name, state (``ACTIVE``, ``DOWN`` …) and rate of every port of an InfiniBand or RoCE adapter."""
    folders = {name: os.path.join(base, name, "ports") for name in names_in(base)}
    ports = [(name, folder, port) for name, folder in folders.items() for port in names_in(folder)]
    return [infiniband_port(os.path.join(folder, port), f"{name}:{port}") for name, folder, port in ports]


def infiniband_port(folder: str, name: str) -> Json:
    state = read_text(os.path.join(folder, "state")).rpartition(":")[2].strip()
    return {"name": name, "state": state, "rate": read_text(os.path.join(folder, "rate")).strip()}


def free_port() -> int:
    """A free TCP port of this machine, searched from a random one on, so that two trials rarely meet."""
    first = int.from_bytes(os.urandom(2), "big")
    for step in range(len(PORTS)):
        port = PORTS[(first + step) % len(PORTS)]
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
            except OSError:
                continue
            return port
    raise OSError(f"no TCP port of {PORTS[0]} to {PORTS[-1]} is free")
