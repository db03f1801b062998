"""Compute the entries of the lists of the Choose screen, and why an entry is unavailable. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeVar

from dlperf.app.model.choice import AXES, Choice
from dlperf.app.model.table import Row, Tone, has_words
from dlperf.catalog.axes import parse_scale
from dlperf.catalog.files.load import Catalog
from dlperf.catalog.hardware import Hardware
from dlperf.catalog.model import Case, Framework, Recipe
from dlperf.messages import _, language
from dlperf.plan.axes import declared_axes
from dlperf.plan.subject import device, devices_of, fits, max_nodes

Entry = TypeVar("Entry", Hardware, Framework, Case)


@dataclass(frozen=True)
class Option:
    value: str
    title: str = ""
    marked: bool = False
    reason: str = ""
    """Why it is unavailable with the marks of the other lists; empty if it is available."""
    note: str = ""
    published: bool = False
    """A machine of a published report, on which nothing can be run."""


@dataclass(frozen=True)
class _Match:
    """A compatible combination."""

    hardware: Hardware
    case: Case
    recipe: Recipe


def options_of(catalog: Catalog, choice: Choice) -> dict[str, tuple[Option, ...]]:
    catalog = _offered(catalog, choice)
    hardware = _chosen(catalog.hardware, choice.values("hardware"))
    frameworks = _chosen(catalog.frameworks, choice.values("frameworks"))
    cases = _chosen(catalog.cases, choice.values("cases"))
    matches = list(_matches(hardware, frameworks, cases))
    offers = {
        "hardware": _hardware(catalog, choice, frameworks, cases),
        "frameworks": _frameworks(catalog, choice, hardware, cases),
        "cases": _cases(catalog, choice, hardware, frameworks),
        "precisions": _precisions(catalog, matches, choice),
        "batch_sizes": _batch_sizes(matches, choice),
        "scales": _scales(matches, choice),
        "axes": _axes(matches, choice),
    }
    return {axis: tuple(offers[axis]) for axis in AXES}


def _offered(catalog: Catalog, choice: Choice) -> Catalog:
    """Return the catalogue without frameworks on request, unless marked, and without cases of these alone."""
    asked = choice.values("frameworks")
    shown = {name: item for name, item in catalog.frameworks.items() if not item.on_request or name in asked}
    known, all_known = (
        {recipe.case for item in each for recipe in item.recipes}
        for each in (shown.values(), catalog.frameworks.values())
    )
    cases = {name: item for name, item in catalog.cases.items() if name in known or name not in all_known}
    return replace(catalog, frameworks=shown, cases=cases)


def _chosen(entries: Mapping[str, Entry], names: Iterable[str]) -> list[Entry]:
    """Return the marked entries, or all that are not examples if none is marked."""
    marked = [entries[name] for name in names if name in entries]
    return marked or [entry for entry in entries.values() if not getattr(entry, "example", False)]


def _matches(machines: list[Hardware], frameworks: list[Framework], cases: list[Case]) -> Iterator[_Match]:
    for hardware, framework, case in product(machines, frameworks, cases):
        recipe = framework.recipe_for(case)
        if recipe is not None and device(hardware) in devices_of(framework, recipe):
            yield _Match(hardware, case, recipe)


def _hardware(catalog: Catalog, choice: Choice, frameworks: list[Framework], cases: list[Case]) -> Iterator[Option]:
    for item in sorted(catalog.hardware.values(), key=lambda item: (item.example, item.id not in catalog.own_hardware)):
        usable = [framework for framework in frameworks if device(item) in framework.devices]
        reason = ""
        if not usable:
            reason = _("{frameworks} cannot compute on {device}", frameworks=_ids(frameworks), device=device(item))
        elif not any(framework.recipe_for(case) for framework in usable for case in cases):
            reason = _("nothing that runs there has a recipe for {cases}", cases=_ids(cases))
        note = _("of a published report: to look at, not to run") if item.example else _machines(item)
        yield Option(item.id, _title(item), item.id in choice.values("hardware"), reason, note, item.example)


def _title(entry: Hardware | Framework | Case) -> str:
    return entry.localized(language().code).title


def _machines(hardware: Hardware) -> str:
    nodes = max_nodes(hardware)
    what = hardware.accelerator or "CPU"
    return f"{nodes} × {hardware.gpus_per_node} {what}" if nodes > 1 else f"{hardware.gpus_per_node} {what}"


def _frameworks(catalog: Catalog, choice: Choice, hardware: list[Hardware], cases: list[Case]) -> Iterator[Option]:
    for item in catalog.frameworks.values():
        reason = ""
        if not any(device(machine) in item.devices for machine in hardware):
            devices = "/".join(item.devices)
            reason = _("computes on {devices}; {hardware} has none", devices=devices, hardware=_ids(hardware))
        elif not any(item.recipe_for(case) for case in cases):
            reason = _("no recipe for {cases}", cases=_ids(cases))
        note = _("version {version}", version=item.version)
        yield Option(item.id, _title(item), item.id in choice.values("frameworks"), reason, note)


def _cases(catalog: Catalog, choice: Choice, hardware: list[Hardware], frameworks: list[Framework]) -> Iterator[Option]:
    devices = set(map(device, hardware))
    usable = [framework for framework in frameworks if not devices.isdisjoint(framework.devices)]
    for item in catalog.cases.values():
        reason = ""
        if not any(framework.recipe_for(item) for framework in usable):
            reason = _("no recipe in {frameworks}", frameworks=_ids(frameworks))
        yield Option(item.id, _title(item), item.id in choice.values("cases"), reason, item.unit)


def _precisions(catalog: Catalog, matches: list[_Match], choice: Choice) -> Iterator[Option]:
    """Yield the precisions of any recipe."""
    offered = {precision for match in matches for precision in match.recipe.precisions}
    recipes = (recipe for framework in catalog.frameworks.values() for recipe in framework.recipes)
    known = {precision for recipe in recipes for precision in recipe.precisions}
    for value in (name for name in catalog.precisions if name in known):
        reason = "" if value in offered else _("no recipe chosen computes in it")
        yield Option(value, marked=value in choice.values("precisions"), reason=reason)


def _batch_sizes(matches: list[_Match], choice: Choice) -> Iterator[Option]:
    """Yield the offered sizes and the marked ones: a recipe without a list takes any."""
    offered = {size for match in matches for size in match.recipe.batch_sizes or match.case.batch_sizes}
    takes_any = any(match.recipe.batch_sizes is None for match in matches)
    marked = choice.values("batch_sizes")
    for size in sorted(offered | set(map(int, marked))):
        reason = "" if size in offered or takes_any else _("no recipe chosen takes it")
        yield Option(str(size), marked=str(size) in marked, reason=reason)


def _scales(matches: list[_Match], choice: Choice) -> Iterator[Option]:
    offered = {scale for match in matches for scale in match.recipe.scales or match.case.scales}
    marked = choice.values("scales")
    machines = {match.hardware.id: match.hardware for match in matches}.values()
    for scale in sorted(offered | set(marked), key=parse_scale):
        nodes, gpus = parse_scale(scale)
        reason = ""
        if scale not in offered:
            reason = _("no recipe chosen offers it")
        elif not any(fits(machine, nodes, gpus) for machine in machines):
            reason = _("needs {nodes} nodes with {gpus} GPUs", nodes=nodes, gpus=gpus)
        yield Option(scale, marked=scale in marked, reason=reason)


def _axes(matches: list[_Match], choice: Choice) -> Iterator[Option]:
    """Yield the values of the axes that cases and recipes declare, once one of these is marked, and the marked ones."""
    chosen = matches if choice.values("frameworks") or choice.values("cases") else []
    declared = [declared_axes(match.case, match.recipe) for match in chosen]
    offered = dict.fromkeys(
        f"{name}={value}" for axes in declared for name, axis in axes.items() for value in axis.values
    )
    marked = choice.values("axes")
    for text in dict.fromkeys((*offered, *marked)):
        yield Option(text, marked=text in marked, reason="" if text in offered else _("no recipe chosen offers it"))


def _ids(entries: Iterable[Hardware | Framework | Case]) -> str:
    names = [entry.id for entry in entries]
    return ", ".join(names[:3]) + (" …" if len(names) > 3 else "")


def filter_options(options: Iterable[Option], text: str) -> list[Option]:
    """Return the options that match the words of a text, those whose id does first."""
    found = [item for item in options if has_words(f"{item.value} {item.title} {item.note}", text)]
    return sorted(found, key=lambda item: text.lower() not in item.value)


def option_row(option: Option) -> Row:
    glyph = "[x]" if option.marked else " - " if option.reason else "[ ]"
    tone: Tone = "warn" if option.marked and option.reason else "dim" if option.reason or option.published else ""
    if option.published and not option.marked and not option.reason:
        glyph = "( )"
    return Row((f"{glyph} {option.value}",), "good" if option.marked and not option.reason else tone)
