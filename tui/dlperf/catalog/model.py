"""Entries of cases and frameworks."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from dlperf.catalog.axes import SEQUENCE_LENGTH, AxisValue
from dlperf.catalog.entry import (
    AxisName,
    AxisText,
    AxisValues,
    BuildLines,
    Command,
    Device,
    Entry,
    Environment,
    FileName,
    Id,
    Launcher,
    MetricId,
    Model,
    Option,
    PositiveInt,
    PreparedEntry,
    Scale,
    Seconds,
    Unit,
)
from dlperf.catalog.hardware import Numerics
from dlperf.catalog.ledger import Ledger
from dlperf.catalog.machines import AbsolutePath, Container
from dlperf.catalog.patterns import EXPECTATION


class Axis(Model):
    """An axis beyond precision, batch size and scale: a placeholder in commands and a column of results."""

    values: AxisValues
    """The values on offer."""
    default: AxisText | int | float | None = None
    """The value that runs unless ``--set`` names others; all values if absent."""


Axes = dict[
    AxisName,
    Annotated[Axis, BeforeValidator(lambda given: {"values": given} if isinstance(given, list | tuple) else given)],
]
"""By name; a list stands for an axis of which all values run."""


class When(Model):
    """Which configurations a variant or constraint is for: every axis named must match."""

    precision: tuple[Id, ...] | None = None
    """One of these."""
    scale: tuple[Scale, ...] | None = None
    """One of these: nodes × GPUs."""
    batch_size: tuple[PositiveInt, ...] | None = None
    """One of these, per GPU."""
    gpus_total: tuple[PositiveInt, ...] | None = None
    """One of these counts over all nodes."""
    multi_gpu: bool | None = None
    """More than one GPU, or just one."""
    multi_node: bool | None = None
    """More than one node, or just one."""
    axes: dict[AxisName, AxisValues] = {}
    """Axis → one of these values."""


class Constraint(Model):
    """Configurations of a case that no framework can run."""

    when: When
    """Which ones."""
    impossible: str
    """The reason."""


BYTES = {"fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1}
"""Of a value of each type."""


class LanguageModel(Model):
    """Sizes of a decoder-only transformer, from which the arithmetic of a token is computed."""

    parameters: PositiveInt
    """That a token uses: of the whole model, unless it is a mixture of experts."""
    held_parameters: PositiveInt | None = None
    """Of the whole model, where that is more."""
    lookup_parameters: Annotated[int, Field(ge=0)] = 0
    """Of these, in tables that no matrix product reads: an input embedding that is not the head too, positions."""
    layers: PositiveInt
    """Transformer blocks."""
    hidden: PositiveInt
    """Width of the model."""

    def bytes_held(self, numerics: Mapping[str, str]) -> int:
        """Return what weights, gradients and two states of the optimizer take; those of no known type count nothing."""
        kinds = [numerics.get(name, "") for name in ("weights", "gradients", "optimizer", "optimizer")]
        return sum(BYTES.get(kind, 0) for kind in kinds) * (self.held_parameters or self.parameters)

    def gflops_per_token(self, sequence_length: int) -> float:
        """Return 10^9 FLOP of forward and backward pass, by the convention of Megatron-Core's reports.

        6 × (parameters without lookup tables) + 6 × layers × hidden × sequence length: causal attention counts once.
        """
        multiplied = self.parameters - self.lookup_parameters
        return 6 * (multiplied + self.layers * self.hidden * sequence_length) / 1e9


class Case(Entry):
    """A model on a data set, with its axes."""

    model: str
    """The name of the model; cases of one model share a page."""
    dataset: Id
    """The id of the data; hardware says where it lies."""
    unit: Unit
    """Of the value under the protocol: images/s, tokens/s, GB/s, ms …"""
    metric: MetricId | None = None
    """The primary metric: throughput, or duration where the unit is one of time, if absent."""
    metrics: tuple[MetricId, ...] | None = None
    """Measured beside the primary one, where the trial gives them; those that are ``everywhere`` if absent."""
    expect: tuple[Annotated[str, StringConstraints(pattern=EXPECTATION)], ...] = ()
    """What a valid trial measures (``final_loss < 7.5``) and prints: a regular expression for a line of any of its logs
    (``log has ^finished``, ``log lacks loss=nan``). A trial that does not has no value."""
    precisions: Annotated[tuple[Id, ...], Field(min_length=1)]
    """The ones offered."""
    batch_sizes: Annotated[tuple[PositiveInt, ...], Field(min_length=1)]
    """Per GPU. Another batch size can be asked for; these are the ones offered."""
    scales: Annotated[tuple[Scale, ...], Field(min_length=1)]
    """The ones offered, such as ``2n8g``: nodes × GPUs per node."""
    axes: Axes = {}
    """Further axes, such as the sequence length."""
    zip: tuple[tuple[AxisName, ...], ...] = ()
    """Groups of axes (``batch_size`` too) whose values go together by their positions in the lists."""
    constraints: tuple[Constraint, ...] = ()
    """What no framework can run."""
    protocol: Id = "dlperf"
    """How it is measured."""
    gflops_per_sample: Annotated[float, Field(gt=0)] | None = None
    """Training (forward and backward) of one sample, in 10^9 FLOP."""
    language_model: LanguageModel | None = None
    """In place of ``gflops_per_sample`` where the unit is tokens; needs the axis ``sequence_length``."""
    build: BuildLines = ()
    """Run after the framework's, in the same folder."""
    ledger: Ledger | None = None
    """What our programs of the case have in common and where they differ."""
    bytes_per_sample: Annotated[float, Field(gt=0)] | None = None
    """Device-memory traffic of training one sample at 16 bit, for the roofline."""

    def gflops(self, axes: Mapping[str, AxisValue]) -> float | None:
        """Return the arithmetic of one sample with these values of axes; None where it is not known."""
        length = axes.get(SEQUENCE_LENGTH)
        if self.language_model and isinstance(length, int):
            return self.language_model.gflops_per_token(length)
        return self.gflops_per_sample


class Variant(Model):
    """What changes in a recipe for some configurations; later variants win."""

    when: When
    """For which configurations."""
    command: Command | None = None
    """Replaces the recipe's command."""
    args: tuple[str, ...] = ()
    """Appended to the command."""
    env: Environment = {}
    """Added to the recipe's."""
    setup: tuple[Command, ...] = ()
    """Run after the recipe's."""
    launcher: Launcher | None = None
    """Replaces the recipe's."""
    launcher_options: tuple[str, ...] = ()
    """Appended to the recipe's; in place of them where the variant names a launcher."""
    options: dict[str, Option] = {}
    """Added to the recipe's."""
    impossible: str | None = None
    """The reason why these configurations cannot run."""


class Recipe(Model):
    """How one framework runs one case."""

    case: Id
    """What it runs."""
    tuning: Literal["", "stock", "tuned"] = ""
    """``stock``: as the framework's documentation shows, without kernels or gradients of one's own and private flags;
    ``tuned``: anything. Only like is compared with like."""
    precisions: Annotated[tuple[Id, ...], Field(min_length=1)]
    """Those that it can run."""
    batch_sizes: tuple[PositiveInt, ...] | None = None
    """The batch sizes that fit; any if absent."""
    scales: tuple[Scale, ...] | None = None
    """Those that it can run; any if absent."""
    devices: tuple[Device, ...] | None = None
    """What it computes on, where not on all that the framework does."""
    axes: Axes = {}
    """Axes of this recipe, and those of the case of which it takes other values."""
    interpreter: tuple[str, ...] = ("python3", "-u")
    """What a launcher such as torchrun replaces; empty for a program that is no Python script."""
    command: Command
    """Program and arguments, with placeholders (listed below under "Placeholders")."""
    launcher: Launcher = "plain"
    """How processes are started and find each other; also a launcher of an installed package."""
    launcher_options: tuple[str, ...] = ()
    """Options of the launcher's own command."""
    env: Environment = {}
    """Variables of the program."""
    files: tuple[FileName, ...] = ()
    """Training programs of dlperf/workloads (or of the workspace's catalog/workloads) copied to the node."""
    setup: tuple[Command, ...] = ()
    """Commands run before the clock starts."""
    workdir: AbsolutePath | None = None
    """Where the program starts; its files' folder if absent."""
    format: Id | None = None
    """Of its log, where not the framework's."""
    options: dict[str, Option] = {}
    """Facts that a fair comparison must show: dali, xla, layout, amp_level, synthetic_data …"""
    numerics: dict[Id, Numerics] = {}
    """By precision, what differs from its own numerics."""
    deadline_seconds: Seconds = 3600.0
    """After which a trial is ended."""
    stall_seconds: Seconds = 600.0
    """Without a byte in the log, after which a trial is ended."""
    variants: tuple[Variant, ...] = ()
    """Changes for some configurations."""


class Framework(PreparedEntry):
    """A software stack and its recipes."""

    version: str
    """Of the stack, as readers see it."""
    format: Id
    """Of the logs."""
    devices: Annotated[tuple[Device, ...], Field(min_length=1)] = ("gpu",)
    """What it computes on; ``cpu`` is hardware without an accelerator."""
    module: Annotated[str, Field(pattern=r"^(\w+(\.\w+)*)?$")] = ""
    """Its module of Python, such as torch, which ``dlperf check`` imports."""
    python: Annotated[str, Field(pattern=r"^(3\.\d{1,2})?$")] = ""
    """The oldest Python that its requirements have wheels for; ``dlperf check`` and ``fetch`` name an older one."""
    container: Container | None = None
    """What it runs in, unless the hardware says ``runtime: none``."""
    repository: str = ""
    """Where the programs come from."""
    commit: str = ""
    """Of the repository."""
    build: BuildLines = ()
    """Lines of bash that run once on each node before its first trial: clone, install, build an image.

    They run in an empty folder, ``{build}`` in commands, with the recipe's files that they name, after the modules; not
    in the container. The folder is used again while lines, modules and these files are the same. What they append to
    the file ``facts`` there is printed into every trial's ``build.log``.
    """
    requirements: FileName | None = None
    """Packages with exact versions and hashes, a file as of ``files``, without what ``module`` brings.

    They are installed into ``{build}/site``, which ``PYTHONPATH`` must name, before the other lines of the build.

    A node without pip's index gets the wheels that ``dlperf fetch`` downloaded. Packages of the node's Python are used
    where they have the same version, or are named in the hardware's ``own_packages``.
    """
    env: Environment = {}
    """Variables of all its programs."""
    secret: tuple[str, ...] = ()
    """As of hardware."""
    on_request: bool = False
    """Runs only where a selection names it or its case."""
    options: dict[str, Option] = {}
    """Facts of all recipes that a fair comparison must show."""
    profile: tuple[str, ...] = ()
    """Arguments with which its programs write ``profile.json``; empty where they cannot be profiled."""
    facts: dict[str, str] = {}
    """Stated software versions: python, cuda, cudnn, nccl, dali, driver …"""
    patches: tuple[str, ...] = ()
    """Changes to the model code that the report made, in words."""
    recipes: Annotated[tuple[Recipe, ...], Field(min_length=1)]
    """How it runs each case."""

    def recipe_for(self, case: Case) -> Recipe | None:
        return next((recipe for recipe in self.recipes if recipe.case == case.id), None)
