"""``dlperf export`` and ``dlperf query``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dlperf.cli import options
from dlperf.cli.output import print_json, print_note, print_table, print_text
from dlperf.cli.writable import writable_file
from dlperf.errors import DlperfError, RequestError
from dlperf.view.text import count_noun

if TYPE_CHECKING:
    import dlperf
    from dlperf.table.database import QueryResult

commands = typer.Typer()


@commands.command()
def export(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="SQLite file, such as results.sqlite. Replaces an earlier export.",
            callback=writable_file,
        ),
    ] = None,
    mlflow: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Instead push measured results that are not there yet to an MLflow server."),
    ] = None,
    campaign: options.CampaignsOption = None,
) -> None:
    """Write all results into an SQLite file, or push them to MLflow."""
    from dlperf.table.database import refuse_other_file, results_database, write_database

    unreadable: list[object] = []
    if mlflow:
        if file:
            raise RequestError("export: name a FILE or --mlflow, not both")
        _push(options.open_workspace(context, unreadable.append), mlflow, options.split("--campaign", campaign))
        options.report_unreadable(unreadable)
        return
    if campaign or not file:
        raise RequestError("--campaign: a file holds all campaigns" if campaign else "export: name a FILE, or --mlflow")
    refuse_other_file(file)
    database = results_database(options.read_workspace(context), unreadable.append)
    write_database(database, file)
    ((results,),) = database.execute("SELECT count(*) FROM results")
    print_note(f"{count_noun(results, 'result')} written to {file}")
    options.report_unreadable(unreadable)


def _push(workspace: dlperf.Workspace, address: str, campaigns: tuple[str, ...]) -> None:
    from dlperf.view.mlflow import push_results

    pushed = push_results(address, workspace.rows(campaigns=campaigns))
    print_note(f"{count_noun(pushed, 'new result')} pushed to the experiment dlperf")


@commands.command()
def query(
    context: typer.Context,
    sql: Annotated[str | None, typer.Argument(metavar="SQL", help="A SELECT over the tables of --schema.")] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print tables and columns with their meaning.")] = False,
    as_json: options.JsonOption = False,
    csv: options.CsvOption = None,
) -> None:
    """Query all results with SQL, which can only read them."""
    from dlperf.table.columns import csv_lines, write_csv
    from dlperf.table.database import SCHEMA, query_database, results_database

    if schema:
        print_text(SCHEMA.read_text("utf-8"))
        return
    if not sql:
        raise RequestError("query: name what to select, such as 'SELECT * FROM results', or give --schema")
    unreadable: list[DlperfError] = []
    answer = query_database(results_database(options.read_workspace(context), unreadable.append), sql)
    if csv:
        write_csv(csv_lines([answer.columns, *answer.rows]), csv)
        print_note(f"{count_noun(len(answer.rows), 'row')} written to {csv}")
    if as_json:
        print_json(_objects(answer))
    elif not csv:
        print_table(answer.columns, answer.rows)
    options.report_unreadable(unreadable)


def _objects(answer: QueryResult) -> list[dict[str, object]]:
    if twice := {name for name in answer.columns if answer.columns.count(name) > 1}:
        raise RequestError(f"query: several columns are called {min(twice)!r}: name them with AS for --json")
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
