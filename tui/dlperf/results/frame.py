"""Results as a pandas DataFrame: the one place of this room that needs pandas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd

from dlperf.errors import RequestError
from dlperf.results.filters import Filters
from dlperf.results.load import load_results
from dlperf.results.model import ConfigurationResult
from dlperf.runs.paths import Workspace

_WHOLE = ("batch_size", "nodes", "gpus", "n")
_NUMBERS = ("value", "spread", "speedup", "efficiency", "mfu", "samples_per_joule")
_NESTED = ("trials", "findings")


def results_frame(workspace: str | Path, filters: Filters | None = None) -> pd.DataFrame:
    """One row per configuration of the workspace at or above a folder; see ``dlperf.load_results``.

    Raises:
        RequestError: there is no workspace.
    """
    return frame_of(load_results(Workspace.find(Path(workspace)), filters or Filters()))


def frame_of(rows: Sequence[ConfigurationResult]) -> pd.DataFrame:
    """Rows as a table: the columns of ``dlperf results --json``; ``trials`` and ``findings`` hold lists of dataclasses.

    A missing figure is NaN and a missing whole number ``<NA>``, never zero.
    """
    names = [field.name for field in fields(ConfigurationResult)]
    frame = pd.DataFrame({name: _column(rows, name) for name in names}, columns=names)
    return frame.astype(dict.fromkeys(_WHOLE, "Int64") | dict.fromkeys(_NUMBERS, "float64"))


def flat_frame(rows: Sequence[ConfigurationResult]) -> pd.DataFrame:
    """The table for files that hold no lists (CSV, Parquet): findings as their codes, trials as their figures."""
    frame = frame_of(rows)
    frame["trials"] = [";".join("" if t.value is None else repr(t.value) for t in row.trials) for row in rows]
    frame["findings"] = [";".join(finding.code for finding in row.findings) for row in rows]
    return frame


def write_csv(rows: Sequence[ConfigurationResult], path: Path) -> None:
    """``flat_frame`` as CSV, UTF-8.

    Raises:
        RequestError: the file cannot be written.
    """
    try:
        flat_frame(rows).to_csv(path, index=False, lineterminator="\n")
    except OSError as error:
        raise RequestError(f"--csv {path}: {error.strerror or error}") from error


def write_parquet(rows: Sequence[ConfigurationResult], path: Path) -> None:
    """``flat_frame`` as Parquet.

    Raises:
        RequestError: the file cannot be written, or pyarrow is not installed.
    """
    try:
        flat_frame(rows).to_parquet(path, index=False, engine="pyarrow")
    except ImportError as error:
        raise RequestError("--parquet needs pyarrow: pip install 'dlperf[parquet]'") from error
    except OSError as error:
        raise RequestError(f"--parquet {path}: {error.strerror or error}") from error


def _column(rows: Sequence[ConfigurationResult], name: str) -> list[Any]:
    values = [getattr(row, name) for row in rows]
    return [list(value) for value in values] if name in _NESTED else values
