"""Terminals that are closed, and terminals that know ASCII only."""

import asyncio
import os
import select
import signal
import socket
import threading
import time
from codecs import getincrementaldecoder
from collections.abc import Callable
from typing import Any

from rich.cells import cell_len
from rich.segment import Segment
from textual._xterm_parser import XTermParser
from textual.color import Color
from textual.constants import ESCAPE_DELAY
from textual.drivers.linux_driver import LinuxDriver
from textual.filter import LineFilter

from dlperf.messages import language

_REPLACEMENTS = {
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
_TABLE = {ord(glyph): replacement for glyphs, replacement in _REPLACEMENTS.items() for glyph in glyphs}
TICK_SECONDS, READ_BYTES = 0.1, 4096
_BRAILLE_TOP, _BRAILLE_BOTTOM = 0b0001_1011, 0b1110_0100
"""Dots of the upper and the lower two rows of a braille pattern (Unicode chart U+2800)."""


def ascii_of(text: str) -> str:
    """Return ``text`` in ASCII, equally wide; unknown characters become question marks."""
    if text.isascii():
        return text
    return "".join(char if char.isascii() else _replacement(char) for char in text)


def _replacement(char: str) -> str:
    code = ord(char)
    if 0x2800 <= code <= 0x28FF:
        top, bottom = (code & _BRAILLE_TOP) != 0, (code & _BRAILLE_BOTTOM) != 0
        return ":" if top and bottom else "'" if top else "." if bottom else " "
    return _TABLE.get(code, "?" * cell_len(char))


def notification(title: str, text: str, term: str = "") -> str:
    """Return the sequences that set a terminal's title and notify: of xterm (2), iTerm2 (9), rxvt (777), kitty (99).

    kitty knows more than one of them and would notify twice.
    """
    plain = text.replace(";", ",")
    both = f"{title}{language().colon}{plain}"
    notify = (f"9;{both}", f"777;notify;{title.replace(';', ',')};{plain}")
    codes = (f"2;{title}", *((f"99;;{both}",) if "kitty" in term else notify))
    return "".join(f"\x1b]{code}\x07" for code in codes)


def is_hung_up(is_web: bool) -> bool:
    """Return whether the terminal was closed, or the server that shows the program in a browser has ended."""
    if not is_web:
        return not os.isatty(0)
    closed = select.poll()
    closed.register(0, 0)  # which reports a hang-up all the same
    return bool(closed.poll(0))


class AsciiFilter(LineFilter):
    """Applied by Textual to all that is drawn."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(ascii_of(text), style, control) for text, style, control in segments]


class SelectableEvent(threading.Event):
    """An event that ``select`` can wait for."""

    def __init__(self) -> None:
        super().__init__()
        self._reader, self._writer = socket.socketpair()

    def fileno(self) -> int:
        return self._reader.fileno()

    def set(self) -> None:
        super().set()
        self._writer.send(b"\0")

    def clear(self) -> None:
        if self.is_set():
            self._reader.recv(1)
        super().clear()


class TerminalDriver(LinuxDriver):
    """Neither waits for a closed terminal nor reads from it again, and sleeps until there is a key.

    A hang-up sends SIGHUP, then SIGCONT. Textual takes every SIGCONT for the end of ctrl+z, and would start a second
    thread that reads keys and never ends. Textual has no public hook for either.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.exit_event: SelectableEvent = SelectableEvent()

    def run_input_thread(self) -> None:
        """Handle keys until the end; Textual's own loop wakes ten times a second, a fifth of what idling cost."""
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")("replace").decode
        waiting_until = 0.0
        while not self.exit_event.is_set():
            waits = time.monotonic() < waiting_until  # for what follows an escape character
            ready, _, _ = select.select([self.fileno, self.exit_event], [], [], TICK_SECONDS if waits else None)
            if self.fileno in ready:
                waiting_until = time.monotonic() + ESCAPE_DELAY + TICK_SECONDS
                if not (data := os.read(self.fileno, READ_BYTES)):  # hung up, which the app notices
                    return
                if text := decode(data):  # else a part of a character
                    for event in parser.feed(text):
                        self.process_message(event)
            for event in parser.tick():
                self.process_message(event)

    def _sigcont_application(self, *_: object) -> None:
        if self._must_signal_resume:
            super()._sigcont_application()

    @property
    def _is_writing(self) -> bool:
        # the writing thread ends with the first failed write; then its queue would fill, and block
        return self._writer_thread is not None and self._writer_thread.is_alive()

    def write(self, data: str) -> None:
        if self._is_writing:
            super().write(data)

    def close(self) -> None:
        if self._is_writing:
            super().close()


def on_signals(leave: Callable[[int], object]) -> None:
    """Call this, which restores the terminal, with the number of a signal that would end the program."""
    loop = asyncio.get_running_loop()
    for code in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(code, leave, code)
