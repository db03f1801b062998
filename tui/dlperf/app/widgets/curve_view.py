"""Draws a curve in the size of its widget."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from textual.app import RenderResult
from textual.strip import Strip
from textual.widget import Widget

from dlperf.app.model.curve import Piece, Series, draw
from dlperf.app.widgets.looks import looks


class CurveView(Widget):
    def __init__(self) -> None:
        super().__init__()
        self._series = Series((), ())
        self._warm_up: float | None = None
        self._window: tuple[float, float] | None = None
        self._others: Sequence[Series] = ()
        self._rows: list[list[Piece]] = []

    def show(self, series: Series, warm_up: float | None, window: tuple[float, float] | None) -> None:
        self._series, self._warm_up, self._window = series, warm_up, window
        self._draw()

    def show_behind(self, others: Sequence[Series]) -> None:
        """Draw these curves behind the one shown."""
        self._others = others
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        self._rows = draw(self._series, self.size.width, self.size.height, self._warm_up, self._window, self._others)
        self.refresh()

    def render(self) -> RenderResult:
        return ""

    def render_line(self, y: int) -> Strip:
        pieces = self._rows[y] if y < len(self._rows) else []
        base, tones = self.visual_style.rich_style, looks(self.app.theme)
        segments = [Segment(piece.text, base + tones[piece.tone] if piece.tone else base) for piece in pieces]
        return Strip(segments).crop_extend(0, self.size.width, base)
