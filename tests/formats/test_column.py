"""A column is a list of numbers, of any length."""

from __future__ import annotations

import tempfile
import tracemalloc
from array import array
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlperf.errors import DlperfError
from dlperf.formats import column as module
from dlperf.formats.column import BLOCK, IN_MEMORY, Column, Spool
from dlperf.formats.registry import parser_for
from dlperf.formats.samples import Samples

PIECES = st.lists(st.integers(0, 3 * BLOCK), max_size=6)
BOUND = st.none() | st.integers(-8 * BLOCK, 8 * BLOCK)


@given(PIECES, BOUND, BOUND)
def test_a_column_reads_like_the_list_of_what_was_added(pieces: list[int], first: int | None, end: int | None) -> None:
    column, numbers = Column[int]("q"), list[int]()
    for count in pieces:
        more = range(len(numbers), len(numbers) + count)
        column.extend(array("q", more) if count % 2 else more)
        numbers += more
    part = column[first:end]
    assert list(column) == numbers
    assert len(column) == len(numbers)
    assert list(part) == numbers[first:end]
    assert list(part[1:-1]) == numbers[first:end][1:-1]
    assert [column[index] for index in range(-len(numbers), len(numbers), 97)] == [
        numbers[index] for index in range(-len(numbers), len(numbers), 97)
    ]
    assert [number for block in column.blocks() for number in block] == numbers


def test_a_number_that_is_not_there_is_an_index_error() -> None:
    with pytest.raises(IndexError):
        Column("d", [1.0])[1]


def test_a_column_grows_after_it_was_read() -> None:
    column = Column("d", [0.0] * (BLOCK - 1))
    assert column[-1] == 0.0
    column.extend([1.0, 2.0])
    assert (column[BLOCK - 1], column[BLOCK]) == (1.0, 2.0)


def test_columns_of_one_spool_keep_apart() -> None:
    spool = Spool()
    ones, twos = Column[float]("d", spool=spool), Column[float]("d", spool=spool)
    for _ in range(5):
        ones.extend([1.0] * BLOCK)
        twos.extend([2.0] * BLOCK)
    assert set(ones) == {1.0}
    assert set(twos) == {2.0}


def test_ten_times_the_numbers_need_no_more_memory() -> None:
    assert peak_memory(20 * IN_MEMORY // 8) < peak_memory(2 * IN_MEMORY // 8) + IN_MEMORY / 4


def peak_memory(count: int) -> int:
    """Bytes while a column of so many numbers is written and read."""
    tracemalloc.start()
    column = Column[float]("d")
    block = array("d", [1.0]) * BLOCK
    for _ in range(count // BLOCK):
        column.extend(block)
    assert sum(column) == count
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_the_last_records_of_a_long_log_are_at_hand() -> None:
    parser = parser_for("dlperf")
    for step in range(1, 3 * BLOCK):
        parser.feed(b"DLPERF 2026-01-31T12:00:01.123456Z step=%d throughput=%d\n" % (step, step))
    recent = parser.runs[0].samples.last(2)
    assert list(recent.step) == [3 * BLOCK - 2, 3 * BLOCK - 1]
    assert list(recent.line) == list(recent.step)
    assert len(Samples().last(2)) == 0


def test_a_full_temporary_folder_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "IN_MEMORY", 1)
    monkeypatch.setattr(tempfile, "tempdir", "/dev/full")
    with pytest.raises(DlperfError, match="set TMPDIR to a folder with room"):
        Column("d", [1.0] * 2 * BLOCK)
