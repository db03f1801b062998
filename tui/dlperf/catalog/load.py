"""The whole catalogue: what is built in, with a workspace's own entries over it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from dlperf.catalog.entries import KINDS, PROGRAMS, Layer, Located, read_layer, strangers
from dlperf.catalog.model import Accelerator, Case, Framework, Hardware, LogFormat, Protocol
from dlperf.catalog.problem import CatalogError, Problem
from dlperf.catalog.programs import program_names
from dlperf.catalog.references import (
    accelerator_problems,
    case_problems,
    format_problems,
    framework_problems,
    hardware_problems,
)
from dlperf.errors import DlperfError

BUILTIN = Path(__file__).parent / "builtin"


@dataclass(frozen=True)
class Catalog:
    """What can be measured, by id."""

    accelerators: dict[str, Accelerator]
    hardware: dict[str, Hardware]
    frameworks: dict[str, Framework]
    cases: dict[str, Case]
    protocols: dict[str, Protocol]
    formats: dict[str, LogFormat]
    """Formats described as data; ``formats/`` holds those that are code."""


@dataclass(frozen=True)
class Check:
    """What another room knows of an entry, such as whether an estimator's text can be read."""

    kind: str
    field: str
    """The field that is wrong where ``test`` raises; empty for the whole entry."""
    test: Callable[[Any], object]
    """Takes the entry; raises ValueError or DlperfError with the reason."""


def load_catalog(
    workspace_catalog: Path | None = None,
    known_formats: Collection[str] | None = None,
    checks: Collection[Check] = (),
) -> Catalog:
    """Read the built-in catalogue and, over it, a workspace's: an equal id replaces the built-in entry.

    Args:
        workspace_catalog: the folder ``catalog/`` of a workspace; it need not exist.
        known_formats: ids of the formats that are code. None: references to formats are not checked.
        checks: what is wrong with an entry by the knowledge of other rooms.

    Raises:
        CatalogError: anything is wrong with any file; it names every problem.
    """
    layers = [read_layer(BUILTIN)]
    if workspace_catalog is not None:
        layers.append(read_layer(workspace_catalog))
    merged = {kind: _merged(layers, kind) for kind in KINDS}
    problems = [problem for layer in layers for problem in layer.problems]
    problems += strangers(workspace_catalog) if workspace_catalog else []
    problems += _reference_problems(merged, _ids(layers, known_formats, workspace_catalog))
    for check in checks:
        sound = [item for item in merged[check.kind].values() if not any(map(item.holds, problems))]
        problems += _check_problems(check, sound)
    if problems:
        raise CatalogError(problems)
    return Catalog(**{kind: {name: item.entry for name, item in merged[kind].items()} for kind in KINDS})


def load_formats(workspace_catalog: Path) -> tuple[LogFormat, ...]:
    """The log formats of a workspace's own catalogue: all that reading its logs again needs of it.

    Raises:
        CatalogError: anything is wrong with a format; mistakes in other files do not matter here.
    """
    layer = read_layer(workspace_catalog, ("formats",))
    formats = layer.entries["formats"].values()
    problems = [*layer.problems, *chain.from_iterable(map(format_problems, formats))]
    if problems:
        raise CatalogError(problems)
    return tuple(item.entry for item in formats)


def _merged(layers: list[Layer], kind: str) -> dict[str, Located[Any]]:
    return {name: item for layer in layers for name, item in layer.entries[kind].items()}


def _ids(
    layers: list[Layer], known_formats: Collection[str] | None, workspace_catalog: Path | None
) -> dict[str, set[str]]:
    ids = {kind: {name for layer in layers for name in layer.declared[kind]} for kind in KINDS}
    ids[PROGRAMS] = program_names(workspace_catalog)
    if known_formats is None:
        del ids["formats"]
    else:
        ids["formats"] |= set(known_formats)
    return ids


def _reference_problems(merged: dict[str, dict[str, Located[Any]]], ids: dict[str, set[str]]) -> Iterator[Problem]:
    cases = {name: item.entry for name, item in merged["cases"].items()}
    for item in merged["accelerators"].values():
        yield from accelerator_problems(item)
    for item in merged["formats"].values():
        yield from format_problems(item)
    for item in merged["hardware"].values():
        yield from hardware_problems(item, ids)
    for item in merged["cases"].values():
        yield from case_problems(item, ids)
    for item in merged["frameworks"].values():
        yield from framework_problems(item, ids, cases)


def _check_problems(check: Check, items: Collection[Located[Any]]) -> Iterator[Problem]:
    for item in items:
        try:
            check.test(item.entry)
        except (ValueError, DlperfError) as error:
            yield item.problem((check.field,) if check.field else (), str(error))
