"""Every scene looks as it was accepted, in every size and language; in both themes, what is written can be read.

``DLPERF_UPDATE_PICTURES=1 pytest tests/app/test_pictures.py`` writes ``tests/data/app/pictures`` anew: look at the
difference, and at the pictures in colour (``python tests/app/pictures.py FOLDER``), before it is committed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pictures import Picture, laboratory, pictures_of
from rich.color import Color
from rich.segment import Segment
from scenes import SCENES

from dlperf.messages import LANGUAGES, Code

ACCEPTED = Path(__file__).parents[1] / "data" / "app" / "pictures"
WRITTEN = re.compile(r"\w")
LEAST_CONTRAST = 3.0
"""WCAG 2.2, 1.4.11: what must be told from what is beside it. What cannot be done now is dimmed below that."""
BEHIND_A_QUESTION = (
    "choose-start",
    "choose-check",
    "machine-form",
    "watch-cancel",
    "help",
    "palette",
)
"""Here the screen behind is dimmed."""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", SCENES)
async def test_a_scene_looks_as_it_was_accepted(name: str, language: Code, tmp_path: Path):
    with laboratory(tmp_path) as workspace:
        pictures = await pictures_of(SCENES[name], workspace, language)
    by_size = sorted((picture for picture in pictures if picture.theme == "dark"), key=lambda picture: picture.size)
    shown = "\n".join(f"{_title(picture)}\n{picture.text}\n" for picture in by_size)
    file = ACCEPTED / f"{name}-{language}.txt"
    if "DLPERF_UPDATE_PICTURES" in os.environ:
        file.parent.mkdir(exist_ok=True)
        file.write_text(shown)
    assert shown.splitlines() == file.read_text().splitlines()
    dark, light = (picture for picture in pictures if picture.size == (80, 24))
    assert light.text == dark.text
    if name not in BEHIND_A_QUESTION:
        assert [text for picture in (dark, light) for text in _hard_to_read(picture)] == []


def test_every_accepted_picture_belongs_to_a_scene():
    names = {f"{name}-{language}.txt" for name in SCENES for language in LANGUAGES}
    assert {path.name for path in ACCEPTED.iterdir()} == names


def _title(picture: Picture) -> str:
    columns, rows = picture.size
    return f"==== {columns} columns, {rows} rows"


def _hard_to_read(picture: Picture) -> Iterator[str]:
    """Words whose colour is too near to what is behind them."""
    for segment in picture.segments:
        style = segment.style
        if not WRITTEN.search(segment.text) or style is None or style.dim:
            continue
        if style.color is not None and style.bgcolor is not None and _contrast(segment) < LEAST_CONTRAST:
            yield f"{picture.theme}: {segment.text!r} {_contrast(segment):.1f} ({style})"


def _contrast(segment: Segment) -> float:
    """By WCAG 2.2, 1 … 21."""
    assert segment.style is not None
    assert segment.style.color is not None
    assert segment.style.bgcolor is not None
    lighter, darker = sorted((_luminance(segment.style.color), _luminance(segment.style.bgcolor)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: Color) -> float:
    shares = [value / 255 for value in color.get_truecolor()]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
