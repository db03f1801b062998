"""Pictures of the home page and of each report for link previews: a headline and bars as PNG."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from dlperf.catalog.palette import palette
from dlperf.messages import ENGLISH
from dlperf.report.answer import Answer, answers_of_site
from dlperf.report.data import SiteData
from dlperf.report.pages.home import by_weight, every_answer
from dlperf.report.pages.page import Page
from dlperf.report.pages.results import pictures
from dlperf.report.site import locations as at
from dlperf.report.views import Part

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

WIDTH, HEIGHT = 1200, 630
"""The size that sites show whole."""
MARGIN, NAMES, VALUES, ROW = 64, 440, 170, 54
MOST_BARS = 5
INK, QUIET, PAPER = "#14252c", "#5f6368", "#ffffff"
LOGO = (("#ff9248", 32), ("#2dc79a", 21), ("#56b4e9", 11))
"""Colours and lengths of its bars."""


def previews(data: SiteData, font: Path) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of each picture, in English; none without Pillow, or where the site's address is unknown.

    Args:
        font: file of the site's font.
    """
    if not data.previews:
        return
    reports = {key: answers_of_site(data, rows) for key, rows in data.reports.items()}
    titles: dict[str, tuple[str, Sequence[Answer]]] = {
        at.HOME: ("How fast deep-learning frameworks train", every_answer(data)),
        **{at.report_page(*key): (data.report_title(ENGLISH, *key), found) for key, found in reports.items()},
    }
    for path, (title, found) in titles.items():
        yield at.preview(path), preview(title, _chart(data, path, found), font, data.title)


def _chart(data: SiteData, path: str, found: Sequence[Answer]) -> Part:
    """Return the chart of the weightiest comparison; that of the home page names its model."""
    if not found:
        return Part(())
    most = by_weight(found)[0]
    chart = pictures.comparison_chart(Page(ENGLISH, data, path), most)
    return replace(chart, title=(data.case_title(most.best.case), *chart.title)) if path == at.HOME else chart


def preview(title: str, chart: Part, font: Path, site: str) -> bytes:
    """Draw the picture."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    drawn = ImageDraw.Draw(image)
    _draw_logo(drawn, font, site)
    top = 140
    for line in _lines(title, _font(font, 54, 800), WIDTH - 2 * MARGIN, most=2):
        drawn.text((MARGIN, top), line, INK, _font(font, 54, 800))
        top += 66
    about = " · ".join((*map(str, chart.title), *filter(None, [chart.unit])))
    small = _font(font, 25, 400)
    drawn.text((MARGIN, top + 8), _lines(about, small, WIDTH - 2 * MARGIN)[0], QUIET, small)
    _draw_bars(drawn, chart, top + 60, font)
    written = io.BytesIO()
    image.quantize(96, Image.Quantize.FASTOCTREE).save(written, "PNG")
    return written.getvalue()


def _draw_logo(drawn: ImageDraw, font: Path, title: str) -> None:
    drawn.rounded_rectangle((MARGIN, 56, MARGIN + 56, 112), 12, INK)
    for row, (colour, length) in enumerate(LOGO):
        drawn.rectangle((MARGIN + 12, 68 + 12 * row, MARGIN + 12 + length, 75 + 12 * row), colour)
    drawn.text((MARGIN + 76, 60), title, INK, _font(font, 38, 800))


def _draw_bars(drawn: ImageDraw, chart: Part, top: int, font: Path) -> None:
    left, longest = MARGIN + NAMES, WIDTH - 2 * MARGIN - NAMES - VALUES
    plain, bold = _font(font, 27, 500), _font(font, 27, 700)
    for row, bar in enumerate(chart.bars[:MOST_BARS]):
        y = top + ROW * row
        length = float(bar.share.removesuffix("%")) / 100 * longest
        drawn.text((MARGIN, y), _lines(bar.name, plain, NAMES - 16)[0], INK, plain)
        drawn.rectangle((left, y, left + max(length, 3), y + 34), palette()[bar.series % len(palette())].light)
        drawn.text((left + length + 14, y), bar.figure.value, INK, bold)


def _lines(text: str, font: FreeTypeFont | ImageFont, width: int, most: int = 1) -> list[str]:
    """Break a text between words into lines of at most ``width`` pixels; of more than ``most`` lines, cut the last."""
    lines: list[str] = []
    for word in text.split():
        if lines and font.getlength(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return [*lines[: most - 1], f"{lines[most - 1]} …"] if len(lines) > most else lines or [""]


@cache
def _font(file: Path, size: int, weight: int) -> FreeTypeFont | ImageFont:
    from PIL import ImageFont

    if not file.is_file():
        return ImageFont.load_default(size)
    font = ImageFont.truetype(file, size)
    font.set_variation_by_axes([weight])
    return font
