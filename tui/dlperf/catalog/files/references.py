"""Problems that only the whole catalogue shows: dangling references, axes outside the case."""

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import chain, product
from typing import Any

from dlperf.catalog.axes import Configuration, matches, parse_scale
from dlperf.catalog.files.entries import PROGRAMS, Located
from dlperf.catalog.files.launch_texts import job_problems, script_problems, text_problems
from dlperf.catalog.files.problem import Problem, hint, listed
from dlperf.catalog.files.yamlfile import Location
from dlperf.catalog.hardware import Accelerator, Hardware, Precision
from dlperf.catalog.ledger import Ledger
from dlperf.catalog.log_format import Dialect, LogFormat
from dlperf.catalog.model import Axis, Case, Framework, Recipe, Variant
from dlperf.catalog.patterns import (
    RECORD_GROUPS,
    expected_line,
    has_timestamp,
    line_problem,
    metadata_problem,
    record_problem,
    time_problem,
)
from dlperf.catalog.placeholders import PLACEHOLDERS

RESULT_COLUMNS = frozenset(
    {"axes", "campaign", "case", "configuration", "date", "efficiency", "findings", "framework", "hardware", "mfu", "n"}
    | {"printed", "protocol", "recomputed", "scale", "source", "speedup", "spread", "status", "trials", "unit", "value"}
)
"""Names that no axis may take, because results already have a column of that name."""
Ids = Mapping[str, Collection[str]]
"""Kind → the ids that exist."""
_TAKEN = "is the name of a group with another meaning (choose another)"


REFERENCES: dict[type, dict[str, str]] = {
    Precision: {"peak": "precisions"},
    Accelerator: {"peak_tflops": "precisions"},
    Hardware: {"accelerator": "accelerators"},
    Case: {"protocol": "protocols", "metric": "metrics", "metrics": "metrics", "precisions": "precisions"},
    Framework: {"format": "formats", "requirements": PROGRAMS},
    Ledger: {"frameworks": "frameworks"},
    Recipe: {"case": "cases", "format": "formats", "numerics": "precisions", "files": PROGRAMS},
}
"""Field of an entry or recipe that names others, by a text, a list or the keys of a mapping → their kind."""


def _references(item: Located[Any], ids: Ids, owner: Any = None, place: Location = ()) -> Iterator[Problem]:
    """Yield the problems of the names in an entry or, at a place, in a part of it."""
    owner = owner or item.entry
    for field, kind in REFERENCES[type(owner)].items():
        value = getattr(owner, field)
        if isinstance(value, str):
            yield from _reference(item, (*place, field), kind, value, ids)
        else:
            for key, name in enumerate(value or ()):
                at = name if isinstance(value, dict) else key
                yield from _reference(item, (*place, field, at), kind, name, ids)


def accelerator_problems(item: Located[Accelerator], ids: Ids) -> Iterator[Problem]:
    yield from _references(item, ids)
    for index, pattern in enumerate(item.entry.match):
        if problem := line_problem(pattern):
            yield item.problem(("match", index), problem)


def format_problems(item: Located[LogFormat]) -> Iterator[Problem]:
    entry = item.entry
    places: list[tuple[Location, str | None]] = [
        (("detect",), line_problem(entry.detect)),
        *(((name,), line_problem(text)) for name in ("final_settings", "end") if (text := getattr(entry, name))),
        *((("metrics", name), _TAKEN) for name in entry.metrics if name in RECORD_GROUPS),
        *((("pauses", kind), line_problem(text)) for kind, texts in entry.pauses.items() for text in texts),
        *((("metadata", name), metadata_problem(text)) for name, texts in entry.metadata.items() for text in texts),
        *_dialect_problems((), entry, entry.metrics),
        *chain.from_iterable(
            _dialect_problems((name, index), each, entry.metrics)
            for name, dialects in (("dialects", entry.dialects), ("unfinished", entry.unfinished))
            for index, each in enumerate(dialects)
        ),
    ]
    yield from (item.problem(place, message) for place, message in places if message is not None)


def _dialect_problems(
    place: Location, dialect: Dialect, metrics: Collection[str]
) -> Iterator[tuple[Location, str | None]]:
    yield (*place, "record"), record_problem(dialect.record, metrics)
    if dialect.time_format is not None:
        yield (*place, "time_format"), time_problem(dialect.time_format) or _unread_time(dialect, metrics)
    elif has_timestamp(dialect.record):
        yield (*place, "record"), "has a group `time`: add its time_format ('%Y-%m-%d %H:%M:%S', seconds)"


def _unread_time(dialect: Dialect, metrics: Collection[str]) -> str | None:
    readable = record_problem(dialect.record, metrics) is None
    return "the record has no group `time`" if readable and not has_timestamp(dialect.record) else None


def hardware_problems(item: Located[Hardware], ids: Ids) -> Iterator[Problem]:
    yield from _references(item, ids)
    yield from _executor_problems(item)
    yield from _node_problems(item)
    yield from text_problems(item, (), {"env": item.entry.env})
    yield from script_problems(item)
    yield from job_problems(item)


def _executor_problems(item: Located[Hardware]) -> Iterator[Problem]:
    hardware = item.entry
    for name, asked in (("slurm", hardware.slurm), ("queue", hardware.queue)):
        wanted = hardware.executor == "slurm" if name == "slurm" else hardware.executor not in ("direct", "slurm")
        if wanted != (asked is not None):
            scheduler = "slurm" if name == "slurm" else "another scheduler"
            text = f"{scheduler} and a mapping `{name}:` go together (give both or neither)"
            yield item.problem(("executor",), text)


def _node_problems(item: Located[Hardware]) -> Iterator[Problem]:
    names: set[str] = set()
    owners: dict[tuple[str, int], str] = {}
    for index, node in enumerate(item.entry.nodes):
        place: Location = ("nodes", index)
        if node.name in names:
            yield item.problem((*place, "name"), f"duplicate node name {node.name} (each node needs its own name)")
        names.add(node.name)
        elsewhere = node.host not in ("", node.name, "localhost", "127.0.0.1", "::1")
        if node.transport == "local" and (elsewhere or node.port or node.user):
            text = "local is the machine that dlperf runs on: leave it out to use ssh, or leave out host, port and user"
            yield item.problem((*place, "transport"), text)
        if node.gpu_indices is None:
            continue
        if len(node.gpu_indices) < item.entry.gpus_per_node:
            message = f"names {len(node.gpu_indices)} of {item.entry.gpus_per_node} GPUs (gpus_per_node)"
            yield item.problem((*place, "gpu_indices"), message)
        machine = "this machine" if node.transport == "local" else node.host or node.name
        for gpu in node.gpu_indices:
            owner = owners.setdefault((machine, gpu), node.name)
            if owner != node.name:
                yield item.problem((*place, "gpu_indices"), f"GPU {gpu} of {machine} belongs to node {owner} already")


def case_problems(item: Located[Case], ids: Ids) -> Iterator[Problem]:
    case = item.entry
    yield from _references(item, ids)
    yield from script_problems(item)
    if case.ledger:
        yield from _references(item, ids, case.ledger, ("ledger",))
    for index, text in enumerate(case.expect):
        yield from _expectation_problems(item, ("expect", index), text, ids)
    yield from _default_problems(item, (), case.axes)
    lists = {"batch_size": case.batch_sizes, **{name: axis.values for name, axis in case.axes.items()}}
    for index, group in enumerate(case.zip):
        for name in group:
            if name not in lists:
                yield item.problem(("zip", index), f"no axis {name} ({hint(name, lists)})")
        lengths = {name: len(lists[name]) for name in group if name in lists}
        if len(set(lengths.values())) > 1:
            given = listed(f"{name} {length}" for name, length in lengths.items())
            yield item.problem(("zip", index), f"lists of different lengths go together: {given}")


def _expectation_problems(item: Located[Case], place: Location, text: str, ids: Ids) -> Iterator[Problem]:
    expression = expected_line(text)
    if expression is None:
        yield from _reference(item, place, "metrics", text.partition(" ")[0], ids)
    elif problem := line_problem(expression):
        yield item.problem(place, problem)


def _default_problems(item: Located[Any], place: Location, axes: Mapping[str, Axis]) -> Iterator[Problem]:
    for name, axis in axes.items():
        if name in PLACEHOLDERS or name in RESULT_COLUMNS:
            message = "is the name of a placeholder or of a column of results (choose another)"
            yield item.problem((*place, "axes", name), message)
        if axis.default is not None and axis.default not in axis.values:
            message = f"{axis.default} is not among the values {listed(axis.values)}"
            yield item.problem((*place, "axes", name, "default"), message)


REFERENCE_PROBLEMS: dict[str, Callable[[Located[Any], Ids], Iterator[Problem]]] = {
    "precisions": _references,
    "accelerators": accelerator_problems,
    "hardware": hardware_problems,
    "cases": case_problems,
}
"""By kind of entry, besides those of formats and frameworks."""


def framework_problems(item: Located[Framework], ids: Ids, cases: Mapping[str, Case]) -> Iterator[Problem]:
    framework = item.entry
    yield from _references(item, ids)
    yield from script_problems(item)
    axes = {name for recipe in framework.recipes for name in _axes(recipe, cases.get(recipe.case))}
    yield from text_problems(
        item, (), {"container": framework.container, "env": framework.env, "profile": framework.profile}, axes
    )
    seen: set[str] = set()
    for index, recipe in enumerate(framework.recipes):
        place: Location = ("recipes", index)
        if recipe.case in seen:
            yield item.problem((*place, "case"), f"{recipe.case} has a recipe already (use variants)")
        seen.add(recipe.case)
        yield from _references(item, ids, recipe, place)
        yield from _recipe_problems(item, place, recipe, cases.get(recipe.case))


def _recipe_problems(item: Located[Framework], place: Location, recipe: Recipe, case: Case | None) -> Iterator[Problem]:
    axes = _axes(recipe, case)
    yield from _default_problems(item, place, recipe.axes)
    yield from text_problems(item, place, _texts(recipe), axes)
    if case is not None:
        yield from _axis_problems(item, (*place, "precisions"), recipe.precisions, case.precisions, case.id)
        yield from _axis_problems(item, (*place, "batch_sizes"), recipe.batch_sizes or (), case.batch_sizes, case.id)
        yield from _axis_problems(item, (*place, "scales"), recipe.scales or (), case.scales, case.id)
    for index, variant in enumerate(recipe.variants):
        yield from text_problems(item, (*place, "variants", index), _texts(variant), axes)
        if case is not None and not _can_match(variant, recipe, case):
            message = "matches no configuration of this recipe (fix the axes or remove the variant)"
            yield item.problem((*place, "variants", index, "when"), message)


def _axis_problems(
    item: Located[Any], place: Location, given: Collection[Any], offered: Collection[Any], case: str
) -> Iterator[Problem]:
    for index, value in enumerate(given):
        if value not in offered:
            yield item.problem((*place, index), f"case {case} has no {value} (it has {listed(offered)})")


def _can_match(variant: Variant, recipe: Recipe, case: Case) -> bool:
    # Batch sizes and scales that no list contains can be requested, unless the recipe restricts them. Of what the
    # variant does not ask for, one value stands for all: the axes of some cases have thousands of combinations.
    when = variant.when
    precisions = recipe.precisions if when.precision is not None else recipe.precisions[:1]
    batch_sizes = recipe.batch_sizes or case.batch_sizes + (when.batch_size or ())
    batch_sizes = batch_sizes if when.batch_size is not None else batch_sizes[:1]
    scales = recipe.scales or case.scales + (when.scale or ())
    axes = {name: axis.values for name, axis in _axes(recipe, case).items() if name in when.axes}
    points = product(precisions, batch_sizes, scales, product(*axes.values()))
    return any(
        matches(when, Configuration("", "", case.id, precision, batch, *parse_scale(scale), axes=point))
        for precision, batch, scale, values in points
        for point in (tuple(zip(axes, values, strict=True)),)
    )


def _axes(recipe: Recipe, case: Case | None) -> dict[str, Axis]:
    return (case.axes if case else {}) | recipe.axes


def _texts(owner: Recipe | Variant) -> dict[str, Any]:
    names = ("interpreter", "command", "args", "launcher_options", "env", "setup", "workdir")
    return {name: getattr(owner, name, None) for name in names}


def _reference(item: Located[Any], place: Location, kind: str, name: str, ids: Ids) -> Iterator[Problem]:
    if kind in ids and name not in ids[kind]:
        yield item.problem(place, f"no {name} in {kind} ({hint(name, ids[kind])})")
