"""Results as a pandas DataFrame; no other module here needs pandas."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from dlperf.errors import RequestError
from dlperf.table.columns import csv_text, flat_columns, number_columns, parquet
from dlperf.table.model import ConfigurationResult

_NESTED = ("trials", "findings")


def results_frame(rows: Sequence[ConfigurationResult]) -> pd.DataFrame:
    """Return rows as a data frame.

    A missing figure is NaN and a missing whole number ``<NA>``; ``trials`` and ``findings`` hold lists of dataclasses.
    """
    columns = flat_columns(rows)
    return _typed(columns | {name: [list(getattr(row, name)) for row in rows] for name in _NESTED})


def write_csv(rows: Sequence[ConfigurationResult], path: Path) -> None:
    """Write ``flat_columns`` as CSV, UTF-8. Raises RequestError: the file cannot be written."""
    try:
        path.write_text(csv_text(flat_columns(rows)), encoding="utf-8")
    except OSError as error:
        raise RequestError(f"--csv {path}: {error.strerror or error}") from error


def write_parquet(rows: Sequence[ConfigurationResult], path: Path) -> None:
    """Write ``flat_columns`` as Parquet.

    Raises:
        RequestError: the file cannot be written, or pyarrow is not installed.
    """
    try:
        path.write_bytes(parquet(flat_columns(rows)))
    except ImportError as error:
        raise RequestError("--parquet needs pyarrow: `pip install pyarrow` into the environment of dlperf") from error
    except OSError as error:
        raise RequestError(f"--parquet {path}: {error.strerror or error}") from error


def _typed(columns: dict[str, list[Any]]) -> pd.DataFrame:
    whole, numbers = number_columns(columns)
    return pd.DataFrame(columns).astype(dict.fromkeys(whole, "Int64") | dict.fromkeys(numbers, "float64"))
