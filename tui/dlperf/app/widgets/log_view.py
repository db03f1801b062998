"""A log of any size, live: draws the rows in view from the file, at most once per frame."""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events, work
from textual.app import RenderResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.worker import get_current_worker

from dlperf.app.logs.line_numbers import LineNumbers
from dlperf.app.logs.log_file import LogFile
from dlperf.app.logs.search import ERRORS, Pattern, matching_lines, next_match, pattern_of, previous_match
from dlperf.app.logs.source import AllLines, MatchingLines
from dlperf.app.logs.window import LogWindow, ShownRow
from dlperf.app.model.text import file_size
from dlperf.app.words import say

_WARNING = re.compile(r"\bWARN(?:ING)?\b|\bwarn(?:ing)?\b", re.ASCII)


class LogView(Widget, can_focus=True):
    """Shows one log file. Its screen calls ``poll`` on every frame."""

    DEFAULT_CSS = """
    LogView {
        height: 1fr;
        & > .log-view--error { color: $text-error; }
        & > .log-view--warning { color: $text-warning; }
        & > .log-view--match { background: $warning-muted; color: $text-warning; }
        & > .log-view--marked { background: $primary-muted; }
        & > .log-view--message { color: $text-muted; text-style: italic; }
        & > .log-view--thumb { color: $primary; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"log-view--{name}" for name in ("error", "warning", "match", "marked", "message", "thumb")
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_rows(-1)", show=False),
        Binding("down,j", "scroll_rows(1)", show=False),
        Binding("pageup,ctrl+u,b", "scroll_pages(-1)", show=False),
        Binding("pagedown,ctrl+d", "scroll_pages(1)", show=False),
        Binding("home,g", "start", show=False),
        Binding("end,G", "end", show=False),
        Binding("left", "sideways(-16)", show=False),
        Binding("right", "sideways(16)", show=False),
    ]

    class Changed(Message):
        """What the view says of itself (``status``) has changed."""

        def __init__(self, view: LogView) -> None:
            super().__init__()
            self.view = view

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.path: Path | None = None
        self.message = ""
        """Said while there is no log."""
        self.only_matching = ""
        """The regular expression that shown lines match."""
        self._file: LogFile | None = None
        self._window: LogWindow | None = None
        self._numbers: LineNumbers | None = None
        self._matches: MatchingLines | None = None
        self._pattern: Pattern | None = None
        self._problem = ""
        self._left = 0
        self._marked: int | None = None
        self._rows: list[ShownRow] | None = None
        self._seen_size = 0

    # ------------------------------------------------------------------ files

    def show_log(self, path: Path | None, message: str = "") -> None:
        """Show another log, at its end; while ``path`` does not exist, the message."""
        if path == self.path and self._file is not None:
            return
        self._close()
        self.path, self.message = path, message
        self._left, self._marked = 0, None
        self.poll()
        self._redraw()

    def poll(self) -> None:
        """Look whether the log has appeared or grown."""
        if self._file is not None and (
            self._file.replaced or (self._file.refresh() and self._file.size < self._seen_size)
        ):
            self._close()
        if self._file is None:
            self._open()
        elif self._file.size != self._seen_size:
            self._grown()

    def _shrunk(self) -> bool:
        assert self._file is not None
        return self._file.refresh() and self._file.size < self._seen_size

    def _open(self) -> None:
        if self.path is None:
            return
        try:
            self._file = LogFile(self.path)
        except OSError:
            return
        self._window = LogWindow(AllLines(self._file))
        self._numbers = LineNumbers(self._file)
        self._seen_size = self._file.size
        self._fit()
        if self.only_matching:
            self._start_matching()
        self._redraw()

    def _grown(self) -> None:
        assert self._file is not None
        assert self._window is not None
        self._seen_size = self._file.size
        if self._matches is not None:
            self._match_more()
        if self._window.follow:
            self._redraw()
        else:
            self.post_message(self.Changed(self))

    def _close(self) -> None:
        self.workers.cancel_node(self)
        if self._file is not None:
            self._file.close()
        self._file = self._window = self._numbers = self._matches = None
        self._seen_size = 0
        self._redraw()

    def on_unmount(self) -> None:
        self._close()

    # ---------------------------------------------------------------- drawing

    def render(self) -> RenderResult:
        return ""

    def on_resize(self) -> None:
        self._fit()
        self._redraw()

    def _fit(self) -> None:
        if self._window is not None:
            self._window.height = max(1, self.size.height)
            self._window.width = max(1, self.size.width - 1)

    def _redraw(self) -> None:
        self._rows = None
        self.refresh()
        if self.is_mounted:
            self.post_message(self.Changed(self))

    def render_line(self, y: int) -> Strip:
        if self._window is None or self._file is None or self._file.size == 0:
            return self._message_line(y)
        if self._rows is None:
            self._rows = self._window.rows()
        if not self._rows:
            return self._message_line(y)
        strip = self._row_strip(self._rows[y]) if y < len(self._rows) else Strip.blank(self.size.width, self.rich_style)
        return Strip([*strip.crop_extend(0, self.size.width - 1, self.rich_style), self._thumb(y)])

    def _message_line(self, y: int) -> Strip:
        lines = self._empty_message().splitlines()
        text = lines[y] if y < len(lines) else ""
        style = self.rich_style + self._component("message")
        return Strip([Segment(text, style)]).crop_extend(0, self.size.width, self.rich_style)

    def _empty_message(self) -> str:
        if self._file is None:
            return self.message
        if self._file.size == 0:
            return say("The log is empty so far.")
        return say("No line matches {pattern}. esc shows all lines.", pattern=self.only_matching)

    def _row_strip(self, row: ShownRow) -> Strip:
        text = row.text if self._window and self._window.wrap else row.text[: self._left + self.size.width]
        style = self.rich_style + self._tone(row.line.data)
        if row.line.start == self._marked:
            style += self._component("marked")
        return Strip(self._segments(text, style)).crop(self._left, self._left + self.size.width)

    def _segments(self, text: str, style: Style) -> list[Segment]:
        """The text with what was searched for marked."""
        if self._pattern is None:
            return [Segment(text, style)]
        segments, position = [], 0
        highlight = style + self._component("match")
        for start, end in _spans(self._pattern, text):
            segments += [Segment(text[position:start], style), Segment(text[start:end], highlight)]
            position = end
        return [*segments, Segment(text[position:], style)]

    def _tone(self, data: bytes) -> Style:
        if ERRORS.search(data[:4096]):
            return self._component("error")
        if _WARNING.search(data[:4096].decode("ascii", "ignore")):
            return self._component("warning")
        return Style.null()

    def _component(self, name: str) -> Style:
        style = self.get_component_rich_style(f"log-view--{name}")
        return style if name in ("match", "marked") else Style(color=style.color, italic=style.italic)

    def _thumb(self, y: int) -> Segment:
        """One cell of the scroll bar."""
        assert self._window is not None
        if self._window.follow:
            here = self.size.height - 1
        else:
            top = self._window.top
            here = round((self._window.source.share(top.line.start) if top else 0) * (self.size.height - 1))
        return Segment("█" if y == here else "│", self.rich_style + self._component("thumb"))

    # ----------------------------------------------------------------- status

    @property
    def following(self) -> bool:
        return self._window is None or self._window.follow

    @property
    def status(self) -> str:
        """Where the view stands, for its frame."""
        if self._problem:
            return self._problem
        if self._file is None or self._window is None:
            return ""
        parts = [say("following") if self._window.follow else self._standing(), file_size(self._file.size)]
        if self._matches is not None:
            count = f"{len(self._matches):,}{'+' if self._matches.full else ''}"
            parts.append(say("{count} lines match {pattern}", count=count, pattern=self.only_matching))
        if self._window.wrap:
            parts.append(say("wrapped"))
        return " · ".join(parts)

    def _standing(self) -> str:
        assert self._window is not None
        assert self._numbers is not None
        top = self._window.top
        start = self._marked if self._marked is not None else top.line.start if top else 0
        number = self._numbers.number_at(start)
        if number is None:
            self._count_lines()
            return say("paused at {share:.0%}", share=self._window.source.share(start))
        return say("paused at line {number:,}", number=number)

    @work(thread=True, exclusive=True, group="numbers")
    def _count_lines(self) -> None:
        worker, numbers = get_current_worker(), self._numbers
        if numbers is None:
            return
        try:
            numbers.advance(lambda: worker.is_cancelled)
        except (OSError, ValueError):
            return  # the log was closed meanwhile
        self.post_message(self.Changed(self))

    # ---------------------------------------------------------------- moving

    def toggle_follow(self) -> None:
        """Go to the end and stay there, or stop here."""
        if self._window is not None:
            if self._window.follow:
                self._window.scroll(-1)
            else:
                self._window.follow, self._marked = True, None
            self._redraw()

    def toggle_wrap(self) -> None:
        if self._window is not None:
            self._window.wrap = not self._window.wrap
            self._left = 0
            self._redraw()

    def action_scroll_rows(self, rows: int) -> None:
        if self._window is not None:
            self._window.scroll(rows)
            self._redraw()

    def action_scroll_pages(self, pages: int) -> None:
        self.action_scroll_rows(pages * max(1, self.size.height - 1))

    def action_start(self) -> None:
        if self._window is not None:
            self._window.show_start()
            self._redraw()

    def action_end(self) -> None:
        if self._window is not None:
            self._window.follow, self._marked = True, None
            self._redraw()

    def action_sideways(self, cells: int) -> None:
        self._left = max(0, self._left + cells)
        self._redraw()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.action_scroll_rows(-3)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.action_scroll_rows(3)

    def on_click(self, event: events.Click) -> None:
        if self._window is None:
            return
        if event.x >= self.size.width - 1:
            self._window.show_share(event.y / max(1, self.size.height - 1))
        elif self._rows and event.y < len(self._rows):
            self._marked = self._rows[event.y].line.start
            if self._window.follow:
                self._window.scroll(-1)
                self._window.scroll(1)
        self._redraw()

    def show_line_number(self, number: int) -> None:
        """Go to a line by its number, and mark it."""
        if self._numbers is None or self._file is None:
            return
        self._numbers.advance()
        start = self._numbers.offset_of(number)
        if start is not None:
            self._go_to(start)

    def _go_to(self, start: int) -> None:
        if self._window is not None:
            self._marked = start
            self._window.show_line(start)
            self._redraw()

    # --------------------------------------------------------------- searching

    def find(self, text: str, jump: bool = True) -> None:
        """Mark what matches a regular expression, and go to the next match from here."""
        self._pattern = self._compiled(text)
        if self._pattern is not None and jump:
            self._search(self._pattern, forward=True, start=self._here())
        self._redraw()

    def find_again(self, forward: bool) -> None:
        """The next match, or the one before."""
        if self._pattern is not None:
            here = self._here()
            self._search(self._pattern, forward, here + 1 if forward else here)

    def find_first_error(self) -> None:
        """Go to the first line that says that something went wrong."""
        self._search(ERRORS, forward=True, start=0)

    def show_only(self, text: str) -> None:
        """Show only the lines that match a regular expression; all of them for an empty text."""
        self.only_matching = text if self._compiled(text) else ""
        if self._file is not None and self._window is not None:
            self._matches = None
            if self.only_matching:
                self._start_matching()
            else:
                self._window.use(AllLines(self._file))
        self._redraw()

    def copied(self) -> str:
        """The marked line, whole, or the text in view."""
        if self._file is None:
            return ""
        if self._marked is not None and (line := self._file.line_at(self._marked)):
            return line.data.decode("utf-8", "replace")
        return "\n".join(row.text for row in self._window.rows()) if self._window else ""

    def _here(self) -> int:
        if self._marked is not None:
            return self._marked
        top = self._window.top if self._window and not self._window.follow else None
        return top.line.start if top else 0

    def _compiled(self, text: str) -> Pattern | None:
        self._problem = ""
        if not text:
            return None
        try:
            return pattern_of(text)
        except re.error as error:
            self._problem = say("no regular expression: {reason}", reason=error.msg)
            return None

    @work(thread=True, exclusive=True, group="search")
    def _search(self, pattern: Pattern, forward: bool, start: int) -> None:
        worker, log = get_current_worker(), self._file
        if log is None:
            return
        search = next_match if forward else previous_match
        try:
            found = search(log, pattern, start, lambda: worker.is_cancelled)
        except (OSError, ValueError):
            return  # the log was closed meanwhile
        if not worker.is_cancelled:
            self.app.call_from_thread(self._found, found)

    def _found(self, start: int | None) -> None:
        self._problem = "" if start is not None else say("no match further on")
        if start is not None:
            self._go_to(start)
        self._redraw()

    def _start_matching(self) -> None:
        assert self._file is not None
        assert self._window is not None
        self._pattern = pattern_of(self.only_matching)
        self._matches = MatchingLines(self._file)
        self._window.source = self._matches
        self._match_more()

    @work(thread=True, exclusive=True, group="matching")
    def _match_more(self) -> None:
        worker, log, matches, pattern = get_current_worker(), self._file, self._matches, self._pattern
        if log is None or matches is None or pattern is None:
            return
        try:
            for starts, searched in matching_lines(log, pattern, matches.searched, stop=lambda: worker.is_cancelled):
                if worker.is_cancelled or matches.full:
                    break
                matches.add(starts, searched)
                self.app.call_from_thread(self._redraw)
        except (OSError, ValueError):
            return  # the log was closed meanwhile


def _spans(pattern: Pattern, text: str) -> list[tuple[int, int]]:
    """Where a pattern of bytes matches in a text, by character."""
    data = text.encode()
    if len(data) == len(text):
        return [match.span() for match in pattern.finditer(data) if match.end() > match.start()]
    spans = (match.span() for match in pattern.finditer(data))
    return [
        (len(data[:a].decode("utf-8", "ignore")), len(data[:b].decode("utf-8", "ignore"))) for a, b in spans if b > a
    ]
