"""Throughput over steps, drawn with braille dots: warm-up shaded, the measured window marked. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

from dlperf.app.model.text import number, packed
from dlperf.app.words import say

LABEL_WIDTH = 9
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of a braille pattern, by row and column of the dot (Unicode chart U+2800)."""


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
        return [[Piece(say("No curve yet: the log holds fewer than two throughput records."))]]
    legend = packed(_legend(series, points, warm_up, window), width - LABEL_WIDTH, " · ")
    frame = _frame(points, width - LABEL_WIDTH, height - 2 - len(legend))
    cells = _plot(points, frame)
    tones = [_tone(frame.step(column), warm_up, window) for column in range(frame.columns)]
    rows = [_row(frame, row, cells[row], tones) for row in range(frame.rows)]
    return [*rows, *_axis(frame, tones), *([Piece(" " * LABEL_WIDTH + line, "axis")] for line in legend)]


def _frame(points: list[tuple[float, float]], columns: int, rows: int) -> Frame:
    first, last = points[0][0], max(step for step, _ in points)
    return Frame(columns, rows, first, last if last > first else first + 1, *_range(points))


def _range(points: list[tuple[float, float]]) -> tuple[float, float]:
    """Lowest and highest value of the drawing: those of the curve and a little room."""
    values = [value for _, value in points]
    low, high = min(values), max(values)
    room = (high - low) * 0.05 or abs(high) * 0.01 or 1.0
    return max(0.0, low - room), high + room


def _plot(points: list[tuple[float, float]], frame: Frame) -> list[list[int]]:
    """Braille patterns by row and column: each dot column spans the values that fall on it."""
    cells = [[0] * frame.columns for _ in range(frame.rows)]
    spans: dict[int, tuple[int, int]] = {}
    previous: tuple[int, int] | None = None
    for step, value in points:
        x = round(frame.column(step) * 2)
        y = round((frame.high - value) / (frame.high - frame.low) * (frame.rows * 4 - 1))
        for column, dot in _joined(previous, (x, y)):
            top, bottom = spans.get(column, (dot, dot))
            spans[column] = (min(top, dot), max(bottom, dot))
        previous = (x, y)
    for x, (top, bottom) in spans.items():
        for y in range(top, bottom + 1):
            if 0 <= x < frame.columns * 2:
                cells[y // 4][x // 2] |= DOTS[y % 4][x % 2]
    return cells


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


def _row(frame: Frame, row: int, cells: list[int], tones: list[str]) -> list[Piece]:
    labels = {0: frame.high, frame.rows // 2: (frame.high + frame.low) / 2, frame.rows - 1: frame.low}
    label = number(labels[row]) if row in labels else ""
    pieces = [Piece(f"{label:>{LABEL_WIDTH - 2}} {'┤' if label else '│'}", "axis")]
    for cell, tone in zip(cells, tones, strict=True):
        text = chr(0x2800 + cell) if cell else " "
        if len(pieces) > 1 and pieces[-1].tone == tone:
            pieces[-1] = Piece(pieces[-1].text + text, tone)
        else:
            pieces.append(Piece(text, tone))
    return pieces


AXIS = {"warmup": "░", "measured": "═", "": "─"}
"""What the axis is drawn with below a part of the curve: on a terminal without colours it alone tells them apart."""


def _axis(frame: Frame, tones: Sequence[str]) -> list[list[Piece]]:
    line = " " * (LABEL_WIDTH - 1) + "└" + "".join(AXIS[tone] for tone in tones)
    left, right = f"{frame.first_step:.0f}", say("step {number}", number=f"{frame.last_step:.0f}")
    middle = f"{(frame.first_step + frame.last_step) / 2:.0f}"
    numbers = left + middle.rjust(frame.columns // 2 - len(left) + len(middle) // 2)
    numbers += " " * max(1, frame.columns - len(numbers) - len(right)) + right
    return [[Piece(line, "axis")], [Piece(" " * LABEL_WIDTH + numbers, "axis")]]


def _legend(
    series: Series, points: list[tuple[float, float]], warm_up: float | None, window: tuple[float, float] | None
) -> list[str]:
    parts = [series.unit] if series.unit else []
    if warm_up:
        parts.append(f"{AXIS['warmup'] * 2} " + say("warm-up to step {number}", number=f"{warm_up:.0f}"))
    if window:
        words = say("measured: steps {first} to {last}", first=f"{window[0]:.0f}", last=f"{window[1]:.0f}")
        parts.append(f"{AXIS['measured'] * 2} {words}")
    low, _ = _range(points)
    if low > 0:
        parts.append(say("axis starts at {value}", value=number(low)))
    return parts
