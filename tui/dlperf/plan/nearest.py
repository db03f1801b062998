"""The configuration nearest to a third-party result that a machine can run, and what differs. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dlperf.catalog.axes import ONE_WHERE_ABSENT, AxisValue, Configuration, parse_scale
from dlperf.errors import RequestError
from dlperf.messages import Message, message
from dlperf.plan.axes import declared_axes
from dlperf.plan.model import Plan, Selection
from dlperf.plan.possible import Possibilities
from dlperf.plan.subject import fits, max_nodes, numerics_of, uneven_parts

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
    "fp16-pure": ("fp16", "amp", "bf16-pure", "bf16"),
    "tf32": ("fp32",),
    "amp": ("bf16",),
}
"""Precision → what comes nearest where a machine or recipe has not got it, best first."""
_GLOBAL = "global_batch"
TASK = "task"
"""Axis of results of another training than the whole one of their case, such as LoRA."""


@dataclass(frozen=True)
class Nearest:
    """What can be run of a third-party result."""

    selection: Selection
    differences: tuple[Message, ...]
    """Conditions that are not those of the result."""


def built_in_framework(name: str, frameworks: Collection[str]) -> str | None:
    """Return the framework of the catalogue that a report's name means: its id, alone or before a version."""
    return max((each for each in frameworks if is_version_of(name, each)), key=len, default=None)


def is_version_of(name: str, framework: str) -> bool:
    """Whether a report's name is a framework's id, alone or before a version."""
    return name == framework or (name.startswith(framework) and bool(_VERSION.match(name[len(framework) :])))


def can_be_planned(point: Configuration, frameworks: Mapping[str, Framework], cases: Mapping[str, Case]) -> bool:
    """Whether a machine may exist on which a result could be run again: the catalogue has a recipe of it."""
    name = built_in_framework(point.framework, frameworks)
    if name is None or point.case not in cases or TASK in dict(point.axes):
        return False
    return frameworks[name].recipe_for(cases[point.case]) is not None


def nearest(point: Configuration, given: Selection, catalog: Catalog) -> Nearest:
    """Return what a machine can run that is nearest to a third-party result.

    Args:
        given: hardware, framework and protocol to use in place of the result's.

    Raises:
        RequestError: nothing can; the message says why in one line.
    """
    framework_id = given.frameworks[0] if given.frameworks else built_in_framework(point.framework, catalog.frameworks)
    if point.case not in catalog.cases:
        raise RequestError(
            f"the catalogue has no case {point.case!r}, which the result is of: add it to catalog/cases/"
        )
    if TASK in dict(point.axes):
        raise RequestError(
            f"the result is of {dict(point.axes)[TASK]}, and no recipe of the catalogue trains so: "
            "reproduce a result of the whole training"
        )
    case = catalog.cases[point.case]
    others = ", ".join(_frameworks_for(point.framework, case, catalog))
    if not others:
        raise RequestError(f"no framework of the catalogue has a recipe for {case.id}: add one to catalog/frameworks/")
    if framework_id is None:
        called = f"no framework of the catalogue is called {point.framework}"
        raise RequestError(f"{called}: name one that runs {case.id} by --framework ({others})")
    hardware = _machine(point, given, catalog)
    if framework_id not in catalog.frameworks:
        raise RequestError(f"unknown framework {framework_id!r}: see `dlperf catalog frameworks`")
    recipe = catalog.frameworks[framework_id].recipe_for(case)
    if recipe is None:
        raise RequestError(f"{framework_id} has no recipe for {case.id}: name another by --framework ({others})")
    scale = _scale(point, hardware, recipe, case)
    axes, unset = _axes(point, case, recipe, _gpus(scale))
    batch_sizes = _batch_sizes(point.batch_size, recipe.batch_sizes or (), case.batch_sizes)
    selection = replace(
        given,
        hardware=(hardware.id,),
        frameworks=(framework_id,),
        cases=(case.id,),
        batch_sizes=batch_sizes,
        scales=(scale,),
        axes=axes,
    )
    precision = _precision(point.precision, recipe, Possibilities(selection, catalog))
    numerics = numerics_of(catalog.precisions[precision], recipe)
    changed = [
        *_differing("hardware", point.hardware, hardware.id),
        *_differing("framework", point.framework, framework_id),
        *_differing("precision", point.precision, precision),
        *_differing("GPUs", point.scale, scale),
        *_differing("batch_size", _stated(point.batch_size), _stated(batch_sizes[0])),
        *(
            message("published_unset", axis=name, value=str(value))
            for name, value in unset
            if numerics.get(name) != value
        ),
    ]
    return Nearest(replace(selection, precisions=(precision,)), tuple(changed))


def differing_axes(point: Configuration, plan: Plan) -> list[Message]:
    """Return the axes of the planned configuration that the result states otherwise, or does not state."""
    stated = {**dict.fromkeys(ONE_WHERE_ABSENT, 1), **dict(point.axes)}
    return [
        each
        for name, value in plan.configurations[0].configuration.axes
        for each in _differing(name, _stated(stated.get(name)), str(value))
    ]


def differing_conditions(original: Configuration, again: Configuration, ours: Mapping[str, AxisValue]) -> list[Message]:
    """Return what a third-party result and a result of one's own state otherwise, or one does not state.

    Args:
        ours: what one's own result states by axes or does without them.
    """
    theirs = dict(original.axes)
    if _GLOBAL in theirs and again.batch_size:
        ours = {_GLOBAL: again.samples_per_step, **ours}
    usual = (name for name, value in ours.items() if value == 1 and name not in theirs)  # one part: not divided
    skipped = {*usual, *(name for name, value in theirs.items() if _is_implied(original, name, value))}
    names = [name for name in {**theirs, **ours} if name not in skipped]
    texts = [(name, _stated(theirs.get(name)), _stated(ours.get(name))) for name in names]
    fields = ("hardware", "framework", "precision")
    points = [(name, str(getattr(original, name)), str(getattr(again, name))) for name in fields]
    there, here = (_stated(point.batch_size) for point in (original, again))
    points += [("batch_size", there, here), ("GPUs", original.scale, again.scale)]
    return [each for point in (*points, *texts) for each in _differing(*point)]


def _stated(value: AxisValue | None) -> str:
    """Return the text of a value; a batch size of 0 is none."""
    return "not stated" if value in (None, 0) else str(value)


def _differing(name: str, there: str, here: str) -> Iterator[Message]:
    if there != here:
        yield message("published_differs", axis=name, there=there, here=here)


def _frameworks_for(name: str, case: Case, catalog: Catalog) -> list[str]:
    """Return the frameworks that run a case, those first whose title begins as a report's name."""
    able = [each for each in catalog.frameworks.values() if each.recipe_for(case)]
    begins = name.partition("-")[0]
    return [each.id for each in sorted(able, key=lambda each: not each.title.lower().startswith(begins))]


def _machine(point: Configuration, given: Selection, catalog: Catalog) -> Hardware:
    name = given.hardware[0] if given.hardware else point.hardware
    if name not in catalog.hardware:
        raise RequestError(f"no machine {name!r} is in the catalogue: name yours by --hardware")
    return catalog.hardware[name]


def _precision(wanted: str, recipe: Recipe, possible: Possibilities) -> str:
    """Return the precision, or the nearest one of the recipe with which the selection can be planned."""
    reasons = {name: possible.why_not("precisions", name) for name in recipe.precisions}
    able = [name for name, reason in reasons.items() if reason is None]
    if not able:
        raise RequestError(str(reasons.get(wanted) or next(iter(reasons.values()))))
    wanted = wanted.partition("+")[0]  # such as amp+auto of a report
    candidates = (wanted, *_NEAREST.get(wanted, ()), able[0])
    return next(name for name in candidates if name in able)


def _batch_sizes(wanted: int, fitting: Sequence[int], offered: Sequence[int]) -> tuple[int]:
    """Return the batch size, or the one of those that fit that is nearest to it; where none is stated, the first."""
    if not wanted:
        return ((*fitting, *offered)[0],)
    return (min(fitting or (wanted,), key=lambda size: abs(size - wanted)),)


def _scale(point: Configuration, hardware: Hardware, recipe: Recipe, case: Case) -> str:
    """Return the result's scale, or the largest one up to it that machine and recipe have."""
    offered = [text for text in (recipe.scales or case.scales) if fits(hardware, *parse_scale(text))]
    if fits(hardware, point.nodes, point.gpus) and (not recipe.scales or point.scale in recipe.scales):
        return point.scale
    smaller = [text for text in offered if _gpus(text) <= point.gpus_total]
    if not smaller:
        size = f"{max_nodes(hardware)} × {hardware.gpus_per_node} GPUs"
        raise RequestError(f"{hardware.id} has {size}, on which this recipe does not run: name another by --hardware")
    return max(smaller, key=_gpus)


def _gpus(scale: str) -> int:
    nodes, gpus = parse_scale(scale)
    return nodes * gpus


def _axes(
    point: Configuration, case: Case, recipe: Recipe, gpus: int
) -> tuple[tuple[str, ...], list[tuple[str, AxisValue]]]:
    """Return the axes that can be set on so many GPUs, as ``name=value``, and those that no program here has."""
    declared, chosen, unset = declared_axes(case, recipe), [], []
    uneven = uneven_parts(point.axes, gpus)
    for name, value in point.axes:
        if name not in uneven and name in declared and str(value) in map(str, declared[name].values):
            chosen.append(f"{name}={value}")
        elif name not in declared and not _is_implied(point, name, value):
            unset.append((name, value))
    return tuple(chosen), unset


def _is_implied(point: Configuration, name: str, value: AxisValue) -> bool:
    """Whether a configuration has the value without an axis: a batch for each copy of a model, weights over all."""
    return {_GLOBAL: point.samples_per_step, "fsdp": point.copies}.get(name) == value
