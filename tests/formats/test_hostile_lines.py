"""No line of a log, however hostile, raises an error or takes long."""

from __future__ import annotations

import re
import time
import tracemalloc
from collections.abc import Sequence

import pytest
from fixtures import LOGS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from counting_workspace import Counting
from dlperf.catalog.files.load import load_catalog
from dlperf.catalog.log_format import LogFormat
from dlperf.formats.registry import detect, format_ids, parser_for
from every_reader import run
from handmade_trials import own_log

MOST_SECONDS = 0.05
"""Processor time for a line; one of a megabyte takes a tenth of it, and took minutes in a backtracking engine."""
SIZES = (300, 4_000, 64_000, 1_000_000)
NUMBER = re.compile(rb"(?<![\w.])\d+(\.\d+)?(?![\w.])")
FILLERS = (b"1", b"9" * 400, b" ", b".", b"[", b"]", b"(", b"{", b"'", b'"', b",", b":", b" : ", b"|", b"\t", b"\xff")
FILLERS += (b"e+", b"1.", b"loss: ", b"\0", b"\x1b[0m", b"[1,0]<stdout>:", b"\\ud800", b"a : 1 ", b"Namespace(")


def _shapes(format_id: str) -> list[bytes]:
    """Return the lines of a format's small logs, one of those that differ in numbers only."""
    logs = b"\n".join(log.read_bytes() for log in LOGS if log.parent.name == format_id)
    return list({re.sub(rb"\d+", b"0", line): line for line in logs.splitlines() if line}.values())


@st.composite
def _hostile_lines(draw: st.DrawFn, lines: list[bytes]) -> bytes:
    """Cut lines of a log, splice them, insert text, and repeat a part until the line has some size."""
    line = draw(st.sampled_from(lines))
    for _ in range(draw(st.integers(0, 3))):
        other = draw(st.one_of(st.sampled_from(lines), st.sampled_from(FILLERS)))
        at, end = draw(st.integers(0, len(line))), draw(st.integers(0, len(other)))
        line = line[:at] + other[:end] + (line[at:] if draw(st.booleans()) else b"")
    start, end = sorted((draw(st.integers(0, len(line))), draw(st.integers(0, len(line)))))
    part = line[start:end] or draw(st.sampled_from(FILLERS))
    return line[:end] + part * ((draw(st.sampled_from(SIZES)) - len(line)) // len(part)) + line[end:]


def _seconds(format_id: str, line: bytes, lines: Sequence[bytes] = (), extra: Sequence[LogFormat] = ()) -> float:
    """Return the processor time for a line, at the start of a log or after other lines: the least of three times."""
    least = MOST_SECONDS
    for _ in range(3):
        parser, later = parser_for(format_id, extra), parser_for(format_id, extra)
        later.feed(b"\n".join(lines) + b"\n")
        begun = time.thread_time()
        for each in (parser, later):
            each.feed(line + b"\n")
            each.finish()
        least = min(least, (time.thread_time() - begun) / 2)
        if least < MOST_SECONDS:
            break
    return least


@pytest.mark.parametrize("format_id", format_ids())
def test_a_mutated_line_is_read_without_error_in_bounded_time(format_id):
    lines = _shapes(format_id)

    @settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(_hostile_lines(lines))
    def check(line: bytes) -> None:
        assert _seconds(format_id, line, lines) < MOST_SECONDS

    check()


KNOWN = {
    "dllogger": (b"DLL 2023-08-04 05:46:28.892809 - PARAMETER a : 1", b" ", b"x"),
    "dllogger ": (b"DLL 2023-08-04 05:46:28.892809 - Iteration: 2  total_ips : 3.0 ", b"a : 1 b : 2 ", b""),
    "oneflow": (b"", b"train: epoch 0, iter 1, ", b"samples/s: "),
    "oneflow ": (b"", b"train: iter 1, loss 2 ", b"throughput: "),
    "oneflow  ": (b"step: 1, total_loss: 2 ", b"throughput: ", b""),
    "paddleclas": (
        b"[2023/07/28 06:42:45] ppcls INFO: [Train][Epoch 0/1][Iter: 1/2]",
        b" loss: 1 batch_cost: 1s, ",
        b"",
    ),
    "paddleclas ": (b"2021-05-08 14:15:42 INFO: epoch:0 train step:1 ", b"loss: 1 batch_cost: 1 s", b""),
    "paddleclas  ": (b"", b"[2023/07/28 06:42:45] ppcls INFO: epoch:0 train step:1 ", b", loss: 1"),
    "paddlenlp-bert": (b"", b"Namespace(", b"batch_size=x"),
    "paddlenlp-transformer": (b"", b"paddle.distributed.launch ", b"--ips"),
}
"""Format → begin, part to repeat, and end of a line that once took seconds or minutes."""


@pytest.mark.parametrize("size", [16_000, 64_000])
@pytest.mark.parametrize("name", KNOWN)
def test_a_line_that_repeats_the_beginning_of_a_record_takes_no_longer_than_others(name, size):
    begin, part, end = KNOWN[name]
    line = begin + part * (size // len(part)) + end
    assert _seconds(name.strip(), line) < MOST_SECONDS
    begun = time.thread_time()
    detect(line)
    assert time.thread_time() - begun < MOST_SECONDS * len(format_ids())


@pytest.mark.parametrize("part", [b"\r", b"a\r", b"[1,0]<stdout>:\r", b"[1,0]<stdout>:a[1,1]<stdout>:b"])
def test_a_line_that_overwrites_itself_without_end_is_read(part):
    parser = parser_for("mmseg")
    parser.feed(part * (1_000_000 // len(part)) + b"\n")
    parser.finish()
    assert (parser.lines, parser.runs) == (1, [])


@pytest.mark.parametrize(
    "data",
    [
        b'"total_ips": 1.0, "name": "\\ud800"',
        b'"total_ips": ' + b"9" * 50_000,
        b'"total_ips": ' + b"[" * 50_000,
        b'"total_ips": ' + b"[" * 900 + b"]" * 900,
    ],
)
def test_json_that_python_cannot_handle_is_no_record(data):
    parser = parser_for("dllogger")
    parser.feed(
        b'DLLL {"datetime": "2023-08-04 05:46:28.892809", "type": "LOG", "step": [0, 2], "data": {%s}}\n' % data
    )
    parser.finish()
    assert not any(len(run.samples) for run in parser.runs)


@pytest.mark.parametrize(
    "block",
    [
        b"x" * 1_000_000,
        b"x" * 60_000 + b"\n",
        b"".join(b"[1,%d]<stdout>:%s\n[1,0]<stdout>:" % (rank, b"x" * 60_000) for rank in range(10)),
    ],
)
def test_a_log_of_any_length_takes_little_memory(block):
    parser = parser_for("paddlenlp-bert")
    tracemalloc.start()
    for _ in range(40_000_000 // len(block)):
        parser.feed(block)
    parser.finish()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000


def test_of_any_number_of_summaries_the_latest_are_kept():
    parser = parser_for("dllogger")
    parser.feed(b"".join(b"DLL 2023-08-04 05:46:28.892809 - (%d,) total_ips : 5.0\n" % n for n in range(1, 10_011)))
    parser.finish()
    assert [(len(run.epochs), run.epochs[-1].epoch) for run in parser.runs] == [(10_000, 10_010)]


def test_unfinished_lines_of_many_ranks_take_little_memory():
    parser = parser_for("mmseg")
    tracemalloc.start()
    for rank in range(3000):
        parser.feed(b"[1,%d]<stdout>:%s[1,0]<stdout>:\n" % (rank, b"x" * 20_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30_000_000


def test_a_format_of_a_workspace_takes_no_longer():
    catastrophic = (
        load_catalog()
        .formats["fleetx"]
        .model_copy(
            update={
                "id": "ours",
                "contains": None,
                "record": r"(?:a+)+b (?P<value>\d+)",
                "metadata": {"model": (r"((x|xx)*)y",)},
            }
        )
    )
    for part in (b"a", b"x", b"ax"):
        assert _seconds("ours", part * 30_000, extra=[catastrophic]) < MOST_SECONDS


@pytest.mark.parametrize("number", [b"1e308", b"9" * 308])
def test_numbers_that_nothing_measures_end_no_command(counting: Counting, number: bytes):
    """Sums and products of them are infinite."""
    workspace, path = counting.workspace, counting.home / "a.log"
    records = "\n".join(line for line in own_log(100.0).splitlines() if " step=" in line).encode()
    own = re.sub(rb"throughput=[0-9.]+", b"throughput=" + number, records)
    for text in (own, *(NUMBER.sub(number, log.read_bytes()) for log in LOGS if log.stem == "tokens-of-records")):
        path.write_bytes(text)
        run(workspace, "parse", str(path))
    path.write_bytes(records)
    assert "a.log" in run(workspace, "parse", str(path))[0]
