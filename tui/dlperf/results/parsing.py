"""``dlperf parse``: log files → one figure for each run in them, with findings."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dlperf.errors import DlperfError, RequestError
from dlperf.formats.samples import Run, Samples
from dlperf.measure.estimator import Estimator
from dlperf.measure.figure import Figure, figure_of
from dlperf.measure.finding import Finding, error
from dlperf.measure.findings import findings_of_run
from dlperf.measure.natural import natural_estimator
from dlperf.measure.reading import NotEstimable, Reading
from dlperf.messages import Message
from dlperf.results.identify import batch_size_per_gpu, gpus_over_all_nodes
from dlperf.results.logs import BUILTIN_FORMATS, LogReader, open_log
from dlperf.results.names import NameFacts, facts_of_name
from dlperf.results.sources import SourceFile, find_files

BINARY_SHARE = 0.05
"""Control characters among the first bytes: logs hold a stray NUL here and there, noise and packed files a tenth."""
TEXT_CONTROLS = b"\t\n\r\b\f\x1b"
"""Those that logs are full of: ends of lines, progress bars, colours."""
HEAD = 1 << 16
PACKED = {b"\xfd7zXZ\0": "xz", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd"}
"""First bytes of packed files that are not read → what unpacks them."""


@dataclass(frozen=True)
class ParseOptions:
    """What is said beside the logs."""

    format_id: str | None = None
    """Found out by content if None."""
    estimator: Estimator | None = None
    """The one that suits each log if None."""
    gpus: int | None = None
    """Over all nodes."""
    batch_size: int | None = None
    """Per GPU."""


@dataclass(frozen=True)
class ParsedRun:
    """One run of one log: an entry of ``dlperf parse --json``."""

    log: str
    run: Run
    """Without its samples: any number of logs may be parsed together."""
    samples: int
    gpus: int | None
    batch_size: int | None
    precision: str | None
    estimator: str
    figure: Figure | None
    """None where the run does not give the figure; ``reason`` says why."""
    reason: Message | None
    findings: tuple[Finding, ...]

    def as_data(self) -> dict[str, object]:
        """The entry as plain data."""
        estimate = self.figure.estimate if self.figure else None
        return {
            "log": self.log,
            "format": self.run.format,
            "run": self.run.number,
            "unit": self.run.unit,
            "scope": self.run.scope,
            "samples": self.samples,
            "gpus": self.gpus,
            "batch_size": self.batch_size,
            "precision": self.precision,
            "estimator": self.estimator,
            "value": self.figure.value if self.figure else None,
            "value_from_timestamps": self.figure.value_from_timestamps if self.figure else None,
            "first_step": estimate.first_step if estimate else None,
            "last_step": estimate.last_step if estimate else None,
            "findings": [finding.as_data() for finding in self.findings],
        }


class LogsError(RequestError):
    """What is wrong with some of the logs, a line for each."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        super().__init__("\n".join(lines))
        self._lines = lines

    @property
    def lines(self) -> tuple[str, ...]:
        return self._lines


@dataclass(frozen=True)
class Parsed:
    """What came of all logs."""

    runs: tuple[ParsedRun, ...]
    problems: tuple[str, ...]
    """One line for each log that gave no figure, or not its whole."""
    passed_over: tuple[str, ...] = ()
    """One line for each file of a folder that is no log."""
    errors: tuple[DlperfError, ...] = ()
    """Where problems came from, for who wants to see the traceback."""


def parse_logs(paths: Sequence[Path], options: ParseOptions, logs: LogReader = BUILTIN_FORMATS) -> Parsed:
    """Parse every log, and every log below a folder. What is wrong with one log keeps no other from being parsed."""
    runs: list[ParsedRun] = []
    problems: list[str] = []
    passed_over: list[str] = []
    errors: list[DlperfError] = []
    for path in paths:
        found = _parse_folder(path, options, logs) if path.is_dir() else _parse_file(path, options, logs)
        runs += found.runs
        problems += found.problems
        passed_over += found.passed_over
        errors += found.errors
    return Parsed(tuple(runs), tuple(problems), tuple(passed_over), tuple(errors))


def parse_log(source: SourceFile, options: ParseOptions, logs: LogReader = BUILTIN_FORMATS) -> tuple[ParsedRun, ...]:
    """The runs of one log.

    Raises:
        RequestError: the file cannot be read or holds no run; the message says which and what to do.
    """
    runs = logs.read(source.path, options.format_id)
    if not runs:
        raise RequestError(f"{source.path}: {_why_no_run(source.path, options.format_id)}")
    facts = facts_of_name(source.name)
    return tuple(_parsed(str(source.path), run, len(runs), options, facts) for run in runs)


def _parse_folder(path: Path, options: ParseOptions, logs: LogReader) -> Parsed:
    found, skipped = find_files([path])
    parsed = [_parse_source(source, options, logs) for source in found]
    runs = [run for each in parsed for run in each.runs]
    other = [line for each in parsed if not each.runs for line in each.problems]
    problems = [line for each in parsed if each.runs for line in each.problems]
    if not runs:
        problems.append(f"{path}: no file of this folder holds a throughput record")
    return Parsed(tuple(runs), tuple(problems), (*(f"{file.log}: {file.reason}" for file in skipped), *other))


def _parse_file(path: Path, options: ParseOptions, logs: LogReader) -> Parsed:
    try:
        found, skipped = find_files([path])
    except RequestError as error:
        return Parsed((), (str(error),), errors=(error,))
    if skipped:
        return Parsed((), tuple(f"{path}: {file.reason}" for file in skipped))
    return _parse_source(found[0], options, logs)


def _parse_source(source: SourceFile, options: ParseOptions, logs: LogReader) -> Parsed:
    try:
        runs = parse_log(source, options, logs)
    except DlperfError as error:
        return Parsed((), (str(error),), errors=(error,))
    return Parsed(runs, tuple(_problems(runs)))


def _problems(runs: Sequence[ParsedRun]) -> Iterator[str]:
    for parsed in runs:
        where = f"{parsed.log}, run {parsed.run.number}" if len(runs) > 1 else parsed.log
        if parsed.figure is None:
            yield f"{where}: {parsed.reason}"
        yield from (f"{where}: {f.message}" for f in parsed.findings if f.code == "truncated_archive")


def _parsed(log: str, run: Run, runs_in_log: int, options: ParseOptions, facts: NameFacts) -> ParsedRun:
    """Counts come from the options first, then from the log, then from its name."""
    gpus = options.gpus or gpus_over_all_nodes(run.metadata, [facts]) or facts.gpus
    batch_size = options.batch_size or batch_size_per_gpu(run.metadata, gpus) or facts.batch_size
    reading = Reading(run, gpus, facts.gpus_per_node, batch_size)
    estimator = options.estimator or natural_estimator(reading)
    figure, reason = _figure(reading, estimator)
    findings = findings_of_run(
        reading,
        figure,
        declared_gpus=options.gpus or facts.gpus,
        declared_batch_size=options.batch_size or facts.batch_size,
        runs_in_log=runs_in_log,
    )
    if reason:
        findings = (error("no_figure", reason=reason), *findings)
    precision = run.metadata.precision or facts.precision
    samples, told = len(run.samples), replace(run, samples=Samples())
    return ParsedRun(log, told, samples, gpus, batch_size, precision, str(estimator), figure, reason, findings)


def _figure(reading: Reading, estimator: Estimator) -> tuple[Figure | None, Message | None]:
    try:
        return figure_of(reading, estimator), None
    except NotEstimable as shortage:
        return None, shortage.message


def _why_no_run(path: Path, format_id: str | None) -> str:
    head = _head(path)
    if head is None:
        return "a damaged gzip file: pack it again, or give the plain log"
    if not head:
        return "empty: nothing to parse"
    packer = next((name for start, name in PACKED.items() if head.startswith(start)), None)
    if packer:
        return f"packed by {packer}: unpack it, or pack it with gzip"
    if sum(byte < 0x20 for byte in head.translate(None, TEXT_CONTROLS)) > BINARY_SHARE * len(head):
        return "a binary file, no training log"
    if format_id:
        return f"no throughput record of the format {format_id}: leave --format out to have it found by content"
    return (
        "no throughput record of any known format: is it a whole training log? "
        "A format of your own is an entry of a workspace's catalog/formats/"
    )


def _head(path: Path) -> bytes | None:
    """The first bytes of a log; None where they cannot be unpacked."""
    try:
        with open_log(path) as stream:
            return stream.read(HEAD)
    except (EOFError, OSError, zlib.error):
        return None
