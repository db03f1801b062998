"""Lines read by what an earlier line looked like give what they give when every metric is looked for."""

from __future__ import annotations

import pytest
from fixtures import parsed
from hypothesis import given, settings
from hypothesis import strategies as st
from test_chunking import columns

from dlperf.formats.dllogger import iterations as dllogger_iterations

NAMES = st.sampled_from(
    ["train.loss", "loss", "ips", "train.ips", "train.total_ips", "train.compute_ips", "throughput", "lr", "x:y", ""]
)
VALUES = st.sampled_from(["1.5", "365.85", "nan", "", "3e2", "7x", "ips", ":", "[1", "0.1\t2", "ips : 5", "loss : 5"])
WORDS = st.sampled_from(["", " ", " None", " images/s", " sequences/s", " it/s ", "  ", " a : b", "ips"])
METRICS = st.lists(st.tuples(NAMES, VALUES, WORDS), min_size=1, max_size=4)
HEADS = st.sampled_from(
    ["Epoch: 0 Iteration: {} ", "Iteration: {}", "(0, {})", "Iteration: {} Validation Iteration: 1"]
)

ALIKE = "DLL 2023-08-04 05:46:28.892809 - Epoch: 0 Iteration: {}  train.loss : 7.8 None train.ips : 3{}.5 images/s\n"


def read_metric_by_metric(log: bytes) -> tuple[object, ...]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dllogger_iterations, "LAYOUT_LIMIT", 0)
        return columns("dllogger", *log.splitlines(keepends=True))


def line(head: str, step: int, metrics: list[tuple[str, str, str]]) -> str:
    data = " ".join(f"{name} : {value}{words}" for name, value, words in metrics)
    return f"DLL 2023-08-04 05:46:{step:02}.5 - {head.format(step)} {data}\n"


@given(data=st.data())
@settings(max_examples=300)
def test_lines_that_look_alike_give_what_they_give_one_by_one(data):
    """Some layouts, each of them printed again with other values."""
    layouts = data.draw(st.lists(st.tuples(HEADS, METRICS), min_size=1, max_size=2))
    log = ""
    for step in range(data.draw(st.integers(2, 8))):
        head, metrics = data.draw(st.sampled_from(layouts))
        log += line(head, step, [(name, data.draw(VALUES), words) for name, _, words in metrics])
    lines = log.encode().splitlines(keepends=True)
    assert columns("dllogger", *lines) == read_metric_by_metric(log.encode())
    assert columns("dllogger", log.encode()) == read_metric_by_metric(log.encode())


def test_a_line_in_other_words_among_lines_that_look_alike_is_read():
    lines = [ALIKE.format(step, step).encode() for step in range(1, 9)]
    lines[4] = b"DLL 2023-08-04 05:46:28.892809 - Epoch: 0 Iteration: 5  train.ips : 35.5 images/s train.loss : 1.25\n"
    (run,) = parsed("dllogger", b"".join(lines[:2]), b"".join(lines[2:])).runs
    assert list(run.samples.value) == [31.5, 32.5, 33.5, 34.5, 35.5, 36.5, 37.5, 38.5]
    assert list(run.samples.loss) == [7.8, 7.8, 7.8, 7.8, 1.25, 7.8, 7.8, 7.8]


def test_a_log_of_any_number_of_layouts_is_read():
    count = 3 * dllogger_iterations.LAYOUT_LIMIT
    words = [f"DLL 2023-08-04 05:46:28.8 - Iteration: {i}  train.ips : {i}.5 images/s word{i}\n" for i in range(count)]
    (run,) = parsed("dllogger", *(text.encode() for text in words)).runs
    assert list(run.samples.value) == [i + 0.5 for i in range(count)]
