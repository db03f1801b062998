"""``dlperf run``, ``resume``, ``cancel``, ``retry``, ``pause``."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.cli import options
from dlperf.cli.gates import print_judgements
from dlperf.cli.output import print_note
from dlperf.errors import ExitCode, RequestError
from dlperf.view.text import one_line

if TYPE_CHECKING:
    from dlperf.plan import Selection
    from dlperf.runs.control import Action
    from dlperf.runs.paths import CampaignPaths, Workspace

commands = typer.Typer()

TrialArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="TRIAL", help="CONFIGURATION/NUMBER or unique substring of it; default: the whole campaign."
    ),
]
DetachOption = Annotated[bool, typer.Option("--detach", help="Run the engine in the background.")]


@commands.command()
@options.selecting(*options.AXES, "repeats", "protocol", "profile")
def run(
    context: typer.Context,
    selection: Selection,
    name: options.NameOption = None,
    detach: DetachOption = False,
    gate: Annotated[
        str | None,
        typer.Option(
            metavar="BASELINE",
            help="Judge the results by this baseline, exit with 1 if one is worse or missing. Without a selection, run "
            "what the baseline holds.",
        ),
    ] = None,
    ci: options.CiOption = None,
    yes: options.YesOption = False,
) -> None:
    """Run a selection as a campaign. Options may be repeated or take comma-separated values."""
    from dlperf.campaign.create import create_campaign
    from dlperf.cli.foreground import confirm_plan, run_in_foreground
    from dlperf.results.baselines import judge_campaign, plan_of_baseline, read_baseline
    from dlperf.view.start import start_campaign

    if (detach and gate) or (ci and not gate):
        raise RequestError("--gate judges what ended: leave out --detach" if detach else "--ci: add --gate BASELINE")
    workspace = options.open_workspace(context)
    baseline = read_baseline(workspace.paths, gate) if gate else None
    selection = replace(selection, repeats=selection.repeats or (baseline.repeats if baseline else None))
    selected = selection.hardware or selection.frameworks or selection.cases
    if not (selected or baseline):
        raise RequestError(
            "nothing is selected: add --hardware, --framework or --case; `dlperf plan` lists what can run"
        )
    if baseline and not selected:
        plan = plan_of_baseline(baseline, selection, workspace.catalog())
    else:
        plan = workspace.plan(selection)
    if baseline and selected:
        baseline = baseline.only({item.configuration.id for item in plan.configurations})
    confirm_plan(plan, yes)
    if detach:
        _print_started(*start_campaign(workspace.paths, plan, name))
        return
    paths = create_campaign(workspace.paths, plan, name)
    code = run_in_foreground(workspace.paths, paths)
    if baseline and code is not ExitCode.INTERRUPTED:
        found = judge_campaign(workspace.paths, baseline, paths.name, options.print_skipped)
        verdict = print_judgements(found, f"baseline {gate}", ci)
        code = code or verdict
    raise typer.Exit(code)


@commands.command()
def resume(context: typer.Context, campaign: options.CampaignArgument, detach: DetachOption = False) -> None:
    """Resume a campaign. Adopts its running trials, starts the remaining ones, lifts a pause."""
    from dlperf.campaign.detach import start_detached
    from dlperf.cli.foreground import run_in_foreground, wait_for_requests
    from dlperf.view.start import lift_pause

    workspace, paths = _find(context, campaign)
    if lift_pause(paths) is not None:
        wait_for_requests(paths)
    elif detach:
        _print_started(paths, start_detached(workspace, paths))
    else:
        raise typer.Exit(run_in_foreground(workspace, paths))


@commands.command()
def cancel(context: typer.Context, campaign: options.CampaignArgument, trial: TrialArgument = None) -> None:
    """Cancel a campaign or one of its trials. Logs of running trials are collected."""
    _request_from_engine(*_find(context, campaign), "cancel", trial)


@commands.command()
def retry(context: typer.Context, campaign: options.CampaignArgument, trial: TrialArgument = None) -> None:
    """Run failed, cancelled or lost trials again. Successful trials are kept."""
    _request_from_engine(*_find(context, campaign), "retry", trial)


@commands.command()
def pause(context: typer.Context, campaign: options.CampaignArgument) -> None:
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
