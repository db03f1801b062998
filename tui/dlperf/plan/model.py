"""The parts of a plan: selection, configurations, launches, trials."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from dlperf.catalog.axes import Configuration
from dlperf.catalog.machines import Container, Node, Positive, Preparation, Price
from dlperf.catalog.units import Aggregation, CompileCache, Direction, Scope
from dlperf.messages import Message
from dlperf.substitution import fill, names_in

IMPORTED = "imported"
"""In place of an executor, where a log was imported."""


@dataclass(frozen=True)
class Selection:
    """The requested axes; an empty axis means everything that the catalogue offers."""

    hardware: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    precisions: tuple[str, ...] = ()
    batch_sizes: tuple[int, ...] = ()
    scales: tuple[str, ...] = ()
    repeats: int | None = None
    protocol: str | None = None
    profile: bool = False
    """Whether a trial of each configuration runs under a profiler after the measured ones."""
    axes: tuple[str, ...] = ()
    """Values of further axes, each as ``sequence_length=8192``; those of an axis that is not named are its default."""
    nodes: tuple[str, ...] = ()
    """Nodes of the hardware to run on; the first ones that it lists if empty."""
    first_seed: int = 1
    """Seed of the first trial of a configuration."""


@dataclass(frozen=True, slots=True)
class Launch:
    """Everything an executor needs to run a configuration, without the catalogue.

    Its texts may contain placeholders of ``catalog.placeholders.RUNTIME``, which a starting trial fills.
    """

    executor: str
    nodes: tuple[Node, ...]
    gpus: int
    launcher: str
    interpreter: tuple[str, ...]
    command: tuple[str, ...]
    launcher_options: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    runtime_env: tuple[str, ...] = ()
    """Names of those variables that are the machine's own: a build and the container's runtime get them, too."""
    files: tuple[str, ...] = ()
    setup: tuple[tuple[str, ...], ...] = ()
    workdir: str | None = None
    node_preparation: Preparation = field(default_factory=Preparation)
    """Of the node's shell, also before the container's runtime."""
    program_preparation: Preparation = field(default_factory=Preparation)
    """Of the shell that starts the program, in the container if there is one."""
    build: tuple[str, ...] = ()
    """Lines of bash that run once on each node, see ``render.trial``."""
    container: Container | None = None
    queue: dict[str, Any] | None = None
    """How to ask the scheduler, whichever it is."""
    deadline_seconds: float = 3600.0
    stall_seconds: float = 600.0
    log_limit_bytes: int = 2_000_000_000
    """Of all logs of a trial; a payload that writes more is ended."""
    expected_gpu: tuple[str, ...] = ()
    """Regular expressions, one of which must match the GPU name; empty for any."""
    secret: tuple[str, ...] = ()
    """Names of variables and options whose values are secrets, besides those that look so."""
    module: str = ""
    """The framework's module of Python, which must be there."""
    python: str = ""
    """The oldest Python that the requirements have wheels for, such as 3.12."""
    first_seed: int = 1
    """What ``{trial}`` is in the first trial."""
    requirements: str = ""
    """The one of ``files`` that names packages with hashes, whose wheels are sent first."""
    compile_cache: CompileCache | Literal["", "own"] = ""
    """As ``catalog.metrics.Protocol``; ``own`` where the catalogue sets its folders, empty in plans of 0.2."""

    @property
    def imported(self) -> bool:
        """Whether nothing was launched: the log came from elsewhere."""
        return self.executor == IMPORTED

    @property
    def queued(self) -> bool:
        """Whether it runs as a job of a scheduler."""
        return self.executor not in ("direct", IMPORTED)

    @property
    def longest_seconds(self) -> float:
        """The deadline of the program, and of a build before it, which has one of its own."""
        return self.deadline_seconds * (2 if self.build else 1)

    @property
    def machine_env(self) -> dict[str, str]:
        """The variables that are the machine's own and do not wait for what is known when a trial starts."""
        known = (name for name in self.runtime_env if not any(names_in(self.env[name])))
        return {name: fill(self.env[name], {}) for name in known}

    def with_texts(self, change: Callable[[str], str]) -> Launch:
        """Return the launch with the texts changed that may contain placeholders."""
        return replace(
            self,
            interpreter=tuple(map(change, self.interpreter)),
            command=tuple(map(change, self.command)),
            launcher_options=tuple(map(change, self.launcher_options)),
            env={name: change(value) for name, value in self.env.items()},
            setup=tuple(tuple(map(change, command)) for command in self.setup),
            workdir=self.workdir and change(self.workdir),
            container=self.container and self.container.with_texts(change),
        )


@dataclass(frozen=True, slots=True)
class PlannedProtocol:
    """What a plan keeps of ``catalog.metrics.Protocol``."""

    id: str | None = None
    skip_steps: int = 0
    take_steps: int | None = None
    seconds: int | None = None
    estimator: str | None = None
    aggregate: Aggregation = "median"
    drop: int = 1
    pause_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class PlannedAccelerator:
    """What a plan keeps of ``catalog.hardware.Accelerator``."""

    id: str = ""
    peak_tflops: dict[str, Positive] = field(default_factory=dict)
    """Also that of the configuration's precision, where the accelerator has it."""
    bandwidth_gb_per_s: Positive | None = None


@dataclass(frozen=True, slots=True)
class PlannedMetric:
    """A metric of the catalogue with its unit for one case."""

    id: str
    unit: str
    direction: Direction = "higher"
    scope: Scope = "global"
    estimator: str = "last"
    basis: str = ""
    """What the value rests on besides the trial, such as a price with source and date; shown with it everywhere."""
    needs: tuple[str, ...] = ()
    """What a fair comparison needs, as ``catalog.metrics.Metric``."""


@dataclass(frozen=True)
class Version:
    """A version of a program, one side of a comparison."""

    label: str
    """Value of the axis ``revision``."""
    commit: str = ""
    moved: tuple[str, str] | None = None
    """The folder of the program's checkout and the one that stands for it."""
    environment: str = ""
    """Folder of a Python environment."""
    programs: tuple[str, ...] = ()
    """Names of the programs of the environment."""
    image: str = ""
    """Of the container."""
    requirements: str = ""
    """Lock that takes the place of the framework's."""
    packages: str = ""
    """Those of the lock that the other side's lacks, with their versions."""


@dataclass(frozen=True, slots=True)
class PlannedConfiguration:
    """A configuration with everything that running, measuring and reporting need, frozen at planning."""

    configuration: Configuration
    launch: Launch
    format: str
    unit: str
    """Of the primary metric."""
    protocol: PlannedProtocol
    repeats: int
    """Trials that count."""
    options: dict[str, str | int | float | bool] = field(default_factory=dict)
    numerics: dict[str, str] = field(default_factory=dict)
    """Data types of weights, compute, gradients, reduction and optimizer, and loss scaling; empty in plans of 0.1."""
    tuning: str = ""
    """``stock`` or ``tuned``, see ``catalog.model.Recipe``; empty where not stated."""
    accelerator: PlannedAccelerator | None = None
    peak_limit: Positive | None = None
    """Highest dense peak in TFLOP/s of the accelerators that the name of unknown hardware may mean."""
    price: Price | None = None
    gflops_per_sample: float | None = None
    facts: dict[str, str] = field(default_factory=dict)
    """Stated facts of framework and hardware: version, image, commit, cpu, driver …"""
    example: bool = False
    """The hardware is that of a published report and has no real host names: it cannot be run on."""
    metrics: tuple[PlannedMetric, ...] = ()
    """The primary metric first; none in plans of 0.1."""
    expect: tuple[str, ...] = ()
    """What a valid trial measures and prints, as ``catalog.model.Case``."""
    version: Version | None = None
    """That of the program, where versions are compared."""
    profiled: bool = False
    """Its one trial runs under a profiler and never enters results."""
    uncounted: int = 0
    """Trials at the start that run before those that count."""

    @property
    def rounds(self) -> int:
        """Trials, with those that do not count."""
        return self.repeats + self.uncounted

    @property
    def primary(self) -> PlannedMetric:
        return self.metrics[0] if self.metrics else PlannedMetric("throughput", self.unit, estimator="protocol")

    @property
    def peak_tflops(self) -> float | None:
        """Dense peak of a GPU at this precision."""
        return self.accelerator.peak_tflops.get(self.configuration.precision) if self.accelerator else None


@dataclass(frozen=True)
class Impossible:
    """A requested configuration that cannot run."""

    configuration: Configuration
    reason: Message


@dataclass(frozen=True, order=True, slots=True)
class TrialKey:
    """The name of a trial inside its campaign; ``str()`` is ``<configuration id>/<number>``."""

    configuration: str
    number: int

    def __str__(self) -> str:
        return f"{self.configuration}/{self.number}"

    def __hash__(self) -> int:
        """Half the time of the generated method, which matters for journals of many trials."""
        return hash(self.configuration) ^ self.number


@dataclass(frozen=True)
class Plan:
    """The configurations of a selection; ``trials`` is the order of execution before it is drawn."""

    selection: Selection
    configurations: tuple[PlannedConfiguration, ...]
    impossible: tuple[Impossible, ...] = ()

    @property
    def trials(self) -> tuple[TrialKey, ...]:
        return interleaved(self.configurations)


def interleaved(configurations: Sequence[PlannedConfiguration], seed: str = "") -> tuple[TrialKey, ...]:
    """Interleave repeats: all first ones before the second ones, so that drift affects all configurations alike.

    Trials under a profiler come last.

    Args:
        seed: draws the order of configurations that are compared, in each round anew; empty for that of the plan.
    """
    measured = [item for item in configurations if not item.profiled]
    rounds = range(1, 1 + max((item.rounds for item in measured), default=0))
    order = [TrialKey(name, number) for number in rounds for name in _round(measured, number, seed)]
    return (*order, *(TrialKey(item.configuration.id, 1) for item in configurations if item.profiled))


def _round(configurations: Sequence[PlannedConfiguration], number: int, seed: str) -> list[str]:
    """Return the configurations of a round; those change places that differ in nothing but program and further axes."""
    due = [item.configuration for item in configurations if number <= item.rounds]
    names = [item.id for item in due]
    if not seed:
        return names
    places: dict[Configuration, list[int]] = {}
    for place, item in enumerate(due):
        places.setdefault(replace(item, framework="", axes=()), []).append(place)
    draw = random.Random(f"{seed} {number}")
    for group in places.values():
        for place, name in zip(group, draw.sample([names[place] for place in group], len(group)), strict=True):
            names[place] = name
    return names
