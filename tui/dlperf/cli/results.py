"""``dlperf results`` and ``verify``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlperf.cli import options
from dlperf.cli.output import NumberText, print_json, print_note, print_table, print_text
from dlperf.cli.selection import AXES, selecting
from dlperf.cli.writable import writable_file
from dlperf.errors import DlperfError, ExitCode
from dlperf.view.text import count_noun, number, one_line, percent, spread, value_text

if TYPE_CHECKING:
    from dlperf.catalog.axes import Configuration
    from dlperf.plan import Selection
    from dlperf.runs.paths import CampaignPaths, WorkspacePaths
    from dlperf.table.model import ConfigurationResult
    from dlperf.verification.verify import Difference, Verification

commands = typer.Typer()
MOST_CAVEATS = 10
"""Texts of caveats below a table of results."""


@commands.command()
@selecting(*AXES)
def results(
    context: typer.Context,
    selection: Selection,
    campaign: options.CampaignsOption = None,
    status: Annotated[
        options.Words,
        typer.Option("--status", metavar="WORD,…", help="measured, imported, published, not run, failed …"),
    ] = None,
    metric: options.MetricsOption = None,
    as_json: options.JsonOption = False,
    csv: options.CsvOption = None,
    parquet: Annotated[
        Path | None, typer.Option("--parquet", metavar="FILE", help="Write Parquet.", callback=writable_file)
    ] = None,
) -> None:
    """List results, or the reasons why there are none. Includes spread and number of trials."""
    unreadable: list[object] = []
    rows = options.open_workspace(context, unreadable.append).rows(
        selection,
        campaigns=options.split("--campaign", campaign),
        statuses=options.split("--status", status),
        metrics=options.split("--metric", metric),
    )
    if csv or parquet:
        _write_tables(rows, csv, parquet)
    if as_json:
        print_json(rows)
    elif not (csv or parquet):
        _print_rows(rows)
    options.report_unreadable(unreadable)


def _write_tables(rows: list[ConfigurationResult], csv: Path | None, parquet: Path | None) -> None:
    from dlperf.table.columns import csv_text, flat_columns, write_csv, write_parquet

    columns = flat_columns(rows)
    for path, write in ((csv, partial(write_csv, csv_text(columns))), (parquet, partial(write_parquet, columns))):
        if path:
            write(path)
            print_note(f"{count_noun(len(rows), 'row')} written to {path}")


AXIS_HEADERS = ("hardware", "framework", "case", "precision", "batch", "gpus", "axes")


def _print_rows(rows: list[ConfigurationResult]) -> None:
    if not rows:
        print_note("no results: see `dlperf run` and `dlperf import`, or use fewer filters")
        return
    headers = (
        "campaign",
        *AXIS_HEADERS,
        "metric",
        "value",
        "unit",
        "spread",
        "n",
        "speed-up",
        "MFU",
        "status",
        "caveats",
    )
    print_table(headers, map(_cells, rows), optional=("axes", "metric", "caveats"))
    for text in dict.fromkeys(f"{row.metric}: {row.basis}" for row in rows if row.basis):
        print_note(text)
    for text, count in Counter(str(finding.message) for row in rows for finding in row.caveats).most_common(
        MOST_CAVEATS
    ):
        print_note(f"caveat of {count_noun(count, 'result')}: {text}")


def _cells(row: ConfigurationResult) -> tuple[Any, ...]:
    from dlperf.table.shown import speed_up

    metric = None if row.metric == "throughput" else row.metric
    gain = NumberText(speed_up(row)) or None
    figure = (metric, figure_cell(row), row.unit, spread(row.spread), row.n, gain, percent(row.mfu))
    caveats = ", ".join(finding.code for finding in row.caveats)
    return (row.campaign, *axis_cells(row), *figure, str(row.status), caveats or None)


def figure_cell(row: ConfigurationResult) -> NumberText | None:
    """Return the value of a row, None where it has none."""
    text = value_text(row)
    return None if text == number(None) else NumberText(text)


def axis_cells(row: Configuration) -> tuple[Any, ...]:
    from dlperf.catalog.axes import axes_text

    point = (row.hardware, row.framework, row.case, row.precision, row.batch_size, row.scale)
    return (*point, axes_text(row.axes) or None)


@commands.command()
def verify(
    context: typer.Context,
    campaign: options.OptionalCampaign = None,
    write: Annotated[
        bool, typer.Option("--write", help="Update results and kept verdicts that differ or are from an older version.")
    ] = False,
    raw_logs: Annotated[
        options.Words,
        typer.Option(
            "--logs",
            metavar="[OWNER/REPO@COMMIT:]FOLDER",
            help="Raw logs of third-party results to recompute, beside imported ones. Repeatable.",
        ),
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Recompute every result from its log, check every hash. Changes nothing without --write.

    Third-party results (alone: ``dlperf verify published``) are recomputed where their raw logs are imported or named
    with --logs.
    """
    from dlperf.verification.raw_logs import require_folders

    workspace = options.read_workspace(context)
    require_folders(raw_logs or ())
    unreadable: list[DlperfError] = []
    found = _verified(workspace, campaign, raw_logs or (), write, unreadable.append)
    if as_json:
        print_json(found)
    else:
        if campaign:
            _print_recomputed(found)
        _print_verifications(found, written=write)
    options.report_unreadable(unreadable)
    if any(not item.corrected for verification in found for item in verification.differences):
        raise typer.Exit(ExitCode.MEASURED_FAILED)


def _verified(
    workspace: WorkspacePaths,
    campaign: str | None,
    raw_logs: Sequence[str],
    write: bool,
    complain: Callable[[DlperfError], object],
) -> list[Verification]:
    """Recompute one campaign or all, and third-party results where none or these are named."""
    from dlperf.evidence.logs import log_reader
    from dlperf.runs.lookup import find_campaign
    from dlperf.runs.store import each_readable
    from dlperf.verification.remembered import RightTrials
    from dlperf.verification.verify import PUBLISHED, verify_campaign, verify_published

    only_published = campaign == PUBLISHED
    chosen = workspace.campaigns() if not campaign else () if only_published else (find_campaign(workspace, campaign),)
    logs = log_reader(workspace, options.print_skipped)

    def recompute(paths: CampaignPaths) -> Verification:
        return verify_campaign(paths, logs, write=write, right=RightTrials(workspace, paths))

    found = list(each_readable(chosen, recompute, complain))
    if only_published or raw_logs or not campaign:
        found += each_readable([workspace], partial(verify_published, folders=raw_logs, write=write), complain)
    return found


def _print_recomputed(found: list[Verification]) -> None:
    values = [one for verification in found for one in verification.values]
    if values:
        print_table(("recomputed", "value", "unit"), [(one.result, one.value, one.unit) for one in values])


def _print_verifications(found: list[Verification], *, written: bool) -> None:
    from dlperf.verification.verify import PUBLISHED

    differences = [item for verification in found for item in verification.differences]
    for item in differences:
        print_text(_difference_line(item))
    published = sum(item.figures for item in found if item.campaign == PUBLISHED)
    campaigns = [item for item in found if item.campaign != PUBLISHED]
    trials, figures = sum(item.trials for item in campaigns), sum(item.figures for item in campaigns)
    seen = f"{count_noun(trials, 'trial')} of {count_noun(len(campaigns), 'campaign')}, {count_noun(figures, 'result')}"
    others = f" and {count_noun(published, 'third-party result')}" if published else ""
    print_text(f"{seen}{others} recomputed: {count_noun(len(differences), 'difference')}")
    if more := sorted({field for item in found for field in item.more}):
        then = "added" if written else "`dlperf verify --write` adds it"
        print_note(f"this version records more than kept results hold ({', '.join(more)}): {then}")


def _difference_line(item: Difference) -> str:
    """Return what differs, in one line."""
    place = one_line(f"{item.campaign} {item.trial}: {item.what} {item.problem}")
    values = (
        "" if item.problem != "differs" else f": {_exact(item.stored)} stored, {_exact(item.recomputed)} recomputed"
    )
    others = f", and {count_noun(item.others, 'difference')} more below" if item.others else ""
    return f"{place}{values}{others}{' (updated)' * item.corrected}"


def _exact(value: Any) -> str:
    """Return a stored value with all digits, cut to 60 characters."""
    import json

    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return one_line(text if len(text) <= 60 else f"{text[:59]}…")
