"""Results as flat columns, for files that hold no lists: findings as their codes, trials as their figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from dlperf.results.model import ConfigurationResult

WHOLE = ("batch_size", "nodes", "gpus", "n", "variant")
"""Columns of whole numbers, of which some may be missing."""
NUMBERS = ("value", "spread", "speedup", "efficiency", "mfu", "samples_per_joule")


def flat_columns(rows: Sequence[ConfigurationResult]) -> dict[str, list[Any]]:
    """Name of the column → its cells; what is missing is None."""
    columns = {item.name: [getattr(row, item.name) for row in rows] for item in fields(ConfigurationResult)}
    columns["trials"] = [";".join("" if t.value is None else repr(t.value) for t in row.trials) for row in rows]
    columns["findings"] = [";".join(finding.code for finding in row.findings) for row in rows]
    return columns


def parquet(columns: dict[str, list[Any]]) -> bytes:
    """The columns as a Parquet file; pyarrow must be installed. The same columns give the same bytes."""
    import pyarrow  # type: ignore[import-untyped]
    from pyarrow.parquet import write_table  # type: ignore[import-untyped]

    kinds = dict.fromkeys(WHOLE, pyarrow.int64()) | dict.fromkeys(NUMBERS, pyarrow.float64())
    arrays = {name: pyarrow.array(cells, kinds.get(name, pyarrow.string())) for name, cells in columns.items()}
    stream = pyarrow.BufferOutputStream()
    write_table(pyarrow.table(arrays), stream)
    return bytes(stream.getvalue())
