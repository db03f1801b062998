"""``dlperf run``, ``resume``, ``cancel``, ``retry``, ``pause``."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from dlperf.cli import options
from dlperf.cli.output import print_note
from dlperf.errors import RequestError
from dlperf.view.text import one_line

if TYPE_CHECKING:
    from dlperf.runs.control import Action
    from dlperf.runs.paths import CampaignPaths, Workspace

commands = typer.Typer()

CampaignArgument = Annotated[
    str,
    typer.Argument(metavar="CAMPAIGN", help="Name or unique substring.", autocompletion=options.complete_campaigns),
]
TrialArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="TRIAL", help="CONFIGURATION/NUMBER or unique substring of it; default: the whole campaign."
    ),
]
DetachOption = Annotated[bool, typer.Option("--detach", help="Run the engine in the background.")]


@commands.command()
def run(
    context: typer.Context,
    hardware: options.HardwareOption = None,
    framework: options.FrameworkOption = None,
    case: options.CaseOption = None,
    precision: options.PrecisionOption = None,
    batch_size: options.BatchSizeOption = None,
    gpus: options.GpusOption = None,
    axes: options.SetOption = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Campaign name; default: time and contents.")
    ] = None,
    repeats: options.RepeatsOption = None,
    protocol: options.ProtocolOption = None,
    detach: DetachOption = False,
    yes: options.YesOption = False,
) -> None:
    """Run a selection as a campaign. Options may be repeated or take comma-separated values."""
    from dlperf.campaign.create import create_campaign
    from dlperf.cli.foreground import confirm_plan
    from dlperf.plan import expand
    from dlperf.view.start import start_campaign

    workspace = options.current_workspace(context)
    selection = options.selection_of(hardware, framework, case, precision, batch_size, gpus, repeats, protocol, axes)
    if not (selection.hardware or selection.frameworks or selection.cases):
        raise RequestError(
            "nothing is selected: add --hardware, --framework or --case; `dlperf plan` lists what can run"
        )
    plan = expand(selection, options.current_catalog(context))
    confirm_plan(plan, yes)
    if detach:
        _print_started(*start_campaign(workspace, plan, name))
    else:
        _run_in_foreground(workspace, create_campaign(workspace, plan, name))


@commands.command()
def resume(context: typer.Context, campaign: CampaignArgument, detach: DetachOption = False) -> None:
    """Resume a campaign. Adopts its running trials, starts the remaining ones, lifts a pause."""
    from dlperf.campaign.detach import start_detached
    from dlperf.cli.foreground import wait_for_requests
    from dlperf.view.start import lift_pause

    workspace, paths = _find(context, campaign)
    if lift_pause(paths) is not None:
        wait_for_requests(paths)
    elif detach:
        _print_started(paths, start_detached(workspace, paths))
    else:
        _run_in_foreground(workspace, paths)


@commands.command()
def cancel(context: typer.Context, campaign: CampaignArgument, trial: TrialArgument = None) -> None:
    """Cancel a campaign or one of its trials. Logs of running trials are collected."""
    _request_from_engine(*_find(context, campaign), "cancel", trial)


@commands.command()
def retry(context: typer.Context, campaign: CampaignArgument, trial: TrialArgument = None) -> None:
    """Run failed, cancelled or lost trials again. Successful trials are kept."""
    _request_from_engine(*_find(context, campaign), "retry", trial)


@commands.command()
def pause(context: typer.Context, campaign: CampaignArgument) -> None:
    """Start no further trials of a campaign. Running trials continue; `dlperf resume` lifts the pause."""
    from dlperf.cli.foreground import wait_for_requests
    from dlperf.runs.lock import engine_pid

    _, paths = _find(context, campaign)
    if engine_pid(paths) is None:
        raise RequestError(f"campaign {paths.name!r}: no engine is running, so there is nothing to pause")
    _request(paths, "pause", None)
    wait_for_requests(paths)


def _find(context: typer.Context, words: str) -> tuple[Workspace, CampaignPaths]:
    from dlperf.runs.lookup import find_campaign

    workspace = options.current_workspace(context)
    return workspace, find_campaign(workspace, words)


def _request(paths: CampaignPaths, action: Action, trial: str | None) -> None:
    from dlperf.campaign.requests import check_request
    from dlperf.runs.control import ask
    from dlperf.runs.journal import campaign_status
    from dlperf.runs.lookup import find_key

    key = find_key(paths, trial) if trial is not None else None
    check_request(action, key, campaign_status(paths))
    ask(paths, action, key)


def _request_from_engine(workspace: Workspace, paths: CampaignPaths, action: Action, trial: str | None) -> None:
    """Write a request, start an engine if none runs, and wait until it has accepted the request."""
    from dlperf.campaign.detach import start_detached
    from dlperf.cli.foreground import wait_for_requests
    from dlperf.runs.lock import engine_pid

    _request(paths, action, trial)
    if engine_pid(paths) is None:
        pid = start_detached(workspace, paths)
        print_note(f"no engine was running: started one in the background (process {pid})")
    wait_for_requests(paths)


def _print_started(paths: CampaignPaths, pid: int) -> None:
    name = shlex.quote(one_line(paths.name))
    print_note(f"engine started (process {pid}); progress: `dlperf status {name}`, stop: `dlperf cancel {name}`")
    print(paths.name)


def _run_in_foreground(workspace: Workspace, paths: CampaignPaths) -> NoReturn:
    from dlperf.cli.foreground import run_in_foreground

    raise typer.Exit(run_in_foreground(workspace, paths))
