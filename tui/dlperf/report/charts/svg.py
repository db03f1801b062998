"""SVG elements, as text that is safe inside a Markdown page, and the style of each series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Set
from functools import cache

from dlperf.report import markdown as md

WIDTH = 400
"""Units of every picture: small enough that its text can be read on a telephone."""
LIGHT = ("#0072b2", "#c44e00", "#00795a", "#b0468a", "#8a6d00", "#4a8fc4", "#6a50c7", "#5a5a5a")
"""Colours of the series on a light page, as in ``dlperf.css``."""
DARK = ("#56b4e9", "#ff9248", "#2dc79a", "#e89ac7", "#e6c229", "#a5c9ff", "#b9adff", "#c4c4c4")
"""Colours on a dark page."""
COLOURS = 8
"""Colours of the style sheet, each with its own mark; later series repeat them with other marks, dashes and hatches."""
DASHES = ("none", "6 3", "2 3", "8 3 2 3", "14 4", "8 3 2 3 2 3", "2 8", "14 3 5 3")
"""Lengths of strokes and gaps of each kind of line, as in the style sheet."""
CIRCLE: tuple[tuple[float, float], ...] = ()
MARKS = (
    CIRCLE,
    ((-3, -3), (3, -3), (3, 3), (-3, 3)),
    ((0, -4), (3.8, 3), (-3.8, 3)),
    ((0, -4.2), (4.2, 0), (0, 4.2), (-4.2, 0)),
    ((0, 4), (3.8, -3), (-3.8, -3)),
    ((-1.2, -4), (1.2, -4), (1.2, -1.2), (4, -1.2), (4, 1.2), (1.2, 1.2), (1.2, 4), (-1.2, 4), (-1.2, 1.2), (-4, 1.2),
     (-4, -1.2), (-1.2, -1.2)),
    ((-3.6, -3.6), (3.6, -3.6), (-3.6, 3.6), (3.6, 3.6)),
    ((-4, -1.6), (4, -1.6), (4, 1.6), (-4, 1.6)),
)  # fmt: skip
"""Corners of the marks: circle, square, triangle, diamond, triangle on its tip, plus, hourglass, dash."""


def element(name: str, content: str = "", **attributes: str | float) -> str:
    """Return an element; ``_`` in a name becomes ``-`` (``class_``: ``class``), ``content`` must be escaped."""
    written = "".join(
        [
            f' {_attribute_name(key)}="{md.attribute(value) if isinstance(value, str) else plain(value)}"'
            for key, value in attributes.items()
        ]
    )
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


@cache
def _attribute_name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def text(words: str, x: float, y: float, class_: str = "", anchor: str = "start", aside: str = "") -> str:
    """Return a line of text with ``aside`` in small print at its end."""
    small = " " + element("tspan", md.attribute(aside), class_="aside") if aside else ""
    return element("text", md.attribute(words) + small, x=x, y=y, class_=class_, text_anchor=anchor)


def mark(x: float, y: float, series: int, tooltip: str = "", class_: str = "mark") -> str:
    """Return a point in the colour and shape of its series."""
    corners = MARKS[(series + series // COLOURS) % len(MARKS)]
    title = element("title", md.attribute(tooltip)) if tooltip else ""
    if corners == CIRCLE:
        return element("circle", title, cx=x, cy=y, r=3.2, class_=f"{class_} {colour(series)}")
    points = " ".join(f"{plain(x + dx)},{plain(y + dy)}" for dx, dy in corners)
    return element("polygon", title, points=points, class_=f"{class_} {colour(series)}")


def colour(series: int) -> str:
    """Return the classes to which the style sheet gives colour and dash."""
    return f"series-{series % COLOURS} dash-{dash(series)}"


def dash(series: int) -> int:
    """Return the index of the dash and hatch of a series; 0 is solid."""
    return series // COLOURS % len(DASHES)


def series_of_trial(number: int) -> int:
    """Return the series of a trial, counted from 1; dashes differ since curves have too many points for marks."""
    kind = (number - 1) % COLOURS
    return kind + COLOURS * kind


def picture(label: str, height: float, *content: str) -> str:
    """Return a chart on one line, labelled for screen readers."""
    shape = f"0 0 {WIDTH} {plain(height)}"
    drawn = element("svg", "".join(content), viewBox=shape, role="img", aria_label=label)
    return f'<figure class="chart">{drawn}</figure>'


def plain(number: float) -> str:
    """Format a coordinate with at most one decimal: the same text on every machine."""
    return f"{number:.1f}".removesuffix(".0")


def coloured(charts: Iterable[Set[str]], first: Collection[str] = ()) -> dict[str, int]:
    """Assign an index to each name so that names of one chart differ in colour as far as possible.

    Args:
        charts: the names of each chart.
        first: names that choose before all others, and so get plain colours.

    Returns:
        Name → index; from ``COLOURS`` on, colours repeat with other marks and dashes.
    """
    neighbours: dict[str, set[str]] = {}
    for names in charts:
        for name in names:
            neighbours.setdefault(name, set()).update(names - {name})
    chosen: dict[str, int] = {}
    users: Counter[int] = Counter()
    for name in sorted(neighbours, key=lambda name: (name not in first, -len(neighbours[name]), name)):
        used = Counter(chosen[other] % COLOURS for other in neighbours[name] if other in chosen)
        colour = min(range(COLOURS), key=lambda colour: (used[colour], users[colour], colour))
        chosen[name] = colour + COLOURS * users[colour]
        users[colour] += 1
    return chosen
