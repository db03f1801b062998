"""Bytes → lines."""

from __future__ import annotations

import pytest

from dlperf.formats.text.lines import LINE_LIMIT, LineReader


def read(*chunks: bytes) -> list[tuple[int, bytes]]:
    reader = LineReader()
    found = [lines for chunk in chunks for lines in reader.feed(chunk)]
    found += reader.finish()
    return [pair for lines in found for pair in zip(lines.numbers, lines.lines, strict=True) if pair[1]]


@pytest.mark.parametrize(
    ("log", "lines"),
    [
        (b"", []),
        (b"one\ntwo", [(1, b"one"), (2, b"two")]),
        (b"one\r\ntwo\r\n", [(1, b"one"), (2, b"two")]),
        (b"\r 0%\r50%\r100%record\nnext", [(1, b" 0%"), (1, b"50%"), (1, b"100%record"), (2, b"next")]),
        (b"\x1b[32mgreen\x1b[0m \x1b]0;title\x07plain\n", [(1, b"green plain")]),
        (b"device: \0.\n", [(1, b"device: .")]),
        (b"[1,0]<stdout>:a\n[1,3]<stderr>:b\n", [(1, b"a"), (2, b"b")]),
        (b"[0]<stdout>:a\n", [(1, b"a")]),
        (b"Wed Jun  1 12:19:09 2022[1,0]<stdout>:a\n", [(1, b"a")]),
        (b"plain[1,0]<stdout>:a\n", [(1, b"plain"), (1, b"a")]),
        (b"[1,4]<stderr>:storage.cc:196[1,4]<stderr>:: Using\n", [(1, b"storage.cc:196: Using")]),
        (b"[1,7]<stdout>:ab[1,6]<stdout>:xy\n[1,7]<stdout>:cd\n", [(1, b"xy"), (1, b"abcd")]),
        (b"[1,0]<stdout>:value 12[1,8]<stdout>:x\n", [(1, b"x"), (1, b"value ")]),
        (b"speed: 120.5\n", [(1, b"speed: 120.5")]),
        (b"speed: 120.5", [(1, b"speed: ")]),
        (b"speed: 1.2e+0", [(1, b"speed: ")]),
        (b"speed: 120.5 images/s", [(1, b"speed: 120.5 images/s")]),
        (b"time: 0.5, loss: 2.25", [(1, b"time: 0.5, loss: 2.25")]),
        (b"[1,0]<stderr>: 10%\r 20%[1,1]<stderr>:x\n", [(1, b" 10%"), (1, b"x"), (1, b" 20%")]),
    ],
)
def test_lines_are_what_programs_wrote(log, lines):
    assert read(log) == lines
    assert read(*(log[at : at + 1] for at in range(len(log)))) == lines


@pytest.mark.parametrize(
    ("log", "count"), [(b"", 0), (b"a", 1), (b"7", 1), (b"a\n", 1), (b"a\nb", 2), (b"a\rb\r", 1), (b"\n\n", 2)]
)
def test_physical_lines_are_counted_once(log, count):
    reader = LineReader()
    for at in range(len(log)):
        list(reader.feed(log[at : at + 1]))
    list(reader.finish())
    assert reader.count == count


@pytest.mark.parametrize("before", [b"", b"x\n", b"x\n" * 20_000])
@pytest.mark.parametrize("after", [b"", b"\n", b"\ny" * 20_000])
@pytest.mark.parametrize("more", [0, 1, LINE_LIMIT])
def test_of_a_long_line_the_beginning_is_kept(before, after, more):
    lines = read(before + b"a" * (LINE_LIMIT + more) + after)
    assert (before.count(b"\n") + 1, b"a" * LINE_LIMIT) in lines
    assert max(len(line) for _, line in lines) == LINE_LIMIT
