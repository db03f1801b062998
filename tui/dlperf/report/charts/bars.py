"""Bar charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlperf.report.charts import svg
from dlperf.report.templating import draw

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
    caveat: str = ""
    """Marked beside the value."""

    @property
    def longest(self) -> float:
        return self.high or self.value

    def hatch(self, top: float, width: float) -> str:
        """Return strokes over a bar whose colour is used twice: upright, slanted, or one along it."""
        kind = svg.dash(self.series)
        if kind == 3:
            return f"M0,{svg.plain(top + BAR / 2)}H{svg.plain(width)}"
        stroke = f"v{BAR}" if kind == 1 else f"l-{BAR / 2:g},{BAR}"
        return "".join(f"M{x},{svg.plain(top)}{stroke}" for x in range(HATCH, int(width), HATCH)) if kind else ""


def bars(label: str, unit: str, members: Sequence[Bar]) -> str:
    """Draw a bar from zero for each value; empty without values."""
    return draw("bars", label, unit, members) if members else ""
