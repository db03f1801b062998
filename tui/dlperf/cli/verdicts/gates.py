"""``dlperf baseline``, and how commands that end with a verdict print it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.cli import options
from dlperf.cli.output import print_json, print_note, print_table, print_text
from dlperf.cli.selection import AXES, selecting
from dlperf.cli.verdicts.deciding import options_of
from dlperf.errors import ExitCode
from dlperf.view.text import count_noun, percent

if TYPE_CHECKING:
    from dlperf.plan import Selection
    from dlperf.verdicts.judging import Judgement

commands = typer.Typer()
group = typer.Typer(no_args_is_help=True, help="Keep results as references of gates. Judges campaigns by them.")
commands.add_typer(group, name="baseline")

GATES = {ExitCode.DONE: "passed", ExitCode.MEASURED_FAILED: "failed", ExitCode.CANNOT_TELL: "open"}
BaselineName = Annotated[str, typer.Argument(metavar="NAME", help="Name of the baseline.")]


@group.command()
@selecting(*AXES)
def save(
    context: typer.Context,
    name: BaselineName,
    selection: Selection,
    campaign: options.CampaignsOption = None,
    metric: options.MetricsOption = None,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite a baseline of that name.")] = False,
) -> None:
    """Save the latest selected results as baselines/NAME.json. Each needs five trials.

    Each keeps the smallest loss that its variation lets a gate decide, and how much campaigns and machines of its kind
    differ: by the configurations of the workspace that ran in seven campaigns on one machine, changes of their programs
    included, and on three machines. Until there is one, it is assumed.
    """
    from dlperf.table.load import Filters
    from dlperf.verdicts.baselines import baseline_of, write_baseline

    workspace = options.open_workspace(context)
    campaigns = options.split("--campaign", campaign)
    filters = Filters(selection, campaigns)
    rows = workspace.rows(metrics=options.split("--metric", metric))
    selected = [row for row in rows if filters.matches(row)]
    if not selected:
        workspace.refuse_unknown(selection, campaigns)
    baseline = baseline_of(name, selected, rows)
    write_baseline(workspace.paths, baseline, replace)
    print_note(f"{count_noun(len(baseline.references), 'result')} kept in {workspace.paths.baseline(name)}")


@group.command()
def show(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Default: list all baselines.")] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Show a baseline: values, the losses that a gate finds, where they come from."""
    from dlperf.verdicts.baselines import read_baseline

    workspace = options.current_workspace(context)
    if name is None:
        names = [path.stem for path in workspace.baseline_files()]
        print_json(names) if as_json else print_text("\n".join(names))
        return
    baseline = read_baseline(workspace, name)
    if as_json:
        print_json(baseline)
        return
    headers = ("configuration", "metric", "value", "unit", "n", "loss found", "campaign")
    rows = ((item.result, percent(item.loss, 2)) for item in baseline.references)
    cells = [(row.id, row.metric, row.value, row.unit, row.n, loss, row.campaign) for row, loss in rows]
    print_table(headers, cells)


@group.command()
def compare(
    context: typer.Context,
    name: BaselineName,
    campaign: options.CampaignArgument,
    loss: options.LossOption = None,
    as_json: options.JsonOption = False,
    ci: options.CiOption = None,
) -> None:
    """Judge a campaign by a baseline. Exits with 1 if a result is worse or missing, with 4 if one cannot be told."""
    from dlperf.runs.lookup import find_campaign
    from dlperf.verdicts.baselines import judge_campaign, read_baseline

    workspace = options.current_workspace(context)
    baseline = read_baseline(workspace, name)
    paths = find_campaign(workspace, campaign)
    found = judge_campaign(workspace, baseline, paths.name, options.print_skipped, options_of(loss, None))
    raise typer.Exit(print_judgements(found, f"baseline {name}", ci, as_json))


@group.command()
def trend(
    context: typer.Context,
    campaign: options.CampaignArgument,
    last: Annotated[int, typer.Option(metavar="N", min=14, help="Campaigns to look back on.")] = 30,
    loss: options.LossOption = None,
    as_json: options.JsonOption = False,
    ci: options.CiOption = None,
) -> None:
    """Judge a campaign by its history. Exits with 1 if a level fell, with 4 if it cannot be told.

    Needs no baseline: of the last N campaigns with the same configuration, the last change of level is looked for. It
    counts if it is clearer than chance would make it in one of a hundred years, however many campaigns a year has: the
    n-th of a configuration within a year has to reach p ≤ 0.012/n. No machine is compared with another.
    """
    from dlperf.runs.lookup import find_campaign
    from dlperf.verdicts.trend import judge_trend

    workspace = options.current_workspace(context)
    paths = find_campaign(workspace, campaign)
    found = judge_trend(workspace, paths.name, last, options.print_skipped, options_of(loss, None))
    raise typer.Exit(print_judgements(found, f"the last {last} campaigns", ci, as_json))


def print_judgements(found: Sequence[Judgement], against: str, ci: Path | None, as_json: bool = False) -> ExitCode:
    """Print the verdicts of a gate, write the files for CI, and return the exit code."""
    from dlperf.report.ci import summary_of, write_ci_files
    from dlperf.verdicts.judging import exit_code

    if as_json:
        print_json(found)
    else:
        headers = ("configuration", "metric", "before", "now", "unit", "loss sought", "gate", "verdict")
        print_table(headers, map(_cells, found))
    if ci is not None:
        write_ci_files(ci, found, against)
        print_note(f"files for CI: {ci}")
    if any(item.assumed for item in found):
        print_note("campaigns are assumed to differ as much as trials: no configuration ran in seven on one machine")
    code = exit_code([item.outcome for item in found])
    print_note(f"gate {GATES[code]}: {summary_of(found, against)}")
    return code


def _cells(item: Judgement) -> tuple[object, ...]:
    a, b = (item.pair.a, item.pair.b) if item.pair else (None, None)
    values = (a and a.value, b and b.value, b and b.unit)
    sought = percent(item.found.loss, 2) if item.found else None
    gate = "failed" if item.failed else "open" if item.outcome == "cannot_tell" else "ok"
    return (item.configuration, item.metric, *values, sought, gate, str(item.verdict))
