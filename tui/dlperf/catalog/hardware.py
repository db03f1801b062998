"""Entries of precisions, of accelerators and of the machines that hold them."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from dlperf.catalog.entry import Entry, Environment, Id, Model, PackageName, PositiveInt, PreparedEntry
from dlperf.catalog.linear import is_any_found
from dlperf.catalog.machines import AbsolutePath, Node, Price, Runtime
from dlperf.catalog.plugins import EXECUTORS, or_installed


class Numerics(Model):
    """Data types of a training step, such as ``fp32``, and the scaling of the loss; empty where not stated."""

    weights: str = ""
    """Of the parameters."""
    compute: str = ""
    """Of the matrix products."""
    gradients: str = ""
    """Of the gradients."""
    reduction: str = ""
    """Of the sums over ranks."""
    optimizer: str = ""
    """Of the optimizer's state."""
    residual: str = ""
    """Of the activations that the layers add to."""
    logits: str = ""
    """Of the last layer's output, before the loss."""
    loss_scaling: Literal["", "none", "static", "dynamic"] = ""
    """How the loss is scaled."""

    def stated(self) -> dict[str, str]:
        return {name: text for name, text in self if text}


UNSTATED = "unstated"
"""Precision of logs that state none, as those of MLPerf and the descriptions of its systems."""


class Precision(Entry):
    """A name of numerics."""

    numerics: Numerics
    """What the name stands for, where a recipe states nothing else."""
    peak: Id | None = None
    """The precision whose peak its matrix products have, where an accelerator lists none for it."""
    cpu: bool = False
    """Machines without a GPU have it."""


class Accelerator(Entry):
    """A GPU model with its published peaks."""

    match: tuple[str, ...] = ()
    """Regular expressions; one must be found in the name that the driver reports."""
    memory_gb: Annotated[float, Field(gt=0)]
    """Of the device, in 10^9 bytes."""
    bandwidth_gb_per_s: Annotated[float, Field(gt=0)]
    """Of the memory, in 10^9 bytes/s."""
    peak_tflops: dict[Id, Annotated[float, Field(gt=0)]]
    """Dense peak per precision, without sparsity, in 10^12 FLOP/s."""
    power_limit_watts: Annotated[float, Field(gt=0)] | None = None
    """As sold."""

    def peak_of(self, precision: Precision) -> float | None:
        """Return the dense peak of a precision's matrix products in TFLOP/s; None where the accelerator lacks them."""
        return self.peak_tflops.get(precision.id) or self.peak_tflops.get(precision.peak or "")

    def is_called(self, name: str) -> bool:
        """Return whether a driver names it so."""
        return is_any_found(self.match, name)


class QueueOptions(Model):
    """How to ask a scheduler for this hardware; ``nodes`` then lists the login node alone."""

    exclusive: bool = True
    """False shares nodes with other jobs; a campaign then runs one of its trials at a time."""
    time_limit_minutes: PositiveInt | None = None
    """Of a job; the trial's deadline and some minutes if absent."""
    extra: tuple[str, ...] = ()
    """Further options of the command that queues a job; they come last and take precedence."""
    max_nodes: PositiveInt = 1
    """That jobs of one campaign may take at once."""


class SlurmOptions(QueueOptions):
    """How to ask Slurm for this hardware."""

    partition: str | None = None
    """``--partition``; the cluster's default if absent."""
    account: str | None = None
    """``--account``."""
    qos: str | None = None
    """``--qos``."""
    constraint: str | None = None
    """``--constraint``: features of nodes."""
    licenses: str | None = None
    """``--licenses``."""
    reservation: str | None = None
    """``--reservation``."""
    gres: str | None = None
    """For one node, with ``{gpus}`` for the count: ``gpu:{gpus}`` if absent."""
    array: bool = False
    """All repeats of a configuration as one job array: queued at once, run back to back and not interleaved."""


class Hardware(PreparedEntry):
    """Machines to run on."""

    accelerator: Id | None = None
    """None is a machine without a GPU: its "GPUs" are worker processes on the CPU."""
    gpus_per_node: PositiveInt = 1
    """GPUs, or worker processes on a CPU."""
    nodes: Annotated[tuple[Node, ...], Field(min_length=1)]
    """The machines, in the order of ranks; under a scheduler its login node alone."""
    executor: Annotated[Literal["direct", "slurm"], or_installed(EXECUTORS)] = "direct"
    """``direct`` starts programs itself; ``slurm``, or the scheduler of an installed package, queues them as jobs."""
    slurm: SlurmOptions | None = None
    """Of the executor ``slurm``."""
    queue: QueueOptions | None = None
    """Of any other scheduler."""
    runtime: Runtime | None = None
    """Container runtime of these machines, in place of the framework's own choice."""
    data: dict[Id, AbsolutePath] = {}
    """Where data sets lie on the nodes, by data set id; recipes say ``{data.imagenet}``.

    In a container the program finds it where the framework mounts it, else at the same path.
    """
    own_packages: tuple[PackageName, ...] = ()
    """Packages of its Python that locked requirements never replace, such as those of a vendor's image."""
    env: Environment = {}
    """For the program and, where it runs in a container, for the runtime on the node, too."""
    secret: tuple[str, ...] = ()
    """Names of variables and options whose values are hidden everywhere but on the node, besides those that look so."""
    log_limit_gb: Annotated[float, Field(gt=0)] = 2.0
    """Of all logs of a trial, in 10^9 bytes; a trial that writes more is ended."""
    facts: dict[str, str] = {}
    """Stated environment (cpu, memory, os, driver, interconnect, topology), shown with the probed one."""
    told_later: dict[str, dict[str, str]] = {}
    """Beginning of the names of campaigns → facts that became known after their plan, in place of what it states."""
    price: Price | None = None
    """Of a GPU-hour, from which the metric ``cost_per_million`` is computed, for campaigns planned from then on."""
    example: bool = False
    """A machine of a published report: its host names are placeholders, it cannot be run on as it is."""

    @property
    def is_here(self) -> bool:
        """Whether it says of itself that it is the machine that dlperf runs on."""
        return self.executor == "direct" and all(node.transport == "local" for node in self.nodes)

    def facts_told_of(self, campaign: str) -> dict[str, str]:
        """Return the facts that became known of a campaign later: those of the longest beginning of its name."""
        begins = [begin for begin in self.told_later if campaign.startswith(begin)]
        return self.told_later[max(begins, key=len)] if begins else {}

    def has_gpus_of(self, node: Node, accelerator: Accelerator | None, found: Mapping[int, str]) -> bool:
        """Return whether a node with these GPUs can be the one described.

        Args:
            found: index → name by the driver, of every GPU of the machine.
        """
        if accelerator is None:
            return True
        indices = found if node.gpu_indices is None else node.gpu_indices
        own = [found[index] for index in indices if index in found]
        return sum(not accelerator.match or accelerator.is_called(name) for name in own) >= self.gpus_per_node

    @property
    def job(self) -> QueueOptions | None:
        """How to ask the scheduler; None where programs are started directly."""
        return self.slurm or self.queue
