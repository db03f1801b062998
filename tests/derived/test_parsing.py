"""Logs of any kind, whole or not → figures, or one line that says what is wrong."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from dlperf.derived.parsing import Parsed, ParseOptions, parse_logs
from dlperf.evidence import packed
from dlperf.evidence.logs import open_log
from dlperf.measured.throughput.estimators import parse_estimator


def paddleclas_log(records: int = 30, ips: float = 64.0, first_step: int = 10) -> str:
    """A log of one GPU's speed every ten steps, one record each second."""
    return "".join(
        f"[2024/05/01 10:{second // 60:02}:{second % 60:02}] ppcls INFO: "
        f"epoch:0   train step:{first_step + 10 * second}   lr: 0.1, loss:  8.3 top1: 0.0 "
        f"batch_cost: {16 / ips:.5f} s, reader_cost: 0.00067 s, ips: {ips:.5f} samples/sec.\n"
        for second in range(records)
    )


def parse(*paths: Path, estimator: str | None = None, **options: object) -> Parsed:
    rule = parse_estimator(estimator) if estimator else None
    return parse_logs(paths, ParseOptions(estimator=rule, **options))  # type: ignore[arg-type]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "PaddleClas_ResNet50_bs16_fp32_DP_N1C8_log"
    path.write_text(paddleclas_log())
    return path


def codes(parsed: Parsed) -> Sequence[str]:
    return [finding.code for run in parsed.runs for finding in run.findings]


def test_a_log_of_one_gpu_gives_the_speed_of_all(log: Path) -> None:
    (run,) = parse(log, estimator="mean()", gpus=8, batch_size=16).runs

    data = run.as_data()
    assert {key: data[key] for key in ("format", "run", "unit", "scope", "samples", "gpus", "batch_size")} == {
        "format": "paddleclas",
        "run": 1,
        "unit": "images/s",
        "scope": "per_gpu",
        "samples": 30,
        "gpus": 8,
        "batch_size": 16,
    }
    assert data["value"] == pytest.approx(512.0)
    assert data["value_from_timestamps"] == pytest.approx(10 * 8 * 16)
    assert (data["precision"], data["estimator"], data["first_step"], data["last_step"]) == (None, "mean()", 10, 300)


def test_a_name_is_a_hint_that_gives_no_total(log: Path) -> None:
    (run,) = parse(log, estimator="mean()").runs

    assert (run.gpus, run.precision, run.as_data()["value"]) == (None, None, None)
    assert run.as_data()["value_per_gpu"] == pytest.approx(64.0)
    assert [str(finding.message) for finding in run.findings if finding.code == "guessed_from_name"] == [
        "guessed from the name and not used: GPUs 8, batch size 16, precision fp32; give it as an option if it is so"
    ]


def test_the_throughput_of_one_gpu_is_by_the_clock_where_it_contradicts_the_printed_one(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(
        "[2020/11/03 08:00:00] root INFO:         batch_size_per_card : 64\n"
        + "".join(
            f"[2020/11/03 08:{second // 60:02}:{second % 60:02}] root INFO: epoch: [0/50], iter: {second}, lr: 0.001, "
            "loss: 4.5, reader_cost: 0.01 s, batch_cost: 0.80000 s, samples: 640, ips: 80.00000\n"
            for second in range(10, 600, 10)
        )
    )
    (run,) = parse(path).runs
    assert run.value_per_gpu == pytest.approx(64.0)


def test_a_total_by_the_clock_needs_no_number_of_gpus(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    start = "[titan] 2026-01-02 03:00:00,000 - root - INFO - Trainer is initialized with local"
    path.write_text(
        f"{start} batch size 4, global batch size 32, gradient accumulation steps 1, sequence length 8192, "
        "total steps 40 (warmup 2)\n"
        + "".join(
            f"[titan] 2026-01-02 03:00:{step:02},250 - root - INFO - step: {step:2}  loss: 8.0  "
            "memory: 40.1GiB(50.6%)  tps: 32,768  tflops: 100.0  mfu: 20.0%\n"
            for step in range(1, 41)
        )
    )
    (run,) = parse(path).runs
    data = run.as_data()
    assert (data["gpus"], data["value"], data["value_per_gpu"], run.findings) == (None, 32 * 8192, 32768, ())


def test_a_name_that_suggests_nothing_new_is_no_finding(log: Path) -> None:
    parsed = parse(log.rename(log.with_name("bs16_gpu2.log")), gpus=2, batch_size=16)

    assert "guessed_from_name" not in codes(parsed)


def test_a_declared_batch_size_that_contradicts_the_log_is_found(log: Path) -> None:
    (run,) = parse(log, estimator="mean()", gpus=1, batch_size=32).runs

    (finding,) = [finding for finding in run.findings if finding.code == "batch_size_mismatch"]
    assert str(finding.message) == "declared batch size 32, but the log has 16"


def kept_by_docker(data: bytes) -> bytes:
    """The lines of its json-file driver, one in two parts."""
    parts = [line for text in data.decode().splitlines(keepends=True) for line in (text[:40], text[40:]) if line]
    entries = ({"log": text, "stream": "stdout", "time": "2026-01-01T10:00:00Z"} for text in parts)
    return "".join(json.dumps(entry, separators=(",", ":")) + "\n" for entry in entries).encode()


@pytest.mark.parametrize(
    "converted",
    [
        kept_by_docker,
        gzip.compress,
        lzma.compress,
        bz2.compress,
        zstd.compress,
        lambda data: data.decode().encode("utf-16"),
        lambda data: lzma.compress(data.decode().encode("utf-16")),
        lambda data: b"\xfe\xff" + data.decode().encode("utf-16-be"),
        lambda data: ("一个日志\n" + data.decode()).encode("utf-16-le"),
        lambda data: lzma.compress(data.decode().encode("utf-16-be")),
    ],
    ids=[
        "Docker",
        "gzip",
        "xz",
        "bzip2",
        "zstd",
        "UTF-16",
        "UTF-16 in xz",
        "UTF-16, big-endian",
        "no mark",
        "no mark, in xz",
    ],
)
def test_a_log_in_another_coding_gives_the_same(log: Path, tmp_path: Path, converted: Callable[[bytes], bytes]) -> None:
    other = tmp_path / "other" / log.name
    other.parent.mkdir()
    other.write_bytes(converted(log.read_bytes()))

    plain, read = (parse(path, gpus=8).runs[0].as_data() for path in (log, other))

    assert {**plain, "log": ""} == {**read, "log": ""}


def test_what_unpacks_to_far_more_than_a_log_is_read_as_far_as_logs_go(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(packed, "MOST_BYTES", 1 << 20)
    path = tmp_path / "paddle_gpu1_fp32_bs16.txt.xz"
    path.write_bytes(lzma.compress(paddleclas_log(2000).encode() + bytes(64 << 20)))

    parsed = parse(path, estimator="mean()", gpus=1)

    assert parsed.runs[0].as_data()["value"] == pytest.approx(64.0)
    assert "truncated_archive" in codes(parsed)
    with open_log(path) as stream, pytest.raises(EOFError):
        stream.read()


def test_a_compressed_log_that_is_cut_is_parsed_as_far_as_it_goes_and_said(tmp_path: Path) -> None:
    path = tmp_path / "paddle_gpu1_fp32_bs16.txt.gz"
    path.write_bytes(gzip.compress(paddleclas_log(2000).encode())[:-3000])

    parsed = parse(path, estimator="mean()", gpus=1)

    assert parsed.runs[0].as_data()["value"] == pytest.approx(64.0)
    assert "truncated_archive" in codes(parsed)
    assert parsed.problems == (f"{path}: the compressed log is truncated: its end is missing",)


def test_several_runs_of_one_log_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "paddle_gpu1_fp32_bs16.txt"
    path.write_text(paddleclas_log(20) + paddleclas_log(20, ips=128.0))

    parsed = parse(path, estimator="mean()", gpus=1)

    assert [(run.run.number, run.as_data()["value"]) for run in parsed.runs] == [(1, 64.0), (2, 128.0)]
    assert codes(parsed).count("several_runs") == 2


def test_a_run_that_the_rule_does_not_fit_has_no_value_and_a_reason(log: Path) -> None:
    parsed = parse(log, estimator="skipmean(1000)", gpus=8)

    (run,) = parsed.runs
    assert run.as_data()["value"] is None
    assert codes(parsed)[0] == "no_figure"
    assert parsed.problems == (f"{log}: too few samples: no record after the first 1000",)


def test_a_log_of_one_gpu_without_a_gpu_count_has_no_value(tmp_path: Path) -> None:
    path = tmp_path / "some.log"
    path.write_text(paddleclas_log())

    (problem,) = parse(path, estimator="mean()").problems

    assert problem == f"{path}: GPU count unknown: the log prints the throughput of one GPU or node; give --gpus"


def write_binary(path: Path) -> None:
    path.write_bytes(b"\x7fELF" + bytes(4000))


def write_noise(path: Path) -> None:
    path.write_bytes(random.Random(0).randbytes(4000))


def write_no_gzip(path: Path) -> None:
    path.write_bytes(b"\x1f\x8bno gzip")


def write_damaged(path: Path) -> None:
    path.write_bytes(b"\x1f\x8b\x08" + b"no gzip at all" * 10)


NO_LOGS = {
    "empty": (Path.touch, "empty"),
    "empty when unpacked": (lambda path: path.write_bytes(gzip.compress(b"")), "empty: nothing to parse"),
    "binary": (write_binary, "a binary file, no training log"),
    "emptied while written": (lambda path: path.write_bytes(b"\0" * 900 + b"hello\n" * 9), "no throughput record"),
    "noise": (write_noise, "a binary file, no training log"),
    "damaged": (write_damaged, "a damaged packed file: pack it again, or give the plain log"),
    "no gzip at all": (write_no_gzip, "a damaged packed file: pack it again, or give the plain log"),
    "damaged zstd": (lambda path: path.write_bytes(b"\x28\xb5\x2f\xfd log"), "a damaged packed file"),
    "pipe": (os.mkfifo, "no regular file: write what it gives to a file"),
    "cut before the first record": (lambda path: path.write_text(paddleclas_log()[:90]), "no throughput record"),
    "other text": (lambda path: path.write_text("hello\n" * 100), "no throughput record of any known format"),
    "missing": (lambda path: None, "there is no such file or folder"),
}


@pytest.mark.parametrize("kind", NO_LOGS)
def test_what_is_no_log_is_said_in_one_line_and_the_others_are_parsed(kind: str, log: Path, tmp_path: Path) -> None:
    write, words = NO_LOGS[kind]
    path = tmp_path / "odd.log"
    write(path)

    parsed = parse(path, log, gpus=8)

    assert [run.log for run in parsed.runs] == [str(log)]
    (problem,) = parsed.problems
    assert problem.startswith(f"{path}: ")
    assert words in problem
    assert "\n" not in problem


def test_a_log_of_another_format_than_the_one_named_is_said(log: Path) -> None:
    (problem,) = parse(log, format_id="mmseg").problems

    assert "no throughput record of the format mmseg" in problem


def test_a_folder_is_walked_in_name_order_and_what_is_no_log_is_passed_over(log: Path, tmp_path: Path) -> None:
    (tmp_path / "4n8g").mkdir()
    (tmp_path / "4n8g" / "rn50_b16_fp32_1.log").write_text(paddleclas_log())
    (tmp_path / "README.md").write_text("# Logs\n")
    (tmp_path / "empty.log").touch()

    parsed = parse(tmp_path, gpus=8)

    assert [Path(run.log).name for run in parsed.runs] == [log.name, "rn50_b16_fp32_1.log"]
    assert parsed.problems == ()
    assert len(parsed.passed_over) == 2


def test_a_folder_without_a_log_is_said(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Logs\n")

    assert parse(tmp_path).problems == (f"{tmp_path}: no file of this folder holds a throughput record",)


def test_a_log_whose_records_begin_after_megabytes_of_output_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "bs16_N1C8.log"
    path.write_text("building the data set ...\n" * 100_000 + paddleclas_log())

    (run,) = parse(path).runs
    assert (run.run.format, run.samples) == ("paddleclas", 30)


def test_a_log_that_prints_metrics_only_is_no_problem(tmp_path: Path) -> None:
    path = tmp_path / "cifar.log"
    path.write_text("INFO:root:[Epoch 0] train=0.1 val=0.1 loss=2.5 time: 60.25\n")

    parsed = parse(path)

    assert (parsed.problems, codes(parsed)) == ((), [])
    assert parsed.runs[0].as_data()["metrics"] == [
        {"id": "epoch_time", "value": 60.25, "unit": "s", "direction": "lower"}
    ]


def test_a_batch_that_no_gpu_has_alone_is_unknown_and_no_finding() -> None:
    log = Path(__file__).parents[1] / "data" / "formats" / "megatron" / "of-primus.log"
    (run,) = parse(log, gpus=3).runs
    assert run.run.metadata.global_batch_size == 64
    assert run.as_data()["batch_size"] is None
    assert "batch_size_mismatch" not in [finding.code for finding in run.findings]


@pytest.mark.parametrize("number", [0, 1])
def test_a_program_before_or_behind_the_one_that_is_read_is_named(tmp_path: Path, number: int) -> None:
    other = "".join(f"iter {step}: loss 2.5000, time 100.00ms, mfu 20.00%\n" for step in range(25))
    texts = [paddleclas_log(records=50)]
    texts.insert(number, other)
    (tmp_path / "two.log").write_text("".join(texts))
    (finding,) = (each for run in parse(tmp_path / "two.log").runs for each in run.findings if "other" in each.code)
    assert str(finding.message).endswith("give --format nanogpt to read them")
