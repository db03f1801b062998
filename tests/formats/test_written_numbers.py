"""A rate that is written with separators or a suffix is read whole, or not at all."""

from __future__ import annotations

import re
from math import isnan

import pytest
import yaml
from fixtures import LOGS, parsed

from dlperf.catalog.files.load import load_catalog
from dlperf.catalog.linear import compile_linear
from dlperf.catalog.log_format import LogFormat
from dlperf.catalog.patterns import RATES
from dlperf.formats.draft import draft_format
from dlperf.formats.registry import detect, parser_for
from dlperf.formats.text.lines import LineReader
from dlperf.formats.text.numbers import floats

WRITTEN = {
    "1,250.5": 1250.5,
    "268,697": 268697.0,
    "1,234,567.8": 1234567.8,
    "6'554": 6554.0,
    "5.6K": 5600.0,
    "5.6k": 5600.0,
    "5.6x": None,
    "1.2e+03": 1200.0,
}
FORMATS = load_catalog().formats


def lines_of(log) -> list[bytes]:
    reader = LineReader()
    data = log.read_bytes()
    return [line for part in (*reader.feed(data), *reader.finish()) for line in part.lines]


def rewritten_records(format_id: str, text: str):
    """Yield each record of a format's logs with one of its rates replaced, and the group."""
    patterns = [compile_linear(dialect.record) for dialect in (FORMATS[format_id], *FORMATS[format_id].dialects)]
    for line in (line for log in LOGS if log.parent.name == format_id for line in lines_of(log)):
        for match in filter(None, (pattern.search(line) for pattern in patterns)):
            for group in set(RATES) & set(match.re.groupindex):
                start, end = match.span(group)
                yield line[:start] + text.encode() + line[end:], start, patterns


def values_at(start: int, match: re.Match[bytes]) -> list[float]:
    """The rates that a match reads from a place of its line."""
    groups = [group for group in set(RATES) & set(match.re.groupindex) if match.start(group) == start]
    return [floats([match[group]])[0] for group in groups]


@pytest.mark.parametrize("format_id", sorted(FORMATS))
def test_a_rate_is_never_cut(format_id):
    for text, true in WRITTEN.items():
        for line, start, patterns in rewritten_records(format_id, text):
            matches = filter(None, (pattern.search(line) for pattern in patterns))
            values = [value for match in matches for value in values_at(start, match)]
            assert all(isnan(value) or value == true for value in values), line


LINES = {
    "composer": ("Train throughput/tokens_per_sec: {}", "268,697", 268697.0),
    "huggingface": ("  train_samples_per_second = {}\n  train_steps_per_second = 1.0", "12,345.6", 12345.6),
    "deepspeed": (
        "[2023-01-01 00:00:00,000] [INFO] [timer.py:1:stop] epoch=0/micro_step=10/global_step=10, "
        "RunningAvgSamplesPerSec=1,240.5, CurrSamplesPerSec={}, MemAllocated=1.0GB",
        "1,250.1",
        1250.1,
    ),
    "torchtitan": (
        "[titan] 2025-01-01 00:00:00,000 - root - INFO - step:  1  loss:  7.5  memory:  1.0GiB(1.0%)  tps: {}  mfu: 1%",
        "5.6K",
        5600.0,
    ),
    "gluon": ("[Epoch 0][Batch 9], Speed: {} samples/sec, x=1", "1,250.1", 1250.1),
    "dllogger": (
        "DLL 2023-08-04 05:46:28.892809 - Epoch: 0 Iteration: 2  train.total_ips : {} images/s",
        "1,250.1",
        1250.1,
    ),
}
"""Format → a record, a rate as written, and what it is."""


@pytest.mark.parametrize("format_id", LINES)
def test_a_rate_with_separators_or_a_suffix_is_read(format_id):
    line, text, value = LINES[format_id]
    log = f"{line.format(text)}\n".encode()
    samples = [sample for run in parsed(format_id, log).runs for sample in run.samples.value if not isnan(sample)]
    assert samples == ([value])
    assert detect(log) == format_id


@pytest.mark.parametrize("text", ["6 554", "6_554", "6\u202f554", "6\u00a0554", "6\u2019554", "6'554", "6,554"])
def test_thousands_are_read_however_they_are_separated(text):
    line = f"[titan] 2026-03-28 10:00:50,027 - root - INFO - step: 10  loss: 7.9  tps: {text}  mfu: 40.45%\n"
    (run,) = parsed("torchtitan", line.encode()).runs
    assert list(run.samples.value) == [6554.0]


def test_short_rates_are_read_by_an_expression_that_re2_runs():
    line = "step 1 loss 0.5 {} samples/s"
    mine = LogFormat.model_validate(yaml.safe_load(draft_format(line.format(640), "mine")))
    assert not compile_linear(mine.record).backtracks
    parser = parser_for("mine", [mine])
    parser.feed("".join(f"{line.format(value)}\n" for value in ("640", "96", "1640.5")).encode())
    parser.finish()
    assert list(parser.runs[-1].samples.value) == [640.0, 96.0, 1640.5]
