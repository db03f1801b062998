"""Containers: a command on the node becomes a command in a container. One function for each runtime."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dlperf.catalog.machines import Container
from dlperf.errors import RequestError
from dlperf.plan.standins import NODE

Words = tuple[str, ...]

LABEL = "dlperf.trial"
"""The label by which a trial's container is found and removed."""


@dataclass(frozen=True)
class Wrapping:
    """What a runtime has to know of the trial."""

    container: Container
    mark: str
    folder: str
    """The node's folder of the trial; it has the same path inside."""
    gpus: bool
    workdir: str | None
    environment: dict[str, str]
    command: Words


Wrapper = Callable[[Wrapping], Words]
RUNTIMES: dict[str, Wrapper] = {}


def runtime(name: str) -> Callable[[Wrapper], Wrapper]:
    """Register a container runtime under its name in the catalogue."""

    def register(function: Wrapper) -> Wrapper:
        RUNTIMES[name] = function
        return function

    return register


def wrap(wrapping: Wrapping) -> Words:
    """The command that runs ``wrapping.command`` in its container.

    Raises:
        RequestError: the runtime is unknown, or none that a node starts by itself.
    """
    name = wrapping.container.runtime
    if name not in RUNTIMES:
        raise RequestError(f"container runtime {name!r} cannot be started here: use {', '.join(sorted(RUNTIMES))}")
    return RUNTIMES[name](wrapping)


@runtime("docker")
def docker(wrapping: Wrapping) -> Words:
    """Docker with the NVIDIA container toolkit."""
    return ("docker", "run", "--init", *_common(wrapping, gpus=("--gpus", "all")))


@runtime("podman")
def podman(wrapping: Wrapping) -> Words:
    """Podman with the container device interface; without SELinux labels, which bind mounts lack."""
    gpus = ("--device", "nvidia.com/gpu=all", "--security-opt", "label=disable")
    return ("podman", "run", *_common(wrapping, gpus=gpus))


def _common(wrapping: Wrapping, gpus: Words) -> Words:
    container = wrapping.container
    words = ["--rm", "--label", f"{LABEL}={wrapping.mark}", *(gpus if wrapping.gpus else ())]
    words += ["--network", "host"] if container.host_network else []
    words += ["--shm-size", container.shm_size] if container.shm_size else ["--ipc", "host"]
    words += [word for name, value in container.ulimits.items() for word in ("--ulimit", f"{name}={value}")]
    words += [word for mount in _mounts(wrapping, "target") for word in ("--mount", mount)]
    words += [word for name, value in wrapping.environment.items() for word in ("--env", f"{name}={value}")]
    words += ["--user", container.user] if container.user else []
    words += ["--workdir", wrapping.workdir] if wrapping.workdir else []
    return (*words, *container.options, container.image, *wrapping.command)


@runtime("apptainer")
def apptainer(wrapping: Wrapping) -> Words:
    """Apptainer: host network and memory by nature, and processes of the caller's own user."""
    words = ["apptainer", "exec", "--cleanenv", *(["--nv"] if wrapping.gpus else [])]
    words += [word for mount in _mounts(wrapping, "destination") for word in ("--mount", mount)]
    words += [word for name, value in wrapping.environment.items() for word in ("--env", f"{name}={value}")]
    words += ["--pwd", wrapping.workdir] if wrapping.workdir else []
    return (*words, *wrapping.container.options, wrapping.container.image, *wrapping.command)


@runtime("pyxis")
def pyxis(wrapping: Wrapping) -> Words:
    """Enroot through Slurm's pyxis plugin: a step of the job on this node, which starts in the container."""
    container = wrapping.container
    mounts = ",".join(_pyxis_mount(outside, inside) for outside, inside in _bound(wrapping).items())
    words = ["srun", "--overlap", "--nodes=1", "--ntasks=1", f"--nodelist={NODE}", "--cpu-bind=none", "--input=none"]
    words += [f"--container-image={container.image}", f"--container-mounts={mounts}"]
    words += [f"--container-workdir={wrapping.workdir}"] if wrapping.workdir else []
    return (*words, *container.options, *wrapping.command)


def _pyxis_mount(outside: str, inside: str) -> str:
    for path in (outside, inside):
        if "," in path or ":" in path:
            raise RequestError(f"mount {path!r}: pyxis takes no path with a comma or a colon")
    return f"{outside}:{inside}"


def _mounts(wrapping: Wrapping, target: str) -> list[str]:
    return [_csv("type=bind", f"source={a}", f"{target}={b}") for a, b in _bound(wrapping).items()]


def _bound(wrapping: Wrapping) -> dict[str, str]:
    """Path on the node → path in the container."""
    return {wrapping.folder: wrapping.folder} | wrapping.container.mounts


def _csv(*fields: str) -> str:
    """``--mount`` reads its value as a line of CSV."""
    return ",".join(_csv_field(field) for field in fields)


def _csv_field(field: str) -> str:
    if not any(character in field for character in ',"\r\n'):
        return field
    doubled = field.replace('"', '""')
    return f'"{doubled}"'
