"""Lines over two axes: throughput by step, power by second, speed-up by GPU count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlperf.report.charts import svg
from dlperf.report.charts.axis import Axis, doubling, linear, named, tick_text
from dlperf.results.timeline import Point, thinned

LEFT, RIGHT, TOP, BOTTOM = 46, 10, 24, 40
LEGEND_ROW = 18
MOST_DRAWN = 60
"""Points of one line that a picture has; what a reader zooms into has more."""
MOST_MARKS = 25
"""Points of the longest line of a plot whose points are drawn as marks, each with a tooltip of its own."""


@dataclass(frozen=True)
class Line:
    """One series."""

    label: str
    points: tuple[Point, ...]
    series: int
    outliers: tuple[Point, ...] = ()
    """Points that are marked as lying far from the others."""
    spans: tuple[tuple[float, float, float], ...] = ()
    """x, lowest and highest: how far the trials behind a point lie apart."""


@dataclass(frozen=True)
class Band:
    """A part of the x axis that has a name."""

    label: str
    first: float
    last: float
    kind: str
    """``warm-up`` or ``measured``: a class of the style sheet."""


@dataclass(frozen=True)
class Plot:
    """What is drawn."""

    label: str
    x: str
    y: str
    lines: tuple[Line, ...]
    bands: tuple[Band, ...] = ()
    ideal: str = ""
    """Name of the line on which y equals x, where there is one; both axes are logarithmic then."""
    height: int = 240
    names: tuple[str, ...] = ()
    """What x counts, from 1 on: a name in place of each number, those left out that would not fit."""
    legend_columns: int = 2

    @property
    def top(self) -> int:
        return TOP if self.y else TOP // 3

    @property
    def bottom(self) -> int:
        """Where the axis of x stands."""
        return self.height - (BOTTOM if self.x else BOTTOM // 2)


def plot(wanted: Plot) -> str:
    """The chart; nothing where no line has two points."""
    content, height = drawing(wanted)
    return svg.picture(_told(wanted), height, content) if content else ""


def drawing(wanted: Plot) -> tuple[str, float]:
    """What is inside the chart, and its height; nothing where no line has two points."""
    points = [point for line in wanted.lines for point in (*line.points, *_ends(line))]
    if not any(len(line.points) > 1 for line in wanted.lines):
        return "", 0
    x, y = _axes(wanted, points)
    longest = max(len(line.points) for line in wanted.lines)
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


def _axes(wanted: Plot, points: Sequence[Point]) -> tuple[Axis, Axis]:
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
    shade = svg.element(
        "rect",
        x=first,
        y=wanted.top,
        width=max(last - first, 0.5),
        height=wanted.bottom - wanted.top,
        class_=f"band {band.kind}",
    )
    return shade + (svg.text(band.label, (first + last) / 2, wanted.top + 12, "tick", "middle") if band.label else "")


def _ideal(wanted: Plot, x: Axis, y: Axis) -> str:
    if not wanted.ideal:
        return ""
    low, high = max(x.low, y.low), min(x.high, y.high)
    return svg.element("path", d=_path(((low, low), (high, high)), x, y), class_="ideal")


def _line(line: Line, x: Axis, y: Axis, wanted: Plot, *, marked: bool) -> str:
    points = _drawn(line.points)
    drawn = svg.element("path", d=_path(points, x, y), class_=f"line {svg.colour(line.series)}")
    marks = [svg.mark(x(a), y(b), line.series, _tooltip(line, a, b, wanted)) for a, b in points * marked]
    spans = "".join(f"M{svg.plain(x(a))},{svg.plain(y(low))}V{svg.plain(y(high))}" for a, low, high in line.spans)
    whiskers = svg.element("path", d=spans, class_="whisker") if spans else ""
    rings = [
        svg.element("circle", cx=x(a), cy=y(b), r=6, class_="outlier") for a, b in line.outliers if x.low <= a <= x.high
    ]
    return drawn + whiskers + "".join(marks + rings)


def _tooltip(line: Line, x: float, y: float, wanted: Plot) -> str:
    return f"{line.label}: {_x_text(x, wanted)}, {y:.5g}"


def _ends(line: Line) -> list[Point]:
    return [(x, end) for x, low, high in line.spans for end in (low, high)]


def _drawn(points: tuple[Point, ...]) -> tuple[Point, ...]:
    return thinned(points, MOST_DRAWN)


def _path(points: Sequence[Point], x: Axis, y: Axis) -> str:
    across, down = x.places(a for a, _ in points), y.places(b for _, b in points)
    return "M" + "L".join(map("%.1f,%.1f".__mod__, zip(across, down, strict=True)))


def _legend(entries: Sequence[Line], top: float, columns: int) -> str:
    """Columns of names, each behind a piece of its line."""
    parts = []
    for number, entry in enumerate(entries):
        left, middle = number % columns * svg.WIDTH / columns, top + number // columns * LEGEND_ROW + 6
        kind = "ideal" if entry.series < 0 else f"line {svg.colour(entry.series)}"
        parts.append(svg.element("path", d=f"M{svg.plain(left)},{svg.plain(middle)}h22", class_=kind))
        if entry.series >= 0:
            parts.append(svg.mark(left + 11, middle, entry.series))
        parts.append(svg.text(entry.label, left + 28, middle + 4, "tick"))
    return "".join(parts)


def _told(wanted: Plot) -> str:
    lines = "; ".join(
        f"{line.label}: {line.points[0][1]:.5g} – {line.points[-1][1]:.5g}" for line in wanted.lines if line.points
    )
    return f"{wanted.label}: {wanted.y}, {wanted.x}. {lines}"
