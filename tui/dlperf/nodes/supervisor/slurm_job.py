"""A trial's share inside a Slurm job: what only the allocation tells, then one supervisor on each node."""

import os
import re
import sys
from typing import Dict, List

from .files import SCHEMA, read_json, read_text, write_atomic, write_json
from .machine import PORTS, free_port
from .processes import output
from .run import supervise


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
    supervise(folder)
    ended = read_json(os.path.join(folder, "exit.json")) or {}
    sys.exit(0 if ended.get("state") == "succeeded" else 1)
