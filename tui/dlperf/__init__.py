"""dlperf measures how fast deep-learning frameworks train and publishes figures that can be traced."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

__version__ = "0.1.0"

__all__ = ["__version__", "load_results"]


def load_results(workspace: str | Path = ".", metrics: Sequence[str] = ()) -> pd.DataFrame:
    """Every configuration measured or published in a workspace, one row each, or one for each of these metrics.

    The columns are those of ``dlperf results --json``; a missing figure is NaN, never zero.
    ``metrics`` are ids, or ``all``.
    """
    from dlperf.results.frame import results_frame
    from dlperf.results.load import Filters

    return results_frame(workspace, Filters(metrics=tuple(metrics)))
