"""Draw throughput over steps with braille dots; warm-up and measured window are marked. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

from rich.cells import cell_len

from dlperf.app.model.table import packed
from dlperf.messages import _
from dlperf.view.text import number

LABEL_WIDTH = 9
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of a braille pattern by row and column of the dot (Unicode chart U+2800)."""
LEAST_ROWS = 3
"""Of the drawing itself: the legend gives way to them."""
LEAST_SPAN = 0.1
"""Least height of the drawing as a share of the value; less would exaggerate noise."""


@dataclass(frozen=True)
class Series:
    """Throughput of all GPUs by step."""

    steps: Sequence[float]
    values: Sequence[float]
    unit: str = ""
    result: float | None = None
    """The trial's figure, if it is in the same unit."""
    name: str = ""
    """Of the trial, where there are two."""

    def points(self) -> list[tuple[float, float]]:
        pairs = zip(self.steps, self.values, strict=True)
        return [(step, value) for step, value in pairs if isfinite(step) and isfinite(value)]


@dataclass(frozen=True)
class Piece:
    """Characters of one tone in a row of the drawing."""

    text: str
    tone: str = ""
    """``warmup``, ``measured``, ``axis``, ``dim``, ``warn`` (of a second curve) or empty."""


@dataclass(frozen=True)
class CurveFrame:
    """Size of a drawing in cells, and the values at its edges."""

    columns: int
    rows: int
    first_step: float
    last_step: float
    low: float
    high: float

    def column(self, step: float) -> float:
        return (step - self.first_step) / (self.last_step - self.first_step) * (self.columns - 1)

    def step(self, column: int) -> float:
        return self.first_step + column / max(1, self.columns - 1) * (self.last_step - self.first_step)

    def dot(self, value: float) -> int:
        """Return the position of a value in dots from the top; out of range if it is cut off."""
        return round((self.high - value) / (self.high - self.low) * (self.rows * 4 - 1))


def draw(
    series: Series,
    width: int,
    height: int,
    warm_up: float | None = None,
    window: tuple[float, float] | None = None,
    others: Sequence[Series] = (),
    second: Series | None = None,
    zoom: tuple[float, float] | None = None,
) -> list[list[Piece]]:
    """Return the rows of the drawing.

    Args:
        series: curve; fewer than two points give one row with a message.
        width: cells, axis labels included.
        height: rows, axis included.
        warm_up: the last step of the warm-up.
        window: first and last step of the measured window.
        others: curves behind it, in the same unit; where they overlap, their range.
        second: another trial's curve, in a colour of its own.
        zoom: first and last step that are shown; all of both curves if None.
    """
    points, beside = series.points(), second.points() if second else []
    first, last = zoom or _ends([*points, *beside])
    points, beside = ([item for item in curve if first <= item[0] <= last] for curve in (points, beside))
    if len(points) < 2 or width < LABEL_WIDTH + 8 or height < 5:
        return [[Piece(_("No curve: the log holds fewer than two throughput records."))]]
    behind = [(step, value) for other in others for step, value in other.points() if first <= step <= last]
    low, high = _range([*points, *behind, *beside], warm_up, window)
    parts = _legend(series, low, warm_up, window) + _cut_off_legend(points, low, high)
    parts += [_("in grey: other trials, {count}", count=len(others))] if others else []
    parts += [_("in colour: {name}", name=second.name)] if second else []
    legend = packed(parts, width - LABEL_WIDTH, " · ")[: height - 2 - LEAST_ROWS]
    frame = CurveFrame(width - LABEL_WIDTH, height - 2 - len(legend), first, last, low, high)
    cells = _plot(points, frame)
    _draw_result(series, frame, cells)
    tones = [_tone(frame.step(column), warm_up, window) for column in range(frame.columns)]
    grey = _plot(behind, frame)  # one trial's steps come after another's: each begins a new line
    colour = _plot(beside, frame)
    rows = [_row(frame, row, cells[row], tones, grey[row], colour[row]) for row in range(frame.rows)]
    return [*rows, *_axis(frame, tones), *([Piece(" " * LABEL_WIDTH + line, "axis")] for line in legend)]


def _ends(points: list[tuple[float, float]]) -> tuple[float, float]:
    steps = [step for step, _ in points] or [0.0]
    first, last = min(steps), max(steps)
    return first, last if last > first else first + 1


def _range(
    points: list[tuple[float, float]], warm_up: float | None, window: tuple[float, float] | None
) -> tuple[float, float]:
    """Return the lowest and highest value of the drawing: the measured ones with a margin.

    Values beyond are cut off, since a first step of minutes would flatten the rest.
    """
    measured = [value for step, value in points if _is_measured(step, warm_up, window)]
    values = measured if len(measured) > 1 else [value for _, value in points]
    low, high = min(values), max(values)
    spread = high - low
    margin = max(spread * 0.05, (LEAST_SPAN * abs(high) - spread) / 2) or 1.0
    return max(0.0, low - margin), high + margin


def _is_measured(step: float, warm_up: float | None, window: tuple[float, float] | None) -> bool:
    """Return whether a step is in the window or, before that is known, after the warm-up."""
    return window[0] <= step <= window[1] if window is not None else step > (warm_up or 0)


def _plot(points: list[tuple[float, float]], frame: CurveFrame) -> list[list[str]]:
    """Return cells by row and column; each dot column spans the values that fall on it."""
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


def _draw_result(series: Series, frame: CurveFrame, cells: list[list[str]]) -> None:
    """Draw the trial's figure as a line behind the curve."""
    dot = frame.dot(series.result) if series.result is not None else -1
    if 0 <= dot < frame.rows * 4:
        cells[dot // 4] = [RESULT if cell == " " else cell for cell in cells[dot // 4]]


def _spans(points: list[tuple[float, float]], frame: CurveFrame) -> dict[int, tuple[int, int]]:
    """Return the highest and lowest dot of each dot column."""
    spans: dict[int, tuple[int, int]] = {}
    previous: tuple[int, int] | None = None
    for step, value in points:
        here = round(frame.column(step) * 2), frame.dot(value)
        for column, dot in _interpolate(previous, here):
            top, bottom = spans.get(column, (dot, dot))
            spans[column] = (min(top, dot), max(bottom, dot))
        previous = here
    return {x: span for x, span in spans.items() if 0 <= x < frame.columns * 2}


def _interpolate(start: tuple[int, int] | None, end: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Yield a dot per column from one point to the next; a step back starts a new line."""
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


def _row(
    frame: CurveFrame, row: int, cells: list[str], tones: list[str], grey: list[str], colour: list[str]
) -> list[Piece]:
    labels = {0: frame.high, frame.rows // 2: (frame.high + frame.low) / 2, frame.rows - 1: frame.low}
    label = number(labels[row]) if row in labels else ""
    pieces = [Piece(f"{label:>{LABEL_WIDTH - 2}} {'┤' if label else '│'}", "axis")]
    for text, tone, behind, beside in zip(cells, tones, grey, colour, strict=True):
        if beside != " " and text in (" ", RESULT):
            text, tone = beside, "warn"
        elif behind != " " and text in (" ", RESULT):
            text, tone = behind, "dim" if tone != "warmup" else tone
        if len(pieces) > 1 and pieces[-1].tone == tone:
            pieces[-1] = Piece(pieces[-1].text + text, tone)
        else:
            pieces.append(Piece(text, tone))
    return pieces


RESULT = "╌"
CUT = {False: "▼", True: "▲"}
"""Marks at the lower and upper edge where the curve is cut off."""
AXIS = {"warmup": "░", "measured": "═", "": "─"}
"""Characters of the axis below the parts of the curve, for terminals without colours."""


def _axis(frame: CurveFrame, tones: Sequence[str]) -> list[list[Piece]]:
    line = " " * (LABEL_WIDTH - 1) + "└" + "".join(AXIS[tone] for tone in tones)
    left, right = f"{frame.first_step:.0f}", _("step {number}", number=f"{frame.last_step:.0f}")
    middle = f"{(frame.first_step + frame.last_step) / 2:.0f}"
    numbers = left + middle.rjust(frame.columns // 2 - len(left) + len(middle) // 2)
    numbers += " " * max(1, frame.columns - len(numbers) - cell_len(right)) + right
    return [[Piece(line, "axis")], [Piece(" " * LABEL_WIDTH + numbers, "axis")]]


def _legend(series: Series, low: float, warm_up: float | None, window: tuple[float, float] | None) -> list[str]:
    parts = [series.unit] if series.unit else []
    if series.result is not None:
        parts.append(f"{RESULT * 2} " + _("figure: {value}", value=number(series.result, series.unit)))
    if warm_up:
        parts.append(f"{AXIS['warmup'] * 2} " + _("warm-up to step {number}", number=f"{warm_up:.0f}"))
    if window:
        words = _("measured: steps {first} to {last}", first=f"{window[0]:.0f}", last=f"{window[1]:.0f}")
        parts.append(f"{AXIS['measured'] * 2} {words}")
    if low > 0:
        parts.append(_("axis starts at {value}", value=number(low)))
    return parts


def _cut_off_legend(points: list[tuple[float, float]], low: float, high: float) -> list[str]:
    values = [value for _, value in points]
    parts = []
    if min(values) < low:
        parts.append(f"{CUT[False]} " + _("cut off: down to {value}", value=number(min(values))))
    if max(values) > high:
        parts.append(f"{CUT[True]} " + _("cut off: up to {value}", value=number(max(values))))
    return parts
