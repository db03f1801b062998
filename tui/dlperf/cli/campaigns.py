"""``dlperf run``, ``resume``, ``cancel``, ``retry``, ``pause``: campaigns from their start to their end."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from dlperf.cli.completion import campaign_names
from dlperf.cli.context import current_catalog, current_workspace
from dlperf.cli.output import say
from dlperf.cli.selection import (
    BatchSizeOption,
    CaseOption,
    FrameworkOption,
    GpusOption,
    HardwareOption,
    PrecisionOption,
    ProtocolOption,
    RepeatsOption,
    selection_of,
)
from dlperf.errors import RequestError
from dlperf.view.text import one_line

if TYPE_CHECKING:
    from dlperf.runs.control import Action
    from dlperf.runs.paths import CampaignPaths, Workspace

commands = typer.Typer()

CampaignArgument = Annotated[
    str,
    typer.Argument(
        metavar="CAMPAIGN", help="Its name, or a part of it that no other has.", autocompletion=campaign_names
    ),
]
TrialArgument = Annotated[
    str | None,
    typer.Argument(metavar="TRIAL", help="CONFIGURATION/NUMBER, or a part of it; the whole campaign if absent."),
]
DetachOption = Annotated[bool, typer.Option("--detach", help="Let the engine run without this terminal.")]


@commands.command()
def run(
    context: typer.Context,
    hardware: HardwareOption = None,
    framework: FrameworkOption = None,
    case: CaseOption = None,
    precision: PrecisionOption = None,
    batch_size: BatchSizeOption = None,
    gpus: GpusOption = None,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="Time and contents if absent.")] = None,
    repeats: RepeatsOption = None,
    protocol: ProtocolOption = None,
    detach: DetachOption = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Run a selection as a campaign. Options may be repeated, and take several values separated by commas."""
    from dlperf.campaign.create import create_campaign, refuse_examples
    from dlperf.cli.campaign_text import plan_summary, why_nothing_runs
    from dlperf.plan import expand
    from dlperf.view.start import start_campaign

    workspace = current_workspace(context)
    selection = selection_of(hardware, framework, case, precision, batch_size, gpus, repeats, protocol)
    if not (selection.hardware or selection.frameworks or selection.cases):
        raise RequestError(
            "nothing is selected: name --hardware, --framework or --case; `dlperf plan` shows what can run"
        )
    plan = expand(selection, current_catalog(context))
    if not plan.configurations:
        raise RequestError(why_nothing_runs(plan))
    refuse_examples(plan)
    for line in plan_summary(plan):
        say(line)
    _ask(yes)
    if detach:
        _say_started(*start_campaign(workspace, plan, name))
    else:
        _work_here(workspace, create_campaign(workspace, plan, name))


@commands.command()
def resume(context: typer.Context, campaign: CampaignArgument, detach: DetachOption = False) -> None:
    """Go on with a campaign. What still runs is found, what is left is started, a pause is lifted."""
    from dlperf.campaign.detach import start_detached
    from dlperf.cli.foreground import wait_for_requests
    from dlperf.view.start import lift_pause

    workspace, paths = _find(context, campaign)
    if lift_pause(paths) is not None:
        wait_for_requests(paths)
    elif detach:
        _say_started(paths, start_detached(workspace, paths))
    else:
        _work_here(workspace, paths)


@commands.command()
def cancel(context: typer.Context, campaign: CampaignArgument, trial: TrialArgument = None) -> None:
    """End a campaign, or one of its trials; what ran is collected."""
    _have_done(*_find(context, campaign), "cancel", trial)


@commands.command()
def retry(context: typer.Context, campaign: CampaignArgument, trial: TrialArgument = None) -> None:
    """Run again what failed, was cancelled or was lost. What succeeded stays as it is."""
    _have_done(*_find(context, campaign), "retry", trial)


@commands.command()
def pause(context: typer.Context, campaign: CampaignArgument) -> None:
    """Start no further trial of a campaign; what runs goes on. `dlperf resume` lifts it."""
    from dlperf.cli.foreground import wait_for_requests
    from dlperf.runs.lock import engine_pid

    _, paths = _find(context, campaign)
    if engine_pid(paths) is None:
        raise RequestError(f"campaign {paths.name!r}: no engine runs, so that nothing starts")
    _request(paths, "pause", None)
    wait_for_requests(paths)


def _find(context: typer.Context, words: str) -> tuple[Workspace, CampaignPaths]:
    from dlperf.runs.lookup import find_campaign

    workspace = current_workspace(context)
    return workspace, find_campaign(workspace, words)


def _request(paths: CampaignPaths, action: Action, trial: str | None) -> None:
    from dlperf.campaign.requests import check_request
    from dlperf.runs.control import ask
    from dlperf.runs.journal import campaign_status
    from dlperf.runs.lookup import find_key

    key = find_key(paths, trial) if trial is not None else None
    check_request(action, key, campaign_status(paths))
    ask(paths, action, key)


def _have_done(workspace: Workspace, paths: CampaignPaths, action: Action, trial: str | None) -> None:
    """Ask the campaign's engine, starting one where none runs, and wait until it has heard."""
    from dlperf.cli.foreground import wait_for_requests
    from dlperf.runs.lock import engine_pid

    _request(paths, action, trial)
    if engine_pid(paths) is None:
        _start_engine(workspace, paths)
    wait_for_requests(paths)


def _start_engine(workspace: Workspace, paths: CampaignPaths) -> None:
    from dlperf.campaign.detach import start_detached

    pid = start_detached(workspace, paths)
    say(f"no engine was running: started one (process {pid}, no terminal)")


def _say_started(paths: CampaignPaths, pid: int) -> None:
    name = shlex.quote(one_line(paths.name))
    say(f"engine started (process {pid}): `dlperf status {name}` shows it, `dlperf cancel {name}` ends it")
    print(paths.name)


def _work_here(workspace: Workspace, paths: CampaignPaths) -> NoReturn:
    from dlperf.cli.foreground import run_in_foreground

    raise typer.Exit(run_in_foreground(workspace, paths))


def _ask(yes: bool) -> None:
    import sys

    if not yes and sys.stdin.isatty():
        typer.confirm("run it?", default=True, abort=True, err=True)
