"""A log is the same sequence of lines from wherever one starts to read."""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path

import pytest

from dlperf.app.logs.log_file import BLOCK, PIECE, LineNumbers, LogFile, LogLine
from dlperf.app.logs.search import Pattern, error_pattern, matching_lines, pattern_of
from dlperf.app.logs.window import MatchingLines

CONTENTS = {
    "empty": b"",
    "one line": b"one\n",
    "no line end": b"one\ntwo",
    "empty lines": b"\n\n\none\n\n",
    "a line of exactly one piece": b"a" * PIECE + b"\nnext\n",
    "a line that ends where a piece ends": b"a" * (PIECE - 1) + b"\nnext\n",
    "a line of many pieces": b"short\n" + b"b" * (3 * PIECE + 17) + b"\nafter\n",
    "a long line that starts at a piece": b"c" * (PIECE - 1) + b"\n" + b"d" * (2 * PIECE) + b"\nend",
    "no line end for many pieces": b"e" * (4 * PIECE + 5),
    "lines of three thousand bytes": (b"f" * 3000 + b"\n") * 100,
}


def forwards(log: LogFile) -> list[LogLine]:
    """Every line, each found from the end of the one before it."""
    lines: list[LogLine] = []
    while (line := log.line_at(lines[-1].end if lines else 0)) is not None:
        lines.append(line)
    return lines


def backwards(log: LogFile) -> list[LogLine]:
    """Every line in the order of the file, each found from the start of the one after it."""
    lines: list[LogLine] = []
    while (line := log.line_before(lines[-1].start if lines else log.size)) is not None:
        lines.append(line)
    return lines[::-1]


@pytest.fixture(params=CONTENTS.values(), ids=CONTENTS)
def log(request: pytest.FixtureRequest, tmp_path: Path) -> LogFile:
    path = tmp_path / "out.log"
    path.write_bytes(request.param)
    return LogFile(path)


def test_lines_are_the_same_forwards_and_backwards(log: LogFile):
    assert backwards(log) == forwards(log)


def test_lines_hold_every_byte_once(log: LogFile):
    lines = forwards(log)
    starts = [line.start for line in lines] + [log.size]
    assert starts[0] == 0
    assert [line.end for line in lines] == starts[1:]
    rest = b"".join(log.read(line.start, line.end) for line in lines)
    assert rest == log.path.read_bytes()


def test_every_byte_belongs_to_the_line_that_holds_it(log: LogFile):
    lines = forwards(log)
    for line in lines:
        for offset in {line.start, (line.start + line.end) // 2, line.end - 1}:
            assert log.start_of_line(offset) == line.start


def test_no_line_costs_more_than_two_pieces_of_memory(log: LogFile):
    assert all(len(line.data) <= 2 * PIECE for line in forwards(log))


def test_a_log_grows_while_it_is_read(tmp_path: Path):
    path = tmp_path / "out.log"
    path.write_text("one\ntw")
    log = LogFile(path)
    assert [line.data for line in backwards(log)] == [b"one", b"tw"]
    with path.open("a") as stream:
        stream.write("o\nthree\n")
    assert log.refresh()
    assert [line.data for line in backwards(log)] == [b"one", b"two", b"three"]
    assert not log.refresh()


def test_a_log_that_was_replaced_is_noticed(tmp_path: Path):
    path = tmp_path / "out.log"
    path.write_text("old\n")
    log = LogFile(path)
    other = tmp_path / "other"
    other.write_text("new\n")
    assert not log.replaced
    other.rename(path)
    assert log.replaced


def test_a_gzipped_log_is_read_like_a_plain_one(tmp_path: Path):
    path = tmp_path / "out.log.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\n"))
    assert [line.data for line in forwards(LogFile(path))] == [b"one", b"two"]


def test_a_gzipped_log_that_is_cut_is_shown_as_far_as_it_goes(tmp_path: Path):
    path = tmp_path / "out.log.gz"
    path.write_bytes(gzip.compress(b"one\n" + os.urandom(100_000))[:-50_000])
    assert next(iter(forwards(LogFile(path)))).data == b"one"


def test_line_numbers_are_counted_in_blocks(tmp_path: Path):
    path = tmp_path / "out.log"
    line = b"x" * 99 + b"\n"
    count = 3 * BLOCK // 100
    path.write_bytes(line * count)
    numbers = LineNumbers(LogFile(path))
    assert numbers.number_at(2 * BLOCK) is None
    numbers.advance()
    for number in (1, 2, BLOCK // 100 + 1, BLOCK // 100 + 2, count - 1, count):
        assert numbers.number_at((number - 1) * 100) == number
        assert numbers.offset_of(number) == (number - 1) * 100
    assert numbers.offset_of(count + 1) is None


NEEDLE = pattern_of("needle")


def found(log: LogFile, pattern: Pattern) -> MatchingLines:
    """What a search of the whole log finds."""
    matches = MatchingLines(log, pattern)
    assert matches.advance(lambda: False)
    return matches


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("two", [1, 3]),
        ("TWO", [3]),
        (r"^t\w+$", [1, 2, 3]),
        (r"e\nt", []),
        (r"o\s+t", []),
        ("three$", [2]),
        ("nothing", []),
    ],
)
def test_a_pattern_finds_lines_and_not_what_runs_over_their_ends(tmp_path: Path, text: str, lines: list[int]):
    path = tmp_path / "out.log"
    content = [b"one\n", b"two\n", b"three\n", b"TWO\n"]
    path.write_bytes(b"".join(content))
    log = LogFile(path)
    starts = [sum(map(len, content[:index])) for index in range(len(content))]
    expected = [starts[index] for index in lines]
    assert [start for starts, _ in matching_lines(log, pattern_of(text)) for start in starts] == expected


def test_a_search_goes_over_the_borders_of_its_chunks(tmp_path: Path):
    path = tmp_path / "out.log"
    line = b"step 1 ok\n"
    path.write_bytes(line * 100_000 + b"here: needle\n" + line * 100_000 + b"RuntimeError: end\n")
    log, where = LogFile(path), 100_000 * len(line)
    needles = found(log, NEEDLE)
    assert needles.nearest(0, forward=True) == needles.nearest(where, forward=True) == where
    assert needles.nearest(where + 1, forward=True) is None
    assert needles.nearest(log.size, forward=False) == where
    assert needles.nearest(where, forward=False) is None
    assert [needles.number_at(start) for start in (where, where + 1, None)] == [1, None, None]
    assert found(log, error_pattern()).nearest(0, forward=True) == log.size - len(b"RuntimeError: end\n")


@pytest.mark.timeout(20)
def test_an_expression_that_backtracks_for_ever_elsewhere_is_searched_at_once(tmp_path: Path):
    path = tmp_path / "out.log"
    path.write_text("a" * 60_000 + "b\nneedle aaa\n")
    assert found(LogFile(path), pattern_of("(a+)+$")).nearest(0, forward=True) == 60_002


@pytest.mark.parametrize("text", ["(?=a)b", "(?<!a)b", r"(a)\1"])
def test_look_around_and_back_references_are_said_not_to_be_supported(text: str):
    with pytest.raises(ValueError, match=r"is not supported: no look-around, no back references$"):
        pattern_of(text)


@pytest.mark.parametrize(("text", "reason"), [("(", "missing ): ("), ("a**", "bad repetition operator: **")])
def test_the_reason_why_a_text_is_no_expression_names_what_was_typed(text: str, reason: str):
    with pytest.raises(ValueError, match=f"^no regular expression: {re.escape(reason)}$"):
        pattern_of(text)


def test_an_expression_that_matches_nothing_at_all_finds_every_line_once(tmp_path: Path):
    path = tmp_path / "out.log"
    path.write_text("one\n\ntwo\n")
    assert [starts for starts, _ in matching_lines(LogFile(path), pattern_of("x*"))] == [[0, 4, 5]]


def test_a_search_says_how_far_it_has_come_and_stops_when_told(tmp_path: Path):
    path = tmp_path / "out.log"
    with path.open("wb") as stream:
        stream.truncate(4 << 30)  # a hole: as long as it is, it costs nothing
    log = LogFile(path)
    matches = MatchingLines(log, NEEDLE)
    assert not matches.advance(lambda: True)
    assert 0 < matches.searched_share < 1
    assert matches.nearest(log.size, forward=False) is None
    log.close()


def test_a_search_in_an_unpacked_log_reads_what_is_unpacked(tmp_path: Path):
    path = tmp_path / "out.log.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\n"))
    assert found(LogFile(path), pattern_of("two")).nearest(0, forward=True) == len(b"one\n")


@pytest.mark.parametrize(
    "line",
    [
        "Traceback (most recent call last):",
        "torch.OutOfMemoryError: CUDA out of memory.",
        "[rank0] ValueError: bad batch",
        "2026-05-04 ERROR lost the connection",
        "Cuda failure 'an illegal memory access was encountered'",
        "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=12.0",
        "[PG 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7) ran for 600000 milliseconds",
        "lm loss: nan | grad norm: 1.0",
        "{'loss': nan, 'epoch': 0.1}",
        "train_loss=NaN",
        "step 3 loss: -nan",
        "loss = inf",
        "srun: error: gpu01: task 0: Exited with exit code 1",
        "fatal: not a git repository",
        "NCCL WARN NET/IB : Got completion with error 12",
        "Segmentation fault (core dumped)",
        "loss: nan",
        "CUDA error: OUT OF MEMORY",
        "RuntimeException in thread main",
        "FATAL: no such file",
        "CRITICAL: the disk is full",
        "No space left on device",
        "Killed",
        "kernel PANIC",
    ],
)
def test_what_went_wrong_is_recognised_and_found(tmp_path: Path, line: str):
    assert error_pattern().search(line.encode())
    path = tmp_path / "out.log"
    path.write_text(f"step 1\n{line}\nstep 2\n")
    assert [starts for starts, _ in matching_lines(LogFile(path), error_pattern())] == [[len("step 1\n")]]


@pytest.mark.parametrize(
    "line",
    [
        "0 errors so far",
        "loss 6.91",
        "error rate 0.01",
        "validation error: 0.12",
        "loss information",
        "skilled",
        "NCCL INFO ok",
        "loss 0.1 nano",
        "nonfatal",
        "timeout=600",
    ],
)
def test_harmless_lines_are_not_taken_for_errors(line: str):
    assert not error_pattern().search(line.encode())
