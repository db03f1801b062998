"""Launchers: how the processes of a trial are started and find each other. One function for each."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from dlperf.catalog.machines import Node
from dlperf.errors import RequestError
from dlperf.plan.model import Launch
from dlperf.plan.standins import GPUS
from dlperf.plan.subject import STARTED_ONCE


@dataclass(frozen=True)
class Seat:
    """One node's place in a trial, all placeholders filled."""

    launch: Launch
    rank: int
    """Of the node, 0 … nodes-1."""
    environment: dict[str, str]
    """What the program must find in its environment, on every node."""
    master_address: str
    master_port: str
    ranks: str
    """Folder on the node for per-rank logs."""

    @property
    def node(self) -> Node:
        return self.launch.nodes[self.rank]

    @property
    def processes(self) -> int:
        return len(self.launch.nodes) * self.launch.gpus

    @property
    def addresses(self) -> str:
        return ",".join(node.address for node in self.launch.nodes)

    @property
    def gpu_list(self) -> str:
        """Paddle wants the indices of the machine, also where CUDA_VISIBLE_DEVICES hides some of them."""
        if self.node.gpu_indices and self.launch.executor == "slurm":
            return GPUS
        return ",".join(map(str, self.node.gpu_indices or range(self.launch.gpus)))


Words = tuple[str, ...]
LauncherFunction = Callable[[Seat], Words]


@dataclass(frozen=True)
class Launcher:
    """A way to start processes."""

    words: LauncherFunction
    """The command of one node."""
    everywhere: bool
    """Started on each node; otherwise on the first, which reaches the others itself."""


LAUNCHERS: dict[str, Launcher] = {}


def launcher(name: str) -> Callable[[LauncherFunction], LauncherFunction]:
    """Register a launcher under the name that recipes use."""

    def register(function: LauncherFunction) -> LauncherFunction:
        LAUNCHERS[name] = Launcher(function, name not in STARTED_ONCE)
        return function

    return register


def find_launcher(name: str) -> Launcher:
    """The launcher of a launch.

    Raises:
        RequestError: there is none of that name.
    """
    if name not in LAUNCHERS:
        raise RequestError(f"unknown launcher {name!r}: known are {', '.join(sorted(LAUNCHERS))}")
    return LAUNCHERS[name]


@launcher("plain")
def plain(seat: Seat) -> Words:
    """The program itself, once on each node."""
    return (*seat.launch.interpreter, *seat.launch.command)


@launcher("torchrun")
def torchrun(seat: Seat) -> Words:
    """PyTorch's launcher with static rendezvous: ranks follow the order of the nodes."""
    return ("torchrun", *_rendezvous(seat, "-"), *seat.launch.launcher_options, *seat.launch.command)


@launcher("multiproc")
def multiproc(seat: Seat) -> Words:
    """``multiproc.py`` of NVIDIA's PyTorch examples, which stands beside the program."""
    options = _rendezvous(seat, "_") if len(seat.launch.nodes) > 1 else ("--nproc_per_node", str(seat.launch.gpus))
    return (*seat.launch.interpreter, "./multiproc.py", *options, *seat.launch.launcher_options, *seat.launch.command)


def _rendezvous(seat: Seat, joint: str) -> Words:
    options = {
        "--nnodes": len(seat.launch.nodes),
        f"--node{joint}rank": seat.rank,
        f"--nproc{joint}per{joint}node": seat.launch.gpus,
        f"--master{joint}addr": seat.master_address,
        f"--master{joint}port": seat.master_port,
    }
    return tuple(word for name, value in options.items() for word in (name, str(value)))


@launcher("mpirun")
def mpirun(seat: Seat) -> Words:
    """Open MPI, one rank for each GPU; it reaches the other nodes by ssh and hands every variable on by name.

    The ssh port is that of the first node: Open MPI takes one for all. In a Slurm job it needs neither ssh nor hosts:
    it asks Slurm, and is told that each node has a place for every GPU.
    """
    exports = tuple(word for name in ("PATH", "LD_LIBRARY_PATH", *seat.environment) for word in ("-x", name))
    shell = ("-mca", "plm_rsh_args", f"-p {seat.node.port}") if seat.node.port else ()
    network = ("-mca", "btl_tcp_if_include", seat.node.interface) if seat.node.interface else ()
    program = (*seat.launch.launcher_options, *plain(seat))
    if seat.launch.executor == "slurm":
        places = f"SLURM_TASKS_PER_NODE={seat.launch.gpus}(x{len(seat.launch.nodes)})"
        return ("env", places, "mpirun", "-np", str(seat.processes), *exports, *network, *program)
    return ("mpirun", *_hosts(seat, *exports, *shell, *network), *program)


@launcher("horovodrun")
def horovodrun(seat: Seat) -> Words:
    """Horovod's launcher, one rank for each GPU; it hands the whole environment on."""
    shell = ("-p", str(seat.node.port)) if seat.node.port else ()
    network = ("--network-interface", seat.node.interface) if seat.node.interface else ()
    return ("horovodrun", *_hosts(seat, *shell, *network), *seat.launch.launcher_options, *plain(seat))


def _hosts(seat: Seat, *options: str) -> Words:
    """How many processes, and where; on one node nothing is reached, so that nothing need be said of hosts."""
    processes = ("-np", str(seat.processes))
    if len(seat.launch.nodes) == 1:
        return processes
    slots = ",".join(f"{node.address}:{seat.launch.gpus}" for node in seat.launch.nodes)
    return (*processes, "-H", slots, *options)


@launcher("paddle")
def paddle(seat: Seat) -> Words:
    """Paddle ≥ 2.3: peers meet at a master. Without GPUs there are no devices to name, but processes to count."""
    devices = ("--devices", seat.gpu_list) if seat.node.gpu_indices else ("--nproc_per_node", str(seat.launch.gpus))
    options = ["--log_dir", seat.ranks, *devices]
    if len(seat.launch.nodes) > 1:
        master = f"{seat.master_address}:{seat.master_port}"
        options += ["--master", master, "--nnodes", str(len(seat.launch.nodes)), "--rank", str(seat.rank)]
    return _paddle(seat, *options)


@launcher("paddle-ips")
def paddle_ips(seat: Seat) -> Words:
    """Paddle 2.0 to 2.5 as the published reports start it: every node is told all addresses."""
    ips = (f"--ips={seat.addresses}",) if len(seat.launch.nodes) > 1 else ()
    devices = f"--gpus={seat.gpu_list}" if seat.node.gpu_indices else f"--nproc_per_node={seat.launch.gpus}"
    return _paddle(seat, f"--log_dir={seat.ranks}", devices, *ips)


@launcher("paddle-cluster")
def paddle_cluster(seat: Seat) -> Words:
    """Paddle 1.x: all addresses, and each node's own."""
    addresses = (f"--cluster_node_ips={seat.addresses}", f"--node_ip={seat.node.address}")
    return _paddle(seat, *addresses, f"--selected_gpus={seat.gpu_list}")


def _paddle(seat: Seat, *options: str) -> Words:
    module = (*seat.launch.interpreter, "-m", "paddle.distributed.launch")
    return (*module, *options, *seat.launch.launcher_options, *seat.launch.command)


_ONE_PROCESS_PER_GPU = """\
count=$1 first=$2; shift 2
index=0 pids=
while [ "$index" -lt "$count" ]; do
  JAX_PROCESS_ID=$((first + index)) JAX_LOCAL_DEVICE_IDS=$index "$@" &
  pids="$pids $!" index=$((index + 1))
done
status=0
for pid in $pids; do wait "$pid" || status=$?; done
exit "$status"
"""


@launcher("jax")
def jax(seat: Seat) -> Words:
    """One process for each GPU; the program gives the variables JAX_… to ``jax.distributed.initialize``."""
    coordinator = f"JAX_COORDINATOR_ADDRESS={seat.master_address}:{seat.master_port}"
    environment = ("env", coordinator, f"JAX_NUM_PROCESSES={seat.processes}")
    counts = (str(seat.launch.gpus), str(seat.rank * seat.launch.gpus))
    return (*environment, "sh", "-c", _ONE_PROCESS_PER_GPU, "jax", *counts, *plain(seat))


@launcher("tensorflow")
def tensorflow(seat: Seat) -> Words:
    """One process for each node, which find each other by TF_CONFIG; without peers there is nothing to say.

    Every worker listens on the port that is free on the first node; nodes of one address take the ports after it.
    """
    if len(seat.launch.nodes) == 1:
        return plain(seat)
    cluster = {"worker": [_listener(seat, rank) for rank in range(len(seat.launch.nodes))]}
    config = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": seat.rank}})
    return ("env", f"TF_CONFIG={config}", *plain(seat))


def _listener(seat: Seat, rank: int) -> str:
    addresses = [node.address for node in seat.launch.nodes]
    before = addresses[:rank].count(addresses[rank])
    return f"{addresses[rank]}:{int(seat.master_port) + before if before else seat.master_port}"
