"""Logs of public repositories are recognised, and give the values computed from them by hand."""

from __future__ import annotations

import csv
import os
import re
from pathlib import Path

import pytest

from dlperf.derived.parsing import ParsedRun, ParseOptions, parse_logs

CORPUS = Path(os.environ.get("DLPERF_CORPUS", Path(__file__).parents[3] / "shared" / "corpus"))
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no logs in {CORPUS} (set DLPERF_CORPUS)")

LEAST_RECOGNISED = 0.95
WITHOUT_RATE = (
    "DigitalIntelligenceCenter-of-ICMM+",  # losses by step
    "JayeforC+WSSS",  # names of models and fonts
    "KellerJordan+modded-nanogpt/records__track_1_short__2024-10-13_llmc",  # losses by step
    "PommesPeter+IBOT-Paddle",  # fails in its first step
    "Yichuilan+UIE4Nuclear",  # settings only
    # the settings of a run
    "adriangrupp+tf_cnn_benchmarks_evaluation/benchmark_results__fh2_udocker_500batch__synthetic_alexnet_4_gpu__3__bench",
    "hutuxian+RSPNet",  # a patch and a traceback
    "lambdal+deeplearning-benchmark/SMC_8xH200_140GB_SXM_lambda-scalar_v2__transformerxlbase_FP16",  # fails
)
"""Logs that hold neither rate nor duration."""
TOLERANCE = 0.01
EXPECTED = re.compile(
    r"(?:time to train |.*-> )?(?P<first>[\d.]+)(?: and (?P<second>[\d.]+))?(?P<device> tokens/s/device)?"
)
"""Values of the first runs of a log, as the manifest writes them; none where it begins with another word."""


def logs() -> list[dict[str, str]]:
    with (CORPUS / "manifest.csv").open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def runs_of(row: dict[str, str]) -> tuple[ParsedRun, ...]:
    gpus, batch_size = (int(row[name]) if row[name].isdigit() else None for name in ("gpus", "batch_per_gpu"))
    return parse_logs([CORPUS / row["file"]], ParseOptions(gpus=gpus, batch_size=batch_size)).runs


@pytest.fixture(scope="module")
def parsed() -> dict[str, tuple[ParsedRun, ...]]:
    return {row["file"]: runs_of(row) for row in logs()}


def test_nearly_all_logs_with_a_rate_or_a_duration_are_recognised(parsed):
    with_rate = {log: runs for log, runs in parsed.items() if not log.startswith(WITHOUT_RATE)}
    unknown = [log for log, runs in with_rate.items() if not runs]
    assert len(unknown) <= (1 - LEAST_RECOGNISED) * len(with_rate), unknown


def test_logs_without_a_rate_give_no_run(parsed):
    assert [log for log, runs in parsed.items() if log.startswith(WITHOUT_RATE) and runs] == []


def expected_values(row: dict[str, str]) -> list[float]:
    match = EXPECTED.match(row["expected"])
    if match is None:
        return []
    factor = float(row["gpus"]) if match["device"] else 1.0
    return [float(text) * factor for text in match.group("first", "second") if text]


def test_values_agree_with_those_computed_by_hand(parsed):
    by_hand = {row["file"]: expected_values(row) for row in logs() if row["expected"]}
    found = {log: [run.figure.value for run in parsed[log] if run.figure][:2] for log in by_hand}
    assert found == {log: pytest.approx(values, rel=TOLERANCE) for log, values in by_hand.items()}
