"""What a plan is made of: selection, configurations, launches, trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dlperf.catalog.axes import Configuration
from dlperf.catalog.machines import Container, Node
from dlperf.messages import Message


@dataclass(frozen=True)
class Selection:
    """What was asked for; an empty axis means everything that the catalogue offers."""

    hardware: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    precisions: tuple[str, ...] = ()
    batch_sizes: tuple[int, ...] = ()
    scales: tuple[str, ...] = ()
    repeats: int | None = None
    protocol: str | None = None


@dataclass(frozen=True)
class Launch:
    """Everything an executor needs to run a configuration, without the catalogue.

    Strings may still hold the placeholders that only a starting trial knows: node_rank,
    master_address, master_port, files, ranks.
    """

    executor: str
    nodes: tuple[Node, ...]
    gpus: int
    launcher: str
    interpreter: tuple[str, ...]
    command: tuple[str, ...]
    launcher_options: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    setup: tuple[tuple[str, ...], ...] = ()
    workdir: str | None = None
    container: Container | None = None
    slurm: dict[str, Any] | None = None
    deadline_seconds: float = 3600.0
    stall_seconds: float = 600.0
    expected_gpu: tuple[str, ...] = ()
    """Regular expressions for the GPU name; empty where any machine will do."""


@dataclass(frozen=True)
class PlannedConfiguration:
    """A configuration with all that is needed to run, measure and report it, frozen at planning."""

    configuration: Configuration
    launch: Launch
    format: str
    unit: str
    protocol: dict[str, Any]
    """The protocol's fields, as ``catalog.model.Protocol`` dumps them."""
    repeats: int
    options: dict[str, str | int | float | bool] = field(default_factory=dict)
    accelerator: dict[str, Any] | None = None
    """The accelerator's fields, as ``catalog.model.Accelerator`` dumps them."""
    gflops_per_sample: float | None = None
    facts: dict[str, str] = field(default_factory=dict)
    """Stated facts of framework and hardware: version, image, commit, cpu, driver …"""
    example: bool = False
    """The hardware is that of a published report, its host names are placeholders: to be shown, not to be run."""


@dataclass(frozen=True)
class Impossible:
    """A configuration that was asked for and cannot run, with the reason."""

    configuration: Configuration
    reason: Message


@dataclass(frozen=True, order=True)
class TrialKey:
    """Names a trial inside its campaign; ``str()`` is ``<configuration id>/<number>``."""

    configuration: str
    number: int

    def __str__(self) -> str:
        return f"{self.configuration}/{self.number}"

    def __hash__(self) -> int:
        """A journal of 100 000 trials asks for it a million times: half the time of the generated one."""
        return hash(self.configuration) ^ self.number


@dataclass(frozen=True)
class Plan:
    """What a selection comes to. ``trials`` is the order of execution: repeats interleaved."""

    selection: Selection
    configurations: tuple[PlannedConfiguration, ...]
    impossible: tuple[Impossible, ...] = ()

    @property
    def trials(self) -> tuple[TrialKey, ...]:
        return interleaved(self.configurations)


def interleaved(configurations: Sequence[PlannedConfiguration]) -> tuple[TrialKey, ...]:
    """Every repeat of every configuration: first repeats before second ones, so that drift falls on all alike."""
    ids = [(item.configuration.id, item.repeats) for item in configurations]
    rounds = max((repeats for _, repeats in ids), default=0)
    return tuple(
        TrialKey(name, number) for number in range(1, rounds + 1) for name, repeats in ids if number <= repeats
    )
