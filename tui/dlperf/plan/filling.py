"""Fill placeholders in the texts of a launch, and stand-ins for values that only a running job knows.

The stand-ins are ordinary text of the scripts; the job's first steps (``nodes/supervisor/batch_job.py``) replace them.
They are names below ``.invalid``, which no network resolves (RFC 2606), and need no quoting in a shell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from dlperf.catalog.machines import Container
from dlperf.plan.model import Launch

PORT = "port.dlperf.invalid"
"""A TCP port that is free on the first node."""
GPUS = "gpus.dlperf.invalid"
"""The GPUs that the scheduler gives to a node, comma-separated."""
NODE = "node.dlperf.invalid"
"""The node's name in Slurm."""

Fill = Callable[[str], str]


def node_address(rank: int) -> str:
    """The stand-in for the address of a node of a job."""
    return f"address{rank}.dlperf.invalid"


def fill_launch(launch: Launch, fill: Fill) -> Launch:
    """Return the launch with its texts filled."""
    return replace(
        launch,
        interpreter=_texts(launch.interpreter, fill),
        command=_texts(launch.command, fill),
        launcher_options=_texts(launch.launcher_options, fill),
        env={name: fill(value) for name, value in launch.env.items()},
        setup=tuple(_texts(command, fill) for command in launch.setup),
        workdir=launch.workdir and fill(launch.workdir),
        container=launch.container and fill_container(launch.container, fill),
    )


def fill_container(container: Container, fill: Fill) -> Container:
    """Return the container with its texts filled."""
    return replace(
        container,
        image=fill(container.image),
        mounts={fill(source): fill(target) for source, target in container.mounts.items()},
        workdir=container.workdir and fill(container.workdir),
        options=_texts(container.options, fill),
    )


def _texts(texts: Iterable[str], fill: Fill) -> tuple[str, ...]:
    return tuple(map(fill, texts))
