"""The style of each series in a chart, and the format of coordinates."""

from collections import defaultdict
from collections.abc import Iterable

from dlperf.catalog.palette import colour_number, palette

WIDTH = 400
"""Units of every picture: small enough that its text can be read on a telephone."""
DARK_PAGE = '[data-md-color-scheme="slate"] '
COLOURS = len(palette())
"""Colours of the palette, each with its own mark; later series repeat them with other marks, dashes and hatches."""
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
    return MARKS[(series % COLOURS + series // COLOURS) % len(MARKS)]


def colour(series: int) -> str:
    """Return the classes to which the style sheet gives colour and dash."""
    return f"series-{series % COLOURS} dash-{dash(series)}"


def dash(series: int) -> int:
    """Return the index of the dash and hatch of a series; 0 is solid."""
    return series // COLOURS % len(DASHES)


def series_of_trial(number: int) -> int:
    """Return the series of a trial, counted from 1; dashes differ since curves have too many points for marks."""
    kind = (number - 1) % len(DASHES)
    return kind + COLOURS * kind


def plain(number: float) -> str:
    """Format a coordinate with at most one decimal: the same text on every machine."""
    return f"{number:.1f}".removesuffix(".0")


def series_of(frameworks: Iterable[str]) -> dict[str, int]:
    """Return the series of each framework: its fixed colour, and from ``COLOURS`` on another mark, dash and hatch.

    Of several frameworks with one colour the first is plain.
    """
    of_colour: defaultdict[int, list[str]] = defaultdict(list)
    for name in frameworks:
        of_colour[colour_number(name)].append(name)
    return {name: colour + COLOURS * place for colour, names in of_colour.items() for place, name in enumerate(names)}


def style_sheet() -> str:
    """Return the colours of all series as CSS; dark ones on a screen only, because paper is white."""
    return f"{_rules('light')}\n@media screen {{\n{_rules('dark', DARK_PAGE)}\n}}\n"


def _rules(scheme: str, within: str = "") -> str:
    colours = enumerate(palette())
    return "\n".join(f"{within}.series-{number} {{ --series: {getattr(one, scheme)}; }}" for number, one in colours)
