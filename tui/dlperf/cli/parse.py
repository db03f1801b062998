"""``dlperf parse``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.cli.options import JsonOption, optional_workspace, print_skipped
from dlperf.cli.output import print_json, print_note, print_remarks, print_table, print_text
from dlperf.view.text import one_line

if TYPE_CHECKING:
    from dlperf.derived.parsing import ParsedRun

MOST_SKIPPED = 20
"""Files without a log of which one line each is printed."""
COLUMNS = {
    **{"log": "log", "run": "run", "value": "value", "pauses": "pauses", "by time": "value_from_timestamps"},
    **{"unit": "unit", "gpus": "gpus", "batch": "batch_size", "precision": "precision", "samples": "samples"},
    **{"estimator": "estimator", "format": "format"},
}
"""Header of the table → key of the data."""

commands = typer.Typer()


@commands.command()
def parse(
    context: typer.Context,
    logs: Annotated[list[Path], typer.Argument(metavar="LOG", help="Log files, plain or packed, or folders of them.")],
    format_id: Annotated[
        str | None, typer.Option("--format", metavar="F", help="Log format; auto-detected by default.")
    ] = None,
    estimator: Annotated[
        str | None,
        typer.Option(
            metavar="E",
            help="How samples become one value, as 'skipmean(10)' or 'rate(skip=20, take=100)'. Default: samples over "
            "time after the first 20 steps if the log has timestamps and no pauses, else the work of the records "
            "printed after them over their time, else the program's own values of epochs or of the run.",
        ),
    ] = None,
    gpus: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="GPUs over all nodes; default: from the log.")
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option(metavar="B", min=1, help="Batch size per GPU; default: from the log.")
    ] = None,
    draft: Annotated[
        bool, typer.Option("--draft", help="Print a draft of a log format, made from a log of an unknown program.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Read the throughput of each run in training logs. Lists caveats, too."""
    if draft:
        from dlperf.evidence.drafts import draft_of

        print_text("---\n".join(map(draft_of, logs)))
        return
    from dlperf.derived.parsing import LogsError, ParseOptions, parse_logs
    from dlperf.evidence.logs import BUILTIN_FORMATS, log_reader
    from dlperf.formats.registry import describe
    from dlperf.measured.throughput.estimators import parse_estimator

    rule = parse_estimator(estimator) if estimator is not None else None
    workspace = optional_workspace(context)
    reader = log_reader(workspace, print_skipped) if workspace else BUILTIN_FORMATS
    if format_id is not None:
        describe(format_id, reader.formats)
    parsed = parse_logs(logs, ParseOptions(format_id, rule, gpus, batch_size), reader)
    if as_json:
        print_json([run.as_data() for run in parsed.runs])
    elif parsed.runs:
        _print(parsed.runs)
    _print_passed_over(parsed.passed_over)
    if parsed.problems:
        raise LogsError(parsed.problems) from (ExceptionGroup("logs", parsed.errors) if parsed.errors else None)


def _print(runs: Sequence[ParsedRun]) -> None:
    """Print a table of results with the findings below, and the common folder of the logs once."""
    folder = os.path.commonpath([os.path.dirname(os.path.abspath(run.log)) for run in runs])
    names = [os.path.relpath(run.log, folder) for run in runs]
    print_text(f"in {one_line(folder)}:")
    print_table(tuple(COLUMNS), [(name, *_row(run)) for name, run in zip(names, runs, strict=True)])
    if any(run.findings for run in runs):
        print_text()
    for name, run in zip(names, runs, strict=True):
        if run.findings:
            remarks = [f"{finding.severity}: {finding.message}" for finding in run.findings]
            print_remarks(f"{name}, run {run.run.number}" if names.count(name) > 1 else name, remarks)


def _row(run: ParsedRun) -> tuple[object, ...]:
    data = run.as_data()
    return tuple(data[name] for name in list(COLUMNS.values())[1:])


def _print_passed_over(lines: Sequence[str]) -> None:
    for line in lines[:MOST_SKIPPED]:
        print_note(f"skipped: {one_line(line)}")
    if len(lines) > MOST_SKIPPED:
        print_note(f"skipped: {len(lines) - MOST_SKIPPED} more")
