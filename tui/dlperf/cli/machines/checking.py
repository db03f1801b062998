"""``dlperf check``, ``diagnose`` and ``machines``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlperf.cli import options
from dlperf.cli.output import message_entries, print_json, print_note, print_table, print_text
from dlperf.cli.selection import possible_plan, selecting
from dlperf.errors import ExitCode, RequestError
from dlperf.view.text import file_size, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dlperf.catalog.files.load import Catalog
    from dlperf.derived.health import Fleet
    from dlperf.executors.base import CheckItem
    from dlperf.executors.looking import MachineNow
    from dlperf.plan import Node, Selection

commands = typer.Typer()


@commands.command()
@selecting("hardware", "framework", "case", "gpus", required="hardware")
def check(context: typer.Context, selection: Selection, as_json: options.JsonOption = False) -> None:
    """Check whether machines are ready. Checks GPUs (as described, idle), images, data, disk and clock.

    With --framework also starts each launcher in its environment or container, up to the import of the framework.
    """
    import asyncio

    from dlperf.campaign.create import refuse_examples
    from dlperf.campaign.dependencies import executor_opener
    from dlperf.campaign.readiness import check_plan

    plan = possible_plan(context, selection)
    refuse_examples(plan)
    items = asyncio.run(check_plan(plan, executor_opener(options.current_workspace(context))))
    if as_json:
        print_json([check_document(item) for item in items])
    else:
        print_table(("node", "check", "", "result"), map(_check_row, items))
    raise typer.Exit(_exit_code(items))


@commands.command()
@selecting("hardware", "gpus", "repeats", required="hardware")
def diagnose(
    context: typer.Context,
    selection: Selection,
    name: options.NameOption = None,
    yes: options.YesOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Diagnose machines: compute, memory, all-reduce, disk.

    Measures matrix products, memory, copies from and to the host, all-reduce, disk.

    Runs the case node-health on all nodes and GPUs of each hardware, an ordinary campaign. Exits with 1 if a GPU or
    node is an outlier: worse than the median of five or more alike by 2 % and by a modified z-score of 3.5, or with
    uncorrected memory errors or driver errors (Xid).
    """
    from dlperf.cli.running.foreground import run_plan
    from dlperf.derived.health import diagnosis_of
    from dlperf.evidence.logs import log_reader
    from dlperf.plan.diagnosis import plan_diagnosis

    workspace = options.current_workspace(context)
    plan = plan_diagnosis(selection, options.current_catalog(context))
    paths, code = run_plan(workspace, plan, name, yes, as_json)
    found = diagnosis_of(paths, log_reader(workspace))
    if as_json:
        print_json(found)
    elif found:
        headers = ("fleet", "metric", "unit", "median", "lowest", "highest", "of", "outliers")
        print_table(headers, map(_fleet_row, found))
        metrics = {fleet.metric for fleet in found}
        if any(planned.accelerator for planned in plan.configurations) and "driver_errors" not in metrics:
            print_note(
                "driver errors (Xid) are unknown: reading the kernel's log needs root or kernel.dmesg_restrict=0"
            )
    raise typer.Exit(ExitCode.MEASURED_FAILED if any(fleet.outliers for fleet in found) else code)


def _fleet_row(fleet: Fleet) -> tuple[object, ...]:
    from statistics import median

    bad = ", ".join(f"{item.place} ({number(item.value)})" for item in fleet.outliers)
    kind = f"{len(fleet.members)} {'nodes' if fleet.of_nodes else 'GPUs'}"
    values = fleet.values
    return (fleet.name, fleet.metric, fleet.unit, median(values), min(values), max(values), kind, bad or "none")


def _check_row(item: CheckItem) -> tuple[str, ...]:
    verdict = "CAUTION" if item.caution else "ok" if item.ok else "NOT READY"
    return (item.node, item.check, verdict, str(item.message_with_advice))


def check_document(item: CheckItem) -> dict[str, Any]:
    advice = message_entries("advice", item.advice) | {"advice": str(item.advice or "")}
    return vars(item) | message_entries("message", item.message) | advice


def _exit_code(items: list[CheckItem]) -> ExitCode:
    failed = [item for item in items if not item.ok]
    if any(item.check == "reachable" for item in failed):
        return ExitCode.UNREACHABLE
    return ExitCode.MEASURED_FAILED if failed else ExitCode.DONE


@commands.command()
def machines(
    context: typer.Context,
    hardware: Annotated[
        list[str] | None, typer.Option("--hardware", "-H", metavar="H,…", help="Only these machines.")
    ] = None,
    login: Annotated[
        str | None, typer.Option(metavar="[USER@]HOST[:PORT]|local", help="A machine that is in no catalogue yet.")
    ] = None,
    every: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=1.0, help="Ask again and again, until Ctrl+C.")
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Show what machines do now: who uses them, GPUs, disk. With --json one line for each answer."""
    import asyncio

    from dlperf.campaign.readiness import machines_of
    from dlperf.executors.looking import machine_of_login

    if every is not None and not as_json:
        raise RequestError("--every prints an answer after the other: add --json")
    names, catalog = options.split("--hardware", hardware), options.current_catalog(context)
    nodes = {machine_of_login(login): []} if login else machines_of(catalog, names)
    found = asyncio.run(_look(nodes, catalog, every, as_json))
    if not as_json:
        print_table(("node", "hardware", "state", ""), map(_machine_row, found))
    silent = any(item.state is None and (names or not item.elsewhere) for item in found)
    raise typer.Exit(ExitCode.UNREACHABLE if silent else ExitCode.DONE)


async def _look(
    nodes: Mapping[Node, Sequence[str]], catalog: Catalog, every: float | None, as_json: bool
) -> list[MachineNow]:
    """Return the first answers of all machines; print each answer where JSON is wanted."""
    import json

    from dlperf.campaign.readiness import as_described
    from dlperf.executors.looking import look
    from dlperf.executors.machines import MachineClients

    reached = MachineClients()
    found: list[MachineNow] = []
    try:
        async for answer in look(reached, nodes, every):
            items = as_described(answer, catalog)
            for item in items if as_json else ():
                print_text(json.dumps(vars(item) | message_entries("problem", item.problem)))
            found += items if every is None else ()
    finally:
        await reached.close()
    return found


def _machine_row(found: MachineNow) -> tuple[object, ...]:
    if found.state is None:
        return found.node, ", ".join(found.hardware), "not here" if found.elsewhere else "no answer", str(found.problem)
    gpus = [f"{gpu['utilization_percent'] or 0:.0f} %" for gpu in found.state["gpus"]]
    used = "in use" if found.state["lease"] else "free"
    free = f"{file_size(found.state['disk_free_bytes'])} free"
    return found.node, ", ".join(found.hardware), used, f"{' '.join(gpus) or 'CPU'}, {free}"
