"""Lines over two axes: throughput by step, power by second, speed-up by GPU count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dlperf.report.charts import svg
from dlperf.report.charts.axis import Axis, doubling, linear, named, tick_text
from dlperf.results.timeline import Point, thinned

LEFT, RIGHT, TOP, BOTTOM = 46, 10, 24, 40
LEGEND_ROW = 18
GAP = 8
"""Between two charts of a file."""
MOST_DRAWN = 60
"""Points drawn of one line; the data for zooming has more."""
MOST_MARKS = 25
"""Lines with more points have no marks and tooltips."""


@dataclass(frozen=True)
class Line:
    label: str
    points: tuple[Point, ...]
    series: int
    outliers: tuple[Point, ...] = ()
    spans: tuple[tuple[float, float, float], ...] = ()
    """x, lowest and highest trial of a point."""


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
    lines: tuple[Line, ...]
    bands: tuple[Band, ...] = ()
    ideal: str = ""
    """Name of the line y = x; if given, both axes are logarithmic."""
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


def plot(wanted: Plot) -> str:
    """Draw the chart; empty if no line has two points."""
    content, height = _drawing(wanted)
    if not content:
        return ""
    ranges = (
        f"{line.label}: {line.points[0][1]:.5g} – {line.points[-1][1]:.5g}" for line in wanted.lines if line.points
    )
    return svg.picture(f"{wanted.label}: {wanted.y}, {wanted.x}. {'; '.join(ranges)}", height, content)


def _drawing(wanted: Plot) -> tuple[str, float]:
    """Return the content of the chart and its height; empty if no line has two points."""
    longest = max((len(line.points) for line in wanted.lines), default=0)
    if longest < 2:
        return "", 0
    x, y = _axes(wanted)
    content = [
        *(_band(band, x, wanted) for band in wanted.bands if band.last > x.low and band.first < x.high),
        _grid(x, y, wanted),
        _ideal(wanted, x, y),
        *(_line(line, x, y, wanted, marked=longest <= MOST_MARKS) for line in wanted.lines),
    ]
    entries = [*wanted.lines, *([Line(wanted.ideal, (), -1)] if wanted.ideal else [])]
    columns = wanted.legend_columns
    names = _legend(entries, wanted.height + 8, columns) if len(entries) > 1 else ""
    rows = -(-len(entries) // columns) if names else 0
    return "".join([*content, names]), wanted.height + 8 + rows * LEGEND_ROW


def _axes(wanted: Plot) -> tuple[Axis, Axis]:
    ends = [(x, end) for line in wanted.lines for x, low, high in line.spans for end in (low, high)]
    points = [*(point for line in wanted.lines for point in line.points), *ends]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    left, right, top, bottom = LEFT, svg.WIDTH - RIGHT, wanted.top, wanted.bottom
    if wanted.ideal:
        return doubling(xs, left, right), doubling([*ys, *xs], bottom, top)
    across = named(len(wanted.names), left, right) if wanted.names else linear(xs, left, right, ends_with_values=True)
    return across, linear(ys, bottom, top)


def _grid(x: Axis, y: Axis, wanted: Plot) -> str:
    bottom = wanted.bottom
    lines = "".join(f"M{LEFT},{svg.plain(y(tick))}H{svg.WIDTH - RIGHT}" for tick in y.ticks)
    return (
        svg.element("path", d=lines, class_="grid")
        + "".join(svg.text(tick_text(tick), LEFT - 5, y(tick) + 4, "tick", "end") for tick in y.ticks)
        + "".join(svg.text(_x_text(tick, wanted), x(tick), bottom + 15, "tick", "middle") for tick in x.ticks)
        + (svg.text(wanted.y, 0, 12, "axis") if wanted.y else "")
        + (svg.text(wanted.x, svg.WIDTH - RIGHT, bottom + 31, "axis", "end") if wanted.x else "")
    )


def _x_text(tick: float, wanted: Plot) -> str:
    return wanted.names[int(tick) - 1] if wanted.names else tick_text(tick)


def _band(band: Band, x: Axis, wanted: Plot) -> str:
    first, last = x(max(band.first, x.low)), x(min(band.last, x.high))
    width, height = max(last - first, 0.5), wanted.bottom - wanted.top
    shade = svg.element("rect", x=first, y=wanted.top, width=width, height=height, class_=f"band {band.kind}")
    return shade + (svg.text(band.label, (first + last) / 2, wanted.top + 12, "tick", "middle") if band.label else "")


def _ideal(wanted: Plot, x: Axis, y: Axis) -> str:
    if not wanted.ideal:
        return ""
    low, high = max(x.low, y.low), min(x.high, y.high)
    return svg.element("path", d=_path(((low, low), (high, high)), x, y), class_="ideal")


def _line(line: Line, x: Axis, y: Axis, wanted: Plot, *, marked: bool) -> str:
    points = thinned(line.points, MOST_DRAWN)
    drawn = svg.element("path", d=_path(points, x, y), class_=f"line {svg.colour(line.series)}")
    tips = [f"{line.label}: {_x_text(a, wanted)}, {b:.5g}" for a, b in points * marked]
    marks = [svg.mark(x(a), y(b), line.series, tip) for (a, b), tip in zip(points, tips, strict=False)]
    spans = "".join(f"M{svg.plain(x(a))},{svg.plain(y(low))}V{svg.plain(y(high))}" for a, low, high in line.spans)
    whiskers = svg.element("path", d=spans, class_="whisker") if spans else ""
    rings = [
        svg.element("circle", cx=x(a), cy=y(b), r=6, class_="outlier") for a, b in line.outliers if x.low <= a <= x.high
    ]
    return drawn + whiskers + "".join(marks + rings)


def _path(points: Sequence[Point], x: Axis, y: Axis) -> str:
    across, down = x.places(a for a, _ in points), y.places(b for _, b in points)
    return "M" + "L".join(map("%.1f,%.1f".__mod__, zip(across, down, strict=True)))


def _legend(entries: Sequence[Line], top: float, columns: int) -> str:
    """Draw names in columns, each after a piece of its line."""
    parts = []
    for number, entry in enumerate(entries):
        left, middle = number % columns * svg.WIDTH / columns, top + number // columns * LEGEND_ROW + 6
        kind = "ideal" if entry.series < 0 else f"line {svg.colour(entry.series)}"
        parts.append(svg.element("path", d=f"M{svg.plain(left)},{svg.plain(middle)}h22", class_=kind))
        if entry.series >= 0:
            parts.append(svg.mark(left + 11, middle, entry.series))
        parts.append(svg.text(entry.label, left + 28, middle + 4, "tick"))
    return "".join(parts)


def sheet(plots: Mapping[str, Plot]) -> tuple[str, dict[str, tuple[float, float]]]:
    """Return the file, and the width and height of each chart in it, without charts that have no line.

    The charts hold no text of a language, so that all pages share them.
    """
    top, parts = 0.0, []
    shapes: dict[str, tuple[float, float]] = {}
    for name, wanted in plots.items():
        content, height = _drawing(wanted)
        if content:
            shapes[name] = (svg.WIDTH, height)
            shape = f"0 {svg.plain(top)} {svg.WIDTH} {svg.plain(height)}"
            parts.append(f'<view id="{name}" viewBox="{shape}"/><g transform="translate(0 {svg.plain(top)})">')
            parts.append(f"{content}</g>\n")
            top += height + GAP
    if not shapes:
        return "", {}
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {svg.WIDTH} {svg.plain(top - GAP)}">'
    return f"{opening}<style>{STYLE}</style>\n{''.join(parts)}</svg>\n", shapes


def _series(colours: tuple[str, ...]) -> str:
    return "".join(f".series-{number}{{--series:{colour}}}" for number, colour in enumerate(colours))


STYLE = (
    ":root{--ink:#000000de}"
    + _series(svg.LIGHT)
    + "text{fill:var(--ink);font:11.5px system-ui,sans-serif}.axis{font-weight:bold}"
    ".grid{fill:none;stroke:var(--ink);opacity:.12}.mark{fill:var(--series)}"
    ".line{fill:none;stroke:var(--series);stroke-width:2;stroke-dasharray:var(--dash)}"
    + "".join(f".dash-{number}{{--dash:{dash}}}" for number, dash in enumerate(svg.DASHES))
    + ".band{opacity:.12}.warm-up{fill:var(--ink)}"
    ".measured{fill:#00795a}.outlier{fill:none;stroke:#c44e00;stroke-width:2}"
    "@media (prefers-color-scheme:dark){:root{--ink:#e2e4e9d1}"
    + _series(svg.DARK)
    + ".measured{fill:#2dc79a}.outlier{stroke:#ff9248}}"
)
"""As in ``dlperf.css``, which does not apply to pictures in separate files."""
