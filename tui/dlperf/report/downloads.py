"""What the site offers as data: every figure as JSON and CSV, and the logs that they came from."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from dlperf.report.locations import configuration_page, file_download, html_address, log_download
from dlperf.report.writing import Sources
from dlperf.results.model import ConfigurationResult
from dlperf.runs.checksums import sha256_of
from dlperf.runs.records import SCHEMA_VERSION

NESTED = ("trials", "findings")


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
    rows = [{**asdict(row), "address": html_address("index.md", configuration_page(row))} for row in results]
    return json.dumps({"schema": SCHEMA_VERSION, "results": rows}, ensure_ascii=False, indent=1) + "\n"


def results_parquet(results: Sequence[ConfigurationResult]) -> bytes:
    """As Parquet; pyarrow must be installed."""
    from dlperf.results.frame import flat_frame

    stream = io.BytesIO()
    flat_frame(results).to_parquet(stream, index=False, engine="pyarrow")
    return stream.getvalue()


def results_csv(results: Sequence[ConfigurationResult]) -> str:
    """One row for each configuration; trials and findings are in the JSON file. A missing figure is empty."""
    columns = [item.name for item in fields(ConfigurationResult) if item.name not in NESTED]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_csv_cell(getattr(result, column)) for column in columns] for result in results)
    return stream.getvalue()


def copy_log(sources: Sources, log: Path, sha256: str) -> bool:
    """Put a log among the downloads under its hash; False where its bytes are not what was measured any more."""
    name = log_download(sha256)
    if sources.holds(name, log.stat().st_size):
        return True
    if sha256_of(log) != sha256:
        return False
    sources.copy(name, log)
    return True


def copy_file(sources: Sources, file: Path) -> Download:
    """Put another file of a trial among the downloads, under its hash."""
    digest = sha256_of(file)
    name = file_download(digest, file.name)
    if not sources.holds(name, file.stat().st_size):
        sources.copy(name, file)
    return Download(file.name, name, digest)


def _csv_cell(value: object) -> object:
    """A spreadsheet must not take a text for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
