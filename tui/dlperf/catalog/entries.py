"""Read YAML files into typed entries and report every mistake."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from dlperf.catalog.model import Accelerator, Case, Entry, Framework, Hardware, LogFormat, Precision, Protocol
from dlperf.catalog.problem import Problem, field_name, listed
from dlperf.catalog.wording import wording
from dlperf.catalog.yamlfile import Document, Location, read_document

E = TypeVar("E", bound=Entry)

KINDS: dict[str, type[Entry]] = {
    "accelerators": Accelerator,
    "hardware": Hardware,
    "frameworks": Framework,
    "cases": Case,
    "protocols": Protocol,
    "formats": LogFormat,
    "precisions": Precision,
}
"""Name of a file (``hardware.yaml``) or folder (``hardware/*.yaml``) → type of its entries."""

PROGRAMS = "workloads"
"""Folder of a workspace's catalogue with training programs."""


@dataclass(frozen=True)
class Located(Generic[E]):
    """An entry and its location in a file."""

    entry: E
    document: Document
    root: Location

    def problem(self, location: Location, message: str) -> Problem:
        return Problem(self.document.path, self.document.line(self.root + location), field_name(location), message)

    def contains(self, problem: Problem) -> bool:
        size = len(self.root)
        lines = [line for place, line in self.document.lines.items() if place[:size] == self.root]
        return problem.path == self.document.path and min(lines) <= problem.line <= max(lines)


@dataclass
class Layer:
    """One catalogue folder."""

    entries: dict[str, dict[str, Located[Any]]]
    """Kind → id → entry."""
    declared: dict[str, dict[str, str]]
    """Kind → id, also of invalid entries → file and line of its first definition."""
    problems: list[Problem]


def read_layer(folder: Path, kinds: Collection[str] = KINDS) -> Layer:
    """Read the entries of a catalogue folder; a missing folder is an empty one."""
    layer = Layer({kind: {} for kind in KINDS}, {kind: {} for kind in KINDS}, [])
    for kind in kinds:
        for path in _files(folder, kind):
            document = read_document(path)
            layer.problems += document.problems
            if not document.problems:
                _read_entries(layer, kind, document)
    return layer


def _files(folder: Path, kind: str) -> list[Path]:
    single = folder / f"{kind}.yaml"
    return [*([single] if single.exists() else []), *sorted((folder / kind).glob("*.yaml"))]


def unrecognised_files(folder: Path) -> list[Problem]:
    """Report files of a catalogue folder that are not read, such as misspelt names."""
    if not folder.is_dir():
        return []
    known = {*KINDS, *(f"{kind}.yaml" for kind in KINDS), PROGRAMS}
    found = [
        path for path in sorted(folder.iterdir()) if path.name not in known and path.suffix in ("", ".yaml", ".yml")
    ]
    found += [path for kind in KINDS for path in sorted((folder / kind).glob("*.yml"))]
    names = listed(f"{kind}.yaml" for kind in KINDS)
    return [
        Problem(path, 1, "", f"not a catalogue file ({names}, or *.yaml in folders of these names)") for path in found
    ]


def _read_entries(layer: Layer, kind: str, document: Document) -> None:
    for root, data in _roots(document):
        name = data.get("id") if isinstance(data, dict) else None
        if isinstance(name, str):
            place = (*root, "id")
            if first := layer.declared[kind].get(name):
                layer.problems.append(document.problem(place, f"duplicate id {name} in {kind}, first in {first}"))
            layer.declared[kind].setdefault(name, f"{document.path.name}:{document.line(place)}")
        try:
            entry = KINDS[kind].model_validate(data)
        except ValidationError as error:
            layer.problems += _problems(error, KINDS[kind], document, root)
        else:
            layer.entries[kind][entry.id] = Located(entry, document, root)


def _roots(document: Document) -> Iterator[tuple[Location, Any]]:
    if isinstance(document.data, tuple):
        yield from (((index,), data) for index, data in enumerate(document.data))
    elif document.data is not None:
        yield (), document.data


def _problems(error: ValidationError, model: type[Entry], document: Document, root: Location) -> list[Problem]:
    found: dict[Location, Problem] = {}
    for details in error.errors(include_url=False):
        location = root + details["loc"]
        if details["type"] != "missing":
            # pydantic adds the names of a union's branches, which the file does not have.
            location = document.nearest(location)
        message = wording(details, model, document.texts.get(location))
        problem = Problem(document.path, document.line(location), field_name(location[len(root) :]), message)
        found.setdefault(location, problem)
    # A list whose only item is wrong is also "too short".
    outer = {location[:size] for location in found for size in range(len(location))}
    return [problem for location, problem in found.items() if location not in outer]
