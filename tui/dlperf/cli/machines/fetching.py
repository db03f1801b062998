"""``dlperf fetch``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.cli import options
from dlperf.cli.output import print_json, print_note, print_table
from dlperf.cli.selection import possible_plan, selecting
from dlperf.errors import RequestError
from dlperf.view.text import file_size

if TYPE_CHECKING:
    from dlperf.campaign.fetching import Fetched
    from dlperf.plan import Selection

commands = typer.Typer()


@commands.command()
@selecting("hardware", "framework", "case", "gpus", required="hardware")
def fetch(
    context: typer.Context,
    selection: Selection,
    python: Annotated[
        str | None, typer.Option(metavar="X.Y", help="Python of the nodes; default: they are asked.")
    ] = None,
    glibc: Annotated[str, typer.Option(metavar="2.N", help="Of the nodes, with --python.")] = "2.28",
    machine: Annotated[str, typer.Option(metavar="ARCH", help="Of the nodes, with --python.")] = "x86_64",
    as_json: options.JsonOption = False,
) -> None:
    """Download packages of stacks for nodes without an index.

    They are the locked requirements of frameworks, checked by their hashes, as wheels for the Python and platform of
    the nodes, without what these have. Trials send them, once to each node.
    """
    import asyncio

    from dlperf.campaign.create import refuse_examples
    from dlperf.campaign.dependencies import executor_opener
    from dlperf.campaign.fetching import NodePython, fetch, python_of, wanted_of

    plan = possible_plan(context, selection)
    catalog, workspace = options.current_catalog(context), options.current_workspace(context)
    wanted = wanted_of(plan, {name: entry.own_packages for name, entry in catalog.hardware.items()})
    if not wanted:
        raise RequestError("nothing to fetch: no selected framework has locked requirements")
    rows: list[Fetched] = []
    for item in wanted:
        if python:
            node = NodePython(python, f"linux-{machine}", glibc, dict.fromkeys(item.own_packages, ""))
        else:
            refuse_examples(plan)
            node = asyncio.run(python_of(item, executor_opener(workspace)))
        rows.append(fetch(item, node, workspace.catalog, print_note))
    if as_json:
        print_json(rows)
        return
    headers = ("framework", "hardware", "Python", "packages", "on node", "here before", "fetched", "size")
    print_table(headers, [tuple((vars(row) | {"bytes": file_size(row.bytes)}).values()) for row in rows])
    print_note("trials send them to nodes that lack them")
