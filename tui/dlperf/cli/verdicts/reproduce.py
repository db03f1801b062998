"""``dlperf reproduce``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.cli import options
from dlperf.cli.output import print_json, print_note
from dlperf.errors import ExitCode, RequestError
from dlperf.view.text import number, percent

if TYPE_CHECKING:
    from dlperf.messages import Message
    from dlperf.plan import Plan, Selection
    from dlperf.runs.paths import Workspace
    from dlperf.table.model import ConfigurationResult
    from dlperf.verdicts.claims import Claim

commands = typer.Typer()


@commands.command()
@options.selecting("hardware", "framework", "protocol", "repeats")
def reproduce(
    context: typer.Context,
    result: Annotated[
        str,
        typer.Argument(metavar="RESULT", help="CAMPAIGN/CONFIGURATION; of a third-party result published/REPORT/…"),
    ],
    selection: Selection,
    name: options.NameOption = None,
    yes: options.YesOption = False,
    plan_only: Annotated[bool, typer.Option("--plan", help="Only show what would run.")] = False,
    as_json: options.JsonOption = False,
) -> None:
    """Run a result again. Tests whether it is the same, faster or slower.

    Hardware, framework and protocol are those of the result unless given. The verdict is of an exact permutation test
    (p ≤ 0.01) where both sides have five trials. Exits with 1 if the new trials are slower. Of a third-party result the
    nearest configuration runs that the machine can, and the verdict is a share of the published throughput of a GPU.
    """
    from dlperf.cli.plan import print_plan
    from dlperf.cli.running.foreground import run_plan
    from dlperf.table.load import load_results
    from dlperf.verdicts.reproduction import agreement, find_result
    from dlperf.verdicts.third_party import is_third_party
    from dlperf.verdicts.workspace import compare_in_workspace

    workspace = options.current_workspace(context)
    original = find_result(result, load_results(workspace, complain=options.print_skipped))
    differences: list[Message] = []
    if is_third_party(original):
        plan, differences = _plan_published(context, original, selection)
    else:
        plan = _plan_again(context, original, selection)
    for each in differences:
        print_note(f"different: {each}")
    if plan_only:
        print_plan(plan, as_json)
        return
    paths, code = run_plan(workspace, plan, name, yes, as_json)
    if code is not ExitCode.DONE:
        raise typer.Exit(code)
    if is_third_party(original):
        _print_share(workspace, original, paths.name, differences, as_json)
        return
    (found,) = compare_in_workspace(workspace, f"{original.campaign}/{original.configuration}", paths.name).pairs
    verdict = agreement(found)
    if as_json:
        print_json(found.as_data() | {"agreement": verdict, "agreement_code": verdict.to_json()})
    else:
        _print_agreement(found, verdict)
    slower = verdict.code in ("reproduced_slower", "reproduced_worse")
    raise typer.Exit(ExitCode.MEASURED_FAILED if slower else ExitCode.DONE)


def _plan_published(
    context: typer.Context, original: ConfigurationResult, given: Selection
) -> tuple[Plan, list[Message]]:
    """Return the plan that is nearest to a third-party result, and what differs."""
    from dlperf.plan import expand
    from dlperf.verdicts.third_party import differing_axes, nearest

    catalog = options.current_catalog(context)
    found = nearest(original, replace(given, repeats=given.repeats or 1), catalog)
    plan = expand(found.selection, catalog)
    if not plan.configurations:
        reasons = "; ".join(dict.fromkeys(str(item.reason) for item in plan.impossible))
        raise RequestError(f"the nearest configuration cannot run: {reasons}")
    return plan, [*found.differences, *differing_axes(original, plan)]


def _print_share(
    workspace: Workspace, original: ConfigurationResult, name: str, differences: list[Message], as_json: bool
) -> None:
    """Print how much of the published throughput was reached."""
    from dlperf.table.load import Filters, load_results
    from dlperf.verdicts.third_party import gpus_of, of_published

    (again,) = load_results(workspace, Filters(campaigns=(name,)))
    verdict = of_published(original, again)
    if as_json:
        print_json({"published": original, "yours": again, "verdict": verdict, "differences": differences})
        return
    for label, row in (("published", original), ("yours", again)):
        if row.value is not None:
            each = number(row.value / gpus_of(row))
            print(f"{label}: {number(row.value)} {row.unit}, {each} a GPU ({row.campaign})")
    print(f"verdict: {verdict or again.status}")


def _plan_again(context: typer.Context, original: ConfigurationResult, given: Selection) -> Plan:
    from dlperf.plan import expand
    from dlperf.plan.versions import plan_version_again
    from dlperf.verdicts.reproduction import selection_of_result
    from dlperf.verdicts.significance import LEAST_TRIALS
    from dlperf.verdicts.workspace import planned_configurations

    wanted = selection_of_result(original, given.repeats or max(LEAST_TRIALS, original.n or 0))
    chosen = {name: getattr(given, name) for name in ("hardware", "frameworks", "protocol") if getattr(given, name)}
    plan = expand(replace(wanted, **chosen), options.current_catalog(context))
    if len(plan.configurations) > 1:
        raise RequestError("several configurations would run: name one hardware and one framework")
    planned = planned_configurations(options.current_workspace(context), original.campaign).get(original.configuration)
    return plan_version_again(plan, planned, wanted.repeats or 1) if planned and planned.version else plan


def _print_agreement(found: Claim, verdict: Message) -> None:
    for label, row in (("original", found.a), ("yours", found.b)):
        trials = f", {row.n} trials, spread {percent(row.spread)}" if row.n else ", no trials published"
        print(f"{label}: {number(row.value)} {row.unit} ({row.campaign}{trials})")
    print(f"verdict: {verdict}")
    if found.interval:
        print("ratio of the medians, 95 % interval: " + " … ".join(f"{end:.4f}" for end in found.interval))
    if found.detectable is not None:
        print(f"smallest difference that these trials can show: {percent(found.detectable, 2)}")
    reasons = (str(reason) for reason in found.reasons if reason.code != "with_caveat")
    for reason in dict.fromkeys((*reasons, *found.differences)):
        print_note(f"different or unknown: {reason}")
    for row in (found.a, found.b):
        for caveat in row.caveats:
            print_note(f"caveat of {row.campaign}: {caveat.message}")
