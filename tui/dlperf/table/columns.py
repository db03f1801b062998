"""Results as flat columns for files without lists: findings as codes, trials as figures."""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from io import BytesIO, StringIO
from itertools import chain
from pathlib import Path
from typing import Any

from dlperf.errors import RequestError
from dlperf.table.model import COLUMNS, ConfigurationResult

DATA_SCHEMA = 1
"""Schema version of the tables of ``dlperf results`` and the site."""
WHOLE = ("batch_size", "nodes", "gpus", "n", "variant")
"""Columns of whole numbers, with gaps."""
NUMBERS = ("value", "spread", "speedup", "efficiency", "mfu", "samples_per_joule")
FORMULAS = ("=", "+", "-", "@", "\t", "\n")
"""How what a spreadsheet computes begins."""
KNOWN = frozenset(COLUMNS)
OTHER_NUMBERS = ("roofline", "recomputed", "from_timestamps", "difference")
"""Columns of numbers in tables of the site only."""


def flat_columns(
    rows: Sequence[ConfigurationResult], kind: type[ConfigurationResult] = ConfigurationResult
) -> dict[str, list[Any]]:
    """Return the cells of each column, one for each axis of any row; a missing one is None."""
    names = dict.fromkeys((*COLUMNS, *(item.name for item in fields(kind))))
    columns = {name: [row.cell(name) for row in rows] for name in names}
    del columns["metrics"], columns["options"]
    columns |= axis_columns(columns.pop("axes"))
    columns["status"] = [str(row.status) for row in rows]
    columns["trials"] = [";".join("" if t.value is None else repr(t.value) for t in row.trials) for row in rows]
    columns["numerics"] = ["; ".join(f"{name} {kind}" for name, kind in row.numerics.items()) for row in rows]
    columns["caveats"] = ["; ".join(str(finding.message) for finding in row.caveats) for row in rows]
    columns["findings"] = [";".join(finding.code for finding in row.findings) for row in rows]
    return columns


def axis_columns(axes: Sequence[Any]) -> dict[str, list[Any]]:
    """Return a column for each axis of any row."""
    points = [dict(point) for point in axes]
    return {name: [point.get(name) for point in points] for name in dict.fromkeys(chain(*points))}


def number_columns(columns: Mapping[str, Sequence[Any]]) -> tuple[set[str], set[str]]:
    """Return the names of the columns of whole numbers and of other numbers, axes included."""
    further = set(columns) - KNOWN
    kinds = {name: {type(cell) for cell in columns[name]} - {type(None)} for name in further}
    whole = {name for name, kind in kinds.items() if kind == {int}}
    numbers = {name for name, kind in kinds.items() if kind <= {int, float} and float in kind}
    return whole | (set(WHOLE) & set(columns)), numbers | (set(NUMBERS + OTHER_NUMBERS) & set(columns))


def flat_rows(columns: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return each row as one line of JSON."""
    rows = zip(*columns.values(), strict=True)
    return [json.dumps(dict(zip(columns, cells, strict=True)), ensure_ascii=False) for cells in rows]


def csv_text(columns: Mapping[str, Sequence[Any]]) -> str:
    """Return CSV with a line of names; a missing cell is empty."""
    return csv_lines([columns, *zip(*columns.values(), strict=True)])


def csv_lines(rows: Iterable[Iterable[Any]]) -> str:
    """Return CSV in which a text that a spreadsheet would take for a formula has a quote before it."""
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(_plain_cell, row) for row in rows)
    return text.getvalue()


def write_csv(text: str, path: Path) -> None:
    """Write CSV, UTF-8. Raises RequestError: the file cannot be written."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RequestError(f"--csv {path}: {error.strerror or error}") from error


def _plain_cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    value = value.replace("\r", "\n")  # csv leaves it unquoted, where other programs begin a new row
    return f"'{value}" if value.startswith(FORMULAS) else value


def parquet(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Return a Parquet file, equal for equal columns, with ``schema`` in its metadata; pyarrow must be installed."""
    import pyarrow  # type: ignore[import-untyped]
    from pyarrow.json import ParseOptions, ReadOptions, read_json  # type: ignore[import-untyped]
    from pyarrow.parquet import write_table  # type: ignore[import-untyped]

    whole, numbers = number_columns(columns)
    kinds = dict.fromkeys(whole, pyarrow.int64()) | dict.fromkeys(numbers, pyarrow.float64())
    schema = pyarrow.schema([(name, kinds.get(name, pyarrow.string())) for name in columns])
    rows = "\n".join(flat_rows(columns)).encode()
    # not pyarrow.array: that imports pandas, which takes longer than everything else here
    reading = ReadOptions(use_threads=False, block_size=len(rows) + 1)
    table = read_json(BytesIO(rows), reading, ParseOptions(explicit_schema=schema)) if rows else schema.empty_table()
    stream = pyarrow.BufferOutputStream()
    write_table(table.replace_schema_metadata({"schema": str(DATA_SCHEMA)}), stream)
    return bytes(stream.getvalue())


def write_parquet(columns: Mapping[str, Sequence[Any]], path: Path) -> None:
    """Write columns as Parquet.

    Raises:
        RequestError: the file cannot be written, or pyarrow is not installed.
    """
    try:
        path.write_bytes(parquet(columns))
    except ImportError as error:
        raise RequestError("--parquet needs pyarrow: `pip install pyarrow` into the environment of dlperf") from error
    except OSError as error:
        raise RequestError(f"--parquet {path}: {error.strerror or error}") from error
