"""A trial inside a job of a scheduler: fill in the values of the allocation, then run one supervisor on each node."""

import os
import re
import sys
from typing import Dict, List

from dlperf.substitution import GIVEN, GPUS, NODE, PORT, fill, node_address

from .files import SCHEMA, read_json, read_text, write_atomic, write_json
from .host.machine import free_port
from .processes import output
from .trial.run import supervise


def allocate(directory: str) -> None:
    """Write the values of the allocation into the scripts of all nodes, before any of them starts."""
    os.chdir(directory)
    if os.path.exists("allocation.json"):
        sys.exit("the scheduler started the job again: a trial is one execution, its files are left as they are")
    addresses = os.environ["DLPERF_HOSTS"].split() if "DLPERF_HOSTS" in os.environ else slurm_addresses()
    port = free_port()
    values = {node_address(rank): address for rank, address in enumerate(addresses)}
    values[PORT] = str(port)
    for rank in range(len(addresses)):
        fill_scripts(f"node{rank}", values)
    write_json("allocation.json", {"schema": SCHEMA, "addresses": addresses, "port": port})


def slurm_addresses() -> List[str]:
    """The addresses by which Slurm reaches the nodes of this job: not every resolver resolves a node's name."""
    names = output(["scontrol", "show", "hostnames", os.environ["SLURM_JOB_NODELIST"]]).split()
    sinfo = ["sinfo", "--noheader", "--Node", "--nodes=" + ",".join(names), "--format=%N %o"]
    known = dict(line.split() for line in output(sinfo).splitlines())
    return [known.get(name, name) for name in names]


def fill_scripts(folder: str, values: Dict[str, str]) -> None:
    """Fill in what is known by now; a value that a shell could take for more than a word is refused."""
    for value in values.values():
        if not re.match(r"^[A-Za-z0-9._:,-]+$", value):
            raise ValueError(f"{value!r} cannot stand in a script")
    for path in (os.path.join(folder, name) for name in ("launch.sh", "payload.sh")):
        if os.path.exists(path):
            write_atomic(path, fill(read_text(path), values, GIVEN, is_last=False).encode("utf-8"))


def task(directory: str) -> None:
    """Run this node's part of a trial in the foreground: the scheduler must know that the node is in use."""
    folder = os.path.join(directory, "node" + (os.environ.get("DLPERF_RANK") or os.environ["SLURM_NODEID"]))
    job = read_json(os.path.join(folder, "job.json")) or {}
    indices = re.findall(r"\d+", os.environ.get("CUDA_VISIBLE_DEVICES", "")) or map(str, job["gpu_indices"])
    given = ",".join(indices)
    if given:
        write_json(os.path.join(folder, "job.json"), dict(job, gpu_indices=[int(index) for index in given.split(",")]))
    values = {GPUS: given, NODE: os.environ.get("SLURMD_NODENAME", "")}
    fill_scripts(folder, {name: value for name, value in values.items() if value})
    supervise(folder)
    ended = read_json(os.path.join(folder, "exit.json")) or {}
    sys.exit(0 if ended.get("state") == "succeeded" else 1)
