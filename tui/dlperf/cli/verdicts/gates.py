"""``dlperf baseline``, and how commands that end with a verdict print it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.cli import options
from dlperf.cli.output import print_json, print_note, print_table
from dlperf.errors import ExitCode
from dlperf.view.text import count_noun, percent

if TYPE_CHECKING:
    from dlperf.plan import Selection
    from dlperf.verdicts.baselines import Judgement

commands = typer.Typer()
group = typer.Typer(no_args_is_help=True, help="Keep results as references of gates. Judges campaigns by them.")
commands.add_typer(group, name="baseline")

BaselineName = Annotated[str, typer.Argument(metavar="NAME", help="Name of the baseline.")]


@group.command()
@options.selecting(*options.AXES)
def save(
    context: typer.Context,
    name: BaselineName,
    selection: Selection,
    campaign: options.CampaignsOption = None,
    metric: options.MetricsOption = None,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite a baseline of that name.")] = False,
) -> None:
    """Save the latest selected results as baselines/NAME.json. Each needs five trials.

    The tolerance of each is the smallest difference that its trials can show, given their variation; on another machine
    also what machines of the kind differ by, where several were measured.
    """
    from dlperf.table.load import filters_of
    from dlperf.verdicts.baselines import baseline_of, write_baseline

    workspace = options.open_workspace(context)
    campaigns = options.split("--campaign", campaign)
    filters = filters_of(selection, campaigns=campaigns)
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
    """Show a baseline: values, tolerances, where they come from."""
    from dlperf.verdicts.baselines import read_baseline

    workspace = options.current_workspace(context)
    if name is None:
        names = [path.stem for path in workspace.baseline_files()]
        print_json(names) if as_json else print("\n".join(names))
        return
    baseline = read_baseline(workspace, name)
    if as_json:
        print_json(baseline)
        return
    headers = ("configuration", "metric", "value", "unit", "n", "tolerance", "on another machine", "campaign")
    rows = ((item.result, percent(item.tolerance, 2), item.machine_tolerance) for item in baseline.references)
    print_table(
        headers,
        [
            (row.configuration, row.metric, row.value, row.unit, row.n, own, other and percent(other, 2), row.campaign)
            for row, own, other in rows
        ],
        optional=("on another machine",),
    )


@group.command()
def compare(
    context: typer.Context,
    name: BaselineName,
    campaign: options.CampaignArgument,
    as_json: options.JsonOption = False,
    ci: options.CiOption = None,
) -> None:
    """Judge a campaign by a baseline. Exits with 1 if a result is worse or missing."""
    from dlperf.runs.lookup import find_campaign
    from dlperf.verdicts.baselines import judge_campaign, read_baseline

    workspace = options.current_workspace(context)
    baseline = read_baseline(workspace, name)
    paths = find_campaign(workspace, campaign)
    found = judge_campaign(workspace, baseline, paths.name, complain=options.print_skipped)
    raise typer.Exit(print_judgements(found, f"baseline {name}", ci, as_json))


@group.command()
def trend(
    context: typer.Context,
    campaign: options.CampaignArgument,
    last: Annotated[int, typer.Option(metavar="N", min=10, help="Campaigns to look back on.")] = 30,
    as_json: options.JsonOption = False,
    ci: options.CiOption = None,
) -> None:
    """Judge a campaign by its history. Exits with 1 if a level fell, or the history is too short to tell.

    Needs no baseline: of the last N campaigns with the same configuration, the last change of level is looked for. It
    counts if chance gives one as clear in at most one of a hundred series.
    """
    from dlperf.runs.lookup import find_campaign
    from dlperf.verdicts.trend import judge_trend

    workspace = options.current_workspace(context)
    paths = find_campaign(workspace, campaign)
    found = judge_trend(workspace, paths.name, last, complain=options.print_skipped)
    raise typer.Exit(print_judgements(found, f"the last {last} campaigns", ci, as_json))


def print_judgements(found: Sequence[Judgement], against: str, ci: Path | None, as_json: bool = False) -> ExitCode:
    """Print the verdicts of a gate, write the files for CI, and return the exit code."""
    from dlperf.report.ci import write_ci_files

    if as_json:
        print_json(found)
    else:
        headers = ("configuration", "metric", "before", "now", "unit", "tolerance", "gate", "verdict")
        print_table(headers, map(_cells, found))
    if ci is not None:
        write_ci_files(ci, found, against)
        print_note(f"files for CI: {ci}")
    failed = sum(item.failed for item in found)
    passed = found and not failed
    print_note(f"gate {'passed' if passed else 'failed'}: {failed} of {len(found)} worse than {against} or missing")
    return ExitCode.DONE if passed else ExitCode.MEASURED_FAILED


def _cells(item: Judgement) -> tuple[object, ...]:
    a, b = (item.pair.a, item.pair.b) if item.pair else (None, None)
    values = (a and a.value, b and b.value, b and b.unit)
    tolerance = percent(item.tolerance, 2) if item.pair else None
    return (item.configuration, item.metric, *values, tolerance, "failed" if item.failed else "ok", str(item.verdict))
