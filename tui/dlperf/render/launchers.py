"""Launchers: how the processes of a trial are started and find each other."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from dlperf.catalog import plugins
from dlperf.catalog.machines import Node
from dlperf.catalog.plugins import installed, load_plugin
from dlperf.errors import RequestError
from dlperf.plan.model import Launch
from dlperf.plan.subject import STARTED_ONCE
from dlperf.substitution import GPUS

Words = tuple[str, ...]


@dataclass(frozen=True)
class NodeLaunch:
    """A launch on one of its nodes, all placeholders filled."""

    launch: Launch
    rank: int
    """Of the node, 0 … nodes-1."""
    environment: dict[str, str]
    """The environment that the program needs, on every node."""
    master_address: str
    master_port: str
    ranks: str
    """Folder on the node for per-rank logs."""

    @property
    def node(self) -> Node:
        return self.launch.nodes[self.rank]

    @property
    def is_multi_node(self) -> bool:
        return len(self.launch.nodes) > 1

    @property
    def processes(self) -> int:
        return len(self.launch.nodes) * self.launch.gpus

    @property
    def addresses(self) -> str:
        return ",".join(node.address for node in self.launch.nodes)

    @property
    def program(self) -> Words:
        return (*self.launch.interpreter, *self.launch.command)

    @property
    def gpu_list(self) -> str:
        """Paddle wants the indices of the machine, also where CUDA_VISIBLE_DEVICES hides some of them."""
        if self.node.gpu_indices and self.launch.queued:
            return GPUS
        return ",".join(map(str, self.node.gpu_indices or range(self.launch.gpus)))


LauncherFunction = Callable[[NodeLaunch], Words]


@dataclass(frozen=True)
class Launcher:
    """A way to start processes."""

    words: LauncherFunction
    """Returns the command of one node."""
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
    """Return a launcher by name, built in or of an installed package. Raises RequestError for an unknown one."""
    if name in LAUNCHERS:
        return LAUNCHERS[name]
    if name not in installed(plugins.LAUNCHERS):
        raise RequestError(f"unknown launcher {name!r}: known are {', '.join(sorted(LAUNCHERS))}")
    return Launcher(load_plugin(plugins.LAUNCHERS, name), everywhere=True)


@launcher("plain")
def plain(task: NodeLaunch) -> Words:
    """The program itself, once on each node."""
    return task.program


@launcher("torchrun")
def torchrun(task: NodeLaunch) -> Words:
    """PyTorch's launcher with static rendezvous: ranks follow the order of the nodes.

    Options of programs stand behind ``--``: torchrun refuses those that begin two of its own, such as ``--logs``.
    """
    module = 1 if task.launch.command[:1] == ("-m",) else 0
    program = (*task.launch.command[:module], "--", *task.launch.command[module:])
    return ("torchrun", *_rendezvous(task, "-"), *task.launch.launcher_options, *program)


@launcher("multiproc")
def multiproc(task: NodeLaunch) -> Words:
    """``multiproc.py`` of NVIDIA's PyTorch examples, in the folder of the program."""
    options = _rendezvous(task, "_") if task.is_multi_node else ("--nproc_per_node", str(task.launch.gpus))
    return (*task.launch.interpreter, "./multiproc.py", *options, *task.launch.launcher_options, *task.launch.command)


def _rendezvous(task: NodeLaunch, joint: str) -> Words:
    options = {
        "--nnodes": len(task.launch.nodes),
        f"--node{joint}rank": task.rank,
        f"--nproc{joint}per{joint}node": task.launch.gpus,
        f"--master{joint}addr": task.master_address,
        f"--master{joint}port": task.master_port,
    }
    return tuple(word for name, value in options.items() for word in (name, str(value)))


@launcher("mpirun")
def mpirun(task: NodeLaunch) -> Words:
    """Open MPI, one rank for each GPU; it reaches the other nodes by ssh and exports variables by name.

    The ssh port is that of the first node: Open MPI takes one for all. In a Slurm job it asks Slurm for the hosts, and
    the variable tells it that each node has a slot for every GPU.
    """
    names = dict.fromkeys(("PATH", "LD_LIBRARY_PATH", *task.environment))
    exports = tuple(word for name in names for word in ("-x", name))
    ssh = ("-mca", "plm_rsh_args", f"-p {task.node.port}") if task.node.port else ()
    network = ("-mca", "btl_tcp_if_include", task.node.interface) if task.node.interface else ()
    program = (*task.launch.launcher_options, *task.program)
    if task.launch.executor == "slurm":
        slots = f"SLURM_TASKS_PER_NODE={task.launch.gpus}(x{len(task.launch.nodes)})"
        return ("env", slots, "mpirun", "-np", str(task.processes), *exports, *network, *program)
    return ("mpirun", *_hosts(task, *exports, *ssh, *network), *program)


@launcher("horovodrun")
def horovodrun(task: NodeLaunch) -> Words:
    """Horovod's launcher, one rank for each GPU; it exports the whole environment."""
    ssh = ("-p", str(task.node.port)) if task.node.port else ()
    network = ("--network-interface", task.node.interface) if task.node.interface else ()
    return ("horovodrun", *_hosts(task, *ssh, *network), *task.launch.launcher_options, *task.program)


def _hosts(task: NodeLaunch, *options: str) -> Words:
    """The number of processes and, for several nodes, their hosts and the options for reaching them."""
    processes = ("-np", str(task.processes))
    slots = ",".join(f"{node.address}:{task.launch.gpus}" for node in task.launch.nodes)
    return (*processes, "-H", slots, *options) if task.is_multi_node else processes


@launcher("paddle")
def paddle(task: NodeLaunch) -> Words:
    """Paddle ≥ 2.3: nodes meet at a master. Without GPUs the number of processes replaces the list of devices."""
    devices = ("--devices", task.gpu_list) if task.node.gpu_indices else ("--nproc_per_node", str(task.launch.gpus))
    options = ["--log_dir", task.ranks, *devices]
    if task.is_multi_node:
        master = f"{task.master_address}:{task.master_port}"
        options += ["--master", master, "--nnodes", str(len(task.launch.nodes)), "--rank", str(task.rank)]
    return _paddle(task, *options)


@launcher("paddle-ips")
def paddle_ips(task: NodeLaunch) -> Words:
    """Paddle 2.0 to 2.5 as the published reports start it: every node gets all addresses."""
    ips = (f"--ips={task.addresses}",) if task.is_multi_node else ()
    devices = f"--gpus={task.gpu_list}" if task.node.gpu_indices else f"--nproc_per_node={task.launch.gpus}"
    return _paddle(task, f"--log_dir={task.ranks}", devices, *ips)


@launcher("paddle-cluster")
def paddle_cluster(task: NodeLaunch) -> Words:
    """Paddle 1.x: all addresses, and each node's own."""
    addresses = (f"--cluster_node_ips={task.addresses}", f"--node_ip={task.node.address}")
    return _paddle(task, *addresses, f"--selected_gpus={task.gpu_list}")


def _paddle(task: NodeLaunch, *options: str) -> Words:
    module = (*task.launch.interpreter, "-m", "paddle.distributed.launch")
    return (*module, *options, *task.launch.launcher_options, *task.launch.command)


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
def jax(task: NodeLaunch) -> Words:
    """One process for each GPU; the program passes the variables JAX_… to ``jax.distributed.initialize``."""
    coordinator = f"JAX_COORDINATOR_ADDRESS={task.master_address}:{task.master_port}"
    environment = ("env", coordinator, f"JAX_NUM_PROCESSES={task.processes}")
    counts = (str(task.launch.gpus), str(task.rank * task.launch.gpus))
    return (*environment, "sh", "-c", _ONE_PROCESS_PER_GPU, "jax", *counts, *task.program)


@launcher("tensorflow")
def tensorflow(task: NodeLaunch) -> Words:
    """One process for each node, which find each other by TF_CONFIG.

    Every worker listens on the port that is free on the first node; nodes with the same address use the next ports.
    """
    if not task.is_multi_node:
        return task.program
    cluster = {"worker": [_listener(task, rank) for rank in range(len(task.launch.nodes))]}
    config = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": task.rank}})
    return ("env", f"TF_CONFIG={config}", *task.program)


def _listener(task: NodeLaunch, rank: int) -> str:
    addresses = [node.address for node in task.launch.nodes]
    before = addresses[:rank].count(addresses[rank])
    return f"{addresses[rank]}:{int(task.master_port) + before if before else task.master_port}"
