"""The root of the command line: options that every command shares, and the groups of commands in their order."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dlperf import __version__
from dlperf.cli import campaigns, catalog, cleaning, importing, machines, parse, plan, results, site, status, workspaces
from dlperf.cli.context import Settings

GROUPS = (
    workspaces.commands,
    catalog.commands,
    plan.commands,
    machines.commands,
    campaigns.commands,
    status.commands,
    parse.commands,
    results.commands,
    importing.commands,
    cleaning.commands,
    site.commands,
)

app = typer.Typer(
    name="dlperf",
    help="Measure how fast deep-learning frameworks train, and publish figures that can be traced to their log lines.",
    rich_markup_mode=None,  # plain help starts three times faster, and reads well in a pipe
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dlperf {__version__}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    workspace: Annotated[
        Path | None, typer.Option(help="Work in this folder's workspace, not in the current folder's.", metavar="DIR")
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    context.obj = Settings(workspace, debug)


for group in GROUPS:
    app.add_typer(group)
