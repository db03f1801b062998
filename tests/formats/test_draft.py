"""A log of an unknown program is answered with its lines that look like rates and a draft of a format."""

from __future__ import annotations

import re

import pytest
import yaml
from fixtures import LOGS

from dlperf.catalog.log_format import LogFormat
from dlperf.formats.draft import draft_format, only_number, rate_lines
from dlperf.formats.registry import detect, parser_for

UNKNOWN = {
    "[trainer] epoch 1 step {step}: loss 2.5 | 5,615 tok/s | lr 0.1": ("tokens/s", 5615.0, None),
    "step {step} | loss 2.5 | grad 0.7 | 37.2k tok/s | mfu 37.4%": ("tokens/s", 37_200.0, None),
    "it {step} loss=0.3 (speed: 812.5)": ("samples/s", 812.5, None),
    "Iteration {step} | loss: 1.5e-01 | 250.0 ms/step": ("samples/s", None, 0.25),
    "batch {step}, images_per_sec: 99.5, cost 3 dollars": ("images/s", 99.5, None),
    "block {step} copied at 12.5 GB/s": ("GB/s", 12.5, None),
    "n {step} throughput=1.25e+03": ("samples/s", 1250.0, None),
    "n {step} step time (ms): 250.0": ("samples/s", None, 0.25),
    "n {step} rate: 1001 utterances/sec": ("utterances/s", 1001.0, None),
    "batch {step}: 1001 frames per second": ("samples/s", 1001.0, None),
    "batch {step}: 1001 puzzles per second": ("puzzles/s", 1001.0, None),
    "iter={step} dt=25ms": ("samples/s", None, 0.025),
    "[{step}] throughput 6 554 samples/s": ("samples/s", 6554.0, None),
    "[{step}] 1 006 554.5 tokens/s": ("tokens/s", 1_006_554.5, None),
    "[{step}] 6'554 samples/s": ("samples/s", 6554.0, None),
    "[{step}] 6_554.5 samples/s": ("samples/s", 6554.5, None),
    "[{step}] tps: 6\u2019554": ("tokens/s", 6554.0, None),
    "[{step}] rank 1 554 samples/s": ("samples/s", 554.0, None),
    "[{step}] 1234 tps on 8 GPUs": ("tokens/s", 1234.0, None),
    "step {step}: 6,554 tok/s (819 tok/s/gpu)": ("tokens/s", 6554.0, None),
    "it {step} took 25 ms": ("samples/s", None, 0.025),
    "Step {step} took 0.5 s": ("samples/s", None, 0.5),
    '{{"n": {step}, "step_time": 0.25, "loss": 3}}': ("samples/s", None, 0.25),
}


@pytest.mark.parametrize("line", UNKNOWN)
def test_the_draft_of_an_unknown_log_reads_it(line):
    log = "starting\n" + "".join(line.format(step=10 * index) + "\n" for index in range(1, 6)) + "done in 2 s\n"

    examples = rate_lines(enumerate(log.splitlines(), 1))
    draft = LogFormat.model_validate(yaml.safe_load(draft_format(examples[0][1])), strict=False)

    unit, value, seconds = UNKNOWN[line]
    assert [number for number, _ in examples] == [2, 3, 4]
    assert detect(log.encode()) in (None, "step-lines")
    assert detect(log.encode(), [draft]) == "my-format"
    parser = parser_for("my-format", [draft])
    parser.feed(log.encode())
    samples = parser.runs[0].samples
    assert (draft.unit, len(samples)) == (unit, 5)
    assert list(samples.value)[:1] == [value] if value else list(samples.seconds_per_step)[:1] == [seconds]


def read_by_draft(line: str, log: str, is_only: bool = False):
    draft = LogFormat.model_validate(yaml.safe_load(draft_format(line, is_only=is_only)), strict=False)
    parser = parser_for(draft.id, [draft])
    parser.feed(log.encode())
    return draft.unit, parser.runs[0].samples


def test_a_draft_reads_the_time_of_a_line():
    log = "".join(f"2026-01-02 03:04:0{n},500 step={n} speed: 99.{n} samples/sec\n" for n in range(3))
    _, samples = read_by_draft(log.splitlines()[0], log)
    assert samples.time[2] - samples.time[0] == 2


def test_a_draft_reads_the_time_of_a_progress_bar_on_either_side_of_a_step_a_second():
    bar = "2026-01-02 03:04:0{0} 10%|# | {0}/90 [00:01<00:09, {1}]\n".format
    _, samples = read_by_draft(bar(1, "1.25it/s"), bar(1, "1.25it/s") + bar(3, "1.05s/it"))
    assert samples.time[1] - samples.time[0] == 2


@pytest.mark.parametrize(
    ("line", "unit"),
    [
        ("42.5", "value"),
        ("result = 42.5 ms", "ms"),
        ("Total time: 42.5s", "s"),
        ("time: 42.5 s", "s"),
        ("score: 42.5", "value"),
        ("tokens/sec: 42.5", "tokens/s"),
    ],
)
def test_the_only_number_of_a_log_is_its_value(line, unit):
    log = f"training resnet50\n{line}\ndone\n"
    found = only_number(log.splitlines())
    assert found == line
    drafted, samples = read_by_draft(found, log, is_only=True)
    assert (drafted, list(samples.value)) == (unit, [42.5])


@pytest.mark.parametrize("log", ["", "hello", "1 2", "1\n2"])
def test_of_no_number_or_several_none_is_the_only_one(log):
    assert only_number(log.splitlines()) is None


def test_lines_without_a_rate_are_not_shown():
    assert (
        rate_lines(
            enumerate(["hello", "loss 2.5", "12:30:01 saved in 3 s", "total time: 3 s", "x" * 100_000 + " 5 tok/s"])
        )
        == []
    )


def test_drafts_of_known_logs_are_valid_entries():
    for log in LOGS:
        for _, line in rate_lines(enumerate(log.read_text("utf-8", "replace").splitlines())):
            assert LogFormat.model_validate(yaml.safe_load(draft_format(line)), strict=False).record


@pytest.mark.parametrize(
    ("line", "scope", "unit"),
    [
        ("step 10 throughput/device/tokens_per_second=76,160", "per_gpu", "tokens/s"),
        ("step: 10 loss: 7.9 tps: 6,554", "global", "tokens/s"),
        ("step 10 samples/s per gpu: 12.5", "per_gpu", "samples/s"),
        ("step 10 loss 2.5 tok/s/gpu: 1234", "per_gpu", "tokens/s"),
        ("step 10 loss 2.5 tok/sec: 1234", "global", "tokens/s"),
        ("step 10 loss 2.5 device_tps=1234", "per_gpu", "tokens/s"),
        ("step 10 loss 2.5 TGS 2345.1", "per_gpu", "tokens/s"),
        ("step 10 device throughput: 1234", "per_gpu", "samples/s"),
        ("step 10 Tokens/s/device: 1234.5", "per_gpu", "tokens/s"),
        ("step 10 tps (per device): 1234", "per_gpu", "tokens/s"),
        ("step 10 tokens_per_device_per_second: 1234", "per_gpu", "tokens/s"),
        ("throughput/device/TPS (actual avg)=12,100", "per_gpu", "tokens/s"),
        ("step 10 device: cuda:0 tps 1234", "global", "tokens/s"),
    ],
)
def test_a_draft_says_whose_rate_a_key_names(line, scope, unit):
    entry = yaml.safe_load(draft_format(line))
    assert (entry["scope"], entry["unit"]) == (scope, unit)
    _, samples = read_by_draft(line, line + "\n")
    assert list(samples.value) == [float(re.split("[ =]", line)[-1].replace(",", ""))]
