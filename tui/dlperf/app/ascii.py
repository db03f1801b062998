"""Drawing on a terminal that knows ASCII alone: every glyph of the screens has a stand-in of the same width."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_STAND_INS = {
    "─━═╌┄╴╶╸╺▔▁⎯": "-",
    "│┃║▎▏┆▕▊▌▐": "|",
    "┌┐└┘├┤┬┴┼╭╮╰╯╔╗╚╝╠╣╦╩╬┏┓┗┛": "+",
    "▂": "_",
    "▃▄": ".",
    "▅▆": "o",
    "▇█▉▋▍": "#",
    "░▒▓": ":",
    "▶▸→": ">",
    "◀◂←": "<",
    "▼▾↓": "v",
    "▲▴↑": "^",
    "●◉■": "*",
    "○◌□": "o",
    "◐": "%",
    "✓✔": "+",
    "✗✘×": "x",
    "·•⋅": ".",
    "…": "~",
    "–—": "-",
    "±": "+",
    "°": "'",
    "“”": '"',
    "‘’": "'",
}
_TABLE = {ord(glyph): stand_in for glyphs, stand_in in _STAND_INS.items() for glyph in glyphs}
_BRAILLE_TOP, _BRAILLE_BOTTOM = 0b0001_1011, 0b1110_0100
"""Dots of the two upper and the two lower rows of a Unicode braille pattern."""


def ascii_of(text: str) -> str:
    """``text`` in ASCII, as wide as before; what has no stand-in becomes question marks."""
    if text.isascii():
        return text
    return "".join(char if char.isascii() else _stand_in(char) for char in text)


def _stand_in(char: str) -> str:
    code = ord(char)
    if 0x2800 <= code <= 0x28FF:
        top, bottom = (code & _BRAILLE_TOP) != 0, (code & _BRAILLE_BOTTOM) != 0
        return ":" if top and bottom else "'" if top else "." if bottom else " "
    return _TABLE.get(code, "?" * cell_len(char))


class AsciiFilter(LineFilter):
    """Everything that is drawn passes through here."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(ascii_of(text), style, control) for text, style, control in segments]
