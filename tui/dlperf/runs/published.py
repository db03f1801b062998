"""Figures that others published, value for value, with the report they stand in: ``runs/published/<report>/``."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import yaml

from dlperf.errors import DlperfError
from dlperf.messages import Code
from dlperf.runs.paths import PublishedPaths, Workspace
from dlperf.runs.store import load_yaml

if TYPE_CHECKING:
    from pydantic import TypeAdapter

NO_FIGURE = ("-", "——", "")
"""What reports print in the cell of a test that was not run."""


@dataclass(frozen=True)
class Text:
    """A text that its author wrote in both languages of the site, or in one."""

    en: str = ""
    zh: str = ""

    def localized(self, language: Code) -> str:
        """The text in a language, in the other one where it is missing there."""
        return getattr(self, language) or self.en or self.zh


@dataclass(frozen=True)
class Fact(Text):
    """One line of a report's environment: its label, and its value as the report prints it."""

    value: str = field(kw_only=True)


@dataclass(frozen=True)
class EnvironmentGroup:
    """A machine, an image or a cluster, in the report's order."""

    title: Text
    facts: tuple[Fact, ...]
    framework: str = ""
    """The framework that these facts are about, as the report's figures call it; empty where they are of all."""


@dataclass(frozen=True)
class Conditions:
    """How one framework ran, as the report or its raw logs say: data loading, compiler, layout, level of AMP."""

    framework: str
    """As the report's figures call it."""
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Step:
    """One step of a report's set-up or test."""

    title: Text
    text: Text = Text()
    commands: str = ""
    setup: bool = False
    """It prepares the machine; else it is a step of the test."""


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
    """None where the report prints that there is no figure."""
    printed: str
    """The value as it is printed, digit for digit."""
    source: str
    """owner/repository@commit:path, or which draft."""
    log: str
    """owner/repository@commit:path of the raw log; empty where none was published."""
    rule: str
    """How the figure follows from the log, or why it does not."""


@dataclass(frozen=True)
class PublishedReport:
    """A report that others published. Nothing here was measured by dlperf."""

    id: str
    """Name of the report's folder."""
    title: Text
    language: str
    """Of the original: ``en`` or ``zh``."""
    source: str
    url: str
    date: str | None
    """Year and month, where known."""
    protocol: str | None
    """Id of the protocol that the report follows, where the catalogue has it."""
    protocol_text: Text
    """The protocol in the report's own words."""
    summary: Text
    environment: tuple[EnvironmentGroup, ...]
    topology: str
    """``nvidia-smi topo -m`` as printed; empty where the report shows none."""
    steps: tuple[Step, ...]
    notes: tuple[Text, ...]
    """What a careful reader of the report must know."""
    figures: tuple[PublishedFigure, ...]
    conditions: tuple[Conditions, ...] = ()


def load_reports(workspace: Workspace) -> tuple[PublishedReport, ...]:
    """Every published report of a workspace, in the order of their ids.

    Raises:
        DlperfError: a report's file is missing or malformed; the message names file and line or field.
    """
    return tuple(load_report(paths) for paths in workspace.published_reports())


def load_report(paths: PublishedPaths) -> PublishedReport:
    """One published report.

    Raises:
        DlperfError: as for ``load_reports``.
    """
    figures = _read_figures(paths)
    try:
        data = load_yaml(paths.report.read_bytes())
        return _adapter().validate_python({**data, "id": paths.name, "figures": figures})
    except OSError as error:
        raise DlperfError(f"{paths.report}: {error.strerror}") from error
    except (TypeError, ValueError, yaml.YAMLError) as error:
        raise DlperfError(f"{paths.report}: not a published report ({' '.join(str(error).split())[:200]})") from error


def _read_figures(paths: PublishedPaths) -> tuple[PublishedFigure, ...]:
    try:
        with paths.figures.open(newline="", encoding="utf-8") as stream:
            rows = csv.DictReader(stream)
            return tuple(_figure(row, f"{paths.figures}, line {rows.line_num}") for row in rows)
    except OSError as error:
        raise DlperfError(f"{paths.figures}: {error.strerror}") from error


def _figure(row: dict[str, str], where: str) -> PublishedFigure:
    try:
        printed = row["value"]
        numbers = {name: int(row[name]) for name in ("nodes", "gpus", "batch_size")}
        words = {n: row[n] for n in ("model", "framework", "hardware", "precision", "metric", "unit")}
        origin = {name: row[name] for name in ("source", "log", "rule")}
        value = None if printed in NO_FIGURE else float(printed)
    except (KeyError, TypeError, ValueError) as error:
        raise DlperfError(f"{where}: not a published figure ({error})") from error
    fields: dict[str, Any] = {**numbers, **words, **origin}
    return PublishedFigure(value=value, printed=printed, **fields)


@cache
def _adapter() -> TypeAdapter[PublishedReport]:
    from pydantic import TypeAdapter

    return TypeAdapter(PublishedReport)
