"""What is found does not depend on how the bytes arrive, and nothing in them makes a parser raise."""

from __future__ import annotations

import gc
import re
import weakref
from itertools import pairwise
from math import isfinite

import pytest
from expectation import described
from fixtures import LOGS, name, parsed
from hypothesis import given, settings
from hypothesis import strategies as st

from dlperf.formats.registry import detect, format_ids, parser_for
from dlperf.formats.text import lines as lines_module

CUTS = st.lists(st.integers(0, 6000), max_size=12)

NUMBERS = {"long": b"9" * 5000, "huge": b"1e999", "zero": b"0", "dots": b"1.2.3", "dash": b"-"}

SEPARATORS = st.sampled_from([b"\n", b"\r", b"\r\n", b"", b"\x1b[32m", b"\0", b"[1,0]<stdout>:", b"[1,1]<stderr>:"])


def cut(data: bytes, cuts: list[int]) -> list[bytes]:
    bounds = sorted({0, len(data), *(each for each in cuts if each < len(data))})
    return [data[start:end] for start, end in pairwise(bounds)]


def columns(format_id: str, *chunks: bytes) -> tuple[object, ...]:
    parser = parsed(format_id, *chunks)
    values = [repr([list(column) for column in vars(run.samples).values()]) for run in parser.runs]
    return described(parser), values


@pytest.mark.parametrize("log", LOGS, ids=name)
def test_a_log_that_is_cut_anywhere_gives_no_figure_that_is_not_in_it(log):
    data = log.read_bytes()
    whole = figures(log.parent.name, data)
    assert all(figures(log.parent.name, data[:end]) <= whole for end in range(max(len(data) - 250, 0), len(data)))


def figures(format_id: str, data: bytes) -> set[float]:
    runs = parsed(format_id, data).runs
    printed = [value for run in runs for value in (*run.samples.value, *run.samples.seconds_per_step)]
    return {value for value in printed if isfinite(value)} | {
        summary.value for run in runs for summary in (*run.epochs, *run.summaries)
    }


@pytest.mark.parametrize("log", LOGS, ids=name)
@given(cuts=CUTS)
@settings(max_examples=15)
def test_a_log_gives_the_same_in_any_chunking(log, cuts):
    data = log.read_bytes()
    assert columns(log.parent.name, *cut(data, cuts)) == columns(log.parent.name, data)


@pytest.mark.parametrize("log", LOGS, ids=name)
def test_a_log_gives_the_same_byte_by_byte(log):
    data = log.read_bytes()
    assert columns(log.parent.name, *(data[at : at + 1] for at in range(len(data)))) == columns(log.parent.name, data)


@given(data=st.data())
@settings(max_examples=60)
def test_a_damaged_log_gives_the_same_in_any_chunking(data):
    """Lines of a log, cut into pieces with anything between them."""
    log = data.draw(st.sampled_from(LOGS))
    pieces = cut(log.read_bytes(), data.draw(st.lists(st.integers(0, 3000), max_size=6)))
    damaged = b"".join(piece + data.draw(SEPARATORS) for piece in pieces)
    cuts = data.draw(CUTS)
    assert columns(log.parent.name, *cut(damaged, cuts)) == columns(log.parent.name, damaged)


@pytest.mark.parametrize("log", LOGS, ids=name)
def test_plain_lines_read_beside_a_coloured_one_are_the_same(log):
    """Text without colours, overwriting and ranks takes a shorter way to the same records."""
    data = log.read_bytes()
    plain, beside = parsed(log.parent.name, data), parsed(log.parent.name, data + b"\x1b[0m")
    assert described(beside)["runs"] == described(plain)["runs"]


@given(data=st.binary(max_size=400), format_id=st.sampled_from(format_ids()))
@settings(max_examples=150)
def test_binary_data_is_no_log_and_no_error(data, format_id):
    assert parsed(format_id, data, data).runs == []
    assert detect(data) is None


@pytest.mark.parametrize("log", LOGS, ids=name)
def test_a_log_cut_off_anywhere_is_read_as_far_as_it_goes(log):
    data = log.read_bytes()
    whole = parsed(log.parent.name, data)
    counts = [
        sum(len(run.samples) for run in parsed(log.parent.name, data[:end]).runs) for end in range(0, len(data), 37)
    ]
    assert counts == sorted(counts)
    assert counts[-1] <= sum(len(run.samples) for run in whole.runs)


def test_a_partial_last_line_is_parsed_once():
    line = b"total step: 10, epoch: 0, batch: 9, loss: 1.5, avg_reader_cost: 0.1 sec, avg_batch_cost: 0.2 sec, "
    parser = parser_for("paddlenlp-bert")
    parser.feed(line + b"avg_samples: 96.0, ips: 480.0 sequences/sec")
    assert parser.runs == []
    parser.finish()
    parser.finish()
    assert [list(run.samples.value) for run in parser.runs] == [[480.0]]
    assert parser.lines == 1


def test_a_parser_that_has_finished_leaves_memory_without_a_collection():
    gc.disable()
    try:
        parser = parser_for("paddlenlp-bert")
        parser.feed(b"a line\n")
        parser.finish()
        left = weakref.ref(parser)
        del parser
        assert left() is None
    finally:
        gc.enable()


def test_a_sample_is_visible_as_soon_as_its_line_is_whole():
    parser = parser_for("tf2-timehistory")
    parser.feed(b"I0826 21:43:05.661866 1 keras_utils.py:133] TimeHistory: 42.65 seconds, 9602.84 examples/second bet")
    assert parser.runs == []
    parser.feed(b"ween steps 100 and 200\nI0826")
    assert list(parser.runs[0].samples.value) == [9602.84]


def test_an_endless_line_costs_no_memory_and_hides_no_later_line():
    parser = parser_for("mxnet-speed")
    for _ in range(64):
        parser.feed(b"x" * lines_module.LINE_LIMIT)
    parser.feed(b"\nINFO:root:Epoch[0] Batch [19]\tSpeed: 388.33 samples/sec\n")
    assert list(parser.runs[0].samples.line) == [2]


@pytest.mark.parametrize("log", LOGS, ids=name)
def test_a_number_of_any_kind_is_no_error(log):
    for number in (b"9" * 5000, b"1e999", b"0", b"1.2.3", b"-"):
        data = re.sub(rb"(?<=[ :=|])\d[\d.]*(?=[ ,|\n}])", number, log.read_bytes())
        for run in parsed(log.parent.name, data).runs:
            assert len(run.samples.value) == len(run.samples), number
