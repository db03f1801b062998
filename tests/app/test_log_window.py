"""The window over a log stays where it is put, whatever is written meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlperf.app.logs.log_file import LogFile
from dlperf.app.logs.search import pattern_of
from dlperf.app.logs.window import LogWindow, MatchingLines, shown_text


def window_over(path: Path, text: str, height: int = 4, width: int = 10) -> LogWindow:
    path.write_text(text)
    window = LogWindow(LogFile(path))
    window.resize(width, height)
    return window


def shown(window: LogWindow) -> list[str]:
    return [text for _line, text in window.rows()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "out.log"


def numbered(first: int, last: int) -> str:
    return "".join(f"line {number}\n" for number in range(first, last + 1))


def log_of(window: LogWindow) -> LogFile:
    assert isinstance(window.source, LogFile)
    return window.source


def test_following_shows_the_end(path: Path):
    window = window_over(path, numbered(1, 20))
    assert shown(window) == ["line 17", "line 18", "line 19", "line 20"]
    with path.open("a") as stream:
        stream.write(numbered(21, 22))
    log_of(window).refresh()
    assert shown(window) == ["line 19", "line 20", "line 21", "line 22"]


def test_where_all_matches_lie_before_the_place_shown_the_last_ones_are_shown(path: Path):
    window = window_over(path, numbered(1, 40))
    window.scroll(-1)
    matches = MatchingLines(log_of(window), pattern_of("line 1"))
    window.source = matches
    assert shown(window) == []
    matches.advance(lambda: False)
    assert shown(window) == ["line 16", "line 17", "line 18", "line 19"]


def test_a_short_log_is_shown_from_its_first_line(path: Path):
    assert shown(window_over(path, numbered(1, 2))) == ["line 1", "line 2"]


def test_scrolling_up_stops_following_and_nothing_moves_while_the_log_grows(path: Path):
    window = window_over(path, numbered(1, 20))
    window.scroll(-2)
    assert shown(window) == ["line 15", "line 16", "line 17", "line 18"]
    with path.open("a") as stream:
        stream.write(numbered(21, 5000))
    log_of(window).refresh()
    assert shown(window) == ["line 15", "line 16", "line 17", "line 18"]


def test_scrolling_stops_at_both_ends(path: Path):
    window = window_over(path, numbered(1, 20))
    window.scroll(-100)
    assert shown(window)[0] == "line 1"
    window.scroll(100)
    assert shown(window) == ["line 17", "line 18", "line 19", "line 20"]
    assert not window.follow


def test_a_last_line_that_grows_is_shown_whole(path: Path):
    window = window_over(path, "one\ntw")
    window.scroll(-1)
    with path.open("a") as stream:
        stream.write("o\nthree\n")
    log_of(window).refresh()
    assert shown(window) == ["one", "two", "three"]


def test_wrapped_lines_are_scrolled_row_by_row(path: Path):
    window = window_over(path, "0123456789abcdef\nshort\n中文中文中文\n", height=3)
    window.wrap = True
    assert shown(window) == ["short", "中文中文中", "文"]
    window.scroll(-1)
    assert shown(window) == ["abcdef", "short", "中文中文中"]
    window.scroll(-5)
    assert shown(window) == ["0123456789", "abcdef", "short"]


def test_a_line_that_was_found_is_put_a_third_down(path: Path):
    window = window_over(path, numbered(1, 30), height=6)
    window.show_line(len(numbered(1, 14)))
    assert shown(window)[2] == "line 15"


def test_only_matching_lines_are_scrolled_over(path: Path):
    window = window_over(path, numbered(1, 30))
    log = log_of(window)
    matches = MatchingLines(log, pattern_of("[05]$"))
    matches.advance(lambda: False)
    window.use(matches)
    window.follow = True
    assert shown(window) == ["line 15", "line 20", "line 25", "line 30"]
    window.scroll(-1)
    assert shown(window) == ["line 10", "line 15", "line 20", "line 25"]
    window.use(log)
    assert shown(window)[0] == "line 10"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"10 %\r55 %\r100 %", "100 %"),
        (b"10 %\r55 %\r\r", "55 %"),
        (b"\x1b[31mred\x1b[0m \x1b]0;title\x07text", "red text"),
        (b"bell\x07 null\x00", "bell· null·"),
        (b"tab\tstop", "tab     stop"),
        (b"broken \xff utf-8", "broken � utf-8"),
        ("批大小 256".encode(), "批大小 256"),
    ],
)
def test_a_line_cannot_steer_the_terminal(data: bytes, text: str):
    assert shown_text(data) == text


def test_a_line_that_was_gone_to_stays_a_third_down_when_the_window_is_resized(path: Path):
    window = window_over(path, numbered(1, 20), height=1)
    window.show_line(path.read_text().index("line 9"))
    window.resize(10, 6)
    assert shown(window)[2] == "line 9"
    window.scroll(1)
    window.resize(10, 3)
    assert shown(window) == ["line 8", "line 9", "line 10"]
