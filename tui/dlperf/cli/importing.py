"""``dlperf import``, ``share`` and ``accept``."""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlperf.cli.options import (
    CampaignArgument,
    JsonOption,
    current_catalog,
    current_workspace,
    print_skipped,
    read_workspace,
)
from dlperf.cli.output import print_json, print_note, print_table, print_text
from dlperf.cli.writable import writable_file
from dlperf.errors import ExitCode, RequestError
from dlperf.view.text import count_noun, one_line

if TYPE_CHECKING:
    from dlperf.catalog.files.load import Catalog
    from dlperf.derived.importing import ImportedLog, ImportPlan
    from dlperf.evidence.logs import LogReader
    from dlperf.evidence.names import NameFacts
    from dlperf.measured.model import TrialResult
    from dlperf.plan import PlannedProtocol, TrialKey
    from dlperf.runs.paths import WorkspacePaths

commands = typer.Typer()

Word = str | None
Number = int | None

PATTERN_HELP = "Pattern of paths, as '{nodes}n{gpus}g/{model}_b{batch_size}_*.log'; * is anything within one name."


@commands.command("import")
def import_logs(
    context: typer.Context,
    sources: Annotated[
        list[Path] | None, typer.Argument(metavar="DIR_OR_LOG", help="Folders or logs; default: those of --table.")
    ] = None,
    campaign: Annotated[str, typer.Option("--campaign", metavar="NAME", help="Name of the new campaign.")] = "",
    report: Annotated[
        str,
        typer.Option(metavar="NAME", help="Write values and sources, without logs, as the third-party report NAME."),
    ] = "",
    hardware: Annotated[
        Word,
        typer.Option(
            "--hardware", "-H", metavar="H", help="Catalogue id or any name; default: of --table or MLPerf's layout."
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV",
            help="Columns: log, hardware, model, framework, precision, batch_size, gpus, source, date, any axis.",
        ),
    ] = None,
    framework: Annotated[Word, typer.Option("--framework", "-f", metavar="F", help="Override for all logs.")] = None,
    case: Annotated[Word, typer.Option("--case", "-c", metavar="C", help="Override for all logs.")] = None,
    precision: Annotated[Word, typer.Option("--precision", "-p", metavar="P", help="Override for all logs.")] = None,
    batch_size: Annotated[
        Number, typer.Option("--batch-size", "-b", metavar="B", min=1, help="Per GPU, for all logs.")
    ] = None,
    gpus: Annotated[Word, typer.Option("--gpus", "-g", metavar="G", help="2n8g, or 8 for 1n8g, for all logs.")] = None,
    gpus_per_node: Annotated[
        Number, typer.Option(metavar="N", min=1, help="For logs that name GPUs but no nodes.")
    ] = None,
    pattern: Annotated[Word, typer.Option("--map", metavar="PATTERN", help=PATTERN_HELP)] = None,
    names: Annotated[
        bool, typer.Option("--names", help="Use the GPUs, batch sizes and precisions in the names of logs.")
    ] = False,
    log_format: Annotated[Word, typer.Option("--format", metavar="F", help="Auto-detected by default.")] = None,
    source: Annotated[
        Word, typer.Option(metavar="OWNER/REPOSITORY@COMMIT", help="Where the logs were published.")
    ] = None,
    date: Annotated[str, typer.Option(metavar="YYYY[-MM[-DD]]", help="When they were published.")] = "",
    estimator: Annotated[Word, typer.Option(metavar="E", help="As 'tipc(skip=10)'.")] = None,
    protocol: Annotated[Word, typer.Option(metavar="P", help="Catalogue id.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List what would be imported; write nothing.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Import third-party logs, unchanged. Configurations are read from their content, then from their names."""
    from dlperf.derived.import_writer import refuse_existing
    from dlperf.derived.importing import ImportRequest, plan_import
    from dlperf.evidence.log_table import check_date, read_log_table
    from dlperf.evidence.logs import LogReader
    from dlperf.evidence.names import parse_pattern
    from dlperf.formats.registry import describe

    workspace = current_workspace(context)
    if bool(campaign) == bool(report):
        raise RequestError("name either --campaign, which keeps the logs, or --report, which keeps their values only")
    if campaign:
        refuse_existing(workspace.new_campaign(campaign))
    catalog = current_catalog(context)
    logs = LogReader(tuple(catalog.formats.values()))
    if log_format:
        describe(log_format, logs.formats)
    check_date(date, "--date")
    rows = read_log_table(table) if table else {}
    if not sources and not rows:
        raise RequestError("nothing to import: name folders or logs, or a table of them with --table")
    request = ImportRequest(
        sources=tuple(sources or rows),
        table=rows,
        hardware=hardware,
        given=_given(framework, case, precision, batch_size, gpus),
        gpus_per_node=gpus_per_node,
        pattern=parse_pattern(pattern) if pattern else None,
        trusts_names=names,
        format=log_format,
        protocol=_protocol(estimator, protocol, catalog),
        origin=_origin(source),
        date=date,
    )
    plan = plan_import(request, catalog, logs)
    if not as_json and _confirms_names(plan):
        plan = plan_import(replace(request, trusts_names=True), catalog, logs)
    results = {} if dry_run else _write(workspace, campaign, report, plan, logs)
    if as_json:
        print_json(_document(campaign or report, dry_run, plan, results))
    else:
        _print_plan(plan, results)
        print_note(_summarize(campaign, plan, results, workspace.published / report if report else None))
    if not plan.trials:
        raise typer.Exit(ExitCode.BAD_REQUEST)
    if any(item.is_log for item in plan.skipped):
        raise typer.Exit(ExitCode.MEASURED_FAILED)


def _write(
    workspace: WorkspacePaths, campaign: str, report: str, plan: ImportPlan, logs: LogReader
) -> dict[TrialKey, TrialResult]:
    """Write a campaign or a report, and return what was measured; nothing of a plan without trials."""
    from dlperf.derived.import_writer import write_import
    from dlperf.derived.third_party import write_report

    write = write_report if report else write_import
    return write(workspace, report or campaign, plan, logs) if plan.trials else {}


def _confirms_names(plan: ImportPlan) -> bool:
    """Ask, on a terminal, whether what the names of skipped logs suggest is so."""
    suggested = [item for item in plan.skipped if item.can_be_confirmed]
    if not suggested or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    print_table(("log", "why"), [(item.log, item.reason) for item in suggested])
    return typer.confirm(f"Use what the names of {count_noun(len(suggested), 'log')} suggest?", err=True)


def _given(framework: Word, case: Word, precision: Word, batch_size: Number, gpus: Word) -> NameFacts:
    from dlperf.catalog.axes import parse_scale
    from dlperf.evidence.names import NameFacts

    try:
        nodes, per_node = parse_scale(gpus) if gpus else (None, None)
    except ValueError as error:
        raise RequestError(f"--gpus: {error}") from error
    total = nodes * per_node if nodes and per_node else None
    return NameFacts(case, framework, precision, batch_size, total, nodes)


def _origin(source: Word) -> str | None:
    if source is not None and not re.fullmatch(r"[^\s:@]+@[^\s:@]+", source):
        raise RequestError(f"--source {source!r}: write owner/repository@commit")
    return source


def _protocol(estimator: Word, protocol: Word, catalog: Catalog) -> PlannedProtocol | None:
    from dlperf.measured.throughput.estimators import parse_estimator
    from dlperf.plan import PlannedProtocol
    from dlperf.plan.expand import planned_protocol

    if estimator and protocol:
        raise RequestError("--estimator and --protocol: use one of them; a protocol includes an estimator")
    if estimator:
        rule = str(parse_estimator(estimator))
        return PlannedProtocol(rule, estimator=rule)
    if protocol is None:
        return None
    if protocol not in catalog.protocols:
        raise RequestError(f"--protocol {protocol!r} is unknown: choose {', '.join(catalog.protocols)}")
    return planned_protocol(catalog.protocols[protocol])


def _print_plan(plan: ImportPlan, results: dict[TrialKey, TrialResult]) -> None:
    if plan.trials:
        headers = ("log", "trial", "format", "value", "unit", "notes")
        print_table(headers, [_cells(key, log, results.get(key)) for key, log in plan.trials.items()])
    if plan.trials and plan.skipped:
        print_text()
    if plan.skipped:
        print_table(("not imported", "why"), [(item.log, item.reason) for item in plan.skipped])


def _cells(key: TrialKey, log: ImportedLog, result: TrialResult | None) -> tuple[Any, ...]:
    value, unit = (result.value if result.usable else None, result.unit) if result else (None, log.unit)
    errors = (str(finding.message) for finding in result.errors) if result else ()
    return log.file.shown, str(key), log.format, value, unit, "; ".join((*log.notes, *errors))


def _summarize(
    campaign: str, plan: ImportPlan, results: dict[TrialKey, TrialResult], report: Path | None = None
) -> str:
    if not plan.trials:
        reason = "see the reasons above" if plan.skipped else "no files found"
        return f"dlperf: nothing to import: no log with a known configuration; {reason}"
    words = f"{count_noun(len(plan.trials), 'trial')} of {count_noun(len(plan.configurations), 'configuration')}"
    if not results:
        return f"{words} to import; nothing was written"
    usable = [result for result in results.values() if result.usable]
    with_caveats = sum(any(finding.severity != "note" for finding in result.findings) for result in usable)
    warned = f"; {count_noun(with_caveats, 'log')} with caveats: see `dlperf parse`" if with_caveats else ""
    unusable = len(results) - len(usable)
    without = f"; {count_noun(unusable, 'trial')} without a usable value: see notes" if unusable else ""
    if report:
        written = f"complete title, url and summary in {report / 'report.yaml'}"
        return f"values of {words} written: {written}{without}{warned}"
    return f"{words} imported: see `dlperf results --campaign {shlex.quote(one_line(campaign))}`{without}{warned}"


def _document(campaign: str, dry_run: bool, plan: ImportPlan, results: dict[TrialKey, TrialResult]) -> dict[str, Any]:
    return {
        "campaign": campaign,
        "dry_run": dry_run,
        "trials": [
            {
                "log": log.file.shown,
                "run": log.log_run,
                "configuration": key.configuration,
                "number": key.number,
                "format": log.format,
                "sha256": log.sha256,
                "notes": log.notes,
                "result": results.get(key),
            }
            for key, log in plan.trials.items()
        ],
        "skipped": plan.skipped,
    }


@commands.command()
def share(
    context: typer.Context,
    campaign: CampaignArgument,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Default: CAMPAIGN.tar.gz.", callback=writable_file),
    ] = None,
) -> None:
    """Write a campaign as one file for others. Secrets, home folders and user names are replaced."""
    from dlperf.bundles.share import share_campaign
    from dlperf.evidence.logs import log_reader
    from dlperf.report.redaction import report_lines, without_secrets
    from dlperf.runs.lookup import find_campaign

    workspace = read_workspace(context)
    paths = find_campaign(workspace, campaign)
    target = output or Path(f"{paths.directory.name}.tar.gz")
    found = share_campaign(paths, target, log_reader(workspace, print_skipped))
    for line in report_lines(found, without_secrets(workspace, [paths.name])):
        print_note(line)
    print_note(f"{target}: {target.stat().st_size / 1e6:.2f} MB: look through it with `tar xzf` before you send it")


@commands.command()
def accept(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Written by `dlperf share`.")],
    sender: Annotated[str, typer.Option("--from", metavar="NAME", help="Who sent it; shown as the source.")],
    campaign: Annotated[
        str, typer.Option("--campaign", metavar="NAME", help="Name of the new campaign; default: that of the file.")
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Add a campaign that others sent, if its logs give its values. Nothing in it is run or trusted."""
    from dlperf.bundles.accept import accept_bundle
    from dlperf.evidence.logs import log_reader

    workspace = read_workspace(context)
    logs, catalog = log_reader(workspace, print_skipped), current_catalog(context)
    found = accept_bundle(workspace, file, sender, campaign, catalog, logs)
    if as_json:
        print_json(found)
    else:
        values = count_noun(found.figures, "value")
        print_note(f"{values} recomputed from the logs and accepted as {found.campaign}, sent by {sender}")
