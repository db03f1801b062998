"""Plan the import of third-party logs as a campaign: the configuration of each log, and skipped files."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import groupby
from math import isfinite
from pathlib import Path

from dlperf.catalog.axes import AxisValue
from dlperf.catalog.files.load import Catalog
from dlperf.catalog.model import Case
from dlperf.catalog.units import is_time
from dlperf.errors import DlperfError, RequestError
from dlperf.evidence.drafts import why_no_run
from dlperf.evidence.identify import Identity, catalog_id, identify
from dlperf.evidence.log_table import LogRow
from dlperf.evidence.logs import LogReader
from dlperf.evidence.mlperf import row_of_result, undescribed
from dlperf.evidence.names import NameFacts, PathPattern, facts_of_name
from dlperf.evidence.sources import SkippedFile, SourceFile, find_files
from dlperf.formats.samples import Run
from dlperf.measured.run import facts_of, measure_run
from dlperf.plan import Configuration, Launch, Node, PlannedConfiguration, PlannedProtocol, TrialKey
from dlperf.plan.expand import planned_accelerator, planned_protocol
from dlperf.plan.metrics import planned_metrics
from dlperf.plan.model import IMPORTED
from dlperf.plan.subject import max_nodes
from dlperf.runs.archive import sha256_of

FOLDER = "log"
"""Of the one log of an imported trial, in place of a node's: which nodes wrote it is not known."""


@dataclass(frozen=True)
class ImportRequest:
    """The arguments of ``dlperf import``."""

    sources: tuple[Path, ...]
    hardware: str | None = None
    """An id of the catalogue or any other name; None where the logs' layout or a table names it."""
    given: NameFacts = field(default_factory=NameFacts)
    gpus_per_node: int | None = None
    pattern: PathPattern | None = None
    trusts_names: bool = False
    """Somebody confirmed the numbers and the precision that the names of logs suggest."""
    format: str | None = None
    protocol: PlannedProtocol | None = None
    """The natural estimator of each log if None."""
    origin: str | None = None
    """``owner/repository@commit`` of the logs."""
    date: str = ""
    """When they were published, where no table says it."""
    table: Mapping[Path, LogRow] = field(default_factory=dict)
    """What a table says of logs, by their files."""


@dataclass(frozen=True)
class ImportedLog:
    """One run of one log that becomes a trial."""

    file: SourceFile
    source: str
    """``owner/repository@commit:path``, or the path alone."""
    sha256: str
    records: str
    """Equal for the same run in another file."""
    log_run: int | None
    """Number of the run in a log of several."""
    configuration: Configuration
    model: str
    framework: str
    """As the log, or whoever imports it, calls them."""
    format: str
    unit: str
    estimator: str
    """The log's natural estimator."""
    run_number: int | None
    """From the file's name."""
    notes: tuple[str, ...] = ()
    published: str = ""
    """Where it was published, as somebody stated."""
    date: str = ""
    """When."""
    protocol: PlannedProtocol | None = None
    """That of the publisher, where its layout tells and the log supports it."""
    conditions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ImportPlan:
    """What an import writes and what it skips."""

    configurations: tuple[PlannedConfiguration, ...]
    trials: dict[TrialKey, ImportedLog]
    skipped: tuple[SkippedFile, ...]


def plan_import(request: ImportRequest, catalog: Catalog, logs: LogReader) -> ImportPlan:
    """Read every file and find its configuration; nothing is written.

    Raises:
        RequestError: a source does not exist, or the hardware's name is no valid id.
    """
    if request.hardware is not None and not catalog_id(request.hardware):
        raise RequestError(f"--hardware {request.hardware!r}: a name needs a letter a-z or a digit")
    files, skipped = find_files(request.sources)
    found: list[ImportedLog] = []
    for file in files:
        for log in _imported_logs(file, request, catalog, logs):
            if isinstance(log, SkippedFile):
                skipped.append(log)
            else:
                found.append(log)
    found, copies = _without_copies(found)
    trials = _numbered(found)
    return ImportPlan(tuple(_planned(trials, request, catalog)), trials, tuple(skipped + copies))


def _imported_logs(
    file: SourceFile, request: ImportRequest, catalog: Catalog, logs: LogReader
) -> Iterator[ImportedLog | SkippedFile]:
    """Identify the runs of a file; yield the reason why it is no log, or why a run is not imported."""
    try:
        runs, digest = logs.read(file.opened, request.format), sha256_of(file.opened)
    except DlperfError as error:
        yield SkippedFile(file.shown, str(error), is_log=True)
        return
    row = request.table.get(file.opened) or row_of_result(file.opened) or LogRow()
    if not runs:
        is_log = file.path in request.sources or row != LogRow() or ".log" in file.path.suffixes
        yield SkippedFile(file.shown, why_no_run(file.opened, request.format), is_log=is_log)
    mapped = request.pattern.facts(file.name) if request.pattern else None
    guessed = facts_of_name(file.name)
    named = [facts for facts in (mapped, guessed if request.trusts_names else guessed.words) if facts]
    name = row.hardware or request.hardware or ""
    hardware = catalog.hardware.get(catalog_id(name))
    shape = (max_nodes(hardware), hardware.gpus_per_node) if hardware else None
    for run in runs:
        given = row.facts.over(request.given)
        identity = identify(run.metadata, named, given, request.gpus_per_node, shape)
        guess = "" if request.trusts_names or not identity.missing else guessed.described
        try:
            yield _imported_log(file, digest, run, len(runs), identity, request, catalog, row)
        except DlperfError as error:
            where = f"run {run.number}: " if len(runs) > 1 else ""
            hint = f"; its name suggests {guess}: confirm that with --names" if guess else ""
            yield SkippedFile(file.shown, f"{where}{error}{hint}{undescribed(file.opened)}", bool(guess), is_log=True)


def _imported_log(
    file: SourceFile,
    digest: str,
    run: Run,
    runs: int,
    identity: Identity,
    request: ImportRequest,
    catalog: Catalog,
    row: LogRow,
) -> ImportedLog:
    hardware = catalog_id(row.hardware or request.hardware or "")
    configuration = identity.configuration(hardware) if hardware else None
    if configuration is None:
        missing = identity.missing if hardware else (*identity.missing, "hardware (give --hardware)")
        raise DlperfError(f"not known: {', '.join(missing)}")
    records, name = _digest_of_records(run), row.path or file.name
    case = catalog.cases.get(configuration.case)
    unknown = [name for name in row.axes if case is None or name not in case.axes]
    if unknown:
        raise DlperfError(f"the case {configuration.case} has no axis {unknown[0]}, which the table has as a column")
    if case:
        configuration = replace(configuration, axes=_axes(case, {**run.metadata.arguments, **row.axes}))
    if not configuration.batch_size:
        shared = ("global_batch", run.metadata.global_batch_size or 0)
        configuration = replace(configuration, axes=(*configuration.axes, shared))
    unit = case.unit if case else "tokens/s" if row.protocol and run.metadata.sequence_length else None
    protocol = planned_protocol(catalog.protocols[row.protocol]) if row.protocol in catalog.protocols else None
    measured = measure_run(run, facts_of(configuration), protocol.estimator if protocol else None, unit)
    if protocol and measured.value is None:
        measured = measure_run(run, facts_of(configuration))
        is_timed = measured.figure and is_time(measured.figure.unit)
        protocol = replace(protocol, estimator=str(measured.estimator)) if is_timed else None
    if measured.other_unit:
        raise DlperfError(str(measured.other_unit))
    return ImportedLog(
        file=file,
        source=f"{request.origin}:{name}" if request.origin else name,
        published=row.source or request.origin or "",
        date=row.date or request.date,
        protocol=protocol,
        conditions=row.conditions,
        sha256=digest,
        records=records or f"{digest}:{run.number}",
        log_run=run.number if runs > 1 else None,
        configuration=configuration,
        model=identity.facts.model or "",
        framework=identity.facts.framework or "",
        format=run.format,
        unit=measured.figure.unit if measured.figure else measured.run.unit,
        estimator=str(measured.estimator),
        run_number=identity.facts.run,
        notes=identity.notes,
    )


def _axes(case: Case, arguments: Mapping[str, str]) -> tuple[tuple[str, AxisValue], ...]:
    """Return the axes of a case that a log states."""
    stated = ((name, arguments[name]) for name in case.axes if name in arguments)
    return tuple((name, int(text) if text.isdecimal() else text) for name, text in stated)


def _digest_of_records(run: Run) -> str | None:
    """Identify a run, in whatever file and format, by its times and steps; None where it has no times."""
    times = run.samples.time
    if len(times) < 2 or not all(map(isfinite, times)):
        return None
    return sha256(times.tobytes() + run.samples.step.tobytes()).hexdigest()


def _without_copies(found: Iterable[ImportedLog]) -> tuple[list[ImportedLog], list[SkippedFile]]:
    """Skip copies of a run; one that claims another configuration is kept with a note."""
    first: dict[str, ImportedLog] = {}
    kept, skipped = [], []
    for log in found:
        original = first.setdefault(log.records, log)
        same = f"the same {'bytes' if log.sha256 == original.sha256 else 'run'} as {original.file.shown}"
        if original is log:
            kept.append(log)
        elif original.configuration == log.configuration:
            skipped.append(SkippedFile(log.file.shown, same))
        else:
            kept.append(replace(log, notes=(*log.notes, f"{same}, as another configuration")))
    return kept, skipped


def _numbered(found: Iterable[ImportedLog]) -> dict[TrialKey, ImportedLog]:
    """Number trials by the run numbers in their names; where those are missing or repeated, by name order."""
    trials = {}
    for configuration, group in groupby(sorted(found, key=_order), key=lambda log: log.configuration):
        logs = list(group)
        named = [log.run_number for log in logs if log.run_number]
        distinct = len(set(named)) == len(logs)
        for position, log in enumerate(logs, start=1):
            number = (log.run_number if distinct else None) or position
            trials[TrialKey(configuration.id, number)] = log
    return trials


def _order(log: ImportedLog) -> tuple[Configuration, int, str, int]:
    return log.configuration, log.run_number or 0, log.file.name, log.log_run or 0


def _planned(
    trials: dict[TrialKey, ImportedLog], request: ImportRequest, catalog: Catalog
) -> Iterable[PlannedConfiguration]:
    for point, group in groupby(trials.values(), key=lambda log: log.configuration):
        first, *others = group
        published, dates = _stated("published", first, *others), _stated("date", first, *others)
        hardware, case = catalog.hardware.get(point.hardware), catalog.cases.get(point.case)
        framework = catalog.frameworks.get(point.framework)
        accelerator = catalog.accelerators.get(hardware.accelerator or "") if hardware else None
        unit = first.unit
        price = hardware.price if hardware else None
        metrics = planned_metrics(unit, case, catalog.metrics, price)
        yield PlannedConfiguration(
            configuration=point,
            launch=Launch(IMPORTED, (Node(FOLDER, "local", FOLDER, FOLDER, gpu_indices=()),), point.gpus, "", (), ()),
            format=first.format,
            unit=metrics[0].unit,
            protocol=request.protocol or first.protocol or PlannedProtocol(first.estimator, estimator=first.estimator),
            repeats=1 + len(others),
            accelerator=planned_accelerator(accelerator, catalog.precisions.get(point.precision)),
            peak_limit=None if hardware else _peak_limit(point, catalog),
            price=price,
            gflops_per_sample=case.gflops(dict(point.axes)) if case else None,
            facts=(hardware.facts if hardware else {})
            | (framework.facts if framework else {})
            | dict(first.conditions)
            | {"imported": "yes"}
            | {name: text for name, text in (("log_source", published), ("log_date", dates)) if text},
            metrics=metrics,
        )


def _stated(name: str, *logs: ImportedLog) -> str:
    """Return what the logs of one configuration state, each text once."""
    return "; ".join(dict.fromkeys(filter(None, (getattr(log, name) for log in logs))))


def _peak_limit(point: Configuration, catalog: Catalog) -> float | None:
    """Return the highest peak of the accelerators that hardware outside the catalogue is named after, as ``h100``."""
    precision, words = catalog.precisions.get(point.precision), point.hardware.split("-")
    named = [item for item in catalog.accelerators.values() if item.id.partition("-")[0] in words]
    peaks = [item.peak_of(precision) for item in named] if precision else []
    return max((peak for peak in peaks if peak), default=None)
