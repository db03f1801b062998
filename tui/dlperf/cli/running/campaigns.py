"""``dlperf run``, ``resume``, ``cancel``, ``retry``, ``pause``."""

from __future__ import annotations

import shlex
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.cli import options
from dlperf.cli.output import print_note, print_text
from dlperf.cli.selection import AXES, selecting
from dlperf.cli.verdicts.deciding import Deciding, budget_of, code_of, options_of
from dlperf.cli.verdicts.gates import print_judgements
from dlperf.errors import ExitCode, RequestError
from dlperf.view.text import one_line

if TYPE_CHECKING:
    from dlperf.plan import Plan, Selection
    from dlperf.runs.control import Action
    from dlperf.runs.paths import CampaignPaths, WorkspacePaths
    from dlperf.verdicts.baselines import Baseline
    from dlperf.verdicts.judging import Options
    from dlperf.view.workspace import Workspace

commands = typer.Typer()

PATIENCE_SECONDS = 10.0
ANSWER_SECONDS = 0.02
"""Between two looks for the engine's answer."""

TrialArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="TRIAL", help="CONFIGURATION/NUMBER or unique substring of it; default: the whole campaign."
    ),
]
DetachOption = Annotated[bool, typer.Option("--detach", help="Run the engine in the background.")]


@commands.command()
@selecting(*AXES, "repeats", "protocol", "node", "first_seed", "profile")
def run(
    context: typer.Context,
    selection: Selection,
    name: options.NameOption = None,
    detach: DetachOption = False,
    gate: Annotated[
        str | None,
        typer.Option(
            metavar="BASELINE",
            help="Judge the results by this baseline: exit with 1 if one is worse or missing, with 4 if one cannot be "
            "told. Without a selection, run what the baseline holds.",
        ),
    ] = None,
    loss: options.LossOption = None,
    max_repeats: options.MaxRepeatsOption = None,
    budget: options.BudgetOption = None,
    ci: options.CiOption = None,
    yes: options.YesOption = False,
) -> None:
    """Run a selection as a campaign. Options may be repeated or take comma-separated values."""
    from dlperf.campaign.create import create_campaign
    from dlperf.cli.running.foreground import confirm_plan, run_in_foreground
    from dlperf.verdicts.baselines import judge_campaign
    from dlperf.view.start import start_campaign

    if not gate and (loss or max_repeats or budget):
        raise RequestError("--loss, --max-repeats, --budget: add --gate BASELINE")
    if (detach and gate) or (ci and not gate):
        raise RequestError("--gate judges what ended: leave out --detach" if detach else "--ci: add --gate BASELINE")
    spending, chosen = budget_of(budget), options_of(loss, max_repeats)
    workspace = options.open_workspace(context)
    plan, baseline = _gated_plan(workspace, selection, gate, chosen) if gate else (_plan(workspace, selection), None)
    confirm_plan(plan, yes)
    if detach:
        _print_started(*start_campaign(workspace.paths, plan, name))
        return
    paths = create_campaign(workspace.paths, plan, name)
    if baseline is None:
        raise typer.Exit(run_in_foreground(workspace.paths, paths))
    judge = partial(judge_campaign, workspace.paths, baseline, paths.name, options.print_skipped, chosen)
    deciding = Deciding(paths, judge, spending)
    code = run_in_foreground(workspace.paths, paths, more=deciding)
    if code is not ExitCode.INTERRUPTED:
        code = code_of(code, print_judgements(deciding.found or judge(), f"baseline {gate}", ci))
    raise typer.Exit(code)


def _selects(selection: Selection) -> bool:
    return bool(selection.hardware or selection.frameworks or selection.cases)


def _plan(workspace: Workspace, selection: Selection) -> Plan:
    if not _selects(selection):
        raise RequestError(
            "nothing is selected: add --hardware, --framework or --case; `dlperf plan` lists what can run"
        )
    return workspace.plan(selection)


def _gated_plan(workspace: Workspace, selection: Selection, gate: str, chosen: Options) -> tuple[Plan, Baseline]:
    """Return the plan of a selection and what a baseline holds of it; of the whole baseline without a selection."""
    from dlperf.verdicts.baselines import plan_of_baseline, read_baseline
    from dlperf.verdicts.inference.policies import APART

    baseline = read_baseline(workspace.paths, gate)
    selection = replace(selection, repeats=selection.repeats or chosen.first(APART))
    if not _selects(selection):
        return plan_of_baseline(baseline, selection, workspace.catalog()), baseline
    plan = workspace.plan(selection)
    return plan, baseline.only({item.configuration.id for item in plan.configurations})


@commands.command()
def resume(context: typer.Context, campaign: options.CampaignArgument, detach: DetachOption = False) -> None:
    """Resume a campaign. Adopts its running trials, starts the remaining ones, lifts a pause."""
    from dlperf.cli.running.foreground import run_in_foreground
    from dlperf.opening import size_of
    from dlperf.view.start import lift_pause, start_detached

    workspace, paths = _find(context, campaign)
    asked_at = size_of(paths.journal)
    if lift_pause(paths) is not None:
        _wait_for_answer(paths, asked_at)
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
    from dlperf.runs.lock import engine_pid

    _, paths = _find(context, campaign)
    if engine_pid(paths) is None:
        raise RequestError(f"campaign {paths.name!r}: no engine is running, so there is nothing to pause")
    asked_at = _request(paths, "pause", None)
    _wait_for_answer(paths, asked_at)


def _find(context: typer.Context, words: str) -> tuple[WorkspacePaths, CampaignPaths]:
    from dlperf.runs.lookup import find_campaign

    workspace = options.current_workspace(context)
    return workspace, find_campaign(workspace, words)


def _request(paths: CampaignPaths, action: Action, trial: str | None) -> int:
    """Write a request that can be carried out; return the size of the journal before.

    That a running engine can cancel its campaign is not checked: reading the plan may take longer than the answer.
    """
    from dlperf.campaign.rules import check_request
    from dlperf.opening import size_of
    from dlperf.runs.control import ask
    from dlperf.runs.journal import campaign_status
    from dlperf.runs.lock import engine_pid
    from dlperf.runs.lookup import find_key
    from dlperf.runs.store import read_campaign

    if action == "retry" and read_campaign(paths).imported:
        raise RequestError(f"campaign {paths.name!r} was imported: `dlperf reproduce` runs a result of it here")
    key = find_key(paths, trial) if trial is not None else None
    if key or action == "retry" or engine_pid(paths) is None:
        check_request(action, key, campaign_status(paths))
    asked_at = size_of(paths.journal)
    ask(paths, action, key)
    return asked_at


def _request_from_engine(workspace: WorkspacePaths, paths: CampaignPaths, action: Action, trial: str | None) -> None:
    """Write a request, start an engine if none runs, and wait until it has accepted the request."""
    from dlperf.runs.lock import engine_pid

    asked_at = _request(paths, action, trial)
    if engine_pid(paths) is None:
        from dlperf.view.start import start_detached

        pid = start_detached(workspace, paths)
        print_note(f"no engine was running: started one in the background (process {pid})")
    _wait_for_answer(paths, asked_at)


def _wait_for_answer(paths: CampaignPaths, asked_at: int) -> None:
    """Wait until the engine has accepted the last request, and print its answer.

    Args:
        asked_at: size of the journal before the request.
    """
    from dlperf.runs.control import read_answers

    size, read = paths.control.stat().st_size, asked_at
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        answers, read = read_answers(paths, read)
        for answer in answers:
            if isinstance(offset := answer.get("offset"), int) and offset >= size:
                print_note(one_line(str(answer.get("refused") or f"{answer.get('action')}: accepted by the engine")))
                return
        time.sleep(ANSWER_SECONDS)
    print_note("the engine has not accepted the request yet: see `dlperf status`")


def _print_started(paths: CampaignPaths, pid: int) -> None:
    name = shlex.quote(one_line(paths.name))
    print_note(f"engine started (process {pid}); progress: `dlperf status {name}`, stop: `dlperf cancel {name}`")
    print_text(paths.name)
