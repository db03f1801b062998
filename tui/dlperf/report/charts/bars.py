"""Figures side by side, the longest bar first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlperf.report.charts import svg

ROW = 36
BAR = 12


@dataclass(frozen=True)
class Bar:
    """One figure."""

    label: str
    value: float
    """Above zero."""
    figure: str
    """The value as it is written everywhere else."""
    series: int
    """Index of the colour."""
    low: float | None = None
    high: float | None = None
    """Lowest and highest trial, drawn as a whisker."""


def bars(label: str, unit: str, members: Sequence[Bar]) -> str:
    """A bar for each figure, from zero; nothing where there is none."""
    if not members:
        return ""
    scale = (svg.WIDTH - 2) / max(bar.high or bar.value for bar in members)
    rows = [_row(bar, number * ROW, scale, unit) for number, bar in enumerate(members)]
    told = "; ".join(f"{bar.label}: {bar.figure} {unit}" for bar in members)
    return svg.picture(f"{label}. {told}", len(members) * ROW + 2, *rows)


def _row(bar: Bar, top: float, scale: float, unit: str) -> str:
    middle = top + 20 + BAR / 2
    whisker = ""
    if bar.low is not None and bar.high is not None and bar.high > bar.low:
        whisker = svg.element(
            "path",
            d=f"M{svg.plain(bar.low * scale)},{svg.plain(middle)}H{svg.plain(bar.high * scale)}",
            class_="whisker",
        )
    return (
        svg.text(bar.label, 0, top + 14)
        + svg.text(f"{bar.figure} {unit}", svg.WIDTH, top + 14, "value", "end")
        + svg.element(
            "rect",
            x=0,
            y=top + 20,
            width=bar.value * scale,
            height=BAR,
            class_=f"bar {svg.colour(bar.series).split()[0]}",
        )
        + whisker
    )
