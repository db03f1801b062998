"""A recipe with its variants, applied to one configuration: everything that a trial needs to start."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, cast

from dlperf.catalog.machines import Container, Node
from dlperf.catalog.placeholders import RUNTIME, fill, names_in
from dlperf.plan.filling import fill_container, fill_launch
from dlperf.plan.model import Launch
from dlperf.plan.standins import address, node_name
from dlperf.plan.subject import Subject

if TYPE_CHECKING:
    from dlperf.catalog.model import Option


class UnresolvedError(Exception):
    """A placeholder has no value for this configuration; the message is the reason."""


class _Filler:
    """Fills the placeholders that are known at planning time, and complains of those that nobody will know."""

    def __init__(self, subject: Subject, values: Mapping[str, str]) -> None:
        self._subject = subject
        self._values = values
        self.used: set[str] = set()
        """The placeholders that were met."""

    def __call__(self, text: str) -> str:
        self.used.update(names_in(text))
        for name in names_in(text):
            if name not in self._values and name not in RUNTIME:
                raise UnresolvedError(_why_unresolved(name, self._subject))
        return fill(text, self._values)


def options_of(subject: Subject) -> dict[str, Option]:
    """What a fair comparison must show; the more particular entry wins."""
    options = dict(subject.framework.options) | subject.recipe.options
    for variant in subject.variants:
        options |= variant.options
    return options


def launch_of(subject: Subject) -> Launch:
    """The launch of a configuration.

    Raises:
        UnresolvedError: a placeholder has no value, such as a data set that the hardware does not place.
    """
    recipe, hardware = subject.recipe, subject.hardware
    container = _container(subject)
    launch = Launch(
        executor=hardware.executor,
        nodes=_nodes(subject),
        gpus=subject.configuration.gpus,
        launcher=subject.launcher,
        interpreter=recipe.interpreter,
        command=_command(subject),
        launcher_options=_launcher_options(subject),
        env=_environment(subject),
        files=recipe.files,
        setup=_setup(subject),
        workdir=recipe.workdir,
        slurm=_slurm(subject),
        deadline_seconds=recipe.deadline_seconds,
        stall_seconds=recipe.stall_seconds,
        expected_gpu=subject.accelerator.match if subject.accelerator else (),
    )
    filler = _Filler(subject, _values(subject, container))
    launch = fill_launch(launch, filler)
    return replace(launch, container=_container_plan(container, subject, filler.used) if container else None)


def _values(subject: Subject, container: Container | None) -> dict[str, str]:
    axes, protocol = subject.configuration, subject.protocol
    values = {
        "batch_size": axes.batch_size,
        "global_batch_size": axes.batch_size * axes.gpus_total,
        "node_batch_size": axes.batch_size * axes.gpus,
        "precision": axes.precision,
        "gpus": axes.gpus,
        "gpus_total": axes.gpus_total,
        "gpu_list": ",".join(map(str, range(axes.gpus))),
        "nodes": axes.nodes,
        "skip_steps": protocol.skip_steps,
        "hosts": ",".join(node.address for node in _nodes(subject)),
    }
    if protocol.take_steps is not None:
        values |= {"take_steps": protocol.take_steps, "steps": protocol.skip_steps + protocol.take_steps}
    return {name: str(value) for name, value in values.items()} | _data(subject, container)


def _data(subject: Subject, container: Container | None) -> dict[str, str]:
    """Where the program finds each data set: on the node, or in the container where it is mounted there."""
    mounts = container.mounts if container else {}
    data = {f"data.{name}": path for name, path in subject.hardware.data.items()}
    return {name: mounts.get(f"{{{name}}}", path) for name, path in data.items()}


def _why_unresolved(name: str, subject: Subject) -> str:
    if name.startswith("data."):
        what = name.removeprefix("data.")
        return f"{subject.hardware.id} does not say where {what} lies (write `data: {{{what}: /path}}` in its entry)"
    return f"{subject.framework.id} needs {name}, but protocol {subject.protocol.id} measures to the end of the run"


def _command(subject: Subject) -> tuple[str, ...]:
    command = subject.recipe.command
    arguments: tuple[str, ...] = ()
    for variant in subject.variants:
        command = variant.command or command
        arguments += variant.args
    return command + arguments


def _setup(subject: Subject) -> tuple[tuple[str, ...], ...]:
    return tuple(chain(subject.recipe.setup, *(variant.setup for variant in subject.variants)))


def _launcher_options(subject: Subject) -> tuple[str, ...]:
    options = subject.recipe.launcher_options
    for variant in subject.variants:
        options = variant.launcher_options if variant.launcher else options + variant.launcher_options
    return options


def _environment(subject: Subject) -> dict[str, str]:
    """The machine has the last word: what it sets, such as a network's settings, is true of it alone."""
    environment = dict(subject.framework.env) | subject.recipe.env
    for variant in subject.variants:
        environment |= variant.env
    return environment | subject.hardware.env


def _container(subject: Subject) -> Container | None:
    return None if subject.hardware.runtime == "none" else subject.framework.container


def _container_plan(container: Container, subject: Subject, used: Collection[str]) -> Container:
    on_node = _Filler(subject, _values(subject, None))
    plan = fill_container(replace(container, runtime=subject.hardware.runtime or container.runtime), on_node)
    return replace(plan, mounts=_data_mounts(container, subject, used, plan.mounts.values()) | plan.mounts)


def _data_mounts(
    container: Container, subject: Subject, used: Collection[str], taken: Collection[str]
) -> dict[str, str]:
    """Data that the program is told of and that the container mounts nowhere has the same path inside."""
    return {
        path: path
        for name, path in subject.hardware.data.items()
        if f"data.{name}" in used and f"{{data.{name}}}" not in container.mounts and path not in taken
    }


def _nodes(subject: Subject) -> tuple[Node, ...]:
    """The machines in the order of ranks; under Slurm all are reached through the login node, the first one listed."""
    count = subject.configuration.nodes
    if subject.hardware.executor == "slurm":
        login = _node(subject.hardware.nodes[0], subject)
        return tuple(replace(login, name=node_name(rank), address=address(rank)) for rank in range(count))
    return tuple(_node(node, subject) for node in subject.hardware.nodes[:count])


def _node(node: Node, subject: Subject) -> Node:
    host = node.host or ("localhost" if node.transport == "local" else node.name)
    indices = node.gpu_indices if node.gpu_indices is not None else tuple(range(subject.hardware.gpus_per_node))
    visible = indices[: subject.configuration.gpus] if subject.hardware.accelerator else ()
    return replace(node, host=host, address=node.address or host, gpu_indices=visible)


def _slurm(subject: Subject) -> dict[str, object] | None:
    """The options as in the catalogue, with ``nodes``: how many to ask for."""
    slurm = subject.hardware.slurm
    if slurm is None:
        return None
    return cast("dict[str, object]", slurm.model_dump(mode="json")) | {"nodes": subject.configuration.nodes}
