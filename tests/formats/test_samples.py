"""Samples lie in memory, a column for each kind of number."""

from __future__ import annotations

from dlperf.formats.registry import parser_for
from dlperf.formats.samples import Samples


def test_a_record_takes_72_bytes() -> None:
    assert sum(column.itemsize for column in vars(Samples()).values()) == 72


def test_the_last_records_of_a_log_are_at_hand() -> None:
    parser = parser_for("dlperf")
    for step in range(1, 3000):
        parser.feed(b"DLPERF 2026-01-31T12:00:01.123456Z step=%d throughput=%d\n" % (step, step))
    recent = parser.runs[0].samples.last(2)
    assert list(recent.step) == [2998, 2999]
    assert list(recent.line) == list(recent.step)
    assert len(Samples().last(2)) == 0
