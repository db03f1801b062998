"""Pictures of the program, of every scene: ``python tests/app/pictures.py FOLDER [SCENE…]`` writes them as SVG.

Themes, languages and sizes are those that ``test_pictures.py`` compares with what was accepted.
"""

from __future__ import annotations

import asyncio
import contextlib
import html
import itertools
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from builder import CampaignBuilder, engine_of, make_workspace
from driving import driving, is_reading, shown, strips_of, until
from rich.cells import cell_len
from rich.segment import Segment
from scenes import SCENES, Scene
from textual.pilot import Pilot

from dlperf.app.app import DlperfApp
from dlperf.app.screens.base import PlaceScreen
from dlperf.messages import LANGUAGES, Code, use_language
from dlperf.runs.paths import WorkspacePaths

VIEWS = (((120, 40), "dark"), ((200, 60), "dark"), ((80, 24), "dark"), ((80, 24), "light"))
"""Sizes and themes, from the size that scenes are acted in; a theme changes no text: the light one is seen in one."""
CATALOG = Path(__file__).parents[1] / "data" / "app" / "catalog"
"""In place of the built-in catalogue, which changes with what can be measured."""


@dataclass(frozen=True)
class Picture:
    """What the screen shows once it has come to rest."""

    size: tuple[int, int]
    theme: str
    text: str
    segments: tuple[Segment, ...]
    svg: str
    """Drawn where it is wanted: that takes as long as all the rest."""


@contextlib.contextmanager
def laboratory(folder: Path) -> Iterator[WorkspacePaths]:
    """An empty workspace, named as in every picture; times in UTC."""
    with contextlib.chdir(folder), patch.dict(os.environ, {"TZ": "UTC"}):
        time.tzset()
        Path("lab").mkdir()
        yield make_workspace(Path("lab"))
    time.tzset()


async def pictures_of(
    scene: Scene,
    workspace: WorkspacePaths,
    language: Code,
    views: Sequence[tuple[tuple[int, int], str]] = VIEWS,
    drawn: bool = False,
) -> list[Picture]:
    """The scene in these sizes and themes."""
    use_language(language)
    builder = scene.setup(workspace)
    pictures = []
    with _working(builder), patch("dlperf.catalog.files.load.BUILTIN", CATALOG):
        async with driving(workspace, language=language, start_screen=scene.start_screen) as pilot:
            await _campaigns_are_drawn(pilot)
            await scene.act(pilot)
            for size, theme in views:
                await _show_in(pilot, size, theme)
                pilot.app.screen.refresh_bindings()  # the keys that apply now, whatever came last
                await pilot.pause(0)
                pictures.append(await _picture(pilot, size, theme, drawn))
    return pictures


async def _show_in(pilot: Pilot[str], size: tuple[int, int], theme: str) -> None:
    """Change size and theme, also of the palette: Textual leaves its own screens as they were opened."""
    if pilot.app.size != size:
        await pilot.resize_terminal(*size)
    if pilot.app.theme != f"textual-{theme}":
        pilot.app.theme = f"textual-{theme}"
        await pilot.pause(0)
        pilot.app.stylesheet.update(pilot.app.screen)


async def _campaigns_are_drawn(pilot: Pilot[str]) -> None:
    """Wait for what every screen shows of all campaigns: behind a question nothing is drawn anew."""
    app, screen = pilot.app, pilot.app.screen
    assert isinstance(app, DlperfApp)
    assert isinstance(screen, PlaceScreen)
    await until(pilot, lambda: screen.is_mounted and not is_reading(pilot))
    app.book.refresh(lambda: False)
    await until(pilot, lambda: screen._drawn_version == app.book.version)


def _working(builder: CampaignBuilder | None) -> contextlib.AbstractContextManager[None]:
    return engine_of(builder.paths) if builder is not None else contextlib.nullcontext()


async def _picture(pilot: Pilot[str], size: tuple[int, int], theme: str, drawn: bool) -> Picture:
    app, seen = pilot.app, [""]
    assert isinstance(app, DlperfApp)

    def at_rest() -> bool:
        app._frame()
        seen.append(shown(pilot))
        return len(seen) > 5 and len(set(seen[-5:])) == 1 and not is_reading(pilot)

    await until(pilot, at_rest)
    svg = mended(app.export_screenshot(title="dlperf-tui", simplify=True)) if drawn else ""
    return Picture(size, theme, seen[-1], tuple(itertools.chain.from_iterable(strips_of(pilot))), svg)


def mended(svg: str) -> str:
    """The picture without a font from elsewhere, and with every character where a terminal has it.

    Rich gives a text the length of its characters, not of their cells, and a viewer spreads what fonts lack of that
    length evenly: what is as wide as two cells, or may come from another font, gets a place of its own.
    """
    svg = re.sub(r"@font-face\s*\{.*?\}", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code, monospace", "'Fira Code', 'DejaVu Sans Mono', 'Noto Sans Mono CJK SC', monospace")
    return re.sub(r'(<text [^>]*?) x="([\d.]+)"([^>]*?) textLength="([\d.]+)"([^>]*)>([^<]*)</text>', _placed, svg)


def _placed(match: re.Match[str]) -> str:
    """A text in pieces of characters of one kind, each at its own cells."""
    start, x, middle, length, end, text = match.groups()
    text = html.unescape(text)
    if text.replace("\u00a0", " ").isascii():
        return match[0]
    cell, left, pieces = float(length) / len(text), float(x), []
    for _, group in itertools.groupby(text, lambda char: (cell_len(char), char.isascii() or char == "\u00a0")):
        piece = "".join(group)
        width = cell * cell_len(piece)
        words = html.escape(piece).replace("\u00a0", "&#160;")
        pieces.append(f'{start} x="{left:g}"{middle} textLength="{width:g}"{end}>{words}</text>')
        left += width
    return "".join(pieces)


def main(folder: Path, names: list[str]) -> None:
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for name, language in itertools.product(names or SCENES, LANGUAGES):
        with tempfile.TemporaryDirectory() as temporary, laboratory(Path(temporary)) as workspace:
            for picture in asyncio.run(pictures_of(SCENES[name], workspace, language, drawn=True)):
                columns, rows = picture.size
                file = folder / f"{name}-{language}-{columns}x{rows}-{picture.theme}.svg"
                file.write_text(picture.svg)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
