"""Define the root command: options that every command shares, and the groups of commands in help order."""

from collections.abc import Callable, Sequence
from functools import cache
from inspect import get_annotations
from pathlib import Path
from typing import Annotated, Any

import typer

from dlperf.cli import catalog, database, importing, parse, plan, results, site, workspaces
from dlperf.cli.machines import checking, cleaning, fetching
from dlperf.cli.running import campaigns, status
from dlperf.cli.verdicts import bisect, comparing, gates, reproduce, tune, versions
from dlperf.version import version

GROUPS = (
    workspaces.commands,
    catalog.commands,
    plan.commands,
    checking.commands,
    cleaning.commands,
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


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dlperf {version()}")
        raise typer.Exit


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


def command(words: Sequence[str] = ()) -> Callable[..., Any]:
    """Return the root command with the subcommand that ``words`` name, or with all where they name none.

    All take longer to make than most commands to run.
    """
    pairs = zip(("", *words[:-1]), words, strict=True)
    name = next((word for before, word in pairs if word[:1] != "-" and before != "--workspace"), "")
    return _command_of(tuple(group for group in GROUPS if name in _names_of(group)) or GROUPS)


@cache
def _command_of(groups: Sequence[typer.Typer]) -> Callable[..., Any]:
    app = typer.Typer(
        name="dlperf",
        help="Measure training throughput of deep-learning frameworks and publish results traceable to their log "
        "lines.",
        rich_markup_mode=None,  # rich help takes three times as long to start
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    )
    app.callback()(root)
    for group in groups:
        app.add_typer(group)
        for info in group.registered_commands:
            if info.callback:  # Typer evaluates what is text four times
                info.callback.__annotations__ = get_annotations(info.callback, eval_str=True)
    return typer.main.get_command(app)


def _names_of(group: typer.Typer) -> set[str | None]:
    made = {info.name or (info.callback and info.callback.__name__) for info in group.registered_commands}
    return made | {info.name for info in group.registered_groups}
