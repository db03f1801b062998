"""``dlperf check``: are the machines ready."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.cli.context import current_catalog, current_workspace
from dlperf.cli.output import print_json, print_table
from dlperf.errors import ExitCode

if TYPE_CHECKING:
    from dlperf.executors.base import CheckItem

commands = typer.Typer()


@commands.command()
def check(
    context: typer.Context,
    hardware: Annotated[list[str], typer.Option("--hardware", "-H", metavar="H,…", help="Of the catalogue.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Ask machines whether they are ready. Asked are reach, GPUs (as named? idle?), images, disk and clock."""
    import asyncio

    from dlperf.campaign.check import check_launches, launches_to_check
    from dlperf.campaign.create import refuse_examples
    from dlperf.campaign.means import executors_of
    from dlperf.cli.selection import selection_of
    from dlperf.plan import expand

    plan = expand(selection_of(hardware, None, None, None, None, None), current_catalog(context))
    refuse_examples(plan)
    items = asyncio.run(check_launches(launches_to_check(plan), executors_of(current_workspace(context))))
    if as_json:
        print_json(items)
    else:
        rows = [(item.node, item.check, "ok" if item.ok else "NOT READY", item.in_words) for item in items]
        print_table(("node", "check", "", "what it says"), rows)
    raise typer.Exit(_exit_code(items))


def _exit_code(items: list[CheckItem]) -> ExitCode:
    failed = [item for item in items if not item.ok]
    if any(item.check == "reachable" for item in failed):
        return ExitCode.UNREACHABLE
    return ExitCode.MEASURED_FAILED if failed else ExitCode.DONE
