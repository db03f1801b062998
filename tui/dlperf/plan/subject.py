"""A configuration with its entries of the catalogue, and the reasons why it may be impossible."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from dlperf.catalog.axes import EXPERTS, PARTS, SEQUENCE_LENGTH, AxisValue, Configuration, axes_text, matches
from dlperf.catalog.files.problem import listed
from dlperf.catalog.units import VARYING_UNITS, counts_samples
from dlperf.messages import Message, message, quoted
from dlperf.plan.axes import declared_axes
from dlperf.substitution import names_in

if TYPE_CHECKING:
    from dlperf.catalog.hardware import Accelerator, Hardware, Precision
    from dlperf.catalog.log_format import LogFormat
    from dlperf.catalog.metrics import Protocol
    from dlperf.catalog.model import Case, Framework, Recipe, Variant

DATA = "data."
"""What the placeholders of data sets begin with."""
OFFLOAD = "offload"
"""Option of a recipe that keeps weights or the state of its optimizer elsewhere."""
STARTED_ONCE = frozenset({"mpirun", "horovodrun"})
"""Launchers that start on the first node and reach the others themselves."""


@dataclass(frozen=True)
class Subject:
    """A configuration and its entries of the catalogue."""

    configuration: Configuration
    hardware: Hardware
    accelerator: Accelerator | None
    framework: Framework
    case: Case
    recipe: Recipe
    protocol: Protocol
    precisions: Mapping[str, Precision]
    log_format: LogFormat | None = None
    """None where the format is code."""

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The variants of the recipe that match this configuration, in order."""
        return tuple(variant for variant in self.recipe.variants if matches(variant.when, self.configuration))

    @property
    def launcher(self) -> str:
        return next((item.launcher for item in reversed(self.variants) if item.launcher), self.recipe.launcher)


def numerics_of(precision: Precision, recipe: Recipe) -> dict[str, str]:
    """Return the numerics of a precision, and in place of them what the recipe states."""
    own = recipe.numerics.get(precision.id)
    return precision.numerics.stated() | (own.stated() if own else {})


def device(hardware: Hardware) -> Literal["gpu", "cpu"]:
    return "gpu" if hardware.accelerator else "cpu"


def devices_of(framework: Framework, recipe: Recipe | None) -> Collection[str]:
    return (recipe and recipe.devices) or framework.devices


def precisions_of(accelerator: Accelerator | None, precisions: Mapping[str, Precision]) -> tuple[str, ...]:
    """Return the precisions of an accelerator, or of a machine without one."""
    if accelerator is None:
        return tuple(name for name, item in precisions.items() if item.cpu)
    return tuple(name for name, item in precisions.items() if accelerator.peak_of(item))


def max_nodes(hardware: Hardware) -> int:
    return hardware.job.max_nodes if hardware.job else len(hardware.nodes)


def fits(hardware: Hardware, nodes: int, gpus: int) -> bool:
    """Whether the hardware has so many nodes with so many GPUs each."""
    return nodes <= max_nodes(hardware) and gpus <= hardware.gpus_per_node


def why_impossible(subject: Subject) -> Message | None:
    """Return the first reason why a configuration cannot run, or None."""
    return (
        _wrong_machine(subject)
        or _wrong_axis(subject)
        or _excluded(subject)
        or _too_large(subject)
        or _other_unit(subject)
        or _without_data(subject)
    )


def _wrong_machine(subject: Subject) -> Message | None:
    hardware, framework, axes = subject.hardware, subject.framework, subject.configuration
    devices = devices_of(framework, subject.recipe)
    if device(hardware) not in devices:
        facts = {"framework": framework.id, "devices": listed(devices)}
        return message("wrong_device", **facts, hardware=hardware.id, device=device(hardware))
    if not fits(hardware, axes.nodes, axes.gpus):
        size = {"nodes": max_nodes(hardware), "gpus": hardware.gpus_per_node}
        return message("too_small", hardware=hardware.id, **size, scale=axes.scale)
    computed = precisions_of(subject.accelerator, subject.precisions)
    if axes.precision not in computed:
        offered = listed(computed)
        return message("hardware_precision", hardware=hardware.id, offered=offered, precision=axes.precision)
    return None


def _without_data(subject: Subject) -> Message | None:
    """Return which data set a command that no variant replaces, or its folder, needs and the hardware lacks."""
    if any(variant.command for variant in subject.recipe.variants):
        return None
    words = (*subject.recipe.command, subject.recipe.workdir or "")
    used = (name for word in words for name in names_in(word) if name.startswith(DATA))
    missing = next((name for name in used if name.removeprefix(DATA) not in subject.hardware.data), None)
    return no_data(missing, subject) if missing else None


def no_data(placeholder: str, subject: Subject) -> Message:
    """Say that the hardware does not state where a data set is."""
    return message("no_data", hardware=subject.hardware.id, data=placeholder.removeprefix(DATA))


def _wrong_axis(subject: Subject) -> Message | None:
    recipe, axes = subject.recipe, subject.configuration
    facts = {"framework": subject.framework.id, "case": recipe.case}
    if axes.precision not in recipe.precisions:
        return message("recipe_precision", **facts, offered=listed(recipe.precisions), precision=axes.precision)
    if recipe.batch_sizes and axes.batch_size not in recipe.batch_sizes:
        return message("recipe_batch_size", **facts, offered=listed(recipe.batch_sizes), batch_size=axes.batch_size)
    if recipe.scales and axes.scale not in recipe.scales:
        return message("recipe_scale", **facts, offered=listed(recipe.scales), scale=axes.scale)
    return _wrong_further_axis(subject)


def _wrong_further_axis(subject: Subject) -> Message | None:
    declared = declared_axes(subject.case, subject.recipe)
    facts = {"framework": subject.framework.id, "case": subject.case.id}
    for name, value in subject.configuration.axes:
        if name not in declared:
            return message("no_axis", **facts, axis=name, offered=listed(declared))
        if value not in declared[name].values:
            offered = listed(declared[name].values)
            return message("axis_value", **facts, axis=name, value=str(value), offered=offered)
    point = subject.configuration
    if uneven := uneven_parts(point.axes, point.gpus_total):
        parts = math.prod(uneven.values())
        return message("too_many_parts", axes=axes_text(uneven.items()), parts=parts, gpus=point.gpus_total)
    return None


def uneven_parts(axes: Iterable[tuple[str, AxisValue]], gpus: int) -> dict[str, int]:
    """Return the axes by whose parts of a model, or groups of experts, so many GPUs cannot be divided."""
    counts = {name: int(value) for name, value in axes if name in (*PARTS, *EXPERTS) and str(value).isdigit()}
    for names in (PARTS, EXPERTS):
        divided = {name: counts[name] for name in names if counts.get(name, 1) > 1}
        if gpus % math.prod(divided.values()):
            return divided
    return {}


def _excluded(subject: Subject) -> Message | None:
    met = (item for item in subject.case.constraints if matches(item.when, subject.configuration))
    reasons = [*(item.impossible for item in met), *(item.impossible for item in subject.variants)]
    for reason in filter(None, reasons):
        return quoted(reason)
    # Nodes of a job share their files.
    separate = subject.configuration.nodes > 1 and not subject.hardware.job
    if not separate or subject.launcher not in STARTED_ONCE:
        return None
    if subject.recipe.files:
        return message("one_path", launcher=subject.launcher)
    built = subject.framework.build or subject.case.build
    return message("build_started_once", launcher=subject.launcher) if built else None


def _too_large(subject: Subject) -> Message | None:
    """Return that the weights and what belongs to them do not fit into the GPUs, even divided over all of them."""
    model, accelerator, point = subject.case.language_model, subject.accelerator, subject.configuration
    options = (subject.framework.options, subject.recipe.options, *(item.options for item in subject.variants))
    if model is None or accelerator is None or any(OFFLOAD in each for each in options):
        return None
    needed = model.bytes_held(numerics_of(subject.precisions[point.precision], subject.recipe)) / point.gpus_total
    # a GPU that is sold with 80 GB has 80 GiB
    if needed <= accelerator.memory_gb * 2**30:
        return None
    sizes = {"needed": round(needed / 1e9), "memory": accelerator.memory_gb, "gpus": point.gpus_total}
    return message("too_large", case=subject.case.id, precision=point.precision, **sizes, option=OFFLOAD)


def _other_unit(subject: Subject) -> Message | None:
    """Return that logs of this format cannot be converted to the unit of the case, where that is of its throughput."""
    log_format, unit, axes = subject.log_format, subject.case.unit, dict(subject.configuration.axes)
    if log_format is None or subject.case.metric not in (None, "throughput") or not counts_samples(unit):
        return None
    for logged in log_format.units:
        varies = logged in VARYING_UNITS
        has_length = log_format.states_length or SEQUENCE_LENGTH in axes
        if counts_samples(logged) and (varies == (unit in VARYING_UNITS) or (unit == "tokens/s" and has_length)):
            return None
    return message(
        "format_of_other_unit", format=log_format.id, logged=log_format.unit, case=subject.case.id, unit=unit
    )
