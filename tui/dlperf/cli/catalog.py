"""``dlperf catalog``."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlperf.catalog.units import default_metric
from dlperf.cli.options import JsonOption, current_catalog
from dlperf.cli.output import print_json, print_note, print_table, print_text
from dlperf.errors import RequestError

if TYPE_CHECKING:
    from dlperf.catalog.files.load import Catalog

commands = typer.Typer()
group = typer.Typer(invoke_without_command=True)
commands.add_typer(group, name="catalog")

COLUMNS = {
    "hardware": ("accelerator", "nodes", "GPUs per node", "executor", "note"),
    "frameworks": ("version", "cases", "format"),
    "cases": ("unit", "metric", "precisions", "batch sizes", "GPUs", "GFLOP per sample", "protocol"),
    "metrics": ("unit", "better", "scope", "estimator"),
    "protocols": ("estimator", "repeats", "aggregate"),
    "formats": ("unit", "scope", "window"),
    "accelerators": ("memory GB", "GB/s", "dense peak TFLOP/s"),
}
"""Columns of each kind after id and title: fields of the entries, if not ``COMPUTED``."""
COMPUTED: dict[str, Callable[[Any], Any]] = {
    "accelerator": lambda item: item.accelerator or "CPU",
    "nodes": lambda item: item.job.max_nodes if item.job else len(item.nodes),
    "GPUs per node": lambda item: item.gpus_per_node,
    "note": lambda item: "example" if item.example else "",
    "cases": lambda item: ", ".join(recipe.case for recipe in item.recipes),
    "unit": lambda item: "of the case" if item.unit is None else item.unit,
    "metric": lambda item: item.metric or default_metric(item.unit),
    "precisions": lambda item: ", ".join(item.precisions),
    "batch sizes": lambda item: ", ".join(map(str, item.batch_sizes)),
    "GPUs": lambda item: ", ".join(item.scales),
    "GFLOP per sample": lambda item: item.gflops_per_sample,
    "better": lambda item: item.direction,
    "memory GB": lambda item: f"{item.memory_gb:g}",
    "GB/s": lambda item: f"{item.bandwidth_gb_per_s:g}",
    "dense peak TFLOP/s": lambda item: ", ".join(f"{name} {peak:g}" for name, peak in item.peak_tflops.items()),
}


@group.callback()
def catalog(context: typer.Context, as_json: JsonOption = False) -> None:
    """List what can be measured. Includes built-in entries and the workspace's catalog/."""
    if context.invoked_subcommand is not None:
        return
    loaded = current_catalog(context)
    if as_json:
        print_json({kind: _documents(loaded, kind) for kind in COLUMNS})
        return
    for number, kind in enumerate(COLUMNS):
        print_text(f"{'' if number == 0 else chr(10)}{kind}")
        _print_kind(loaded, kind)


def _add_list_command(kind: str) -> None:
    @group.command(kind, help=f"List the {kind}.")
    def list_kind(context: typer.Context, as_json: JsonOption = False) -> None:
        loaded = current_catalog(context)
        if as_json:
            print_json(_documents(loaded, kind))
        else:
            _print_kind(loaded, kind)


for _kind in COLUMNS:
    _add_list_command(_kind)


@group.command()
def show(
    context: typer.Context, name: Annotated[str, typer.Argument(metavar="ID")], as_json: JsonOption = False
) -> None:
    """Print an entry as YAML. Prints several if several kinds have one of that id."""
    import yaml

    from dlperf.catalog.files.problem import hint

    loaded = current_catalog(context)
    found = {kind: entries[name] for kind in COLUMNS if name in (entries := _entries(loaded, kind))}
    if not found:
        known = {known for kind in COLUMNS for known in _entries(loaded, kind)}
        raise RequestError(f"unknown id {name!r}: {hint(name, known)}")
    if as_json:
        print_json({kind: _document(entry, exclude_defaults=True) for kind, entry in found.items()})
        return
    for kind, entry in found.items():
        code = "" if hasattr(entry, "model_dump") else ": built-in parser, not a template for an entry"
        data = _document(entry, exclude_defaults=True)
        print_text(f"# {kind}{code}\n{yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=120)}")


@group.command()
def check(context: typer.Context) -> None:
    """Report every error of the catalogue by file and line."""
    loaded = current_catalog(context, None)
    print_note("the catalogue is valid: " + ", ".join(f"{len(_entries(loaded, kind))} {kind}" for kind in COLUMNS))


def _print_kind(loaded: Catalog, kind: str) -> None:
    cells = [COMPUTED.get(column) or attrgetter(column) for column in ("id", "title", *COLUMNS[kind])]
    rows = [[cell(entry) for cell in cells] for entry in _entries(loaded, kind).values()]
    print_table(["id", "title", *COLUMNS[kind]], rows)


def _entries(loaded: Catalog, kind: str) -> dict[str, Any]:
    """Return the entries of a kind by id; log formats include built-in parsers."""
    entries: dict[str, Any] = dict(getattr(loaded, kind))
    if kind == "formats":
        from dlperf.formats.registry import describe_code_formats

        entries = {**describe_code_formats(), **entries}
    return entries


def _documents(loaded: Catalog, kind: str) -> list[dict[str, Any]]:
    return [_document(entry) for entry in _entries(loaded, kind).values()]


def _document(entry: Any, exclude_defaults: bool = False) -> dict[str, Any]:
    if hasattr(entry, "model_dump"):
        return dict(entry.model_dump(mode="json", exclude_defaults=exclude_defaults))
    return {name: value for name, value in vars(entry).items() if value or not exclude_defaults}
