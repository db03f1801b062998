"""Reproduce a third-party result: the nearest configuration that a machine can run, and what differs. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dlperf.catalog.axes import AxisValue, parse_scale
from dlperf.errors import RequestError
from dlperf.messages import Message, message
from dlperf.plan.axes import declared_axes
from dlperf.plan.model import Plan, Selection
from dlperf.plan.subject import fits, max_nodes, precisions_of
from dlperf.table.model import ConfigurationResult

if TYPE_CHECKING:
    from dlperf.catalog.files.load import Catalog
    from dlperf.catalog.hardware import Hardware
    from dlperf.catalog.model import Case, Framework, Recipe

_VERSION = re.compile(r"-v?[0-9]")
"""What follows a framework's id in the name that a report gives it."""
_NEAREST = {
    "fp8": ("bf16",),
    "mxfp8": ("fp8", "bf16"),
    "nvfp4": ("fp8", "bf16"),
    "fp16": ("amp", "bf16"),
    "amp": ("bf16",),
}
"""Precision → what comes nearest where a machine or recipe has not got it, best first."""
_IMPLIED = ("global_batch", "fsdp")
"""Axes of reports that follow from batch size and GPUs, where their values are the usual ones."""


@dataclass(frozen=True)
class Nearest:
    """What can be run of a third-party result."""

    selection: Selection
    differences: tuple[Message, ...]
    """Conditions that are not those of the result."""


def built_in_framework(name: str, frameworks: Collection[str]) -> str | None:
    """Return the framework of the catalogue that a report's name means: its id, alone or before a version."""
    return max((each for each in frameworks if _is_version_of(name, each)), key=len, default=None)


def _is_version_of(name: str, framework: str) -> bool:
    return name == framework or (name.startswith(framework) and bool(_VERSION.match(name[len(framework) :])))


def is_third_party(row: ConfigurationResult) -> bool:
    """Whether a value was published by others."""
    return row.status.code == "published"


def gpus_of(row: ConfigurationResult) -> int:
    """Return the GPUs of all nodes."""
    return row.nodes * row.gpus


def can_be_planned(row: ConfigurationResult, frameworks: Mapping[str, Framework], cases: Mapping[str, Case]) -> bool:
    """Whether a machine may exist on which a result could be run again: the catalogue has a recipe of it."""
    name = built_in_framework(row.framework, frameworks)
    return name is not None and row.case in cases and frameworks[name].recipe_for(cases[row.case]) is not None


def nearest(row: ConfigurationResult, given: Selection, catalog: Catalog) -> Nearest:
    """Return what a machine can run that is nearest to a third-party result.

    Args:
        given: hardware, framework and protocol to use in place of the result's.

    Raises:
        RequestError: nothing can; the message says why in one line.
    """
    framework_id = given.frameworks[0] if given.frameworks else built_in_framework(row.framework, catalog.frameworks)
    if framework_id is None:
        raise RequestError(f"no framework of the catalogue runs {row.framework}: name one by --framework")
    if row.case not in catalog.cases:
        raise RequestError(f"the catalogue has no case {row.case!r}, which the result is of: add it to catalog/cases/")
    hardware = _machine(row, given, catalog)
    if framework_id not in catalog.frameworks:
        raise RequestError(f"unknown framework {framework_id!r}: see `dlperf catalog frameworks`")
    case = catalog.cases[row.case]
    recipe = catalog.frameworks[framework_id].recipe_for(case)
    if recipe is None:
        raise RequestError(f"{framework_id} has no recipe for {case.id}: name another by --framework")
    accelerator = catalog.accelerators[hardware.accelerator] if hardware.accelerator else None
    precision = _precision(row.precision, recipe, precisions_of(accelerator, catalog.precisions))
    scale = _scale(row, hardware, recipe, case)
    axes, unset = _axes(row, case, recipe)
    batch_sizes = _batch_sizes(row.batch_size, recipe)
    selection = replace(
        given,
        hardware=(hardware.id,),
        frameworks=(framework_id,),
        cases=(case.id,),
        precisions=(precision,),
        batch_sizes=batch_sizes,
        scales=(scale,),
        axes=axes,
    )
    changed = [
        *_differing("hardware", row.hardware, hardware.id),
        *_differing("framework", row.framework, framework_id),
        *_differing("precision", row.precision, precision),
        *_differing("GPUs", row.scale, scale),
        *_differing("batch_size", str(row.batch_size), str((*batch_sizes, row.batch_size)[0])),
        *(message("published_unset", axis=name, value=str(value)) for name, value in unset),
    ]
    return Nearest(selection, tuple(changed))


def of_published(original: ConfigurationResult, again: ConfigurationResult) -> Message | None:
    """Return how much of the published throughput of a GPU was reached; None where one has no value."""
    if original.value is None or again.value is None:
        return None
    share = (again.value / gpus_of(again)) / (original.value / gpus_of(original))
    return message("of_published", share=share, campaign=original.campaign)


def differing_axes(row: ConfigurationResult, plan: Plan) -> list[Message]:
    """Return the axes of the planned configuration that the result states otherwise, or does not state."""
    stated, planned = dict(row.axes), plan.configurations[0].configuration
    return [
        each
        for name, value in planned.axes
        for each in _differing(name, str(stated.get(name, "not stated")), str(value))
    ]


@dataclass(frozen=True)
class BesidePublished:
    """A result of one's own and the third-party result that is most like it."""

    result: ConfigurationResult
    published: ConfigurationResult | None
    """None where none is of this model."""
    verdict: Message | None
    differences: tuple[Message, ...]
    """Conditions that both state otherwise, or one does not state."""


def beside_published(
    row: ConfigurationResult, accelerator: str, rows: Collection[ConfigurationResult]
) -> BesidePublished:
    """Find the third-party result of the same model that is most like a result.

    GPUs of one kind come first, then the same framework, then the precision, then the fewest other differences.

    Args:
        accelerator: id of the result's GPU in the catalogue; empty where unknown.
    """
    chip = accelerator.partition("-")[0]

    def distance(other: ConfigurationResult) -> tuple[int, ...]:
        unlike = (chip not in re.split(r"[-_]", other.hardware), not _is_version_of(other.framework, row.framework))
        return (*unlike, other.precision != row.precision, len(_conditions(other, row)))

    comparable = (each for each in rows if is_third_party(each) and (each.case, each.unit) == (row.case, row.unit))
    found = min((each for each in comparable if each.value), key=distance, default=None)
    if found is None:
        return BesidePublished(row, None, None, ())
    return BesidePublished(row, found, of_published(found, row), tuple(_conditions(found, row)))


def _conditions(original: ConfigurationResult, again: ConfigurationResult) -> list[Message]:
    there, here = dict(original.axes), dict(again.axes)
    usual = (name for name, value in here.items() if value == 1 and name not in there)  # one part: not divided
    skipped = {*usual, *(name for name, value in there.items() if _is_implied(original, name, value))}
    names = [name for name in {**there, **here} if name not in skipped]
    texts = [(name, str(there.get(name, "not stated")), str(here.get(name, "not stated"))) for name in names]
    fields = ("hardware", "framework", "precision", "batch_size")
    points = [(name, str(getattr(original, name)), str(getattr(again, name))) for name in fields]
    points.append(("GPUs", original.scale, again.scale))
    return [each for point in (*points, *texts) for each in _differing(*point)]


def _differing(name: str, there: str, here: str) -> Iterator[Message]:
    if there != here:
        yield message("published_differs", axis=name, there=there, here=here)


def _machine(row: ConfigurationResult, given: Selection, catalog: Catalog) -> Hardware:
    name = given.hardware[0] if given.hardware else row.hardware
    if name not in catalog.hardware:
        raise RequestError(f"no machine {name!r} is in the catalogue: name yours by --hardware")
    return catalog.hardware[name]


def _precision(wanted: str, recipe: Recipe, computed: Collection[str]) -> str:
    able = [name for name in recipe.precisions if name in computed]
    if not able:
        raise RequestError(f"the machine has none of the precisions of this recipe: {', '.join(recipe.precisions)}")
    candidates = (wanted, *_NEAREST.get(wanted, ()), able[0])
    return next(name for name in candidates if name in able)


def _batch_sizes(wanted: int | None, recipe: Recipe) -> tuple[int, ...]:
    """Return the batch size, or the one of those offered that is nearest to it."""
    if wanted is None or not recipe.batch_sizes:
        return () if wanted is None else (wanted,)
    return (min(recipe.batch_sizes, key=lambda offered: abs(offered - wanted)),)


def _scale(row: ConfigurationResult, hardware: Hardware, recipe: Recipe, case: Case) -> str:
    """Return the result's scale, or the largest one up to it that machine and recipe have."""
    offered = [text for text in (recipe.scales or case.scales) if fits(hardware, *parse_scale(text))]
    if fits(hardware, row.nodes, row.gpus) and (not recipe.scales or row.scale in recipe.scales):
        return row.scale
    smaller = [text for text in offered if _gpus(text) <= gpus_of(row)]
    if not smaller:
        size = f"{max_nodes(hardware)} × {hardware.gpus_per_node} GPUs"
        raise RequestError(f"{hardware.id} has {size}, on which this recipe does not run: name another by --hardware")
    return max(smaller, key=_gpus)


def _gpus(scale: str) -> int:
    nodes, gpus = parse_scale(scale)
    return nodes * gpus


def _axes(row: ConfigurationResult, case: Case, recipe: Recipe) -> tuple[tuple[str, ...], list[tuple[str, AxisValue]]]:
    """Return the axes that can be set, as ``name=value``, and those that cannot."""
    declared, chosen, unset = declared_axes(case, recipe), [], []
    for name, value in row.axes:
        if name in declared and str(value) in map(str, declared[name].values):
            chosen.append(f"{name}={value}")
        elif not _is_implied(row, name, value):
            unset.append((name, value))
    return tuple(chosen), unset


def _is_implied(row: ConfigurationResult, name: str, value: AxisValue) -> bool:
    """Whether the configuration has the value without an axis: a batch on each GPU, weights divided over all GPUs."""
    usual = dict(zip(_IMPLIED, ((row.batch_size or 0) * gpus_of(row), gpus_of(row)), strict=True))
    return usual.get(name) == value
