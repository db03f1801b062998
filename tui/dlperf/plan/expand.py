"""Expand a selection into a plan: its configurations, and why others are impossible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from itertools import product
from typing import TYPE_CHECKING

from dlperf.catalog.axes import Configuration, parse_scale, profiled_configuration
from dlperf.catalog.files.problem import hint
from dlperf.errors import RequestError
from dlperf.messages import message, quoted
from dlperf.plan.axes import axis_points, declared_axes, in_step, parse_axes
from dlperf.plan.launch import launch_of, options_of
from dlperf.plan.metrics import planned_metrics
from dlperf.plan.model import (
    Impossible,
    Launch,
    Plan,
    PlannedAccelerator,
    PlannedConfiguration,
    PlannedMetric,
    PlannedProtocol,
    Selection,
)
from dlperf.plan.subject import Subject, device, devices_of, fits, numerics_of, precisions_of, why_impossible
from dlperf.substitution import PlaceholderError

if TYPE_CHECKING:
    from dlperf.catalog.files.load import Catalog
    from dlperf.catalog.hardware import Accelerator, Hardware, Precision
    from dlperf.catalog.metrics import Protocol
    from dlperf.catalog.model import Case, Framework

MOST_REPEATS = 10_000
LEAST_OF_VERDICTS = 5
"""Repeats below which a plan is a try: every trial counts."""


def expand(selection: Selection, catalog: Catalog) -> Plan:
    """Return every configuration of the selection, and every requested one that cannot run.

    An empty axis means everything that hardware, recipe and case offer in common, without the hardware of published
    reports; the impossible values of an axis that is not empty are reported.

    Raises:
        RequestError: an id, a precision or a scale is unknown, or nothing fits the selection.
    """
    _check(selection, catalog)
    found = [planned_of(item, selection, catalog) for item in dict.fromkeys(configurations_of(selection, catalog))]
    if not found:
        raise RequestError(_explain_no_plan(selection, catalog))
    planned = tuple(item for item in found if isinstance(item, PlannedConfiguration))
    if selection.profile:
        planned += tuple(_profiled(item.configuration, selection, catalog) for item in planned)
    return Plan(selection, planned, tuple(item for item in found if isinstance(item, Impossible)))


def _profiled(point: Configuration, selection: Selection, catalog: Catalog) -> PlannedConfiguration:
    """Return the configuration of the trial under a profiler."""
    framework = catalog.frameworks[point.framework]
    if not framework.profile:
        raise RequestError(f"--profile: programs of {framework.id} cannot be profiled: select others with --framework")
    planned = planned_of(point, replace(selection, repeats=1), catalog, framework.profile)
    assert isinstance(planned, PlannedConfiguration)  # as without the profiler
    return replace(planned, configuration=profiled_configuration(point), profiled=True)


def _check(selection: Selection, catalog: Catalog) -> None:
    _check_known("hardware", selection.hardware, catalog.hardware)
    _check_known("framework", selection.frameworks, catalog.frameworks)
    _check_known("case", selection.cases, catalog.cases)
    _check_known("precision", selection.precisions, catalog.precisions)
    _check_known("protocol", (selection.protocol,) if selection.protocol is not None else (), catalog.protocols)
    for name in parse_axes(selection.axes):
        _check_known("axis", (name,), _axis_names(catalog))
    for size in selection.batch_sizes:
        if size < 1:
            raise RequestError(f"batch size {size}: must be 1 or more")
    repeats = selection.repeats
    if repeats is not None and repeats < 1:
        raise RequestError(f"repeats {repeats}: must be 1 or more")
    if repeats is not None and repeats > MOST_REPEATS:
        raise RequestError(f"repeats {repeats}: must be {MOST_REPEATS} or fewer")


def _axis_names(catalog: Catalog) -> set[str]:
    recipes = (recipe for item in catalog.frameworks.values() for recipe in item.recipes)
    declared = [*(case.axes for case in catalog.cases.values()), *(recipe.axes for recipe in recipes)]
    return {name for axes in declared for name in axes}


def _check_known(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    known = list(known)
    for name in names:
        if name not in known:
            raise RequestError(f"unknown {what} {name!r}: {hint(name, known)}")


def _scales(selection: Selection) -> list[tuple[int, int]]:
    try:
        return [parse_scale(text) for text in selection.scales]
    except ValueError as error:
        raise RequestError(f"GPUs: {error}") from error


def configurations_of(selection: Selection, catalog: Catalog) -> Iterator[Configuration]:
    """Yield what a selection asks for, possible or not."""
    for combination in combinations_of(selection, catalog):
        yield from points_of(*combination, selection, catalog)


def points_of(
    hardware: Hardware, framework: Framework, case: Case, selection: Selection, catalog: Catalog
) -> Iterator[Configuration]:
    """Yield what a selection asks for of one combination."""
    wanted = parse_axes(selection.axes)
    asked = {*wanted, *(["batch_size"] if selection.batch_sizes else [])}
    recipe = framework.recipe_for(case)
    computed = precisions_of(_accelerator(hardware, catalog), catalog.precisions)
    precisions = selection.precisions or [name for name in (recipe or case).precisions if name in computed]
    batch_sizes = selection.batch_sizes or (recipe and recipe.batch_sizes) or case.batch_sizes
    offered = map(parse_scale, (recipe and recipe.scales) or case.scales)
    scales = _scales(selection) or [scale for scale in offered if fits(hardware, *scale)]
    points = list(axis_points(declared_axes(case, recipe), wanted))
    for precision, batch_size, (nodes, gpus), axes in product(precisions, batch_sizes, scales, points):
        if in_step(case, batch_size, dict(axes), asked):
            yield Configuration(hardware.id, framework.id, case.id, precision, batch_size, nodes, gpus, axes=axes)


def combinations_of(selection: Selection, catalog: Catalog) -> Iterator[tuple[Hardware, Framework, Case]]:
    """Yield what fits together, and what does not where the selection names both sides."""
    hardware = selection.hardware or tuple(name for name, item in catalog.hardware.items() if not item.example)
    named = bool(selection.cases)
    frameworks = selection.frameworks or tuple(
        name for name, item in catalog.frameworks.items() if named or not item.on_request
    )
    cases = selection.cases or tuple(catalog.cases)
    recipe_asked = bool(selection.frameworks and selection.cases)
    device_asked = bool(selection.hardware and selection.frameworks)
    for hardware_id, framework_id, case_id in product(hardware, frameworks, cases):
        machine, framework = catalog.hardware[hardware_id], catalog.frameworks[framework_id]
        case = catalog.cases[case_id]
        recipe = framework.recipe_for(case)
        has_axes = bool(selection.cases) or set(parse_axes(selection.axes)) <= set(declared_axes(case, recipe))
        has_recipe = recipe_asked or recipe is not None
        if has_recipe and has_axes and (device_asked or device(machine) in devices_of(framework, recipe)):
            yield machine, framework, case


def _accelerator(hardware: Hardware, catalog: Catalog) -> Accelerator | None:
    return catalog.accelerators[hardware.accelerator] if hardware.accelerator else None


def planned_of(
    configuration: Configuration, selection: Selection, catalog: Catalog, arguments: tuple[str, ...] = ()
) -> PlannedConfiguration | Impossible:
    """Return the configuration with everything that it needs, or why it is impossible.

    Args:
        arguments: given to the program after its own.
    """
    framework, case = catalog.frameworks[configuration.framework], catalog.cases[configuration.case]
    recipe = framework.recipe_for(case)
    if recipe is None:
        offered = ", ".join(item.case for item in framework.recipes)
        return Impossible(configuration, message("no_recipe", framework=framework.id, case=case.id, offered=offered))
    protocol = catalog.protocols[selection.protocol or case.protocol]
    hardware = _on_nodes(catalog.hardware[configuration.hardware], selection.nodes)
    log_format = catalog.formats.get(recipe.format or framework.format)
    accelerator = _accelerator(hardware, catalog)
    entries = (hardware, accelerator, framework, case, recipe, protocol, catalog.precisions)
    subject = Subject(configuration, *entries, log_format)
    reason = why_impossible(subject)
    if reason is not None:
        return Impossible(configuration, reason)
    try:
        metrics = planned_metrics(case.unit, case, catalog.metrics, hardware.price)
        launch = replace(launch_of(subject, arguments), first_seed=selection.first_seed)
        return _freeze(subject, launch, selection.repeats or protocol.repeats, metrics)
    except PlaceholderError as error:
        return Impossible(configuration, quoted(error))


def _on_nodes(hardware: Hardware, names: Sequence[str]) -> Hardware:
    """Return the hardware with only these of its nodes, in this order; all of it without names."""
    if not names:
        return hardware
    if hardware.job:
        raise RequestError(f"--node {','.join(names)}: the scheduler of {hardware.id} chooses the nodes")
    known = {node.name: node for node in hardware.nodes}
    _check_known(f"node of {hardware.id}", names, known)
    return hardware.model_copy(update={"nodes": tuple(known[name] for name in names)})


def _freeze(subject: Subject, launch: Launch, repeats: int, metrics: tuple[PlannedMetric, ...]) -> PlannedConfiguration:
    return PlannedConfiguration(
        configuration=subject.configuration,
        launch=launch,
        format=subject.recipe.format or subject.framework.format,
        unit=metrics[0].unit,
        protocol=planned_protocol(subject.protocol),
        repeats=repeats,
        uncounted=subject.protocol.uncounted if repeats >= LEAST_OF_VERDICTS else 0,
        options=options_of(subject),
        numerics=numerics_of(subject.precisions[subject.configuration.precision], subject.recipe),
        tuning=subject.recipe.tuning,
        accelerator=planned_accelerator(subject.accelerator, subject.precisions[subject.configuration.precision]),
        price=subject.hardware.price,
        gflops_per_sample=subject.case.gflops(dict(subject.configuration.axes)),
        facts=_facts(subject),
        example=subject.hardware.example,
        metrics=metrics,
        expect=subject.case.expect,
    )


def planned_protocol(protocol: Protocol) -> PlannedProtocol:
    return PlannedProtocol(**{item.name: getattr(protocol, item.name) for item in fields(PlannedProtocol)})


def planned_accelerator(accelerator: Accelerator | None, precision: Precision | None) -> PlannedAccelerator | None:
    """Return an accelerator with the peak of the configuration's precision, where it has one."""
    if accelerator is None:
        return None
    peak = accelerator.peak_of(precision) if precision else None
    peaks = accelerator.peak_tflops | ({precision.id: peak} if precision and peak else {})
    return PlannedAccelerator(accelerator.id, peaks, accelerator.bandwidth_gb_per_s)


def _facts(subject: Subject) -> dict[str, str]:
    framework, image = subject.framework, subject.framework.container
    stated = {
        "version": framework.version,
        "repository": framework.repository,
        "commit": framework.commit,
        "image": image.image if image and subject.hardware.runtime != "none" else "",
        "patches": "; ".join(framework.patches),
    }
    return subject.hardware.facts | framework.facts | {name: text for name, text in stated.items() if text}


def _explain_no_plan(selection: Selection, catalog: Catalog) -> str:
    """Return the reason where hardware, framework and case are named, else the axis that stands in the way."""
    axes = {"hardware": selection.hardware, "framework": selection.frameworks, "case": selection.cases}
    unnamed = [axis for axis, names in axes.items() if not names]
    return f"nothing to run: {_obstacle(selection, unnamed, catalog) if unnamed else _reason(selection, catalog)}"


def _obstacle(selection: Selection, unnamed: Sequence[str], catalog: Catalog) -> str:
    """Name the axis without which there would be a configuration, or what to name to learn the reason."""
    made = {recipe.case for framework in catalog.frameworks.values() for recipe in framework.recipes}
    if selection.cases and made.isdisjoint(selection.cases):
        return f"no framework has a recipe for {', '.join(selection.cases)}"
    wider = {
        "scales": replace(selection, scales=()),
        "hardware": replace(selection, hardware=()),
        "cases": replace(selection, cases=()),
        "frameworks": replace(selection, frameworks=()),
    }
    for axis, without in wider.items():
        if without != selection and any(configurations_of(without, catalog)):
            return f"with {axis} {', '.join(getattr(selection, axis))}, nothing that was selected goes together"
    return f"nothing in the catalogue fits this selection: name {' and '.join(unnamed)}, too, to see why"


def _reason(selection: Selection, catalog: Catalog) -> str:
    """Return why the first precision and scale that the recipes offer is impossible."""
    cases = [catalog.cases[name] for name in selection.cases]
    offers = [catalog.frameworks[name].recipe_for(case) or case for name in selection.frameworks for case in cases]
    precisions = selection.precisions or tuple(name for offer in offers for name in offer.precisions)
    # a recipe without scales of its own has those of its case
    scales = selection.scales or tuple(name for offer in (*offers, *cases) for name in offer.scales or ())
    complete = replace(selection, precisions=precisions, scales=scales)
    planned = (planned_of(item, complete, catalog) for item in configurations_of(complete, catalog))
    why = next((item.reason for item in planned if isinstance(item, Impossible)), None)
    return str(why) if why else "no such batch size with these axes: name precision, batch size, scale and axes"
