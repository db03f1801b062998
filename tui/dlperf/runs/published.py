"""Third-party reports and their throughput, value for value: ``runs/published/<report>/``."""

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite
from typing import Literal

from dlperf.catalog.files.yamlfile import read_document
from dlperf.errors import DlperfError
from dlperf.messages import Code
from dlperf.opening import read_bytes
from dlperf.runs.paths import PublishedPaths, WorkspacePaths
from dlperf.runs.store import each_readable, one_line, type_adapter

NO_FIGURE = ("-", "——", "")
"""What reports print in the cell of a test that was not run."""


@dataclass(frozen=True)
class LocalizedText:
    """A text in both languages of the site, or in one."""

    en: str = ""
    zh: str = ""

    def localized(self, language: Code) -> str:
        """Return the text in a language, else the one that exists, English first."""
        return getattr(self, language, "") or self.en or self.zh


@dataclass(frozen=True)
class Fact(LocalizedText):
    """One line of a report's environment: a label, and the value as the report prints it."""

    value: str = field(kw_only=True)


@dataclass(frozen=True)
class EnvironmentGroup:
    """A machine, an image or a cluster, in the report's order."""

    title: LocalizedText
    facts: tuple[Fact, ...]
    framework: str = ""
    """The framework to which these facts apply, as named in ``figures.csv``; empty for all."""


@dataclass(frozen=True)
class Conditions:
    """How one framework ran: data loading, compiler, layout, level of AMP."""

    framework: str
    """As named in ``figures.csv``."""
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Step:
    """One step of a report's set-up or test."""

    title: LocalizedText
    text: LocalizedText = LocalizedText()
    commands: str = ""
    setup: bool = False
    """Whether it prepares the machine; otherwise it is a step of the test."""


@dataclass(frozen=True)
class PublishedFigure:
    """One cell of a published table."""

    model: str
    framework: str
    hardware: str
    nodes: int
    gpus: int
    """Over all nodes."""
    precision: str
    """As the report calls it: FP32 on A100 is TF32."""
    batch_size: int
    """Per GPU."""
    metric: str
    """throughput, throughput_median, throughput_average, throughput_run_1 …, speedup."""
    unit: str
    value: float | None
    """None where the report prints no figure."""
    printed: str
    """The value as it is printed, digit for digit."""
    source: str
    """owner/repository@commit:path, or which draft."""
    log: str
    """owner/repository@commit:path of the raw log; empty where none was published."""
    rule: str
    """How the figure is computed from the log, or why it cannot be: in words, which are shown only."""
    estimator: str = ""
    """The estimator that the source used, where its log can be recomputed."""
    noted: Literal["", "noted_exact", "noted_difference", "noted_not_reproduced"] = ""
    """Code of what was found of the log when the report was transcribed."""
    difference: float | None = None
    """With ``noted_difference``: recomputed / published - 1."""
    remark: str = ""
    """Where the source contradicts the figure."""
    axes: tuple[tuple[str, int | str], ...] = ()
    """Further axes of the configuration; in the file ``sequence_length=8192 tensor_parallel=2``."""
    protocol: str = ""
    """Id of the protocol in the catalogue where it is not the report's."""
    computed: str = ""
    """Precision of the computation by the log, where the report calls it otherwise."""
    median_of: int = 0
    """Logs whose median this is, where they are too few for the mean that the protocol takes; else 0."""
    mean_needs: int = 0
    """Logs that this mean needs, in that case."""


@dataclass(frozen=True)
class PublishedReport:
    """A third-party report. Nothing in it was measured by dlperf."""

    id: str
    title: LocalizedText
    language: str
    """Of the original: ``en`` or ``zh``."""
    source: str
    url: str
    date: str | None
    """Year and month."""
    protocol: str | None
    """Id of the protocol in the catalogue of every figure that names none; None where figures have several."""
    protocol_text: LocalizedText
    """The protocol in the report's own words."""
    summary: LocalizedText
    environment: tuple[EnvironmentGroup, ...]
    topology: str
    """``nvidia-smi topo -m`` as printed; empty where the report shows none."""
    steps: tuple[Step, ...]
    notes: tuple[LocalizedText, ...]
    """Caveats."""
    figures: tuple[PublishedFigure, ...]
    conditions: tuple[Conditions, ...] = ()


def load_reports(
    workspace: WorkspacePaths, complain: Callable[[DlperfError], object] | None = None
) -> tuple[PublishedReport, ...]:
    """Load every third-party report of a workspace, in the order of their ids.

    Args:
        complain: called for each report that cannot be read, which is left out.

    Raises:
        DlperfError: without ``complain``, a file is missing or malformed; the message names file and line or field.
    """
    return tuple(each_readable(workspace.published_reports(), _load_report, complain))


def _load_report(paths: PublishedPaths) -> PublishedReport:
    figures = _read_figures(paths)
    document = read_document(paths.report)
    try:
        if document.problems:
            first = document.problems[0]
            raise ValueError(f"line {first.line}: {first.message}")
        return type_adapter(PublishedReport).validate_python({**document.data, "id": paths.name, "figures": figures})
    except (TypeError, ValueError) as error:
        raise DlperfError(f"{paths.report}: not a published report ({one_line(error)})") from error


def _read_figures(paths: PublishedPaths) -> tuple[PublishedFigure, ...]:
    try:
        rows = csv.DictReader(io.StringIO(read_bytes(paths.figures).decode(), newline=""))
        return tuple(_figure(row, f"{paths.figures}, line {rows.line_num}") for row in rows)
    except OSError as error:
        raise DlperfError(f"{paths.figures}: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise DlperfError(f"{paths.figures}: not a CSV file ({one_line(error)})") from error


def _figure(row: dict[str, str], where: str) -> PublishedFigure:
    printed = row.get("value")
    value = None if printed in NO_FIGURE else printed
    try:
        axes = [_axis(text) for text in (row.get("axes") or "").split()]
        found = type_adapter(PublishedFigure).validate_python(
            {**row, "value": value, "printed": printed, "axes": axes, "difference": row.get("difference") or None}
        )
        if not all(number is None or isfinite(number) for number in (found.value, found.difference)):
            raise ValueError("a number that is not finite")
        return found
    except ValueError as error:
        raise DlperfError(f"{where}: not a published figure ({one_line(error)})") from error


def _axis(text: str) -> tuple[str, int | str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise ValueError(f"axes: {text!r} is not axis=value")
    return name, int(value) if value.isdecimal() else value
