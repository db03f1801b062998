"""Throughput over steps, drawn with braille dots: warm-up shaded, the measured window marked. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

from rich.cells import cell_len

from dlperf.app.model.table import packed
from dlperf.messages import _
from dlperf.view.text import number

LABEL_WIDTH = 9
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of a braille pattern, by row and column of the dot (Unicode chart U+2800)."""
LEAST_SPAN = 0.1
"""Of the value, from the lower to the upper edge: less would make a mountain range of the noise."""


@dataclass(frozen=True)
class Series:
    """Throughput of all GPUs by step."""

    steps: Sequence[float]
    values: Sequence[float]
    unit: str = ""

    def points(self) -> list[tuple[float, float]]:
        """Finite points, in order."""
        pairs = zip(self.steps, self.values, strict=True)
        return [(step, value) for step, value in pairs if isfinite(step) and isfinite(value)]


@dataclass(frozen=True)
class Piece:
    """A piece of a row of the drawing."""

    text: str
    tone: str = ""
    """``warmup``, ``measured``, ``axis`` or nothing."""


@dataclass(frozen=True)
class Frame:
    """The room of a drawing, and the values at its edges."""

    columns: int
    rows: int
    first_step: float
    last_step: float
    low: float
    high: float

    def column(self, step: float) -> float:
        """Where a step lies, in cells."""
        return (step - self.first_step) / (self.last_step - self.first_step) * (self.columns - 1)

    def step(self, column: int) -> float:
        return self.first_step + column / max(1, self.columns - 1) * (self.last_step - self.first_step)

    def dot(self, value: float) -> int:
        """Where a value lies, in dots from the top; outside of the drawing where it is cut off."""
        return round((self.high - value) / (self.high - self.low) * (self.rows * 4 - 1))


def draw(
    series: Series, width: int, height: int, warm_up: float | None = None, window: tuple[float, float] | None = None
) -> list[list[Piece]]:
    """The drawing, row by row.

    Args:
        series: what to draw; empty gives one row that says so.
        width: cells, axis labels included.
        height: rows, axis included.
        warm_up: the last step of the warm-up.
        window: first and last step of the measured window.
    """
    points = series.points()
    if len(points) < 2 or width < LABEL_WIDTH + 8 or height < 5:
        return [[Piece(_("No curve yet: the log holds fewer than two throughput records."))]]
    low, high = _range(points, warm_up, window)
    legend = packed(
        _legend(series, low, warm_up, window) + _cut_in_words(points, low, high), width - LABEL_WIDTH, " · "
    )
    frame = Frame(width - LABEL_WIDTH, height - 2 - len(legend), *_ends(points), low, high)
    cells = _plot(points, frame)
    tones = [_tone(frame.step(column), warm_up, window) for column in range(frame.columns)]
    rows = [_row(frame, row, cells[row], tones) for row in range(frame.rows)]
    return [*rows, *_axis(frame, tones), *([Piece(" " * LABEL_WIDTH + line, "axis")] for line in legend)]


def _ends(points: list[tuple[float, float]]) -> tuple[float, float]:
    first, last = points[0][0], max(step for step, _ in points)
    return first, last if last > first else first + 1


def _range(
    points: list[tuple[float, float]], warm_up: float | None, window: tuple[float, float] | None
) -> tuple[float, float]:
    """Lowest and highest value of the drawing: what is measured and a little room.

    A first step that takes minutes would flatten all that follows: what lies beyond is cut off.
    """
    measured = [value for step, value in points if _is_measured(step, warm_up, window)]
    values = measured if len(measured) > 1 else [value for _, value in points]
    low, high = min(values), max(values)
    spread = high - low
    room = max(spread * 0.05, (LEAST_SPAN * abs(high) - spread) / 2) or 1.0
    return max(0.0, low - room), high + room


def _is_measured(step: float, warm_up: float | None, window: tuple[float, float] | None) -> bool:
    """Whether a step belongs to what is measured; while that is not known, to what follows the warm-up."""
    return window[0] <= step <= window[1] if window is not None else step > (warm_up or 0)


def _plot(points: list[tuple[float, float]], frame: Frame) -> list[list[str]]:
    """The drawing's cells by row and column: each dot column spans the values that fall on it."""
    dots = [[0] * frame.columns for _ in range(frame.rows)]
    for x, (top, bottom) in _spans(points, frame).items():
        for y in range(max(0, top), min(bottom, frame.rows * 4 - 1) + 1):
            dots[y // 4][x // 2] |= DOTS[y % 4][x % 2]
    cells = [[chr(0x2800 + dot) if dot else " " for dot in row] for row in dots]
    for step, value in points:
        column, above = round(frame.column(step) * 2) // 2, value > frame.high
        if (above or value < frame.low) and column >= 0:
            cells[0 if above else -1][column] = CUT[above]
    return cells


def _spans(points: list[tuple[float, float]], frame: Frame) -> dict[int, tuple[int, int]]:
    """Dot column → its highest and its lowest dot."""
    spans: dict[int, tuple[int, int]] = {}
    previous: tuple[int, int] | None = None
    for step, value in points:
        here = round(frame.column(step) * 2), frame.dot(value)
        for column, dot in _joined(previous, here):
            top, bottom = spans.get(column, (dot, dot))
            spans[column] = (min(top, dot), max(bottom, dot))
        previous = here
    return {x: span for x, span in spans.items() if 0 <= x < frame.columns * 2}


def _joined(start: tuple[int, int] | None, end: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """The dots from one point to the next, one for each column; a step back starts anew."""
    if start is None or end[0] <= start[0]:
        yield end
        return
    for x in range(start[0] + 1, end[0] + 1):
        share = (x - start[0]) / (end[0] - start[0])
        yield x, round(start[1] + share * (end[1] - start[1]))


def _tone(step: float, warm_up: float | None, window: tuple[float, float] | None) -> str:
    if warm_up is not None and step <= warm_up:
        return "warmup"
    if window is not None and window[0] <= step <= window[1]:
        return "measured"
    return ""


def _row(frame: Frame, row: int, cells: list[str], tones: list[str]) -> list[Piece]:
    labels = {0: frame.high, frame.rows // 2: (frame.high + frame.low) / 2, frame.rows - 1: frame.low}
    label = number(labels[row]) if row in labels else ""
    pieces = [Piece(f"{label:>{LABEL_WIDTH - 2}} {'┤' if label else '│'}", "axis")]
    for text, tone in zip(cells, tones, strict=True):
        if len(pieces) > 1 and pieces[-1].tone == tone:
            pieces[-1] = Piece(pieces[-1].text + text, tone)
        else:
            pieces.append(Piece(text, tone))
    return pieces


CUT = {False: "▼", True: "▲"}
"""At the lower and at the upper edge of the drawing, where the curve runs below or above it."""
AXIS = {"warmup": "░", "measured": "═", "": "─"}
"""What the axis is drawn with below a part of the curve: on a terminal without colours it alone tells them apart."""


def _axis(frame: Frame, tones: Sequence[str]) -> list[list[Piece]]:
    line = " " * (LABEL_WIDTH - 1) + "└" + "".join(AXIS[tone] for tone in tones)
    left, right = f"{frame.first_step:.0f}", _("step {number}", number=f"{frame.last_step:.0f}")
    middle = f"{(frame.first_step + frame.last_step) / 2:.0f}"
    numbers = left + middle.rjust(frame.columns // 2 - len(left) + len(middle) // 2)
    numbers += " " * max(1, frame.columns - len(numbers) - cell_len(right)) + right
    return [[Piece(line, "axis")], [Piece(" " * LABEL_WIDTH + numbers, "axis")]]


def _legend(series: Series, low: float, warm_up: float | None, window: tuple[float, float] | None) -> list[str]:
    parts = [series.unit] if series.unit else []
    if warm_up:
        parts.append(f"{AXIS['warmup'] * 2} " + _("warm-up to step {number}", number=f"{warm_up:.0f}"))
    if window:
        words = _("measured: steps {first} to {last}", first=f"{window[0]:.0f}", last=f"{window[1]:.0f}")
        parts.append(f"{AXIS['measured'] * 2} {words}")
    if low > 0:
        parts.append(_("axis starts at {value}", value=number(low)))
    return parts


def _cut_in_words(points: list[tuple[float, float]], low: float, high: float) -> list[str]:
    """How far the curve runs beyond the drawing."""
    values = [value for _, value in points]
    parts = []
    if min(values) < low:
        parts.append(f"{CUT[False]} " + _("cut off: down to {value}", value=number(min(values))))
    if max(values) > high:
        parts.append(f"{CUT[True]} " + _("cut off: up to {value}", value=number(max(values))))
    return parts
