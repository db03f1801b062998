"""``dlperf parse``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.cli.context import JsonOption, Settings
from dlperf.cli.output import print_json, print_remarks, print_table, say
from dlperf.view.text import one_line

if TYPE_CHECKING:
    from dlperf.results.logs import LogReader
    from dlperf.results.parsing import ParsedRun

PASSED_OVER_SHOWN = 20
"""Lines said about the files of a folder that are no logs."""

commands = typer.Typer()


@commands.command()
def parse(
    context: typer.Context,
    logs: Annotated[list[Path], typer.Argument(metavar="LOG", help="Log files, plain or gzipped, or folders of them.")],
    format_id: Annotated[
        str | None, typer.Option("--format", metavar="F", help="The logs' format; found out by content if left out.")
    ] = None,
    estimator: Annotated[
        str | None,
        typer.Option(
            metavar="E",
            help="How samples become one figure: 'skipmean(10)', 'rate(skip=20, take=100)' … If left out: samples over "
            "time after the first 20 steps where the log has timestamps; else the mean of what is printed after them; "
            "else the program's own final figure.",
        ),
    ] = None,
    gpus: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="GPUs over all nodes; else by the log, else by its name.")
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option(metavar="B", min=1, help="Batch size per GPU; else by the log, else by its name.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Read the throughput of each run in training logs. What is odd about a run is said as well."""
    from dlperf.formats.registry import describe
    from dlperf.measure.estimators import parse_estimator
    from dlperf.results.parsing import LogsError, ParseOptions, parse_logs

    rule = parse_estimator(estimator) if estimator is not None else None
    reader = _reader(context)
    if format_id is not None:
        describe(format_id, reader.formats)
    parsed = parse_logs(logs, ParseOptions(format_id, rule, gpus, batch_size), reader)
    if as_json:
        print_json([run.as_data() for run in parsed.runs])
    elif parsed.runs:
        _print(parsed.runs)
    _say_passed_over(parsed.passed_over)
    if parsed.problems:
        raise LogsError(parsed.problems) from (ExceptionGroup("logs", parsed.errors) if parsed.errors else None)


def _reader(context: typer.Context) -> LogReader:
    """Knows the formats of the workspace, where there is one."""
    from dlperf.cli.context import current_workspace
    from dlperf.errors import RequestError
    from dlperf.results.logs import BUILTIN_FORMATS, log_reader

    try:
        workspace = current_workspace(context)
    except RequestError:
        if context.ensure_object(Settings).workspace is not None:
            raise
        return BUILTIN_FORMATS
    return log_reader(workspace)


def _print(runs: Sequence[ParsedRun]) -> None:
    """A table of figures, and the findings below. What the logs' paths have in common is said once."""
    folder = os.path.commonpath([os.path.dirname(os.path.abspath(run.log)) for run in runs])
    names = [os.path.relpath(run.log, folder) for run in runs]
    print(f"in {one_line(folder)}:")
    headers = ("log", "run", "value", "by time", "unit", "gpus", "batch", "precision", "samples", "estimator", "format")
    print_table(headers, [(name, *_row(run)) for name, run in zip(names, runs, strict=True)])
    if any(run.findings for run in runs):
        print()
    for name, run in zip(names, runs, strict=True):
        if run.findings:
            remarks = [f"{finding.severity}: {finding.message}" for finding in run.findings]
            print_remarks(f"{name}, run {run.run.number}" if names.count(name) > 1 else name, remarks)


def _row(run: ParsedRun) -> tuple[object, ...]:
    data = run.as_data()
    names = ("run", "value", "value_from_timestamps", "unit", "gpus", "batch_size", "precision", "samples", "estimator")
    return (*(data[name] for name in names), data["format"])


def _say_passed_over(lines: Sequence[str]) -> None:
    for line in lines[:PASSED_OVER_SHOWN]:
        say(f"passed over: {one_line(line)}")
    if len(lines) > PASSED_OVER_SHOWN:
        say(f"passed over: {len(lines) - PASSED_OVER_SHOWN} more")
