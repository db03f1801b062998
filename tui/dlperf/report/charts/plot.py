"""Lines over two axes: throughput by step, power by second."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil

from dlperf.catalog.palette import palette
from dlperf.derived.timeline import Point, thinned
from dlperf.messages import Language
from dlperf.report.charts import svg
from dlperf.report.charts.axis import ChartAxis, linear, named, tick_text
from dlperf.report.templating import draw

LEFT, RIGHT, TOP, BOTTOM = 54, 10, 26, 44
LEGEND_ROW = 18
GAP = 8
"""Between two charts of a file."""
MOST_DRAWN = 60
"""Points drawn of one line; the data for zooming has more."""
MOST_MARKS = 25
"""Lines with more points have no marks and tooltips."""


@dataclass(frozen=True)
class ChartLine:
    label: str
    points: tuple[Point, ...]
    series: int
    outliers: tuple[Point, ...] = ()
    spans: tuple[tuple[float, float, float], ...] = ()
    """x, lowest and highest trial of a point."""

    def thinned(self) -> Sequence[Point]:
        return thinned(self.points, MOST_DRAWN)


@dataclass(frozen=True)
class Band:
    """A named part of the x axis."""

    label: str
    first: float
    last: float
    kind: str
    """``warm-up`` or ``measured``: a class of the style sheet."""


@dataclass(frozen=True)
class Plot:
    label: str
    x: str
    y: str
    lines: tuple[ChartLine, ...]
    bands: tuple[Band, ...] = ()
    height: int = 240
    names: tuple[str, ...] = ()
    """Names for x = 1, 2, …, as many as fit."""
    legend_columns: int = 2

    @property
    def top(self) -> int:
        return TOP if self.y else TOP // 3

    @property
    def bottom(self) -> int:
        """y of the x axis."""
        return self.height - (BOTTOM if self.x else BOTTOM // 2)

    @property
    def longest(self) -> int:
        return max((len(line.points) for line in self.lines), default=0)

    @property
    def marked(self) -> bool:
        return self.longest <= MOST_MARKS

    @property
    def legend(self) -> tuple[ChartLine, ...]:
        """Lines named below the chart; none for a single line."""
        return self.lines if len(self.lines) > 1 else ()

    @property
    def full_height(self) -> int:
        """Height with the legend."""
        return self.height + GAP + ceil(len(self.legend) / self.legend_columns) * LEGEND_ROW

    def name(self, x: float) -> str:
        return self.names[int(x) - 1] if self.names else tick_text(x)

    @property
    def axes(self) -> tuple[ChartAxis, ChartAxis]:
        ends = [(x, end) for line in self.lines for x, low, high in line.spans for end in (low, high)]
        points = [*(point for line in self.lines for point in line.points), *ends]
        xs, ys = [x for x, _ in points], [y for _, y in points]
        left, right, top, bottom = LEFT, svg.WIDTH - RIGHT, self.top, self.bottom
        across = named(len(self.names), left, right) if self.names else linear(xs, left, right, ends_with_values=True)
        return across, linear(ys, bottom, top)


def plot(wanted: Plot, language: Language) -> str:
    """Draw the chart; empty if no line has two points."""
    return draw("plot", wanted, *wanted.axes, language=language) if wanted.longest > 1 else ""


def sheet(plots: Mapping[str, Plot]) -> tuple[str, dict[str, tuple[float, float]]]:
    """Return the file, and the width and height of each chart in it, without charts that have no line.

    The charts hold no text of a language, so that all pages share them.
    """
    shown = {name: wanted for name, wanted in plots.items() if wanted.longest > 1}
    tops = [0, *accumulate(wanted.full_height + GAP for wanted in shown.values())]
    charts = [(name, top, wanted, *wanted.axes) for (name, wanted), top in zip(shown.items(), tops, strict=False)]
    drawn = draw("sheet", charts, tops[-1] - GAP, STYLE) if shown else ""
    return drawn, {name: (svg.WIDTH, wanted.full_height) for name, wanted in shown.items()}


STYLE = (
    ":root{--ink:#000000de}"
    + "".join(f".series-{number}{{--series:{one.light}}}" for number, one in enumerate(palette()))
    + "text{fill:var(--ink);font:13.8px system-ui,sans-serif}.axis{font-weight:bold}"
    ".grid{fill:none;stroke:var(--ink);opacity:.12}.mark{fill:var(--series)}"
    ".line{fill:none;stroke:var(--series);stroke-width:2;stroke-dasharray:var(--dash)}"
    + "".join(f".dash-{number}{{--dash:{dash}}}" for number, dash in enumerate(svg.DASHES))
    + ".band{opacity:.12}.warm-up{fill:var(--ink)}"
    ".measured{fill:#00795a}.outlier{fill:none;stroke:#c44e00;stroke-width:2}"
    "@media (prefers-color-scheme:dark){:root{--ink:#e2e4e9d1}"
    + "".join(f".series-{number}{{--series:{one.dark}}}" for number, one in enumerate(palette()))
    + ".measured{fill:#2dc79a}.outlier{stroke:#ff9248}}"
)
"""As in ``dlperf.css``, which does not apply to pictures in separate files: text of 11 px at 0.8 of the size."""
