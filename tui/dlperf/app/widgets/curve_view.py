"""Draws a curve in the size of its widget."""

from collections.abc import Sequence

from rich.segment import Segment
from textual.app import RenderResult
from textual.strip import Strip
from textual.widget import Widget

from dlperf.app.model.curve import Piece, Series, draw
from dlperf.app.widgets.looks import looks
from dlperf.messages import _

LEAST_STEPS = 4.0
"""That a zoomed curve shows."""


class CurveView(Widget):
    def __init__(self) -> None:
        super().__init__()
        self._series: Series | None = None
        """None until it is read."""
        self._warm_up: float | None = None
        self._window: tuple[float, float] | None = None
        self._others: Sequence[Series] = ()
        self._second: Series | None = None
        self._zoom: tuple[float, float] | None = None
        """First and last step that are shown; None: all."""
        self._rows: list[list[Piece]] = []

    def show(self, series: Series, warm_up: float | None, window: tuple[float, float] | None) -> None:
        self._series, self._warm_up, self._window = series, warm_up, window
        self._draw()

    def show_behind(self, others: Sequence[Series]) -> None:
        """Draw these curves behind the one shown."""
        self._others = others
        self._draw()

    def show_second(self, second: Series | None) -> None:
        """Draw another trial's curve in a colour of its own."""
        self._second = second
        self._draw()

    def zoom(self, factor: float) -> None:
        """Show so many times the steps, around the same middle; all of them where that is more than there are."""
        first, last = self._shown_steps()
        middle, half = (first + last) / 2, (last - first) * factor / 2
        self._show_steps(middle - half, middle + half)

    def pan(self, share: float) -> None:
        """Move on by this share of the steps that are shown."""
        first, last = self._shown_steps()
        low, high = self._all_steps()
        by = max(low - first, min((last - first) * share, high - last))
        self._show_steps(first + by, last + by)

    def _show_steps(self, first: float, last: float) -> None:
        low, high = self._all_steps()
        shown = (max(first, low), min(last, high))
        if shown[1] - shown[0] >= LEAST_STEPS:
            self._zoom = None if shown == (low, high) else shown
            self._draw()

    def _shown_steps(self) -> tuple[float, float]:
        return self._zoom or self._all_steps()

    def _all_steps(self) -> tuple[float, float]:
        steps = [step for series in (self._series, self._second) if series for step in series.steps] or [0.0]
        return min(steps), max(steps)

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        self._rows = [[Piece(_("Reading …"))]] if self._series is None else self._drawn(self._series)
        self.refresh()

    def _drawn(self, series: Series) -> list[list[Piece]]:
        return draw(
            series,
            self.size.width,
            self.size.height,
            self._warm_up,
            self._window,
            self._others,
            self._second,
            self._zoom,
        )

    def render(self) -> RenderResult:
        return ""

    def render_line(self, y: int) -> Strip:
        pieces = self._rows[y] if y < len(self._rows) else []
        base, tones = self.visual_style.rich_style, looks(self.app.theme)
        segments = [Segment(piece.text, base + tones[piece.tone] if piece.tone else base) for piece in pieces]
        return Strip(segments).crop_extend(0, self.size.width, base)
