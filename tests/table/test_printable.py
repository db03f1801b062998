"""Program output is quoted as one safe line."""

from __future__ import annotations

from dlperf.measured.error_lines import printable_end


def test_the_end_of_a_log_becomes_one_line_that_is_safe_to_show() -> None:
    log = b"first\nsecond\n\x1b[31mError:\x1b[0m out of\tmemory\r50%\r100%\n\n\xff\n"
    assert printable_end(log) == "50% | 100% | \ufffd"
    assert "\x1b" not in printable_end(log, lines=9)
