"""Somebody else's logs → an ordinary campaign: which configuration each is, and what nothing could tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import groupby
from math import isfinite
from pathlib import Path
from typing import Any

from dlperf.catalog.load import Catalog
from dlperf.errors import DlperfError, RequestError
from dlperf.formats.samples import Run
from dlperf.measure.natural import natural_estimator
from dlperf.measure.reading import Reading
from dlperf.plan import Configuration, Launch, Node, PlannedConfiguration, TrialKey
from dlperf.results.identify import catalog_id, identify
from dlperf.results.logs import LogReader
from dlperf.results.names import NameFacts, PathPattern, facts_of_name
from dlperf.results.sources import SkippedFile, SourceFile, find_files
from dlperf.runs.checksums import sha256_of

NODE = "imported"
"""Stands for the machines of an imported log, and for their executor."""


@dataclass(frozen=True)
class ImportRequest:
    """What is to be imported, and what its owner says of it."""

    sources: tuple[Path, ...]
    hardware: str
    """An id of the catalogue or any other name."""
    given: NameFacts = field(default_factory=NameFacts)
    gpus_per_node: int | None = None
    pattern: PathPattern | None = None
    format: str | None = None
    protocol: dict[str, Any] | None = None
    """How the figures are made; if None, what each log gives best."""
    origin: str | None = None
    """Whose logs they are, such as ``owner/repository@commit``."""


@dataclass(frozen=True)
class ImportedLog:
    """One run of one log that becomes a trial."""

    file: SourceFile
    source: str
    """Where it came from: ``owner/repository@commit:path``, or the path alone."""
    sha256: str
    records: str
    """Equal for what is the same run, though in another file."""
    log_run: int | None
    """Which run of a log that holds several."""
    configuration: Configuration
    format: str
    unit: str
    estimator: str
    """What the log gives best."""
    run_number: int | None
    """As its name says."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ImportPlan:
    """What an import comes to, before anything is written."""

    configurations: tuple[PlannedConfiguration, ...]
    trials: dict[TrialKey, ImportedLog]
    skipped: tuple[SkippedFile, ...]


def plan_import(request: ImportRequest, catalog: Catalog, logs: LogReader) -> ImportPlan:
    """Read every file and find its place; nothing is written.

    Raises:
        RequestError: a source does not exist, or the hardware's name cannot be one.
    """
    if not catalog_id(request.hardware):
        raise RequestError(f"--hardware {request.hardware!r}: a name needs a letter a-z or a digit")
    files, skipped = find_files(request.sources)
    found: list[ImportedLog] = []
    for file in files:
        try:
            found += _imported_logs(file, request, catalog, logs)
        except DlperfError as error:
            skipped.append(SkippedFile(file.shown, str(error)))
    found, copies = _without_copies(found)
    trials = _numbered(found)
    return ImportPlan(tuple(_planned(trials, request, catalog)), trials, tuple(skipped + copies))


def _imported_logs(file: SourceFile, request: ImportRequest, catalog: Catalog, logs: LogReader) -> list[ImportedLog]:
    """The runs of a file, each with its configuration.

    Raises:
        DlperfError: the file is no log, or something about a run is not known; the message is the reason.
    """
    runs = logs.read(file.path, request.format)
    if not runs:
        raise DlperfError("no throughput record of a known log format")
    named = _named(file, request.pattern)
    digest = sha256_of(file.path)
    return [_imported_log(file, digest, run, len(runs), named, request, catalog) for run in runs]


def _imported_log(
    file: SourceFile,
    digest: str,
    run: Run,
    runs: int,
    named: Sequence[NameFacts],
    request: ImportRequest,
    catalog: Catalog,
) -> ImportedLog:
    identity = identify(run.metadata, named, request.given, _gpus_per_node(request, catalog))
    configuration = identity.configuration(catalog_id(request.hardware))
    if configuration is None:
        where = f"run {run.number}: " if runs > 1 else ""
        raise DlperfError(f"{where}not known: {', '.join(identity.missing)}")
    reading = Reading(run, configuration.gpus_total, configuration.gpus, configuration.batch_size)
    return ImportedLog(
        file=file,
        source=f"{request.origin}:{file.name}" if request.origin else file.name,
        sha256=digest,
        records=_digest_of_records(run) or f"{digest}:{run.number}",
        log_run=run.number if runs > 1 else None,
        configuration=configuration,
        format=run.format,
        unit=run.unit,
        estimator=str(natural_estimator(reading)),
        run_number=identity.facts.run,
        notes=identity.notes,
    )


def _digest_of_records(run: Run) -> str | None:
    """The same for a run in whatever file, as text or as JSON; None where its records carry no times to know it by."""
    times = run.samples.time
    if len(times) < 2 or not all(map(isfinite, times)):
        return None
    return sha256(times.tobytes() + run.samples.step.tobytes()).hexdigest()


def _named(file: SourceFile, pattern: PathPattern | None) -> list[NameFacts]:
    mapped = pattern.facts(file.name) if pattern else None
    return [*([mapped] if mapped else []), facts_of_name(file.name)]


def _gpus_per_node(request: ImportRequest, catalog: Catalog) -> int | None:
    known = catalog.hardware.get(catalog_id(request.hardware))
    return request.gpus_per_node or (known.gpus_per_node if known else None)


def _without_copies(found: Iterable[ImportedLog]) -> tuple[list[ImportedLog], list[SkippedFile]]:
    """What is another run over again is no second trial; as another configuration it is a contradiction."""
    first: dict[str, ImportedLog] = {}
    kept, skipped = [], []
    for log in found:
        original = first.setdefault(log.records, log)
        words = f"the same {'bytes' if log.sha256 == original.sha256 else 'run'} as {original.file.shown}"
        if original is log:
            kept.append(log)
        elif original.configuration == log.configuration:
            skipped.append(SkippedFile(log.file.shown, words))
        else:
            kept.append(replace(log, notes=(*log.notes, f"{words}, as another configuration")))
    return kept, skipped


def _numbered(found: Iterable[ImportedLog]) -> dict[TrialKey, ImportedLog]:
    """Trials under the run numbers that their names give; where those are missing or repeated, in name order."""
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
    for _, group in groupby(trials.values(), key=lambda log: log.configuration):
        logs = list(group)
        yield planned_configuration(logs[0], len(logs), request.protocol, catalog)


def planned_configuration(
    log: ImportedLog, repeats: int, protocol: dict[str, Any] | None, catalog: Catalog
) -> PlannedConfiguration:
    """What ``campaign.json`` says of an imported configuration: nothing was launched here, and it says so."""
    point = log.configuration
    hardware, case = catalog.hardware.get(point.hardware), catalog.cases.get(point.case)
    framework = catalog.frameworks.get(point.framework)
    accelerator = catalog.accelerators.get(hardware.accelerator or "") if hardware else None
    return PlannedConfiguration(
        configuration=point,
        launch=Launch(NODE, (Node(NODE, "local", NODE, NODE, gpu_indices=()),), point.gpus, NODE, (), ()),
        format=log.format,
        unit=case.unit if case else log.unit,
        protocol=protocol or {"id": log.estimator, "estimator": log.estimator, "aggregate": "median"},
        repeats=repeats,
        accelerator=accelerator.model_dump(mode="json") if accelerator else None,
        gflops_per_sample=case.gflops_per_sample if case else None,
        facts=(hardware.facts if hardware else {}) | (framework.facts if framework else {}) | {"imported": "yes"},
    )
