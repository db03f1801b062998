"""Apply a recipe and its variants to one configuration: everything that a trial needs to start."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from dlperf.catalog.axes import parts_of
from dlperf.catalog.machines import Container, Node
from dlperf.catalog.placeholders import BUILT, RUNTIME
from dlperf.plan.model import Launch
from dlperf.plan.subject import DATA, Subject, device, no_data
from dlperf.substitution import PlaceholderError, fill, names_in, node_address

if TYPE_CHECKING:
    from dlperf.catalog.entry import Option

INSTALLER = "locked.py"
"""The program that installs locked requirements on a node."""
COMPILE_CACHES = ("CUDA_CACHE_PATH", "JAX_COMPILATION_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")
"""Variables of the folders in which CUDA, JAX, PyTorch and Triton keep what they compiled."""


def options_of(subject: Subject) -> dict[str, Option]:
    """The options that a comparison must show; the more specific entry takes precedence."""
    options = dict(subject.framework.options)
    if subject.case.ledger:
        options |= subject.case.ledger.of(subject.framework.id)
    options |= subject.recipe.options
    for variant in subject.variants:
        options |= variant.options
    return options


def launch_of(subject: Subject, arguments: tuple[str, ...] = ()) -> Launch:
    """Return the launch of a configuration.

    Args:
        arguments: given to the program after its own.

    Raises:
        PlaceholderError: a placeholder has no value, such as a data set that the hardware does not have.
    """
    recipe, hardware = subject.recipe, subject.hardware
    container = None if hardware.runtime == "none" else subject.framework.container
    launch = Launch(
        executor=hardware.executor,
        nodes=_nodes(subject),
        gpus=subject.configuration.gpus,
        launcher=subject.launcher,
        interpreter=recipe.interpreter,
        command=recipe.command,
        launcher_options=recipe.launcher_options,
        env=dict(subject.framework.env) | recipe.env,
        files=recipe.files + ((subject.framework.requirements, INSTALLER) if subject.framework.requirements else ()),
        setup=recipe.setup,
        workdir=recipe.workdir,
        node_preparation=hardware.preparation,
        program_preparation=subject.framework.preparation,
        build=_installation(subject) + tuple(_build_lines(subject, container)),
        requirements=subject.framework.requirements or "",
        queue=_queue(subject),
        deadline_seconds=recipe.deadline_seconds,
        stall_seconds=recipe.stall_seconds,
        log_limit_bytes=int(hardware.log_limit_gb * 1e9),
        expected_gpu=subject.accelerator.match if subject.accelerator else (),
        secret=(*subject.framework.secret, *hardware.secret),
        runtime_env=tuple(hardware.env),
        module=subject.framework.module,
        python=subject.framework.python,
    )
    used: set[str] = set()
    fill_used = _filler(subject, _values(subject, container), used)
    launch = _with_variants(launch, subject, arguments).with_texts(fill_used)
    own = not launch.env.keys().isdisjoint(COMPILE_CACHES)
    launch = replace(launch, compile_cache="own" if own else subject.protocol.compile_cache)
    if "build" in used and not launch.build:
        reason = f"{subject.framework.id} uses {{build}}, but neither it nor {subject.case.id} has `build:`"
        raise PlaceholderError("build", reason)
    if container is None:
        return launch
    return replace(launch, container=_planned_container(container, subject, used))


def locked_command(subject: Subject, action: str, *words: str) -> tuple[str, ...]:
    """Return a command on the framework's locked requirements, see ``workloads/stacks/locked.py``."""
    own = subject.hardware.own_packages
    keep = ("--keep", ",".join(own)) if own else ()
    return (INSTALLER, action, str(subject.framework.requirements), *words, *keep)


def _installation(subject: Subject) -> tuple[str, ...]:
    if not subject.framework.requirements:
        return ()
    python = (*subject.recipe.interpreter, "python3")[0]
    return (shlex.join((python, *locked_command(subject, "install", "site"))),)


def _build_lines(subject: Subject, container: Container | None) -> Iterator[str]:
    """The lines of a build, for what is trained.

    Raises:
        PlaceholderError: the number of samples is asked for and not known.
    """
    values = {name: text for name, text in _values(subject, container).items() if name in BUILT}
    for line in subject.framework.build + subject.case.build:
        if unknown := BUILT.difference(values).intersection(names_in(line)):
            raise PlaceholderError(min(unknown), _why_unresolved(min(unknown), subject))
        yield fill(line, values, is_last=False)


def _with_variants(launch: Launch, subject: Subject, last: tuple[str, ...]) -> Launch:
    arguments: tuple[str, ...] = ()
    for variant in subject.variants:
        options = variant.launcher_options
        launch = replace(
            launch,
            command=variant.command or launch.command,
            launcher_options=options if variant.launcher else launch.launcher_options + options,
            env=launch.env | variant.env,
            setup=launch.setup + variant.setup,
        )
        arguments += variant.args
    # The machine's own variables, such as settings of its network, take precedence.
    return replace(launch, command=launch.command + arguments + last, env=launch.env | subject.hardware.env)


def _filler(subject: Subject, values: Mapping[str, str], used: set[str]) -> Callable[[str], str]:
    """Return a function that fills the placeholders of a text and adds their names to ``used``."""

    def fill_text(text: str) -> str:
        for name in names_in(text):
            if name not in values and name not in RUNTIME:
                raise PlaceholderError(name, _why_unresolved(name, subject))
            used.add(name)
        return fill(text, values, is_last=False)

    return fill_text


def _values(subject: Subject, container: Container | None) -> dict[str, str]:
    axes, protocol = subject.configuration, subject.protocol
    further = dict(axes.axes)
    global_batch_size, length = axes.samples_per_step, further.get("sequence_length")
    values = {
        "batch_size": axes.batch_size,
        "global_batch_size": global_batch_size,
        "device_batch_size": f"{axes.batch_size / parts_of(axes.axes):g}",
        "node_batch_size": axes.batch_size * axes.gpus,
        "case": axes.case,
        "precision": axes.precision,
        "device": device(subject.hardware),
        "gpus": axes.gpus,
        "gpus_total": axes.gpus_total,
        "gpu_list": ",".join(map(str, range(axes.gpus))),
        "nodes": axes.nodes,
        "seconds": protocol.seconds or 0,
        "skip_steps": protocol.skip_steps,
        "hosts": ",".join(node.address for node in _nodes(subject)),
        **further,
    }
    if protocol.take_steps is not None:
        steps = protocol.skip_steps + protocol.take_steps
        values |= {"take_steps": protocol.take_steps, "steps": steps, "samples": steps * global_batch_size}
        values |= {"tokens": steps * global_batch_size * length} if isinstance(length, int) else {}
    mounts = container.mounts if container else {}
    data = {f"data.{name}": path for name, path in subject.hardware.data.items()}
    # In a container, a program finds a data set where it is mounted.
    return {name: str(value) for name, value in values.items()} | {
        name: mounts.get(f"{{{name}}}", path) for name, path in data.items()
    }


def _why_unresolved(name: str, subject: Subject) -> str:
    if name.startswith(DATA):
        return str(no_data(name, subject))
    return f"{subject.framework.id} needs {name}, but protocol {subject.protocol.id} measures to the end of the run"


def _planned_container(container: Container, subject: Subject, used: Collection[str]) -> Container:
    chosen = replace(container, runtime=subject.hardware.runtime or container.runtime)
    planned = chosen.with_texts(_filler(subject, _values(subject, None), set()))
    taken = planned.mounts.values()
    # A data set that the program uses and that the container does not mount has the same path inside.
    data_mounts = {
        path: path
        for name, path in subject.hardware.data.items()
        if f"data.{name}" in used and f"{{data.{name}}}" not in container.mounts and path not in taken
    }
    return replace(planned, mounts=data_mounts | planned.mounts)


def _nodes(subject: Subject) -> tuple[Node, ...]:
    """The nodes by rank; those of a scheduler are all reached through the login node, the first one listed."""
    count = subject.configuration.nodes
    if subject.hardware.job:
        login = _node(subject.hardware.nodes[0], subject)
        return tuple(replace(login, name=f"node{rank}", address=node_address(rank)) for rank in range(count))
    return tuple(_node(node, subject) for node in subject.hardware.nodes[:count])


def _node(node: Node, subject: Subject) -> Node:
    host = node.host or ("localhost" if node.transport == "local" else node.name)
    indices = node.gpu_indices if node.gpu_indices is not None else tuple(range(subject.hardware.gpus_per_node))
    visible = indices[: subject.configuration.gpus] if subject.hardware.accelerator else ()
    return replace(node, host=host, address=node.address or host, gpu_indices=visible)


def _queue(subject: Subject) -> dict[str, object] | None:
    """The catalogue's options, with ``nodes``: how many to ask for."""
    job = subject.hardware.job
    if job is None:
        return None
    return cast("dict[str, object]", job.model_dump(mode="json")) | {"nodes": subject.configuration.nodes}
