"""What is asked of a machine: its environment for the reader of a figure, its readiness before a trial."""

import os
import platform
import pwd
import re
import shutil
import socket
import time
from typing import List, Optional

from .containers import image_digest, runtime_complaint
from .files import ROOT, SCHEMA, Json, read_text
from .gpus import gpu_facts, gpu_processes, nvlinks
from .machine import (
    cpu_facts,
    cuda_version,
    infiniband_ports,
    library_version,
    memory_fact,
    network_interfaces,
    os_name,
)
from .processes import boot_id, output

SLURM_FACTS = ("SLURM_JOB_ID", "SLURM_JOB_PARTITION", "SLURM_JOB_NODELIST", "SLURMD_NODENAME", "SLURM_CLUSTER_NAME")


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


def slurm_facts() -> Optional[Json]:
    """Job, partition, nodes, this node and cluster by Slurm's names; None outside a job."""
    facts = {name.partition("_")[2].lower(): os.environ[name] for name in SLURM_FACTS if name in os.environ}
    return facts or None


def readiness(container: Optional[Json], files: List[str]) -> Json:
    """What a check before a trial needs to know of this machine."""
    usage = shutil.disk_usage(ROOT)
    container = container or {}
    digest = image_digest(container.get("runtime"), container.get("image"))
    return {
        "clock": time.time(),
        "disk_free_bytes": usage.free,
        "gpus": gpu_facts(),
        "nvlinks": nvlinks(),
        "infiniband": infiniband_ports(),
        "gpu_processes": [process_facts(uuid, pid) for uuid, pid in gpu_processes()],
        "image_digest": digest,
        "runtime_complaint": "" if digest else runtime_complaint(container.get("runtime")),
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
