"""What the site offers as data: every figure as JSON and CSV, and the logs that they came from."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from dlperf.report.locations import configuration_page, file_download, html_address, log_download
from dlperf.report.writing import Sources
from dlperf.results.columns import flat_columns, flat_rows, parquet
from dlperf.results.model import ConfigurationResult
from dlperf.runs.records import SCHEMA_VERSION
from dlperf.runs.store import dump_record

NESTED = ("trials", "findings")


@dataclass(frozen=True)
class Addressed(ConfigurationResult):
    """A row with the place on the site where its figure stands."""

    address: str = ""


@dataclass(frozen=True)
class Download:
    """A file that the site offers."""

    name: str
    """As the node called it."""
    path: str
    """Below the site's root."""
    sha256: str


def results_json(results: Sequence[ConfigurationResult]) -> str:
    """The list of ``dlperf results --json`` with the address of each figure, under the version of its schema."""
    rows = (dump_record(Addressed(**vars(row), address=address_of(row))).decode() for row in results)
    return _listed("results", rows)


def rows_json(results: Sequence[ConfigurationResult]) -> str:
    """The rows of the Parquet file as objects, under the version of the schema."""
    return _listed("rows", flat_rows(addressed_columns(results)))


def _listed(name: str, rows: Iterable[str]) -> str:
    """Objects of JSON as a list of that name, one on each line, under the version of the schema."""
    listed = ",\n".join(rows)
    return f'{{"schema":{SCHEMA_VERSION},"{name}":[\n{listed}\n]}}\n'


def results_parquet(results: Sequence[ConfigurationResult]) -> bytes:
    """As Parquet, with the address of each figure; pyarrow must be installed."""
    return parquet(addressed_columns(results))


def addressed_columns(results: Sequence[ConfigurationResult]) -> dict[str, list[Any]]:
    """The flat columns, with the address of each figure."""
    return {**flat_columns(results), "address": [address_of(row) for row in results]}


def address_of(row: ConfigurationResult) -> str:
    """Where a figure stands on the site, for as long as there is the campaign that it was measured in."""
    return html_address("index.md", configuration_page(row))


def results_csv(results: Sequence[ConfigurationResult]) -> str:
    """One row for each configuration; trials and findings are in the JSON file. A missing figure is empty."""
    columns = [item.name for item in fields(ConfigurationResult) if item.name not in NESTED]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*columns, "address"])
    writer.writerows(
        [*(_csv_cell(getattr(result, column)) for column in columns), address_of(result)] for result in results
    )
    return stream.getvalue()


def copy_log(sources: Sources, log: Path, sha256: str) -> None:
    """Put a log among the downloads under its hash."""
    sources.copy(log_download(sha256), log)


def copy_file(sources: Sources, file: Path, sha256: str) -> Download:
    """Put another file of a trial among the downloads, under its hash."""
    name = file_download(sha256, file.name)
    sources.copy(name, file)
    return Download(file.name, name, sha256)


def _csv_cell(value: object) -> object:
    """A spreadsheet must not take a text for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
