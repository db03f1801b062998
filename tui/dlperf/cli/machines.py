"""``dlperf check``: are the machines ready."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from dlperf.cli.context import JsonOption, current_catalog, current_workspace
from dlperf.cli.output import coded, print_json, print_table
from dlperf.cli.selection import CaseOption, FrameworkOption, GpusOption, RequiredHardwareOption, selection_of
from dlperf.errors import ExitCode, RequestError

if TYPE_CHECKING:
    from dlperf.executors.base import CheckItem

commands = typer.Typer()


@commands.command()
def check(
    context: typer.Context,
    hardware: RequiredHardwareOption,
    framework: FrameworkOption = None,
    case: CaseOption = None,
    gpus: GpusOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask machines whether they are ready. Each is asked for GPUs (as named? idle?), images, data, disk and clock."""
    import asyncio

    from dlperf.campaign.create import refuse_examples
    from dlperf.campaign.dependencies import executor_opener
    from dlperf.campaign.readiness import check_launches, launches_to_check
    from dlperf.cli.campaign_text import why_nothing_runs
    from dlperf.plan import expand

    plan = expand(selection_of(hardware, framework, case, None, None, gpus), current_catalog(context))
    if not plan.configurations:
        raise RequestError(why_nothing_runs(plan))
    refuse_examples(plan)
    items = asyncio.run(check_launches(launches_to_check(plan), executor_opener(current_workspace(context))))
    if as_json:
        print_json([check_document(item) for item in items])
    else:
        print_table(("node", "check", "", "what it says"), map(_row, items))
    raise typer.Exit(_exit_code(items))


def _row(item: CheckItem) -> tuple[str, ...]:
    return (item.node, item.check, "ok" if item.ok else "NOT READY", str(item.message_with_advice))


def check_document(item: CheckItem) -> dict[str, Any]:
    """One check as JSON output shows it."""
    advice = coded("advice", item.advice) | {"advice": str(item.advice or "")}
    return vars(item) | coded("message", item.message) | advice


def _exit_code(items: list[CheckItem]) -> ExitCode:
    failed = [item for item in items if not item.ok]
    if any(item.check == "reachable" for item in failed):
        return ExitCode.UNREACHABLE
    return ExitCode.MEASURED_FAILED if failed else ExitCode.DONE
