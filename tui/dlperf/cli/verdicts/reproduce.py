"""``dlperf reproduce``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.cli import options
from dlperf.cli.output import print_json, print_note, print_text
from dlperf.cli.selection import selecting
from dlperf.cli.verdicts.deciding import Deciding, budget_of, code_of, options_of
from dlperf.errors import ExitCode, RequestError
from dlperf.view.text import number, percent, spread

if TYPE_CHECKING:
    from dlperf.catalog.files.load import Catalog
    from dlperf.messages import Message
    from dlperf.plan import Plan, Selection
    from dlperf.runs.paths import CampaignPaths, WorkspacePaths
    from dlperf.table.model import ConfigurationResult
    from dlperf.verdicts.claims import Claim
    from dlperf.verdicts.judging import Judgement, Options
    from dlperf.verdicts.variation import KnownOfHardware

commands = typer.Typer()


@commands.command()
@selecting("hardware", "framework", "protocol", "repeats")
def reproduce(
    context: typer.Context,
    result: Annotated[
        str, typer.Argument(metavar="RESULT", help="CAMPAIGN/CONFIGURATION; of a third-party result published/REPORT/…")
    ],
    selection: Selection,
    loss: options.LossOption = None,
    max_repeats: options.MaxRepeatsOption = None,
    budget: options.BudgetOption = None,
    name: options.NameOption = None,
    yes: options.YesOption = False,
    plan_only: Annotated[bool, typer.Option("--plan", help="Only show what would run.")] = False,
    as_json: options.JsonOption = False,
) -> None:
    """Run a result again. Tells whether it is better, worse or the same.

    Hardware, framework and protocol are those of the result unless given. Five trials run, then up to ten
    (--max-repeats). Campaigns and machines differ by themselves: by how much is taken from the configurations of the
    workspace that ran in seven campaigns on one machine, or on three machines, and assumed until then. Exits with 1 if
    the new trials are worse or give no value, with 4 if it cannot be told, as where some of them failed. Of a
    third-party result the nearest configuration runs that the machine can, and the verdict is a share of the published
    throughput of a GPU.
    """
    from dlperf.cli.plan import print_plan
    from dlperf.table.load import load_results
    from dlperf.verdicts.judging import lacks_earlier_trials
    from dlperf.verdicts.reproduction import find_result
    from dlperf.verdicts.variation import known_of_hardware

    spending, chosen = budget_of(budget), options_of(loss, max_repeats)
    workspace = options.current_workspace(context)
    rows = load_results(workspace, complain=options.print_skipped)
    original = find_result(result, rows)
    published = original.is_third_party
    differences: list[Message] = []
    if published:
        plan, differences = _plan_published(context, original, selection)
    else:
        plan = _plan_again(context, original, selection, chosen)
        if few := lacks_earlier_trials(original):
            print_note(f"cannot tell, whatever is measured: {few}")
    for each in differences:
        print_note(f"different: {each}")
    if plan_only:
        print_plan(plan, as_json)
    elif published:
        _print_share(workspace, original, _run_nearest(workspace, plan, name, yes, as_json), differences, as_json)
    else:
        paths = _create(workspace, plan, name, yes)
        known = known_of_hardware(rows)
        deciding = Deciding(paths, lambda: [_judged(workspace, original, paths.name, chosen, known)], spending)
        raise typer.Exit(_run_again(workspace, paths, deciding, as_json))


def _run_nearest(workspace: WorkspacePaths, plan: Plan, name: str | None, yes: bool, as_json: bool) -> str:
    """Run the plan that is nearest to a third-party result and return its campaign; end where its trials fail."""
    from dlperf.cli.running.foreground import run_plan

    paths, code = run_plan(workspace, plan, name, yes, as_json)
    if code is not ExitCode.DONE:
        raise typer.Exit(code)
    return paths.name


def _create(workspace: WorkspacePaths, plan: Plan, name: str | None, yes: bool) -> CampaignPaths:
    from dlperf.campaign.create import create_campaign
    from dlperf.cli.running.foreground import confirm_plan

    confirm_plan(plan, yes)
    return create_campaign(workspace, plan, name)


def _run_again(workspace: WorkspacePaths, paths: CampaignPaths, deciding: Deciding, as_json: bool) -> ExitCode:
    """Run a campaign until its verdict is clear, print that, and return the exit code."""
    from dlperf.cli.running.foreground import run_in_foreground
    from dlperf.verdicts.judging import exit_code

    code = run_in_foreground(workspace, paths, as_json, deciding)
    if code is ExitCode.INTERRUPTED:
        return code
    (found,) = deciding.found
    assert found.pair is not None
    if as_json:
        names = ("a", "b", "ratio", "gain", "reasons", "differences")
        print_json(found.as_data() | {name: getattr(found.pair, name) for name in names} | {"pair": None})
    else:
        print_agreement(found, found.pair)
    return code_of(code, exit_code([found.outcome]))


def _plan_published(
    context: typer.Context, original: ConfigurationResult, given: Selection
) -> tuple[Plan, list[Message]]:
    """Return the plan that is nearest to a third-party result, and what differs."""
    from dlperf.plan import expand
    from dlperf.plan.nearest import differing_axes, nearest

    catalog = options.current_catalog(context)
    found = nearest(original, replace(given, repeats=given.repeats or 1), catalog)
    plan = expand(found.selection, catalog)
    if not plan.configurations:
        reasons = "; ".join(dict.fromkeys(str(item.reason) for item in plan.impossible))
        raise RequestError(f"the nearest configuration cannot run: {reasons}")
    return plan, [*found.differences, *differing_axes(original, plan)]


def _print_share(
    workspace: WorkspacePaths, original: ConfigurationResult, name: str, differences: list[Message], as_json: bool
) -> None:
    """Print how much of the published throughput was reached."""
    from dlperf.table.load import Filters, load_results
    from dlperf.verdicts.reproduction import of_published

    (again,) = load_results(workspace, Filters(campaigns=(name,)))
    verdict = of_published(original, again)
    if as_json:
        print_json({"published": original, "yours": again, "verdict": verdict, "differences": differences})
        return
    for label, row in (("published", original), ("yours", again)):
        if row.value is not None:
            each = number(row.value / row.gpus_total)
            print_text(f"{label}: {number(row.value)} {row.unit}, {each} a GPU ({row.campaign})")
    print_text(f"verdict: {verdict or again.status}")


def _judged(
    workspace: WorkspacePaths, original: ConfigurationResult, campaign: str, chosen: Options, known: KnownOfHardware
) -> Judgement:
    """Judge the new trials, with the conditions in which both differ."""
    from dlperf.verdicts.judging import judge_pairs
    from dlperf.verdicts.workspace import compare_in_workspace

    compared = compare_in_workspace(workspace, f"{original.campaign}/{original.id}", campaign)
    (found,) = judge_pairs(replace(compared, known=known), chosen)
    return replace(found, pair=compared.pairs[0])


def _plan_again(context: typer.Context, original: ConfigurationResult, given: Selection, chosen: Options) -> Plan:
    from dlperf.plan import expand
    from dlperf.plan.versions import plan_version_again
    from dlperf.verdicts.inference.policies import APART
    from dlperf.verdicts.reproduction import selection_of_result
    from dlperf.verdicts.workspace import planned_configurations

    wanted = selection_of_result(original, given.repeats or chosen.first(APART))
    fixed = {name: getattr(given, name) for name in ("hardware", "frameworks", "protocol") if getattr(given, name)}
    catalog = options.current_catalog(context)
    _check_described(original, {name.removesuffix("s") for name in fixed}, catalog)
    plan = expand(replace(wanted, **fixed), catalog)
    if len(plan.configurations) > 1:
        raise RequestError("several configurations would run: name one hardware and one framework")
    planned = planned_configurations(options.current_workspace(context), original.campaign).get(original.id)
    return plan_version_again(plan, planned, wanted.repeats or 1) if planned and planned.version else plan


def _check_described(original: ConfigurationResult, given: set[str], catalog: Catalog) -> None:
    """Check that the catalogue has what the result, which may be of other people, ran on and with.

    Raises:
        RequestError: something is neither there nor given.
    """
    needed: list[tuple[str, str | None, Mapping[str, object], str]] = [
        ("hardware", original.hardware, catalog.hardware, "-H MACHINE"),
        ("framework", original.framework, catalog.frameworks, "-f FRAMEWORK"),
        ("protocol", original.protocol, catalog.protocols, "--protocol PROTOCOL"),
        ("case", original.case, catalog.cases, "its entry"),
    ]
    missing = [
        (f"no {kind} {name!r}", option)
        for kind, name, known, option in needed
        if name and kind not in given and name not in known
    ]
    if missing:
        names, lacking = (" and ".join(each) for each in zip(*missing, strict=True))
        raise RequestError(f"the catalogue has {names}: add {lacking} to run this result here")


def print_agreement(item: Judgement, found: Claim) -> None:
    """Print the verdict and what stands between both; how many trials would decide is said by the verdict alone."""
    from dlperf.verdicts.claims import UNDECIDED

    for label, row in (("original", found.a), ("yours", found.b)):
        trials = f"{row.n} trials, spread {spread(row.spread)}" if row.n else row.status
        print_text(f"{label}: {number(row.value)} {row.unit} ({row.campaign}, {trials})")
    print_text(f"verdict: {item.verdict}")
    if item.found:
        print_text(f"loss that was sought: {percent(item.found.loss, 2)}")
    reasons = (str(reason) for reason in found.reasons if reason.code not in ("with_caveat", *UNDECIDED))
    for reason in dict.fromkeys((*reasons, *found.differences)):
        print_note(f"different or unknown: {reason}")
    for row in (found.a, found.b):
        for caveat in row.caveats:
            print_note(f"caveat of {row.campaign}: {caveat.message}")
