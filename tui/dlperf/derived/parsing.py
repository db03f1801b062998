"""``dlperf parse``: one figure for each run in log files, with findings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dlperf.errors import DlperfError, RequestError
from dlperf.evidence.drafts import why_no_run
from dlperf.evidence.identify import identify
from dlperf.evidence.logs import BUILTIN_FORMATS, LogReader
from dlperf.evidence.names import NameFacts, facts_of_name
from dlperf.evidence.sources import SourceFile, find_files
from dlperf.formats.samples import Run, Samples
from dlperf.measured.findings.runs import checked_run, findings_of_run
from dlperf.measured.run import Measured, StatedFacts, measure_run
from dlperf.measured.throughput.estimators import Estimator
from dlperf.measured.throughput.figure import STEADY, Figure
from dlperf.messages import Message
from dlperf.messages.finding import Finding, error, note


@dataclass(frozen=True)
class ParseOptions:
    """Options of ``dlperf parse``."""

    format_id: str | None = None
    """Detected by content if None."""
    estimator: Estimator | None = None
    """The natural estimator of each log if None."""
    gpus: int | None = None
    """Over all nodes."""
    batch_size: int | None = None
    """Per GPU."""


@dataclass(frozen=True)
class ParsedRun:
    """One run of one log: an entry of ``dlperf parse --json``."""

    log: str
    run: Run
    """Without its samples, to save memory."""
    samples: int
    gpus: int | None
    batch_size: int | None
    precision: str | None
    estimator: str
    figure: Figure | None
    """None where the run gives no figure, for the ``reason``, or prints metrics only."""
    reason: Message | None
    findings: tuple[Finding, ...]
    value_per_gpu: float | None = None
    """Printed throughput of one GPU, where the number of GPUs, and so the total, is unknown."""

    def as_data(self) -> dict[str, object]:
        """Return the entry as plain data."""
        figure = self.figure
        return {
            "log": self.log,
            "format": self.run.format,
            "run": self.run.number,
            "unit": figure.unit if figure else self.run.unit,
            "rate_unit": self.run.unit,
            "scope": self.run.scope,
            "samples": self.samples,
            "gpus": self.gpus,
            "batch_size": self.batch_size,
            "precision": self.precision,
            "estimator": self.estimator,
            "value": figure.value if figure else None,
            "value_per_gpu": self.value_per_gpu,
            "pauses": (figure.pauses or None) if figure else None,
            "steady": figure.steady if figure else None,
            "goodput": figure.goodput if figure else None,
            "value_from_timestamps": figure.value_from_timestamps if figure else None,
            "metrics": [
                {"id": name, "value": metric.values[-1], "unit": metric.unit, "direction": metric.direction}
                for name, metric in self.run.metrics.items()
            ],
            "first_step": figure.estimate.first_step if figure else None,
            "last_step": figure.estimate.last_step if figure else None,
            "findings": [finding.as_data() for finding in self.findings],
        }


class LogsError(RequestError):
    """The problems of some logs, in one line each."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        super().__init__("\n".join(lines))
        self._lines = lines

    @property
    def lines(self) -> tuple[str, ...]:
        return self._lines


@dataclass(frozen=True)
class Parsed:
    """The runs of all logs, and problems in one line each."""

    runs: tuple[ParsedRun, ...] = ()
    problems: tuple[str, ...] = ()
    """Logs without a figure, or cut."""
    passed_over: tuple[str, ...] = ()
    """Files of a folder that are no logs."""
    errors: tuple[DlperfError, ...] = ()
    """Exceptions behind the problems, for a traceback."""


def parse_logs(paths: Sequence[Path], options: ParseOptions, logs: LogReader = BUILTIN_FORMATS) -> Parsed:
    """Parse every log, and every log below a folder, whatever is wrong with the others."""
    return _joined(
        [_parse_folder(path, options, logs) if path.is_dir() else _parse_file(path, options, logs) for path in paths]
    )


def _joined(parts: Sequence[Parsed]) -> Parsed:
    return Parsed(
        runs=tuple(run for part in parts for run in part.runs),
        problems=tuple(line for part in parts for line in part.problems),
        passed_over=tuple(line for part in parts for line in part.passed_over),
        errors=tuple(error for part in parts for error in part.errors),
    )


def _parse_folder(path: Path, options: ParseOptions, logs: LogReader) -> Parsed:
    found, skipped = find_files([path])
    parts = [Parsed(passed_over=tuple(f"{file.log}: {file.reason}" for file in skipped))]
    for source in found:
        part = _parse_source(source, options, logs)
        parts.append(part if part.runs else Parsed(passed_over=part.problems))
    if not any(part.runs for part in parts):
        parts.append(Parsed(problems=(f"{path}: no file of this folder holds a throughput record",)))
    return _joined(parts)


def _parse_file(path: Path, options: ParseOptions, logs: LogReader) -> Parsed:
    try:
        found, skipped = find_files([path])
    except RequestError as error:
        return Parsed(problems=(str(error),), errors=(error,))
    if skipped:
        return Parsed(problems=tuple(f"{path}: {file.reason}" for file in skipped))
    return _parse_source(found[0], options, logs)


def _parse_source(source: SourceFile, options: ParseOptions, logs: LogReader) -> Parsed:
    try:
        runs = logs.read(source.opened, options.format_id)
        if not runs:
            raise RequestError(f"{source.path}: {why_no_run(source.opened, options.format_id)}")
    except DlperfError as error:
        return Parsed(problems=(str(error),), errors=(error,))
    facts = facts_of_name(source.name)
    parsed = tuple(_parsed(str(source.path), run, len(runs), options, facts) for run in runs)
    return Parsed(parsed, tuple(_problems(parsed)))


def _problems(runs: Sequence[ParsedRun]) -> Iterator[str]:
    for parsed in runs:
        where = f"{parsed.log}, run {parsed.run.number}" if len(runs) > 1 else parsed.log
        if parsed.reason:
            yield f"{where}: {parsed.reason}"
        yield from (f"{where}: {f.message}" for f in parsed.findings if f.code == "truncated_archive")


def _parsed(log: str, run: Run, runs_in_log: int, options: ParseOptions, facts: NameFacts) -> ParsedRun:
    """Take counts from the options, else from the log: its name is a hint, from which no value is computed."""
    known = identify(run.metadata, (), NameFacts(gpus=options.gpus, batch_size=options.batch_size)).facts
    known = replace(known, batch_size=known.batch_size or None)  # 0 stands for a batch that only all GPUs share
    measured = measure_run(run, StatedFacts(known.gpus, None, known.batch_size), options.estimator)
    figure, reason = measured.figure, None if run.prints_only_metrics else measured.shortage
    checked = checked_run(
        measured.reading,
        figure,
        declared_gpus=options.gpus,
        declared_batch_size=options.batch_size,
        runs_in_log=runs_in_log,
    )
    findings = findings_of_run(checked)
    hint = _hint(facts, known)
    findings = (*findings, note("guessed_from_name", guess=hint)) if hint else findings
    per_gpu = _value_of_one_gpu(measured)
    if per_gpu is not None and figure is None:
        findings = (note("value_per_gpu", value=per_gpu, unit=run.unit), *findings)
    if reason:
        findings = (error("no_figure", reason=reason), *findings)
    return ParsedRun(
        log,
        replace(run, samples=Samples()),
        len(run.samples),
        known.gpus,
        known.batch_size,
        known.precision,
        str(measured.estimator),
        figure,
        reason,
        findings,
        per_gpu,
    )


def _value_of_one_gpu(measured: Measured) -> float | None:
    """Return the throughput of one GPU where the number of GPUs is unknown.

    It is the printed one where only the work of all GPUs is stated, which the time of the log would make a rate of.
    """
    if measured.run.scope != "per_gpu" or measured.reading.total_gpus is not None:
        return None
    stated = measured.run.metadata
    rule = STEADY if stated.global_batch_size or stated.tokens_per_step else None
    return measure_run(measured.run, replace(measured.facts, gpus=1), rule).value


def _hint(facts: NameFacts, known: NameFacts) -> str:
    """Return what the name of a log suggests beyond, or against, what is known; empty for nothing."""
    same = [name for name in ("gpus", "batch_size", "precision") if getattr(facts, name) == getattr(known, name)]
    return replace(facts, nodes=None, **dict.fromkeys(same)).described
