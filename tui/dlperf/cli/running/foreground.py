"""Run an engine in the foreground: its progress while it runs, the results at the end."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Callable
from contextlib import nullcontext, redirect_stdout
from typing import TYPE_CHECKING

import typer

from dlperf.cli.output import LiveLines, print_note, print_remarks, print_table, print_text
from dlperf.errors import DlperfError, ExitCode, RequestError
from dlperf.view.text import count_noun, one_line

if TYPE_CHECKING:
    from dlperf.plan import Plan, TrialKey
    from dlperf.runs.journal import CampaignReader
    from dlperf.runs.paths import CampaignPaths, WorkspacePaths
    from dlperf.runs.records import CampaignStatus

REDRAW_SECONDS = 0.5
MOST_CAVEATS = 8
"""Configurations whose caveats are printed: more would push the results off the screen."""


def confirm_plan(plan: Plan, yes: bool) -> None:
    """Print what a plan runs, and ask whether to run it unless told or not at a terminal.

    Raises:
        RequestError: nothing of it can run.
        typer.Abort: the answer is no.
    """
    from dlperf.campaign.create import refuse_examples
    from dlperf.cli.running.text import plan_summary, why_nothing_runs

    if not plan.configurations:
        raise RequestError(why_nothing_runs(plan))
    refuse_examples(plan)
    print_note("\n".join(plan_summary(plan)))
    if not yes and sys.stdin.isatty():
        typer.confirm("Run it?", default=True, abort=True, err=True)


def run_plan(
    workspace: WorkspacePaths, plan: Plan, name: str | None, yes: bool, as_json: bool = False
) -> tuple[CampaignPaths, ExitCode]:
    """Ask, then run a plan as a campaign in the foreground; arguments as of ``confirm_plan``, ``run_in_foreground``."""
    from dlperf.campaign.create import create_campaign

    confirm_plan(plan, yes)
    paths = create_campaign(workspace, plan, name)
    return paths, run_in_foreground(workspace, paths, as_json)


def run_in_foreground(
    workspace: WorkspacePaths,
    paths: CampaignPaths,
    as_json: bool = False,
    more: Callable[[], list[TrialKey]] | None = None,
    quiet: bool = False,
) -> ExitCode:
    """Run a campaign's engine until it is finished or a signal ends it; running trials then continue.

    The commits that it compares are checked out meanwhile, and stay so for running trials.

    Args:
        as_json: leave stdout to the caller's JSON.
        more: called when all trials have ended; returns those to add, none to finish.
        quiet: print nothing but progress at a terminal, machines that do not answer, and how to go on after a signal.
    """
    from dlperf.campaign.rules import exit_code
    from dlperf.runs.control import ask
    from dlperf.runs.journal import CampaignReader
    from dlperf.view.versions import add_worktrees, remove_worktrees
    from dlperf.view.webhook import webhook_address

    address = webhook_address(workspace)
    if not quiet:
        print_note(f"campaign {one_line(paths.name)}: {paths.directory}")
    reader = CampaignReader(paths)
    before = dict(reader.refresh().trials)
    add_worktrees(reader.record.configurations)
    signal = asyncio.run(_run_and_draw(workspace, reader, quiet))
    while signal is None and more and (added := more()):
        for key in added:
            ask(paths, "add", key)
        signal = asyncio.run(_run_and_draw(workspace, reader, quiet))
    if signal is not None:
        _print_interruption(paths, signal)
        return ExitCode.INTERRUPTED
    remove_worktrees(reader.record.configurations)
    status = reader.refresh()
    if not quiet:
        _print_end(workspace, paths, status, as_json)
    code = exit_code(status)
    if status.trials != before:
        _report_end(workspace, address, paths, status, code)
    return code


def _print_interruption(paths: CampaignPaths, signal: str) -> None:
    name = shlex.quote(one_line(paths.name))
    print_note(f"stopped by {signal}: running trials continue on their nodes")
    print_note(f"`dlperf resume {name}` continues the campaign, `dlperf cancel {name}` ends it")


def _print_end(workspace: WorkspacePaths, paths: CampaignPaths, status: CampaignStatus, as_json: bool) -> None:
    """Print the results, and how to go on where trials have none."""
    from dlperf.campaign.rules import failures, succeeded_without_value

    name = shlex.quote(one_line(paths.name))
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        print_results(workspace, paths)
    if failures(status):
        print_note(f"some trials failed: see `dlperf status {name}`, run them again with `dlperf retry {name}`")
    if without := succeeded_without_value(status):
        print_note(
            f"{count_noun(len(without), 'trial')} gave no figure, for the reason above: if it is the log format, fix "
            f"that, then `dlperf verify {name} --write` measures the same logs again"
        )


def _report_end(
    workspace: WorkspacePaths, address: str, paths: CampaignPaths, status: CampaignStatus, code: ExitCode
) -> None:
    """Hand the results to what ``dlperf.yaml`` names."""
    from dlperf.catalog.files.settings import read_settings
    from dlperf.view.webhook import campaign_document, post_document, run_command

    command = read_settings(workspace.settings).at_end.command
    for report, to in ((post_document, address), (run_command, command)):
        try:
            if to:
                report(to, paths, campaign_document(workspace, paths, status, code))
        except DlperfError as error:
            print_note(f"dlperf: {one_line(str(error))}")


async def _run_and_draw(workspace: WorkspacePaths, reader: CampaignReader, quiet: bool) -> str | None:
    from dlperf.campaign.dependencies import engine_dependencies
    from dlperf.campaign.engine import run_campaign

    drawing = asyncio.create_task(_draw(reader, quiet))
    try:
        return await run_campaign(reader.paths, engine_dependencies(workspace, reader.record))
    finally:
        drawing.cancel()
        await asyncio.gather(drawing, return_exceptions=True)


async def _draw(reader: CampaignReader, quiet: bool) -> None:
    from dlperf.cli.running.text import progress_lines, waiting_lines
    from dlperf.view.campaigns import read_progress

    live, waited = LiveLines(), set[str]()
    before = reader.refresh()
    try:
        while True:
            status = reader.refresh()
            live.print_above(_news(before, status, quiet))
            before = status
            if progress := read_progress(reader.paths):
                live.draw(progress_lines(status, progress))
                waits = {} if live.enabled or quiet else waiting_lines(progress)
                live.print_above([line for name, line in waits.items() if name not in waited])
                waited |= waits.keys()
            await asyncio.sleep(REDRAW_SECONDS)
    finally:
        live.clear()
        live.print_above(_news(before, reader.refresh(), quiet))


def _news(before: CampaignStatus, after: CampaignStatus, quiet: bool) -> list[str]:
    from dlperf.cli.running.text import machine_lines, trial_lines

    return [*([] if quiet else trial_lines(before, after)), *machine_lines(before, after)]


def print_results(workspace: WorkspacePaths, paths: CampaignPaths) -> None:
    """Print a row for each configuration of a campaign, and their caveats below."""
    from dlperf.cli.running.text import RESULT_HEADERS, caveats, result_cells
    from dlperf.evidence.logs import log_reader
    from dlperf.table.load import load_campaign

    _, rows = load_campaign(paths, lambda: log_reader(workspace))
    print_table(RESULT_HEADERS, map(result_cells, rows))
    with_caveats = [row for row in rows if caveats(row)]
    if with_caveats:
        print_text()
    for row in with_caveats[:MOST_CAVEATS]:
        print_remarks(row.id, caveats(row))
    if len(with_caveats) > MOST_CAVEATS:
        print_text(f"and caveats of {len(with_caveats) - MOST_CAVEATS} more: see the site, or `dlperf results --json`")
