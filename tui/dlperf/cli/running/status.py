"""``dlperf status`` and ``dlperf logs``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlperf.cli.options import JsonOption, OptionalCampaign, current_workspace, read_workspace
from dlperf.cli.output import message_entries, print_json, print_note, print_table
from dlperf.view.text import count_noun, duration, one_line

if TYPE_CHECKING:
    from dlperf.runs.paths import CampaignPaths, WorkspacePaths
    from dlperf.runs.records import CampaignStatus, Progress

commands = typer.Typer()


@commands.command()
def status(context: typer.Context, campaign: OptionalCampaign = None, as_json: JsonOption = False) -> None:
    """List campaigns, or one campaign's trials."""
    from dlperf.runs.lookup import find_campaign

    workspace = read_workspace(context)
    if campaign is not None:
        paths = find_campaign(workspace, campaign)
        print_json(_document(paths)) if as_json else _print_campaign(paths)
    elif as_json:
        print_json(list(_documents(workspace)))
    else:
        _print_campaigns(workspace)


def _print_campaigns(workspace: WorkspacePaths) -> None:
    from dlperf.cli.running.text import CAMPAIGN_HEADERS, campaign_cells
    from dlperf.runs.lock import engine_pid
    from dlperf.view.campaigns import read_summary

    summaries = [read_summary(paths, engine_pid(paths)) for paths in workspace.campaigns()]
    rows = [campaign_cells(summary) for summary in summaries if not summary.problem]
    for summary in summaries:
        if summary.problem:
            print_note(f"dlperf: {one_line(summary.problem)}")
    if rows:
        print_table(CAMPAIGN_HEADERS, rows)
    else:
        print_note(f"no campaign in {workspace.runs}: see `dlperf run`")


def _documents(workspace: WorkspacePaths) -> Iterator[dict[str, Any]]:
    """Yield the JSON of each campaign; report one that cannot be read and skip it."""
    from dlperf.runs.store import each_readable

    yield from each_readable(
        workspace.campaigns(), _document, lambda error: print_note(f"dlperf: {one_line(str(error))}")
    )


def _read(paths: CampaignPaths) -> tuple[CampaignStatus, int | None, Progress | None]:
    """Return the state, the engine's process id, and the progress while an engine runs."""
    from dlperf.runs.journal import campaign_status
    from dlperf.runs.lock import engine_pid
    from dlperf.view.campaigns import read_progress, with_figures

    found, engine = with_figures(paths, campaign_status(paths)), engine_pid(paths)
    return found, engine, read_progress(paths) if engine is not None else None


def _print_campaign(paths: CampaignPaths) -> None:
    from dlperf.cli.running.text import TRIAL_HEADERS, left_out_lines, trial_cells

    found, engine, progress = _read(paths)
    running = progress.trials if progress else {}
    cells = [trial_cells(trial, running.get(str(key))) for key, trial in found.trials.items()]
    print_table(TRIAL_HEADERS, cells)
    for node, since in found.unreachable.items():
        print_note(one_line(f"node {node} does not answer since {since}: {found.silence[node]}"))
    for line in left_out_lines(found):
        print_note(line)
    for configuration, cause in found.stopped_configurations.items():
        print_note(f"{configuration} is not tried any more: {cause}")
    print_note(_state_line(found, engine, progress.seconds_left if progress else None))


def _state_line(found: CampaignStatus, engine: int | None, seconds_left: float | None) -> str:
    """Return what the campaign is doing, how to continue it if it is interrupted, and its progress."""
    import shlex

    from dlperf.cli.running.text import standing_text
    from dlperf.view.campaigns import Standing, standing_of

    standing = standing_of(found, engine)
    advice = f": `dlperf resume {shlex.quote(one_line(found.name))}`" if standing is Standing.INTERRUPTED else ""
    done = sum(trial.state.finished for trial in found.trials.values())
    left = f", about {duration(seconds_left)} left" if seconds_left is not None else ""
    return f"{standing_text(standing)}{advice}; {done} of {count_noun(len(found.trials), 'trial')} done{left}"


def _document(paths: CampaignPaths) -> dict[str, Any]:
    found, engine, progress = _read(paths)
    return {
        "campaign": found.name,
        "engine": engine,
        "paused": found.paused,
        "finished": found.finished,
        "seconds_left": progress.seconds_left if progress else None,
        "unreachable": found.unreachable,
        "left_out": found.left_out,
        "stopped_configurations": found.stopped_configurations,
        "trials": _trial_documents(found, progress),
    }


def _trial_documents(found: CampaignStatus, progress: Progress | None) -> list[dict[str, Any]]:
    from dlperf.runs.records import JournaledFigure

    documents = []
    for key, trial in found.trials.items():
        now = progress.trials.get(str(key)) if progress else None
        document = {name: value for name, value in vars(trial).items() if name not in ("key", "figure")}
        figure = asdict(trial.figure or JournaledFigure())
        document = {"key": str(key)} | document | message_entries("cause", trial.cause) | figure
        waits = message_entries("pending_reason", now.pending_reason) if now else {}
        documents.append(document | {"now": asdict(now) | waits if now else None})
    return documents


@commands.command()
def logs(
    context: typer.Context,
    trial: Annotated[
        str, typer.Argument(metavar="TRIAL", help="CAMPAIGN/CONFIGURATION/NUMBER or unique substring of it.")
    ],
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Continue until the trial has ended.")] = False,
    node: Annotated[
        str | None, typer.Option("--node", metavar="NAME", help="Node; default: the first that has a log.")
    ] = None,
) -> None:
    """Print the log of a trial."""
    from dlperf.cli.running.follow import print_log
    from dlperf.runs.lookup import find_trial

    print_log(find_trial(current_workspace(context), trial), node, follow)
