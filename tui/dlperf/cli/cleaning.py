"""``dlperf clean``: what trials left on their nodes, once it is archived."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.cli.completion import campaign_names
from dlperf.cli.context import JsonOption, current_workspace
from dlperf.cli.output import print_json, print_table, say
from dlperf.errors import ExitCode
from dlperf.view.text import count_noun

if TYPE_CHECKING:
    from dlperf.executors.cleaning import Cleaned

commands = typer.Typer()


@commands.command()
def clean(
    context: typer.Context,
    campaign: Annotated[
        str | None, typer.Argument(metavar="CAMPAIGN", help="All of them if absent.", autocompletion=campaign_names)
    ] = None,
    hardware: Annotated[
        list[str] | None, typer.Option("--hardware", "-H", metavar="H,…", help="Only trials on these machines.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Remove; without it, only say what would be removed.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Remove archived trials from their nodes. Removed is what lies in ~/.dlperf there and, to the last byte, here."""
    import asyncio

    from dlperf.campaign.readiness import ended_trials
    from dlperf.executors.cleaning import clean as remove
    from dlperf.runs.lookup import find_campaign

    workspace = current_workspace(context)
    chosen = [find_campaign(workspace, campaign)] if campaign is not None else list(workspace.campaigns())
    names = {name for words in hardware or () for name in words.split(",")}
    trials = ended_trials(chosen, names)
    if not yes and as_json:
        print_json([{"trial": trial.trial_id, "nodes": [node.name for node in trial.launch.nodes]} for trial in trials])
        return
    if not yes:
        nodes = sorted({node.name for trial in trials for node in trial.launch.nodes})
        listed = ", ".join(nodes[:8]) + ", …" * (len(nodes) > 8)
        where = f" from {count_noun(len(nodes), 'node')} ({listed})" if nodes else ""
        say(f"{count_noun(len(trials), 'archived trial')} would be removed{where}: add --yes")
        return
    outcomes = asyncio.run(remove(trials))
    if as_json:
        print_json(outcomes)
    else:
        _print(outcomes)
    failed = any(item.kept and item.kept != NOTHING for item in outcomes)
    raise typer.Exit(ExitCode.MEASURED_FAILED if failed else ExitCode.DONE)


NOTHING = "nothing of it is here"
"""What a node says of a trial that was removed before."""


def _print(outcomes: list[Cleaned]) -> None:
    """A row for each machine; a line for each folder that stays."""
    rows = []
    for machine in dict.fromkeys(item.machine for item in outcomes):
        gone = [item for item in outcomes if item.machine == machine and not item.kept]
        kept = sum(item.machine == machine and item.kept not in ("", NOTHING) for item in outcomes)
        rows.append((machine, len(gone), f"{sum(item.bytes for item in gone) / 1e6:.1f} MB", kept))
    print_table(("machine", "removed", "size", "kept"), rows)
    for item in outcomes:
        if item.kept not in ("", NOTHING):
            say(f"{item.machine}: {item.trial_id} stays: {item.kept}")
