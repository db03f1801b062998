"""Results as JSON, CSV and columns for Parquet."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlperf.catalog.axes import field_values
from dlperf.messages import Message
from dlperf.redaction import Redactor
from dlperf.report.data import SiteData
from dlperf.report.site.locations import configuration_page, html_address
from dlperf.table.columns import DATA_SCHEMA, axis_columns, csv_text, flat_rows
from dlperf.table.model import ConfigurationResult
from dlperf.verification.audit import COLUMNS, AuditRow

NESTED = ("trials", "findings")
"""Columns that CSV omits."""
Columns = Mapping[str, Sequence[Any]]
"""Name of the column → cells; None if missing."""


@dataclass(frozen=True, slots=True)
class SiteRow(ConfigurationResult):
    """A result with the fields that only the site computes."""

    roofline: float | None = None
    """As ``SiteData.roofline``."""
    address: str = ""
    """Address on the site."""


@dataclass(frozen=True)
class Download:
    """A file that the site offers."""

    name: str
    """File name on the node."""
    path: str
    """Below the site's root."""
    sha256: str
    """Of the archived file."""
    redacted: bool = False
    """Whether the offered file differs from the archived one."""


def site_rows(data: SiteData, results: Iterable[ConfigurationResult]) -> list[SiteRow]:
    return [
        SiteRow(
            **field_values(row),
            roofline=data.roofline(row),
            address=_address_of(row),
        )
        for row in results
    ]


def results_json(rows: Sequence[SiteRow]) -> str:
    """Return the list of ``dlperf results --json`` with the columns of ``SiteRow``, and caveats with their codes."""
    encode = json.JSONEncoder(default=_plain, ensure_ascii=False, separators=(",", ":")).encode
    added = ({"roofline": row.roofline, "address": row.address, "caveats": row.caveats} for row in rows)
    return _json_list("results", (encode(row.as_data() | others) for row, others in zip(rows, added, strict=True)))


def _plain(value: Any) -> Any:
    if isinstance(value, Message):
        return str(value)
    return value.as_data() if hasattr(value, "as_data") else field_values(value)


def rows_json(columns: Columns) -> str:
    """Return the rows of the Parquet file as JSON objects."""
    return _json_list("rows", flat_rows(columns))


def _json_list(name: str, rows: Iterable[str]) -> str:
    """Return a document with the version of the schema and the objects, one a line, under a name."""
    listed = ",\n".join(rows)
    return f'{{"schema":{DATA_SCHEMA},"{name}":[\n{listed}\n]}}\n'


def audit_columns(audit: Iterable[AuditRow]) -> Columns:
    """Return the audit's table, a row for each third-party result."""
    rows = list(audit)
    columns = {name: [getattr(row, name) for row in rows] for name in COLUMNS if name != "numerics"}
    columns |= axis_columns(columns.pop("axes"))
    return columns | {"verdict": [str(row.verdict) for row in rows]}


def _address_of(row: ConfigurationResult) -> str:
    return html_address("index.md", configuration_page(row))


def rows_csv(columns: Columns) -> str:
    """Return a line for each row, without trials and findings; missing values are empty."""
    return csv_text({name: cells for name, cells in columns.items() if name not in NESTED})


def redacted_columns(columns: Columns, redactor: Redactor) -> Columns:
    """Return the columns without secrets and names of people, for files that are not text."""
    texts = {cell for cells in columns.values() for cell in cells if isinstance(cell, str)}
    together = "\n".join(texts).encode()
    if redactor.redact(together)[0] == together:
        return columns
    cleaned = {text: redactor.redact(text.encode())[0].decode() for text in texts}
    return {name: [cleaned.get(cell, cell) for cell in cells] for name, cells in columns.items()}
