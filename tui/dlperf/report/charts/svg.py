"""The style of each series in a chart, and the format of coordinates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Set

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


def corners(series: int) -> tuple[tuple[float, float], ...]:
    """Return the corners of the mark of a series; none for a circle."""
    return MARKS[(series + series // COLOURS) % len(MARKS)]


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
