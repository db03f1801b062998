"""Container runtimes: turn a command on the node into a command in a container."""

import csv
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dlperf.catalog.machines import Container
from dlperf.errors import RequestError
from dlperf.substitution import NODE

Words = tuple[str, ...]

MARK_VARIABLE = "DLPERF_TRIAL"
"""The variable by which the supervisor finds a trial's processes."""
LABEL = "dlperf.trial"
"""The label by which a trial's container is found and removed."""


@dataclass(frozen=True)
class ContainerCommand:
    """A command to run in a container."""

    container: Container
    mark: str
    folder: str
    """The node's folder of the trial; it has the same path inside."""
    gpus: bool
    workdir: str | None
    command: Words

    @property
    def mounts(self) -> dict[str, str]:
        """Path on the node → path in the container."""
        return {self.folder: self.folder} | self.container.mounts


RuntimeFunction = Callable[[ContainerCommand], Words]
RUNTIMES: dict[str, RuntimeFunction] = {}


def runtime(name: str) -> Callable[[RuntimeFunction], RuntimeFunction]:
    """Register a container runtime under its name in the catalogue."""

    def register(function: RuntimeFunction) -> RuntimeFunction:
        RUNTIMES[name] = function
        return function

    return register


def in_container(inner: ContainerCommand) -> Words:
    """Return the command that runs another one in its container. Raises RequestError for an unknown runtime."""
    name = inner.container.runtime
    if name not in RUNTIMES:
        raise RequestError(f"container runtime {name!r} cannot be started here: use {', '.join(sorted(RUNTIMES))}")
    return RUNTIMES[name](inner)


@runtime("docker")
def docker(inner: ContainerCommand) -> Words:
    """Docker with the NVIDIA container toolkit."""
    return ("docker", "run", "--init", *_common(inner, gpus=("--gpus", "all")))


@runtime("podman")
def podman(inner: ContainerCommand) -> Words:
    """Podman with the container device interface; without SELinux labels, which bind mounts lack."""
    gpus = ("--device", "nvidia.com/gpu=all", "--security-opt", "label=disable")
    return ("podman", "run", *_common(inner, gpus=gpus))


def _common(inner: ContainerCommand, gpus: Words) -> Words:
    container = inner.container
    words = ["--rm", "--label", f"{LABEL}={inner.mark}", *(gpus if inner.gpus else ())]
    words += ["--network", "host"] if container.host_network else []
    words += ["--shm-size", container.shm_size] if container.shm_size else ["--ipc", "host"]
    words += _repeated("--ulimit", (f"{name}={value}" for name, value in container.ulimits.items()))
    words += _repeated("--mount", _binds(inner, "target"))
    words += ["--env", f"{MARK_VARIABLE}={inner.mark}"]
    words += ["--user", container.user] if container.user else []
    words += ["--workdir", inner.workdir] if inner.workdir else []
    return (*words, *container.options, container.image, *inner.command)


@runtime("apptainer")
def apptainer(inner: ContainerCommand) -> Words:
    """Apptainer, which uses the host's network and memory and the caller's own user."""
    words = ["apptainer", "exec", "--cleanenv", *(["--nv"] if inner.gpus else [])]
    words += _repeated("--mount", _binds(inner, "destination"))
    words += ["--env", f"{MARK_VARIABLE}={inner.mark}"]
    words += ["--pwd", inner.workdir] if inner.workdir else []
    return (*words, *inner.container.options, inner.container.image, *inner.command)


@runtime("pyxis")
def pyxis(inner: ContainerCommand) -> Words:
    """Enroot through Slurm's pyxis plugin: a step of the job on this node, which starts in the container."""
    container = inner.container
    for path in (path for mount in inner.mounts.items() for path in mount):
        if "," in path or ":" in path:
            raise RequestError(f"mount {path!r}: pyxis takes no path with a comma or a colon")
    mounts = ",".join(f"{outside}:{inside}" for outside, inside in inner.mounts.items())
    words = ["srun", "--overlap", "--nodes=1", "--ntasks=1", f"--nodelist={NODE}", "--cpu-bind=none", "--input=none"]
    words += [f"--container-image={container.image}", f"--container-mounts={mounts}"]
    words += [f"--container-workdir={inner.workdir}"] if inner.workdir else []
    return (*words, *container.options, *inner.command)


def _repeated(option: str, values: Iterable[str]) -> list[str]:
    return [word for value in values for word in (option, value)]


def _binds(inner: ContainerCommand, target: str) -> list[str]:
    return [_csv("type=bind", f"source={a}", f"{target}={b}") for a, b in inner.mounts.items()]


def _csv(*fields: str) -> str:
    """The value of ``--mount``, which is a line of CSV."""
    buffer = io.StringIO()
    csv.writer(buffer).writerow(fields)
    return buffer.getvalue().removesuffix("\r\n")
