"""``dlperf status`` and ``dlperf logs``: what campaigns and their trials do, and what trials print."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from dlperf.cli.completion import campaign_names
from dlperf.cli.context import JsonOption, current_workspace
from dlperf.cli.output import coded, print_json, print_table, say
from dlperf.errors import DlperfError
from dlperf.view.text import count_noun, one_line

if TYPE_CHECKING:
    from dlperf.runs.paths import CampaignPaths, Workspace
    from dlperf.runs.records import CampaignStatus, JournaledFigure, Progress

commands = typer.Typer()

Shown = TypeVar("Shown")


@commands.command()
def status(
    context: typer.Context,
    campaign: Annotated[
        str | None, typer.Argument(metavar="CAMPAIGN", help="All of them if absent.", autocompletion=campaign_names)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show campaigns, or one campaign's trials."""
    from dlperf.runs.lookup import find_campaign

    workspace = current_workspace(context)
    if campaign is not None:
        paths = find_campaign(workspace, campaign)
        print_json(_document(paths)) if as_json else _print_campaign(paths)
    elif as_json:
        print_json(list(_readable(workspace, _document)))
    else:
        _print_campaigns(workspace)


def _print_campaigns(workspace: Workspace) -> None:
    from dlperf.cli.campaign_text import CAMPAIGN_HEADERS, campaign_row
    from dlperf.runs.lock import engine_pid
    from dlperf.view.campaigns import read_summary

    summaries = [read_summary(paths, engine_pid(paths)) for paths in workspace.campaigns()]
    rows = [campaign_row(summary) for summary in summaries if not summary.problem]
    for summary in summaries:
        if summary.problem:
            say(f"dlperf: {one_line(summary.problem)}")
    if rows:
        print_table(CAMPAIGN_HEADERS, rows)
    else:
        say(f"no campaign in {workspace.runs}: see `dlperf run`")


def _readable(workspace: Workspace, show: Callable[[CampaignPaths], Shown]) -> Iterator[Shown]:
    """What ``show`` makes of each campaign; one that cannot be read is said and passed over."""
    for paths in workspace.campaigns():
        try:
            yield show(paths)
        except DlperfError as error:
            say(f"dlperf: {one_line(str(error))}")


def _print_campaign(paths: CampaignPaths) -> None:
    from dlperf.cli.campaign_text import TRIAL_HEADERS, left_out_lines, trial_row
    from dlperf.runs.journal import campaign_status
    from dlperf.runs.lock import engine_pid
    from dlperf.view.campaigns import read_progress

    found, engine, progress = campaign_status(paths), engine_pid(paths), read_progress(paths)
    progress = progress if engine is not None else None
    running = progress.trials if progress else {}
    print_table(
        TRIAL_HEADERS,
        [
            trial_row(trial, figure, running.get(str(key)))
            for (key, trial), figure in zip(found.trials.items(), _figures(paths, found), strict=True)
        ],
    )
    for node, since in found.unreachable.items():
        say(one_line(f"node {node} does not answer since {since}: {found.silence[node]}"))
    for line in left_out_lines(found):
        say(line)
    for configuration, cause in found.stopped_configurations.items():
        say(f"{configuration} is not tried any more: {cause}")
    say(_state_line(found, engine, progress.seconds_left if progress else None))


def _state_line(found: CampaignStatus, engine: int | None, seconds_left: float | None) -> str:
    """What the campaign is doing, what to do if nothing, and how far it is."""
    import shlex

    from dlperf.cli.campaign_text import standing_text
    from dlperf.view.campaigns import Standing, standing_of
    from dlperf.view.text import duration

    standing = standing_of(found, engine)
    advice = f": `dlperf resume {shlex.quote(one_line(found.name))}`" if standing is Standing.INTERRUPTED else ""
    done = sum(trial.state.finished for trial in found.trials.values())
    left = f", about {duration(seconds_left)} left" if seconds_left is not None else ""
    return f"{standing_text(standing)}{advice}; {done} of {count_noun(len(found.trials), 'trial')} done{left}"


def _document(paths: CampaignPaths) -> dict[str, Any]:
    from dlperf.runs.journal import campaign_status
    from dlperf.runs.lock import engine_pid
    from dlperf.view.campaigns import read_progress

    found, engine, progress = campaign_status(paths), engine_pid(paths), read_progress(paths)
    return {
        "campaign": found.name,
        "engine": engine,
        "paused": found.paused,
        "finished": found.finished,
        "seconds_left": progress.seconds_left if progress and engine is not None else None,
        "unreachable": found.unreachable,
        "left_out": {node: str(cause) for node, cause in found.left_out.items()},
        "stopped_configurations": {name: str(cause) for name, cause in found.stopped_configurations.items()},
        "trials": _trial_documents(paths, found, progress if engine is not None else None),
    }


def _trial_documents(paths: CampaignPaths, found: CampaignStatus, progress: Progress | None) -> list[dict[str, Any]]:
    documents = []
    for (key, trial), figure in zip(found.trials.items(), _figures(paths, found), strict=True):
        now = progress.trials.get(str(key)) if progress else None
        document = {name: value for name, value in vars(trial).items() if name not in ("key", "figure")}
        document = {"key": str(key)} | document | coded("cause", trial.cause) | asdict(figure)
        waits = coded("pending_reason", now.pending_reason) if now else {}
        documents.append(document | {"now": asdict(now) | waits if now else None})
    return documents


def _figures(paths: CampaignPaths, found: CampaignStatus) -> Iterator[JournaledFigure]:
    """Of each trial, as the journal tells it; one that an older dlperf wrote does not: then the trial's own file."""
    from dlperf.results.model import TrialResult
    from dlperf.runs.records import JournaledFigure
    from dlperf.runs.store import read_record_if_whole

    none = JournaledFigure()
    for key, trial in found.trials.items():
        if trial.figure is not None or not trial.state.finished:
            yield trial.figure or none
        else:
            result = read_record_if_whole(paths.trial(key).result, TrialResult)
            yield JournaledFigure(result.value, result.unit) if result else none


@commands.command()
def logs(
    context: typer.Context,
    trial: Annotated[str, typer.Argument(metavar="TRIAL", help="CAMPAIGN/CONFIGURATION/NUMBER, or a part of it.")],
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the trial has ended.")] = False,
    node: Annotated[
        str | None, typer.Option("--node", metavar="NAME", help="The node's name; the first that has a log.")
    ] = None,
) -> None:
    """Print what a trial printed."""
    from dlperf.cli.follow import print_log
    from dlperf.runs.lookup import find_trial

    print_log(find_trial(current_workspace(context), trial), node, follow)
