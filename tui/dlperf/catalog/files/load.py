"""The catalogue: the built-in entries, overridden by those of a workspace."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from dlperf.catalog.files.entries import KINDS, PROGRAMS, CatalogFolder, Located, read_layer, unrecognised_files
from dlperf.catalog.files.problem import CatalogError, Problem
from dlperf.catalog.files.references import REFERENCE_PROBLEMS, Ids, format_problems, framework_problems
from dlperf.catalog.hardware import Accelerator, Hardware, Precision
from dlperf.catalog.log_format import LogFormat
from dlperf.catalog.metrics import Metric, Protocol
from dlperf.catalog.model import Case, Framework
from dlperf.errors import DlperfError, RequestError
from dlperf.opening import is_regular, read_bytes

BUILTIN = Path(__file__).parents[1] / "builtin"
BUILTIN_PROGRAMS = Path(__file__).parents[2] / "workloads"


Merged = dict[str, dict[str, Located[Any]]]
"""Kind → id → entry."""


@dataclass(frozen=True)
class Catalog:
    """The entries by id."""

    precisions: dict[str, Precision]
    metrics: dict[str, Metric]
    accelerators: dict[str, Accelerator]
    hardware: dict[str, Hardware]
    frameworks: dict[str, Framework]
    cases: dict[str, Case]
    protocols: dict[str, Protocol]
    formats: dict[str, LogFormat]
    """Formats described as data; the others are code in ``formats/``."""
    own_hardware: frozenset[str] = frozenset()
    """Ids of the machines that the workspace describes."""

    @property
    def machines(self) -> list[str]:
        """Ids of the user's machines: this one, and those that the workspace describes."""
        own = (name for name, entry in self.hardware.items() if name in self.own_hardware and not entry.example)
        return list(dict.fromkeys([*(["local"] if "local" in self.hardware else []), *own]))

    def describes(self, name: str, gpus: Mapping[int, str]) -> bool:
        """Return whether an entry can describe a machine with these GPUs; see ``Hardware.has_gpus_of``."""
        entry = self.hardware[name]
        accelerator = self.accelerators[entry.accelerator] if entry.accelerator else None
        return all(entry.has_gpus_of(node, accelerator, gpus) for node in entry.nodes)

    def on_machine(self, gpus: Mapping[int, str]) -> Catalog:
        """Return the catalogue for a machine with these GPUs: entries of another one are examples."""
        elsewhere = (name for name, item in self.hardware.items() if item.is_here and not self.describes(name, gpus))
        examples = {name: self.hardware[name].model_copy(update={"example": True}) for name in elsewhere}
        return replace(self, hardware=self.hardware | examples)


def load_catalog(
    workspace_catalog: Path | None = None,
    known_formats: Collection[str] | None = None,
    parse_estimator: Callable[[str], object] | None = None,
    complain: Callable[[Problem], object] | None = None,
) -> Catalog:
    """Read the built-in catalogue and a workspace's, whose entries replace built-in ones of the same id.

    Args:
        workspace_catalog: the folder ``catalog/`` of a workspace; it need not exist.
        known_formats: ids of the formats that are code. None: references to formats are not checked.
        parse_estimator: raises ValueError or DlperfError for a wrong estimator. None: estimators are not checked.
        complain: called for each problem; entries that have one, or refer to one that has, are left out.

    Raises:
        CatalogError: without ``complain``, any file has a problem; it lists all of them.
    """
    layers = [_installed(BUILTIN)]
    if workspace_catalog is not None:
        layers.append(read_layer(workspace_catalog))
    merged = {kind: {name: item for layer in layers for name, item in layer.entries[kind].items()} for kind in KINDS}
    ids = _ids(layers, known_formats, workspace_catalog)
    problems = [problem for layer in layers for problem in layer.problems]
    problems += unrecognised_files(workspace_catalog) if workspace_catalog else []
    problems += _reference_problems(merged, ids)
    if parse_estimator is not None:
        problems += _estimator_problems(merged["protocols"].values(), parse_estimator)
    if problems and complain is None:
        raise CatalogError(problems)
    if problems and complain is not None:
        merged = _without_problems(merged, layers[-1], ids, problems, complain)
    own = frozenset(name for layer in layers[1:] for name in layer.entries["hardware"])
    return Catalog(
        **{kind: {name: item.entry for name, item in merged[kind].items()} for kind in KINDS}, own_hardware=own
    )


@cache
def _installed(folder: Path) -> CatalogFolder:
    """Read what came with dlperf once: it does not change under a process, and nothing changes what was read."""
    return read_layer(folder)


def _without_problems(
    merged: Merged,
    last: CatalogFolder,
    ids: dict[str, set[str]],
    problems: Collection[Problem],
    complain: Callable[[Problem], object],
) -> Merged:
    """Leave out entries with problems, then those that refer to them; no entry is replaced by a built-in one."""
    sound = {
        kind: {
            name: item
            for name, item in items.items()
            if name not in last.declared[kind] or last.entries[kind].get(name) is item
        }
        for kind, items in merged.items()
    }
    while problems:
        for problem in sorted(set(problems)):
            complain(problem)
        sound = {
            kind: {name: item for name, item in items.items() if not any(map(item.contains, problems))}
            for kind, items in sound.items()
        }
        sound["frameworks"] = {name: _with_recipes(item, sound) for name, item in sound["frameworks"].items()}
        left_out = {kind: merged[kind].keys() - sound[kind].keys() for kind in KINDS}
        problems = list(_reference_problems(sound, {kind: ids[kind] - left_out.get(kind, set()) for kind in ids}))
    return sound


def _with_recipes(item: Located[Any], sound: Merged) -> Located[Any]:
    """Return a framework without recipes of cases that were left out."""
    recipes = tuple(recipe for recipe in item.entry.recipes if recipe.case in sound["cases"])
    return replace(item, entry=item.entry.model_copy(update={"recipes": recipes}))


def load_formats(workspace_catalog: Path, complain: Callable[[Problem], object]) -> tuple[LogFormat, ...]:
    """Read only the log formats of a workspace's own catalogue.

    Args:
        complain: called for each problem; formats that have one are left out.
    """
    layer = read_layer(workspace_catalog, ("formats",))
    formats = layer.entries["formats"].values()
    problems = [*layer.problems, *chain.from_iterable(map(format_problems, formats))]
    for problem in problems:
        complain(problem)
    return tuple(item.entry for item in formats if not any(map(item.contains, problems)))


def read_programs(names: Iterable[str], workspace_catalog: Path | None = None) -> dict[str, bytes]:
    """Read the training programs of a recipe; the workspace's own come before the built-in ones.

    Raises:
        RequestError: one is missing or cannot be read.
    """
    return {name: _read_program(name, workspace_catalog) for name in names}


def _read_program(name: str, workspace_catalog: Path | None) -> bytes:
    paths = (folder / name for folder in _program_folders(workspace_catalog))
    path = next((path for path in paths if path.is_file() or path.is_symlink()), None)
    if path is None:
        raise RequestError(f"program {name} is neither in dlperf/workloads nor in catalog/workloads: add it there")
    try:
        return read_bytes(path)
    except OSError as error:
        raise RequestError(f"{path}: {error.strerror}") from error


def _program_folders(workspace_catalog: Path | None) -> list[Path]:
    """Return the folders in which a name is looked up; on a node the files of a program lie in one folder."""
    builtin = sorted(path for path in BUILTIN_PROGRAMS.iterdir() if path.is_dir())
    return [*([workspace_catalog / PROGRAMS] if workspace_catalog else []), *builtin]


def _ids(
    layers: list[CatalogFolder], known_formats: Collection[str] | None, workspace_catalog: Path | None
) -> dict[str, set[str]]:
    ids = {kind: {name for layer in layers for name in layer.declared[kind]} for kind in KINDS}
    folders = filter(Path.is_dir, _program_folders(workspace_catalog))
    ids[PROGRAMS] = {path.name for folder in folders for path in folder.iterdir() if is_regular(path)}
    if known_formats is None:
        del ids["formats"]
    else:
        ids["formats"] |= set(known_formats)
    return ids


def _reference_problems(merged: Merged, ids: Ids) -> Iterator[Problem]:
    cases = {name: item.entry for name, item in merged["cases"].items()}
    for kind, problems in REFERENCE_PROBLEMS.items():
        for item in merged[kind].values():
            yield from problems(item, ids)
    costs = {name for name, item in merged["metrics"].items() if item.entry.estimator == "cost"}
    for item in merged["cases"].values():
        if item.entry.metric in costs:
            yield item.problem(
                ("metric",), f"{item.entry.metric} is computed from a price (name it in metrics instead)"
            )
    # a test checks the built-in formats: compiling their expressions takes longer than all else
    formats = (item for item in merged["formats"].values() if BUILTIN not in item.document.path.parents)
    yield from chain.from_iterable(map(format_problems, formats))
    for item in merged["frameworks"].values():
        yield from framework_problems(item, ids, cases)


def _estimator_problems(protocols: Iterable[Located[Protocol]], parse: Callable[[str], object]) -> Iterator[Problem]:
    for item in protocols:
        try:
            parse(item.entry.estimator)
        except (ValueError, DlperfError) as error:
            yield item.problem(("estimator",), str(error))
