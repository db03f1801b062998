"""A trial's launch → the files of each node, and which nodes start them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from dlperf.catalog.machines import Node
from dlperf.catalog.placeholders import finish
from dlperf.errors import RequestError
from dlperf.plan.filling import fill_launch
from dlperf.plan.model import Launch
from dlperf.render.containers import Wrapping, wrap
from dlperf.render.launchers import Launcher, Seat, find_launcher
from dlperf.render.script import script

LAUNCH = "launch.sh"
"""What the supervisor starts with ``sh``."""
PAYLOAD = "payload.sh"
"""What ``launch.sh`` starts inside a container."""


@dataclass(frozen=True)
class Runtime:
    """What only a starting trial knows."""

    master_address: str
    """Of the first node, as the others reach it."""
    master_port: str
    """Free on the first node."""
    folders: Mapping[str, str]
    """Node name → absolute path of the trial's folder on that node."""
    programs: Mapping[str, bytes] = field(default_factory=dict)
    """Name of a recipe's file → its content."""


@dataclass(frozen=True)
class RenderedNode:
    """What one node gets."""

    files: dict[str, bytes]
    """Path below the trial's folder on the node → content."""
    start: bool
    """Whether ``launch.sh`` is started there, or another node reaches this one (mpirun, horovodrun)."""


def mark(trial_id: str, node: str) -> str:
    """The value of ``DLPERF_TRIAL`` and of the container's label: by it a node's share of a trial is found."""
    return f"{trial_id}/{node}"


def render_trial(trial_id: str, launch: Launch, runtime: Runtime) -> dict[str, RenderedNode]:
    """The files of every node, by node name.

    Raises:
        RequestError: the launch names a launcher, a container runtime or a program that is not there.
    """
    launcher = find_launcher(launch.launcher)
    programs = _programs(launch, runtime)
    rendered = {}
    for rank, node in enumerate(launch.nodes):
        start = launcher.everywhere or rank == 0
        scripts = _scripts(trial_id, launch, runtime, launcher, rank) if start else {}
        rendered[node.name] = RenderedNode(programs | scripts, start)
    return rendered


def _programs(launch: Launch, runtime: Runtime) -> dict[str, bytes]:
    for name in launch.files:
        if name not in runtime.programs:
            raise RequestError(
                f"program {name!r} is neither in dlperf/workloads nor in catalog/workloads: add it there"
            )
    return {f"files/{name}": runtime.programs[name] for name in launch.files}


def _scripts(trial_id: str, launch: Launch, runtime: Runtime, launcher: Launcher, rank: int) -> dict[str, bytes]:
    node = launch.nodes[rank]
    folder = runtime.folders[node.name]
    launch = fill_launch(launch, partial(_filled, _values(launch, runtime, rank)))
    environment = _environment(mark(trial_id, node.name), launch, node)
    seat = Seat(launch, rank, environment, runtime.master_address, runtime.master_port, f"{folder}/ranks")
    command = launcher.words(seat)
    comment = f"trial {trial_id}\nnode {node.name}, {rank + 1} of {len(launch.nodes)}"
    if launch.container is None:
        workdir = launch.workdir or (f"{folder}/files" if launch.files else folder)
        return {LAUNCH: script(comment, environment, workdir, launch.setup, command)}
    return {
        LAUNCH: script(comment, {}, None, (), _in_container(launch, environment, folder, node)),
        PAYLOAD: script(comment, environment, None, launch.setup, command),
    }


def _filled(values: Mapping[str, str], text: str) -> str:
    try:
        return finish(text, values)
    except KeyError as error:
        raise RequestError(f"placeholder {{{error.args[0]}}} in {text!r} has no value: plan again") from error


def _in_container(launch: Launch, environment: Mapping[str, str], folder: str, node: Node) -> tuple[str, ...]:
    assert launch.container is not None
    if launch.container.runtime == "pyxis" and launch.executor != "slurm":
        raise RequestError("container runtime 'pyxis' belongs to Slurm: name another as `runtime:` of the hardware")
    wrapping = Wrapping(
        container=launch.container,
        mark=environment["DLPERF_TRIAL"],
        folder=folder,
        gpus=bool(node.gpu_indices),
        workdir=launch.workdir or launch.container.workdir,
        environment={"DLPERF_TRIAL": environment["DLPERF_TRIAL"]},
        command=("sh", f"{folder}/{PAYLOAD}"),
    )
    return wrap(wrapping)


def _environment(trial_mark: str, launch: Launch, node: Node) -> dict[str, str]:
    """What dlperf sets, under what the catalogue sets, but for the mark. Slurm itself says which GPUs it gives."""
    environment = {"PYTHONUNBUFFERED": "1", "NCCL_DEBUG": "VERSION"}
    if node.gpu_indices and launch.executor != "slurm":
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, node.gpu_indices))
    if node.interface:
        environment |= {"NCCL_SOCKET_IFNAME": node.interface, "GLOO_SOCKET_IFNAME": node.interface}
    return environment | launch.env | {"DLPERF_TRIAL": trial_mark}


def _values(launch: Launch, runtime: Runtime, rank: int) -> dict[str, str]:
    """What only this node of a starting trial knows, by the name of its placeholder."""
    folder = runtime.folders[launch.nodes[rank].name]
    return {
        "files": f"{folder}/files",
        "ranks": f"{folder}/ranks",
        "node_rank": str(rank),
        "master_address": runtime.master_address,
        "master_port": runtime.master_port,
        "hosts": ",".join(node.address for node in launch.nodes),
    }
