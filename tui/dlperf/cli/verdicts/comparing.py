"""``dlperf compare``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlperf.cli import options
from dlperf.cli.output import print_json, print_note, print_table, print_text
from dlperf.cli.results import AXIS_HEADERS, axis_cells, figure_cell
from dlperf.cli.verdicts.deciding import options_of
from dlperf.errors import ExitCode, RequestError
from dlperf.view.text import count_noun

if TYPE_CHECKING:
    from dlperf.catalog.hardware import Hardware
    from dlperf.runs.paths import WorkspacePaths
    from dlperf.table.model import ConfigurationResult
    from dlperf.verdicts.claims import Claim
    from dlperf.verdicts.compare import Comparisons, Missing

commands = typer.Typer()


@commands.command()
def compare(
    context: typer.Context,
    a: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="Campaign, configuration id, or axis=value[,axis=value].",
            autocompletion=options.complete_campaigns,
        ),
    ],
    b: Annotated[
        str | None,
        typer.Argument(
            metavar="B", help="Compared with A; the same kinds of names.", autocompletion=options.complete_campaigns
        ),
    ] = None,
    fail_below: Annotated[
        float | None,
        typer.Option(
            metavar="RATIO",
            help="Exit with 1 if B does less than RATIO of A, with 4 if its trials cannot tell. Above 1, the ratio of "
            "the values alone decides.",
            min=0,
        ),
    ] = None,
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="With --fail-below, ignore results of A that B lacks.")
    ] = False,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Metric to compare; default: the primary one of each case.",
            autocompletion=options.complete_ids("metrics"),
        ),
    ] = None,
    loss: options.LossOption = None,
    published: Annotated[
        bool, typer.Option("--published", help="Compare A with the third-party results that are most like it.")
    ] = False,
    as_json: options.JsonOption = False,
) -> None:
    """Compare B with A on equal axes. Prints ratios, their intervals, and what may be claimed.

    "Better" needs trials in turns on the same GPUs, equal numerics, and p ≤ 0.01 for all rows and all campaigns of the
    same programs together; the interval leaves out 1 exactly where p is small enough. What is better, worse or
    the same alone is followed by the verdict on the site, whose claims hold together, so that each needs a smaller p.

    Exits with 1 if B is worse, lacks a value or is not comparable, with 4 if it cannot be told. With --fail-below the
    ratio decides instead, and results of A for which B has no row or several rows fail, too.
    """
    if allow_missing and fail_below is None:
        raise RequestError("--allow-missing: add --fail-below RATIO")
    if published:
        _compare_with_published(context, a, as_json)
        return
    if b is None:
        raise RequestError("name B, or add --published")
    unreadable: list[object] = []
    outcome = options.open_workspace(context, unreadable.append).compare(a, b, metric, options_of(loss, None).loss)
    if as_json:
        print_json(outcome)
    else:
        _print_comparisons(outcome)
        _print_site_claims(options.current_workspace(context), outcome)
    options.report_unreadable(unreadable)
    raise typer.Exit(_code(outcome) if fail_below is None else _gate(outcome, fail_below, allow_missing))


def _compare_with_published(context: typer.Context, selector: str, as_json: bool) -> None:
    """Print the share of the nearest third-party result that each result of a selector reaches, and what differs."""
    from dlperf.table.load import load_results
    from dlperf.verdicts.compare import parse_selector
    from dlperf.verdicts.reproduction import beside_published

    rows = load_results(options.current_workspace(context), complain=options.print_skipped)
    machines, chosen = options.current_catalog(context).hardware, parse_selector(selector, rows)
    own = [row for row in rows if chosen.matches(row) and row.value and not row.is_third_party]
    if not own:
        raise RequestError(f"{selector}: no result that was measured here")
    found = [beside_published(row, _accelerator(row, machines), rows) for row in own]
    if as_json:
        print_json(found)
        return
    for each in found:
        row = each.result
        print_text(f"{row.campaign}/{row.id}: {each.verdict or 'no third-party result of this model'}")
        if each.differences:
            print_note(f"these conditions differ: {'; '.join(map(str, each.differences))}")


def _accelerator(row: ConfigurationResult, machines: Mapping[str, Hardware]) -> str:
    return (row.hardware in machines and machines[row.hardware].accelerator) or ""


def _code(outcome: Comparisons) -> ExitCode:
    from dlperf.verdicts.judging import exit_code, outcome_of

    return exit_code([outcome_of(pair) for pair in outcome.pairs])


def _gate(outcome: Comparisons, ratio: float, allow_missing: bool) -> ExitCode:
    """Print what is below a ratio or missing in B, or cannot be told; return the exit code."""
    from dlperf.verdicts.judging import below, exit_code, judge_pairs

    found = [(below(item, ratio), item) for item in judge_pairs(outcome)]
    short = [(kind, item) for kind, item in found if kind != "same"]
    missing = [item for item in outcome.only_a if item.row.value is not None and not allow_missing]
    for kind, item in short:
        what = f"perhaps below {ratio}" if kind == "cannot_tell" else f"below {ratio}"
        campaign = f" of {item.pair.b.campaign}" if item.pair else ""
        print_note(f"{what}: {item.configuration}{campaign}: {item.verdict}")
    if missing:
        first = f"{missing[0].row.id} of {missing[0].row.campaign}"
        which = first if len(missing) == 1 else f"{count_noun(len(missing), 'configuration')}, such as {first}"
        print_note(f"missing in B: {which}: measure it, or pass --allow-missing")
    outcomes = [kind for kind, _ in found]
    outcomes += ["missing"] * (len(missing) + len(outcome.ambiguous))
    return exit_code(outcomes)


def _print_comparisons(outcome: Comparisons) -> None:
    headers = (*AXIS_HEADERS, "A", "B", "unit", "B/A", "interval", "p", "verdict")
    only_a = (_missing_cells(item, "B", (figure_cell(item.row), None)) for item in outcome.only_a)
    only_b = (_missing_cells(item, "A", (None, figure_cell(item.row))) for item in outcome.only_b)
    print_table(headers, (*map(_pair_cells, outcome.pairs), *only_a, *only_b), optional=("axes",))
    priced = [row for pair in outcome.pairs for row in (pair.a, pair.b) if row.basis]
    for text in dict.fromkeys(f"{row.metric} of {row.campaign}, {row.hardware}: {row.basis}" for row in priced):
        print_note(text)
    for point in outcome.ambiguous:
        print_note(f"not compared: {point}")
    for pair in (pair for pair in outcome.pairs if pair.of_kind):
        units = "GPUs, each on its own" if pair.b.gpus_total == 1 else "machines"
        over = f"the kind, over {len(pair.machines)} {units}"
        print_note(f"{pair.b.id}: A and B are medians, B/A, interval, p and verdict are of {over}")
    print_differences(outcome.pairs)


def print_differences(pairs: Sequence[Claim]) -> None:
    """Print the conditions in which the two sides of pairs differ, and of how many pairs."""
    for difference, count in Counter(text for pair in pairs for text in pair.differences).items():
        print_note(f"different conditions, {count} of {len(pairs)}: {difference}")


def _print_site_claims(workspace: WorkspacePaths, outcome: Comparisons) -> None:
    """Say what the site says of the decided pairs: of several claims each needs a smaller p."""
    from dlperf.verdicts.claims import DECIDED

    decided = [pair for pair in outcome.pairs if pair.verdict.code in (*DECIDED, "same")]
    if not decided:
        return
    from dlperf.report.answer import claims_also_on_site, claims_of
    from dlperf.report.load import load_claim_data

    data = load_claim_data(workspace)
    tested = sum(one.is_testable for one in claims_of(data, data.context))
    for found in claims_also_on_site(data, decided):
        claims = f"{count_noun(tested, 'tested claim')} with p ≤ {data.context.level:.2g} each, this p is {found.p:.2g}"
        print_note(f"{found.b.id}: on the site, among {claims}: {found.verdict}")


def _pair_cells(pair: Claim) -> tuple[Any, ...]:
    a, b = pair.a, pair.b
    axes = zip(axis_cells(a), axis_cells(b), strict=True)
    both = [left if left == right else f"{left} / {right}" for left, right in axes]
    ratio = None if pair.ratio is None else f"{pair.ratio:.3f}"
    interval = " … ".join(f"{end:.3f}" for end in pair.interval or ())
    a, b = (_of_kind(pair, row, side) for side, row in enumerate((a, b)))
    return (*both, figure_cell(a), figure_cell(b), b.unit, ratio, interval or None, pair.p, str(pair.verdict))


def _of_kind(pair: Claim, row: ConfigurationResult, side: int) -> ConfigurationResult:
    """Return a side of a claim, about a kind with the median of its GPUs."""
    values = [machine[side].value or 0.0 for machine in pair.machines]
    return replace(row, value=median(values)) if values else row


def _missing_cells(item: Missing, side: str, values: tuple[str | None, str | None]) -> tuple[Any, ...]:
    row = item.row
    return (*axis_cells(row), *values, row.unit, None, None, None, f"missing: {side} has {item.reason}")
