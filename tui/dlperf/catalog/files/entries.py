"""Read YAML files into typed entries and report every mistake."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from dlperf.catalog.entry import Entry, Model
from dlperf.catalog.files.problem import Problem, field_name, listed
from dlperf.catalog.files.wording import wording
from dlperf.catalog.files.yamlfile import Document, Location, read_document
from dlperf.catalog.hardware import Accelerator, Hardware, Precision
from dlperf.catalog.log_format import LogFormat
from dlperf.catalog.metrics import Metric, Protocol
from dlperf.catalog.model import Case, Framework

E = TypeVar("E", bound=Entry)

KINDS: dict[str, type[Entry]] = {
    "accelerators": Accelerator,
    "hardware": Hardware,
    "frameworks": Framework,
    "cases": Case,
    "protocols": Protocol,
    "formats": LogFormat,
    "precisions": Precision,
    "metrics": Metric,
}
"""Name of a file (``cases.yaml``), a folder (``cases/*.yaml``) or a key in any other file → type of its entries."""

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
class CatalogFolder:
    """One catalogue folder."""

    entries: dict[str, dict[str, Located[Any]]]
    """Kind → id → entry."""
    declared: dict[str, dict[str, str]]
    """Kind → id, also of invalid entries → file and line of its first definition."""
    problems: list[Problem]


def read_layer(folder: Path, kinds: Collection[str] = KINDS) -> CatalogFolder:
    """Read the entries of a catalogue folder; a missing folder is an empty one."""
    layer = CatalogFolder({kind: {} for kind in KINDS}, {kind: {} for kind in KINDS}, [])
    for kind in kinds:
        for path in _files(folder, kind):
            document = read_document(path)
            layer.problems += document.problems
            if not document.problems:
                _read_entries(layer, kind, document, ())
    for path in _mixed_files(folder):
        document = read_document(path)
        layer.problems += document.problems
        for kind in kinds:
            if not document.problems and kind in _keys(document):
                _read_entries(layer, kind, document, (kind,))
    return layer


def _files(folder: Path, kind: str) -> list[Path]:
    single = folder / f"{kind}.yaml"
    return [*([single] if single.exists() else []), *sorted((folder / kind).glob("*.yaml"))]


def _mixed_files(folder: Path) -> list[Path]:
    """Return the files that may hold entries of several kinds: mappings of a kind to its entries."""
    return [path for path in sorted(folder.glob("*.yaml")) if path.stem not in KINDS]


def _keys(document: Document) -> set[str]:
    return set(document.data) if isinstance(document.data, dict) else set()


def unrecognised_files(folder: Path) -> list[Problem]:
    """Report files of a catalogue folder that are not read, and keys that are no kind, such as misspelt names."""
    if not folder.is_dir():
        return []
    mixed = [read_document(path) for path in _mixed_files(folder)]
    read = [document for document in mixed if document.problems or _keys(document) & KINDS.keys()]
    known = {*KINDS, *(f"{kind}.yaml" for kind in KINDS), PROGRAMS, *(document.path.name for document in read)}
    found = [
        path for path in sorted(folder.iterdir()) if path.name not in known and path.suffix in ("", ".yaml", ".yml")
    ]
    found += [path for kind in KINDS for path in sorted((folder / kind).glob("*.yml"))]
    names = listed(f"{kind}.yaml" for kind in KINDS)
    message = f"not a catalogue file ({names}, *.yaml in folders of these names, or a file with these names as keys)"
    return [*(Problem(path, 1, "", message) for path in found), *chain.from_iterable(map(_unknown_kinds, read))]


def _unknown_kinds(document: Document) -> Iterator[Problem]:
    for key in sorted(_keys(document) - KINDS.keys()):
        yield document.problem((key,), f"no kind of entry ({listed(KINDS)})")


def _read_entries(layer: CatalogFolder, kind: str, document: Document, place: Location) -> None:
    for root, data in _roots(document, place):
        name = data.get("id") if isinstance(data, dict) else None
        if isinstance(name, str):
            at = (*root, "id")
            if first := layer.declared[kind].get(name):
                layer.problems.append(document.problem(at, f"duplicate id {name} in {kind}, first in {first}"))
            layer.declared[kind].setdefault(name, f"{document.path.name}:{document.line(at)}")
        try:
            entry = KINDS[kind].model_validate(data)
        except ValidationError as error:
            layer.problems += validation_problems(error, KINDS[kind], document, root)
        else:
            layer.entries[kind][entry.id] = Located(entry, document, root)


def _roots(document: Document, place: Location) -> Iterator[tuple[Location, Any]]:
    entries = document.data[place[0]] if place else document.data
    if isinstance(entries, tuple):
        yield from (((*place, index), data) for index, data in enumerate(entries))
    elif entries is not None:
        yield place, entries


def validation_problems(
    error: ValidationError, model: type[Model], document: Document, root: Location
) -> list[Problem]:
    """Return the mistakes of the part of a document at ``root``, in words."""
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
