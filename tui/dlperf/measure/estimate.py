"""What an estimator gives."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """One figure and the records that gave it."""

    value: float
    """Throughput of all GPUs together."""
    unit: str
    samples: int
    """Records used."""
    dropped: int
    """Records of the run that were not used."""
    first: int | None = None
    """Index of the first record used; None where the figure comes from the program's own summaries."""
    last: int | None = None
    first_step: int | None = None
    last_step: int | None = None
    first_line: int | None = None
    last_line: int | None = None
