"""Elements of SVG, as text that is safe inside a Markdown page."""

from __future__ import annotations

from functools import cache

from dlperf.report import markdown as md

WIDTH = 400
"""Units of every picture: small enough that its text can be read on a telephone."""
COLOURS = 8
"""Colours of the style sheet, each with a mark of its own; what comes after them has the same colours with other marks,
dashes and hatches."""
DASHES = ("none", "6 3", "2 3", "8 3 2 3", "14 4", "8 3 2 3 2 3", "2 8", "14 3 5 3")
"""Kinds of lines, as the style sheet has them: lengths of strokes and gaps."""
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
    """An element; ``_`` in a name is ``-`` (``class_`` is ``class``), text in ``content`` is escaped already."""
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
    """A line of text; ``aside`` stands small at its end."""
    small = " " + element("tspan", md.attribute(aside), class_="aside") if aside else ""
    return element("text", md.attribute(words) + small, x=x, y=y, class_=class_, text_anchor=anchor)


def mark(x: float, y: float, series: int, tooltip: str = "", class_: str = "mark") -> str:
    """A point, in the colour and shape of its series."""
    corners = MARKS[(series + series // COLOURS) % len(MARKS)]
    title = element("title", md.attribute(tooltip)) if tooltip else ""
    if corners == CIRCLE:
        return element("circle", title, cx=x, cy=y, r=3.2, class_=f"{class_} {colour(series)}")
    points = " ".join(f"{plain(x + dx)},{plain(y + dy)}" for dx, dy in corners)
    return element("polygon", title, points=points, class_=f"{class_} {colour(series)}")


def colour(series: int) -> str:
    """The class that the style sheet gives a colour and a dash to."""
    return f"series-{series % COLOURS} dash-{dash(series)}"


def dash(series: int) -> int:
    """Which kind of line a series has, and of hatch; 0 is plain."""
    return series // COLOURS % len(DASHES)


def trial(number: int) -> int:
    """The series of a trial, counted from 1. Its curve has too many points for marks: its dash is its own, too."""
    kind = (number - 1) % COLOURS
    return kind + COLOURS * kind


def picture(label: str, height: float, *content: str) -> str:
    """A whole chart on one line: what it shows in words, and the picture."""
    shape = f"0 0 {WIDTH} {plain(height)}"
    drawn = element("svg", "".join(content), viewBox=shape, role="img", aria_label=label)
    return f'<figure class="chart">{drawn}</figure>'


def plain(number: float) -> str:
    """A coordinate with at most one decimal: the same text on every machine."""
    return f"{number:.1f}".removesuffix(".0")
