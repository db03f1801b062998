"""A log of an unknown program is answered with its lines that look like rates and a draft of a format."""

from __future__ import annotations

import pytest
import yaml
from fixtures import LOGS

from dlperf.catalog.model import LogFormat
from dlperf.formats.draft import draft_format, rate_lines
from dlperf.formats.registry import detect, parser_for

UNKNOWN = {
    "[trainer] epoch 1 step {step}: loss 2.5 | 5,615 tok/s | lr 0.1": ("tokens/s", 5615.0, None),
    "it {step} loss=0.3 (speed: 812.5)": ("samples/s", 812.5, None),
    "Iteration {step} | loss: 1.5e-01 | 250.0 ms/step": ("samples/s", None, 0.25),
    "batch {step}, images_per_sec: 99.5, cost 3 dollars": ("images/s", 99.5, None),
}


@pytest.mark.parametrize("line", UNKNOWN)
def test_the_draft_of_an_unknown_log_reads_it(line):
    log = "starting\n" + "".join(line.format(step=10 * index) + "\n" for index in range(1, 6)) + "done in 2 s\n"

    examples = rate_lines(enumerate(log.splitlines(), 1))
    draft = LogFormat.model_validate(yaml.safe_load(draft_format(examples[0][1])))

    unit, value, seconds = UNKNOWN[line]
    assert [number for number, _ in examples] == [2, 3, 4]
    assert detect(log.encode()) is None
    assert detect(log.encode(), [draft]) == "my-format"
    parser = parser_for("my-format", [draft])
    parser.feed(log.encode())
    samples = parser.runs[0].samples
    assert (draft.unit, len(samples)) == (unit, 5)
    assert list(samples.value)[:1] == [value] if value else list(samples.seconds_per_step)[:1] == [seconds]


def test_lines_without_a_rate_are_not_shown():
    assert rate_lines(enumerate(["hello", "loss 2.5", "12:30:01 saved in 3 s", "x" * 100_000 + " 5 tok/s"])) == []


def test_drafts_of_known_logs_are_valid_entries():
    for log in LOGS:
        for _, line in rate_lines(enumerate(log.read_text("utf-8", "replace").splitlines())):
            assert LogFormat.model_validate(yaml.safe_load(draft_format(line))).record
