"""Elements of SVG, as text that is safe inside a Markdown page."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from dlperf.report import markdown as md

WIDTH = 400
"""Units of every picture: small enough that its text can be read on a telephone."""
COLOURS = 8
"""Colours of the style sheet; what comes after them has the same ones with another mark and dash."""
MARKS = ("circle", "square", "triangle", "diamond")


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


def text(words: str, x: float, y: float, class_: str = "", anchor: str = "start") -> str:
    """A line of text."""
    return element("text", md.attribute(words), x=x, y=y, class_=class_, text_anchor=anchor)


def mark(x: float, y: float, series: int, tooltip: str = "", class_: str = "mark") -> str:
    """A point, in the colour and shape of its series."""
    shape = MARKS[series // COLOURS % len(MARKS)]
    title = element("title", md.attribute(tooltip)) if tooltip else ""
    if shape == "circle":
        return element("circle", title, cx=x, cy=y, r=3.2, class_=f"{class_} {colour(series)}")
    corners = {
        "square": ((-3, -3), (3, -3), (3, 3), (-3, 3)),
        "triangle": ((0, -4), (3.8, 3), (-3.8, 3)),
        "diamond": ((0, -4.2), (4.2, 0), (0, 4.2), (-4.2, 0)),
    }[shape]
    points = " ".join(f"{plain(x + dx)},{plain(y + dy)}" for dx, dy in corners)
    return element("polygon", title, points=points, class_=f"{class_} {colour(series)}")


def colour(series: int) -> str:
    """The class that the style sheet gives a colour and a dash to."""
    return f"series-{series % COLOURS} dash-{series // COLOURS % len(MARKS)}"


def picture(label: str, height: float, *content: str, data: Mapping[str, str] | None = None) -> str:
    """A whole chart on one line: what it shows in words, and the picture.

    Args:
        data: for scripts: names and values of ``data-`` attributes.
    """
    shape = f"0 0 {WIDTH} {plain(height)}"
    drawn = element("svg", "".join(content), viewBox=shape, role="img", aria_label=label)
    told = "".join(f' data-{name}="{md.attribute(value)}"' for name, value in (data or {}).items())
    return f'<figure class="chart"{told}>{drawn}</figure>'


def plain(number: float) -> str:
    """A coordinate with at most one decimal: the same text on every machine."""
    return f"{number:.1f}".removesuffix(".0")
