"""Define the root command: options that every command shares, and the groups of commands in help order."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import get_annotations
from pathlib import Path
from typing import Annotated, Any

import typer

from dlperf.cli import catalog, database, fetching, importing, machines, parse, plan, results, site, workspaces
from dlperf.cli.running import campaigns, status
from dlperf.cli.verdicts import bisect, comparing, gates, reproduce, tune, versions
from dlperf.version import version

GROUPS = (
    workspaces.commands,
    catalog.commands,
    plan.commands,
    machines.commands,
    fetching.commands,
    campaigns.commands,
    status.commands,
    parse.commands,
    results.commands,
    comparing.commands,
    database.commands,
    reproduce.commands,
    gates.commands,
    versions.commands,
    bisect.commands,
    tune.commands,
    importing.commands,
    site.commands,
)

app = typer.Typer(
    name="dlperf",
    help="Measure training throughput of deep-learning frameworks and publish results traceable to their log lines.",
    rich_markup_mode=None,  # rich help takes three times as long to start
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dlperf {version()}")
        raise typer.Exit


@app.callback()
def root(
    workspace: Annotated[
        Path | None, typer.Option(help="Workspace folder; default: the one around the current folder.", metavar="DIR")
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Print tracebacks of errors.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass  # commands ask for the workspace by options.workspace_option, errors for --debug


for group in GROUPS:
    app.add_typer(group)
    for info in group.registered_commands:
        if info.callback:  # Typer evaluates what is text four times
            info.callback.__annotations__ = get_annotations(info.callback, eval_str=True)


@cache
def command() -> Callable[..., Any]:
    """Return the root command, which takes longer to make than most commands to run."""
    return typer.main.get_command(app)
