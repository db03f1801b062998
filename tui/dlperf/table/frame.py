"""Results as a pandas DataFrame; no other module here needs pandas."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from dlperf.table.columns import flat_columns, number_columns
from dlperf.table.model import ConfigurationResult

_NESTED = ("trials", "findings")


def results_frame(rows: Sequence[ConfigurationResult]) -> pd.DataFrame:
    """Return rows as a data frame.

    A missing figure is NaN and a missing whole number ``<NA>``; ``trials`` and ``findings`` hold lists of dataclasses.
    """
    columns = flat_columns(rows)
    return _typed(columns | {name: [list(getattr(row, name)) for row in rows] for name in _NESTED})


def _typed(columns: dict[str, list[Any]]) -> pd.DataFrame:
    whole, numbers = number_columns(columns)
    return pd.DataFrame(columns).astype(dict.fromkeys(whole, "Int64") | dict.fromkeys(numbers, "float64"))
