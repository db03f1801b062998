"""What the site offers as data: every figure as JSON, CSV and Parquet, and the logs that they came from."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dlperf.messages import Message
from dlperf.report.data import SiteData
from dlperf.report.locations import configuration_page, file_download, html_address, log_download
from dlperf.report.roofline import roofline
from dlperf.report.writing import Sources
from dlperf.results.audit import COLUMNS, AuditRow
from dlperf.results.columns import DATA_SCHEMA, flat_rows
from dlperf.results.model import ConfigurationResult

NESTED = ("trials", "findings")
"""Columns that CSV leaves out."""
Columns = Mapping[str, Sequence[Any]]
"""Name of the column → its cells; what is missing is None."""


@dataclass(frozen=True)
class SiteRow(ConfigurationResult):
    """A row with what only the site knows of it."""

    roofline: float | None = None
    """The figure over what the slower of arithmetic and memory traffic allows."""
    date: str = ""
    """When its campaign began, or its report was published; empty where that is not known."""
    address: str = ""
    """Where its figure stands on the site."""


@dataclass(frozen=True)
class Download:
    """A file that the site offers."""

    name: str
    """As the node called it."""
    path: str
    """Below the site's root."""
    sha256: str


def site_rows(data: SiteData, results: Iterable[ConfigurationResult]) -> list[SiteRow]:
    return [
        SiteRow(**vars(row), roofline=roofline(data, row), date=data.created(row.campaign), address=address_of(row))
        for row in results
    ]


def results_json(rows: Iterable[SiteRow]) -> str:
    """The list of ``dlperf results --json`` with what the site knows of each, under the version of its schema."""
    return _listed(
        "results", (json.dumps(vars(row), default=_plain, ensure_ascii=False, separators=(",", ":")) for row in rows)
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Message):
        return str(value)
    return value.as_data() if hasattr(value, "as_data") else vars(value)


def rows_json(columns: Columns) -> str:
    """The rows of the Parquet file as objects, under the version of the schema."""
    return _listed("rows", flat_rows(columns))


def _listed(name: str, rows: Iterable[str]) -> str:
    """Objects of JSON as a list of that name, one on each line, under the version of the schema."""
    listed = ",\n".join(rows)
    return f'{{"schema":{DATA_SCHEMA},"{name}":[\n{listed}\n]}}\n'


def audit_columns(audit: Iterable[AuditRow]) -> Columns:
    """The audit's table, a row for each published figure."""
    rows = list(audit)
    columns = {name: [getattr(row, name) for row in rows] for name in COLUMNS}
    return columns | {"verdict": [str(row.verdict) for row in rows]}


def address_of(row: ConfigurationResult) -> str:
    """Where a figure stands on the site, for as long as there is the campaign that it was measured in."""
    return html_address("index.md", configuration_page(row))


def rows_csv(columns: Columns) -> str:
    """One line for each row; trials and findings are in the JSON file. A missing figure is empty."""
    told = {name: map(_csv_cell, cells) for name, cells in columns.items() if name not in NESTED}
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(told)
    writer.writerows(zip(*told.values(), strict=True))
    return stream.getvalue()


def copy_log(sources: Sources, log: Path | bytes, sha256: str) -> None:
    """Put a log among the downloads under its hash."""
    _offer(sources, log_download(sha256), log)


def copy_file(sources: Sources, name: str, source: Path | bytes, sha256: str) -> Download:
    """Put another file of a trial among the downloads, under its hash."""
    path = file_download(sha256, name)
    _offer(sources, path, source)
    return Download(name, path, sha256)


def _offer(sources: Sources, path: str, source: Path | bytes) -> None:
    if isinstance(source, bytes):
        sources.write(path, source)
    else:
        sources.copy(path, source)


def _csv_cell(value: object) -> object:
    """A spreadsheet must not take a text for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
