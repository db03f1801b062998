"""Bar charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlperf.report.charts import svg

ROW = 36
BAR = 12
HATCH = 8


@dataclass(frozen=True)
class Bar:
    """One value."""

    label: str
    value: float
    """Above zero."""
    figure: str
    """The value as text."""
    series: int
    spread: str = ""
    """Number of trials and their variation, small beside the value."""
    low: float | None = None
    high: float | None = None
    """Lowest and highest trial, drawn as a whisker."""


def bars(label: str, unit: str, members: Sequence[Bar]) -> str:
    """Draw a bar from zero for each value; empty without values."""
    if not members:
        return ""
    scale = (svg.WIDTH - 2) / max(bar.high or bar.value for bar in members)
    rows = [_row(bar, number * ROW, scale, unit) for number, bar in enumerate(members)]
    values = "; ".join(f"{bar.label}: {bar.figure} {unit}" for bar in members)
    return svg.picture(f"{label}. {values}", len(members) * ROW + 2, *rows)


def _row(bar: Bar, top: float, scale: float, unit: str) -> str:
    middle = top + 20 + BAR / 2
    whisker = ""
    if bar.low is not None and bar.high is not None and bar.high > bar.low:
        line = f"M{svg.plain(bar.low * scale)},{svg.plain(middle)}H{svg.plain(bar.high * scale)}"
        whisker = svg.element("path", d=line, class_="whisker")
    colour, width = svg.colour(bar.series).split()[0], bar.value * scale
    return (
        svg.mark(4.5, top + 10, bar.series)
        + svg.text(bar.label, 13, top + 14)
        + svg.text(f"{bar.figure} {unit}", svg.WIDTH, top + 14, "value", "end", aside=bar.spread)
        + svg.element("rect", x=0, y=top + 20, width=width, height=BAR, class_=f"bar {colour}")
        + _hatch(bar, top + 20, width)
        + whisker
    )


def _hatch(bar: Bar, top: float, width: float) -> str:
    """Draw strokes over a bar whose colour is used twice: upright, slanted, or one along it."""
    kind = svg.dash(bar.series)
    if kind == 0:
        return ""
    if kind == 3:
        return svg.element("path", d=f"M0,{svg.plain(top + BAR / 2)}H{svg.plain(width)}", class_="hatch")
    stroke = f"v{BAR}" if kind == 1 else f"l-{BAR / 2:g},{BAR}"
    strokes = "".join(f"M{x},{svg.plain(top)}{stroke}" for x in range(HATCH, int(width), HATCH))
    return svg.element("path", d=strokes, class_="hatch") if strokes else ""
