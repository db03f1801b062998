"""Public logs, and variants of them, give the values that were computed from them by hand."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from dlperf.derived.parsing import ParseOptions, parse_logs
from dlperf.evidence.logs import BUILTIN_FORMATS
from dlperf.measured.run import StatedFacts, measure_run
from dlperf.measured.throughput.lost import lost_time
from real_logs import CASES, PACKED, unpack_logs

pytestmark = pytest.mark.skipif(not PACKED.is_file(), reason=f"no logs in {PACKED.parent}")

TOLERANCE = 0.01
OF_ONE = ParseOptions(gpus=1, batch_size=1)
RATES = re.compile(r"steps/s|it/s|tokens/s per (?:device|GPU)")
"""Units of true values that are those of one GPU, or of batches."""
BY_HAND = {
    "nasty/01_mixed_titan_then_hf.log": 52_429.0,  # and 294.0 samples/s of a second program, which a finding names
    "nasty/06b_comma_decimals_megatron.log": 738.0,  # by the clock
    "nasty/07c_inf_megatron.log": 738.0,
    "huggingface-resumed.log": 16_384.0,  # tokens/s of 16 samples/s
    "saltsalt2022+IML-ViT-Enhanced-Image-Manipulation-Localization-by-Vision-Transformer/train_log.log": 8 * 5.03,
    "zlwangustc+encnet_reprod/log__workerlog.0": 21.2,  # the first of three runs
}
OF_BATCHES = ("qwen_b200_trainer_log", "llama3_8b_b200", "llama3_8b_c4")
OTHERWISE = (
    "BamLubi+Paddle-SIGN/train.log",  # the mean there weighs the first batch of an epoch as much as 500
    "Foo1szz+verl/train.out",  # a median there, tokens over time here
    "anice1+Tensorflow-Revision/wandb__latest-run__files__output.log",  # of the first epoch alone there
)
"""Logs whose value by hand follows another definition."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus2")
    unpack_logs(path)
    return path


def rows() -> list[dict[str, str]]:
    with PACKED.with_name("manifest.csv").open() as logs, (CASES / "manifest.csv").open() as cases:
        return [*csv.DictReader(logs), *csv.DictReader(cases)]


def true_value(row: dict[str, str]) -> float | None:
    if row["file"] in BY_HAND:
        return BY_HAND[row["file"]]
    return float(row["true_value"]) if re.fullmatch(r"\d+(\.\d+)?", row["true_value"]) else None


def value(folder: Path, row: dict[str, str]) -> float | None:
    options = OF_ONE if RATES.search(row["unit"]) else ParseOptions()
    runs = parse_logs([at(folder, row)], options).runs
    return runs[0].figure.value if runs and runs[0].figure else None


def test_every_value_is_within_one_per_cent_of_the_true_one(folder: Path) -> None:
    wrong = {}
    for row in rows():
        truth = true_value(row)
        in_batches = row["unit"] in ("s/it", "ms/step", "s/step") or row["file"].startswith(OTHERWISE)
        if truth is None or in_batches or any(name in row["file"] for name in OF_BATCHES):
            continue
        found = value(folder, row)
        if found is None or abs(found / truth - 1) > TOLERANCE:
            wrong[row["file"]] = (truth, found)
    assert wrong == {}


@pytest.mark.parametrize(
    ("log", "kind"),
    [
        ("AGNDM+build-nanogpt/log_1_epoch__nanogpt-train-1806877.out", "evaluation"),  # its timer holds them
        (
            "mlcommons+training_results_v5.0/MangoBoost__results__MI300X-LLMBoost-GPUBoost-2node__llama2_70b_lora__result_1.txt",
            "evaluation",
        ),
        ("AntonioLopardo+OLMo/nohup_1B_tied_low_seq.log", "checkpoint"),
    ],
)
def test_the_only_kind_of_pause_of_a_log_takes_what_goodput_and_steady_rate_differ_by(
    folder: Path, log: str, kind: str
) -> None:
    (run,) = BUILTIN_FORMATS.read(folder / log)
    found = measure_run(run, StatedFacts())
    assert found.figure is not None
    lost = lost_time(found.reading, found.figure.skip)
    assert lost is not None
    assert lost.share == pytest.approx(1 - (found.figure.goodput or 0) / (found.figure.steady or 1), abs=0.002)
    assert lost.share_of(kind) == pytest.approx(lost.share, abs=0.001)


def test_every_log_with_a_rate_is_read(folder: Path) -> None:
    with_rate = [row for row in rows() if row["true_value"] not in ("-", "")]
    unread = [row["file"] for row in with_rate if not parse_logs([at(folder, row)], ParseOptions()).runs]
    assert unread == []


def at(folder: Path, row: dict[str, str]) -> Path:
    return folder / row["file"] if (folder / row["file"]).exists() else CASES / row["file"]
