"""Apply a function that fills placeholders to every text of a launch that may hold one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from dlperf.catalog.machines import Container
from dlperf.plan.model import Launch

Fill = Callable[[str], str]


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
