"""How a log looks: the rows in view with their colours, the scroll bar, and the status in its frame."""

import re
from itertools import pairwise

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.app import RenderResult
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from dlperf.app.logs.log_file import LogLine
from dlperf.app.logs.opened import OpenLog
from dlperf.app.logs.search import Pattern, error_pattern
from dlperf.app.logs.window import ShownRow, shown_text
from dlperf.app.widgets.looks import looks
from dlperf.messages import _
from dlperf.view.text import file_size, percent, printable

_WARNING = re.compile(rb"\bWARN(?:ING)?\b|\bwarn(?:ing)?\b")
COLOURED_BYTES = 4096
"""Only the beginning of a line decides its colour."""
COLOUR = b"\x1b["


def coloured(data: bytes, style: Style) -> list[Segment]:
    """Return a line in the colours of its escape sequences, of which nothing else is kept."""
    text = Text.from_ansi(data.decode("utf-8", "replace").rstrip("\r"))
    edges = sorted({0, len(text), *(edge for span in text.spans for edge in (span.start, span.end))})
    segments = []
    for start, end in pairwise(edges):
        styles = [span.style for span in text.spans if span.start <= start < span.end]
        own = Style.combine([Style.null(), *(each for each in styles if isinstance(each, Style))])
        plain = Style(color=own.color, bgcolor=own.bgcolor, bold=own.bold, dim=own.dim, underline=own.underline)
        segments.append(Segment(printable(text.plain[start:end]), style + plain))
    return segments


class LogDrawing(Widget):
    """Draws the rows of ``log_shown`` that are in view, read from the file at most once per frame."""

    class Changed(Message):
        """``status`` has changed."""

    def __init__(self, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.log_shown: OpenLog | None = None
        self.title = ""
        self.message = ""
        self.live = True
        """Whether more may be written to the log."""
        self.only_matching = ""
        """The regular expression that shown lines match."""
        self.pattern: Pattern | None = None
        """Highlighted wherever it matches."""
        self.marked: int | None = None
        """Where the marked line starts."""
        self.highlighted = range(0)
        """Where the highlighted lines start."""
        self.left = 0
        """Cells that are hidden on the left."""
        self.problem = ""
        """Shown in place of the status."""
        self.rows: list[ShownRow] | None = None
        """The rows in view, once they have been read for this frame."""

    def render(self) -> RenderResult:
        return ""

    def on_resize(self) -> None:
        self.fit_window()
        self.redraw()

    def fit_window(self) -> None:
        if self.log_shown is not None:
            self.log_shown.window.resize(max(1, self.size.width - 1), max(1, self.size.height))

    def redraw(self) -> None:
        self.rows = None
        self.refresh()
        if self.is_mounted:
            self.post_message(self.Changed())

    def render_line(self, y: int) -> Strip:
        log = self.log_shown
        if log is None or log.file.size == 0:
            return self._message_line(y)
        if self.rows is None:
            self.rows = log.window.rows()
        if not self.rows:
            return self._message_line(y)
        base = self.visual_style.rich_style
        strip = self._row_strip(log, *self.rows[y], base) if y < len(self.rows) else Strip.blank(0, base)
        return Strip([*strip.crop_extend(0, self.size.width - 1, base), self._thumb(log, y, base)])

    def _message_line(self, y: int) -> Strip:
        lines = Text(self._empty_message()).wrap(self.app.console, max(1, self.size.width))
        text = lines[y].plain if y < len(lines) else ""
        base = self.visual_style.rich_style
        return Strip([Segment(text, base + self._look("empty"))]).crop_extend(0, self.size.width, base)

    def _empty_message(self) -> str:
        if self.log_shown is None:
            return self.message
        if self.log_shown.file.size == 0:
            return _("The log is empty so far.")
        if self.log_shown.matches is not None and self.log_shown.matches.searched_share < 1:
            return _("Searching … {share}", share=percent(self.log_shown.matches.searched_share, 0))
        return _("No line matches {pattern}. esc shows all lines.", pattern=self.only_matching)

    def _row_strip(self, log: OpenLog, line: LogLine, text: str, base: Style) -> Strip:
        text = text if log.window.wrap else text[: self.left + self.size.width]
        style = base + self._tone(line.data[:COLOURED_BYTES])
        if line.start == self.marked or line.start in self.highlighted:
            style += self._look("marked")
        return Strip(self._segments(text, style, line.data)).crop(self.left, self.left + self.size.width)

    def _segments(self, text: str, style: Style, data: bytes) -> list[Segment]:
        """Return the text with the matches of a search, else with the colours that the program printed."""
        if self.pattern is None or not self.pattern.search(text):
            has_colours = COLOUR in data and len(data) < COLOURED_BYTES and text == shown_text(data)  # not wrapped
            return coloured(data, style) if has_colours else [Segment(text, style)]
        segments, position = [], 0
        highlight = style + self._look("match")
        for start, end in (match.span() for match in self.pattern.finditer(text) if match.group()):
            segments += [Segment(text[position:start], style), Segment(text[start:end], highlight)]
            position = end
        return [*segments, Segment(text[position:], style)]

    def _tone(self, data: bytes) -> Style:
        if error_pattern().search(data):
            return self._look("bad")
        return self._look("warn") if _WARNING.search(data) else Style.null()

    def _look(self, name: str) -> Style:
        return looks(self.app.theme)[name]

    def _thumb(self, log: OpenLog, y: int, base: Style) -> Segment:
        top = None if log.window.follow else log.window.top
        share = 1.0 if log.window.follow else log.window.source.share(top.line.start) if top else 0.0
        thumb = round(share * (self.size.height - 1))
        return Segment("█" if y == thumb else "│", base + self._look("thumb"))

    @property
    def status(self) -> str:
        if self.problem or self.log_shown is None:
            return self.problem
        log = self.log_shown
        end = _("following") if self.live else _("at the end")
        parts = [end if log.window.follow else self._position(log), file_size(log.file.size)]
        if log.found is not None and (number := log.found.number_at(self.marked)):
            parts.insert(0, f"{number:,}/{log.found.count_text}")
        if log.matches is not None:
            count = log.matches.count_text
            parts.append(_("{count} lines match {pattern}", count=count, pattern=self.only_matching))
        for matches in (log.matches, log.found):
            if matches is not None and matches.searched_share < 1:
                parts.append(_("searched: {share}", share=percent(matches.searched_share, 0)))
        if log.window.wrap:
            parts.append(_("wrapped"))
        return " · ".join(parts)

    def _position(self, log: OpenLog) -> str:
        top = log.window.top
        start = self.marked if self.marked is not None else top.line.start if top else 0
        number = log.numbers.number_at(start)
        if number is None:
            self.count_lines()
            return _("paused at {share}", share=percent(log.window.source.share(start), 0))
        return _("paused at line {number:,}", number=number)

    def count_lines(self) -> None:
        """Called where a line's number is not known yet."""
