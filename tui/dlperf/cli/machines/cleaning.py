"""``dlperf clean``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.cli import options
from dlperf.cli.output import print_json, print_note, print_table
from dlperf.errors import DlperfError, ExitCode, RequestError
from dlperf.view.text import count_noun, file_size, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dlperf.executors.base import Trial
    from dlperf.executors.cleaning import Cleaned
    from dlperf.runs.paths import WorkspacePaths

commands = typer.Typer()

ABSENT = "kept_absent"
"""Code of a trial that was removed before."""
UNARCHIVED = ("kept_unarchived", "kept_unarchived_more")
"""Codes of trials that have files which are not archived."""


@commands.command()
def clean(
    context: typer.Context,
    campaign: options.OptionalCampaign = None,
    hardware: Annotated[
        list[str] | None, typer.Option("--hardware", "-H", metavar="H,…", help="Only trials on these machines.")
    ] = None,
    discarded: Annotated[
        list[str] | None,
        typer.Option(
            "--discard-unarchived",
            metavar="PATTERN",
            help="Files on the nodes that may be lost, such as 'checkpoints' or '*.pt'. May be repeated.",
        ),
    ] = None,
    orphans: Annotated[
        bool,
        typer.Option(
            "--orphans",
            help="Instead: trials on the machines of --hardware that are of no campaign here, with all that they hold. "
            "Their workspace was removed, or is another one.",
        ),
    ] = False,
    days: Annotated[
        float, typer.Option("--unchanged", metavar="DAYS", min=0, help="Only orphans unchanged for so long.")
    ] = 30,
    caches: Annotated[
        bool, typer.Option("--caches", help="Also builds and wheels for later trials, where no trial is left.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Remove; default: only list what would be removed.")] = False,
    as_json: options.JsonOption = False,
) -> None:
    """Remove archived trials from ~/.dlperf of their nodes.

    Removes dlperf's program and lease there, too, where none is left.

    A folder with a file that is not archived here, by its SHA-256, stays whole.
    """
    import asyncio

    from dlperf.campaign.readiness import ended_trials
    from dlperf.executors.cleaning import clean as remove
    from dlperf.plan import Selection
    from dlperf.runs.lookup import find_campaign

    workspace = options.current_workspace(context)
    names = options.split("--hardware", hardware)
    if orphans:
        if campaign is not None or not names:
            raise RequestError("--orphans is of machines: name them with --hardware, and no campaign")
        _clean_orphans(workspace, names, days, yes, as_json)
        return
    chosen = [find_campaign(workspace, campaign)] if campaign is not None else list(workspace.campaigns())
    unreadable: list[DlperfError] = []
    trials = ended_trials(chosen, names, unreadable.append)
    for error in unreadable:
        options.print_skipped(error)
    if not trials:
        options.open_workspace(context).refuse_unknown(Selection(hardware=names), ())
    if not yes:
        _print_removable(trials, as_json)
        return
    outcomes = asyncio.run(remove(trials, discarded or (), tidy=True, caches=caches))
    if as_json:
        print_json(outcomes)
    else:
        _print_outcomes(outcomes)
    raise typer.Exit(ExitCode.MEASURED_FAILED if unreadable or any(map(_is_kept, outcomes)) else ExitCode.DONE)


def _clean_orphans(workspace: WorkspacePaths, names: Sequence[str], days: float, yes: bool, as_json: bool) -> None:
    import asyncio

    from dlperf.campaign.readiness import known_trials, nodes_of
    from dlperf.catalog.files.load import load_catalog
    from dlperf.executors.cleaning import clean_orphans

    nodes = nodes_of(names, load_catalog(workspace.catalog, complain=options.print_skipped))
    outcomes = asyncio.run(clean_orphans(nodes, known_trials(workspace.campaigns()), days, yes))
    if as_json:
        print_json(outcomes)
    elif yes:
        _print_outcomes(outcomes)
    else:
        found = [item for item in outcomes if not item.kept]
        print_table(
            ("machine", "trial", "size"), [(item.machine, item.trial_id, file_size(item.bytes)) for item in found]
        )
        size = file_size(sum(item.bytes for item in found))
        there = f"{count_noun(len(found), 'trial')} ({size}) would be removed with all that they hold"
        print_note(f"{there}; another workspace may have planned them: add --yes")
    raise typer.Exit(ExitCode.MEASURED_FAILED if any(item.kept and not item.trial_id for item in outcomes) else 0)


def _print_removable(trials: list[Trial], as_json: bool) -> None:
    if as_json:
        print_json([{"trial": trial.trial_id, "nodes": [node.name for node in trial.launch.nodes]} for trial in trials])
        return
    nodes = sorted({node.name for trial in trials for node in trial.launch.nodes})
    listed = ", ".join(nodes[:8]) + ", …" * (len(nodes) > 8)
    where = f" from {count_noun(len(nodes), 'node')} ({listed})" if nodes else ""
    trials_there = f"{count_noun(len(trials), 'archived trial')} would be removed{where}"
    print_note(f"{trials_there}, unless a folder holds what is not archived: add --yes")


def _is_kept(item: Cleaned) -> bool:
    return item.kept is not None and item.kept.code != ABSENT


def _print_outcomes(outcomes: list[Cleaned]) -> None:
    rows = []
    for machine in dict.fromkeys(item.machine for item in outcomes):
        here = [item for item in outcomes if item.machine == machine]
        removed = [item for item in here if not item.kept]
        rows.append((machine, len(removed), file_size(sum(item.bytes for item in removed)), sum(map(_is_kept, here))))
    print_table(("machine", "removed", "size", "kept"), rows)
    for item in filter(_is_kept, outcomes):
        print_note(one_line(f"{item.machine}: {item.trial_id} kept: {item.kept}"))
    if any(item.kept and item.kept.code in UNARCHIVED for item in outcomes):
        print_note("copy what you need, then name files that may be lost: `--discard-unarchived PATTERN`")
