"""``dlperf plan``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlperf.cli import options
from dlperf.cli.output import message_entries, print_json, print_note, print_table, print_text
from dlperf.cli.results import axis_cells
from dlperf.cli.selection import AXES, selecting
from dlperf.errors import RequestError
from dlperf.view.text import count_noun

if TYPE_CHECKING:
    from dlperf.plan.model import Impossible, Plan, PlannedConfiguration, Selection

commands = typer.Typer()


@commands.command()
@selecting(*AXES, "repeats", "protocol", "node", "first_seed", "profile")
def plan(
    context: typer.Context,
    selection: Selection,
    as_json: options.JsonOption = False,
    render: Annotated[bool, typer.Option("--render", help="Print the scripts of every node.")] = False,
) -> None:
    """Show what would run. Options may be repeated or take comma-separated values."""
    from dlperf.plan import expand

    result = expand(selection, options.current_catalog(context))
    print_plan(result, as_json, render)
    if not result.configurations:
        raise RequestError(
            f"nothing can run: {count_noun(len(result.impossible), 'configuration')} requested, none possible"
        )


def print_plan(result: Plan, as_json: bool = False, render: bool = False) -> None:
    """Print what would run, and what cannot."""
    if as_json:
        print_json(_document(result, render))
        return
    if render:
        from dlperf.render.preview import preview_text

        for item in result.configurations:
            print_text(f"##### {item.configuration.id}\n{preview_text(item.launch)}")
    else:
        headers = ["hardware", "framework", "case", "precision", "batch", "GPUs", "axes", "protocol", "repeats", "note"]
        if result.configurations:
            print_table(headers, map(_row, result.configurations), optional=("axes",))
        what = f"{count_noun(len(result.configurations), 'configuration')}, {count_noun(len(result.trials), 'trial')}"
        print_note(f"{what}; {len(result.impossible)} impossible" if result.impossible else what)
    _print_impossible(result.impossible)


def _document(result: Plan, render: bool) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "selection": asdict(result.selection),
        "configurations": [_planned(item, render) for item in result.configurations],
        "impossible": [
            {"id": item.configuration.id, **asdict(item.configuration), **message_entries("reason", item.reason)}
            for item in result.impossible
        ],
        "trials": [str(trial) for trial in result.trials],
    }


def _planned(item: PlannedConfiguration, render: bool) -> dict[str, Any]:
    from dataclasses import asdict

    from dlperf.render.preview import preview

    document = {"id": item.configuration.id, "scale": item.configuration.scale, **asdict(item)}
    if render:
        nodes = preview(item.launch)
        document["rendered"] = {
            name: {"start": node.start, "files": {path: data.decode() for path, data in node.files.items()}}
            for name, node in nodes.items()
        }
    return document


def _row(item: PlannedConfiguration) -> list[Any]:
    return [
        *axis_cells(item.configuration),
        item.protocol.id,
        item.repeats,
        "example with placeholder hosts, cannot run" if item.example else "under a profiler" if item.profiled else "",
    ]


def _print_impossible(impossible: Iterable[Impossible]) -> None:
    """Print one row per reason: one often rules out many configurations."""
    by_reason: dict[str, list[str]] = {}
    for item in impossible:
        by_reason.setdefault(str(item.reason), []).append(item.configuration.id)
    if by_reason:
        print_text()
        rows = [[len(ids), ids[0], reason] for reason, ids in by_reason.items()]
        print_table(["impossible", "for example", "reason"], rows)
