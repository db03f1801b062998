"""The figures of the public reports, from their raw logs, by the code of ``dlperf parse``."""

from __future__ import annotations

import csv
import statistics
from decimal import Decimal
from pathlib import Path

import pytest

from dlperf.derived.parsing import ParsedRun, ParseOptions, parse_logs
from dlperf.evidence.names import facts_of_name
from dlperf.measured.throughput.estimators import parse_estimator
from real_logs import LOGS, needs_real_logs

ROWS = list(csv.DictReader((Path(__file__).parents[1] / "data" / "reproduction.csv").open()))


def parsed(log: str, estimator: str) -> ParsedRun:
    """The one run of a log."""
    if not (LOGS / log).exists():
        pytest.skip(f"no raw log {log}")
    facts = facts_of_name(log)
    result = parse_logs([LOGS / log], ParseOptions(None, parse_estimator(estimator), facts.gpus, facts.batch_size))
    assert result.problems == ()
    (run,) = result.runs
    return run


def unit_of_the_last_digit(printed: str) -> float:
    exponent = Decimal(printed).as_tuple().exponent
    assert isinstance(exponent, int)
    return float(10.0**exponent)


@needs_real_logs
@pytest.mark.parametrize("row", [row for row in ROWS if row["verdict"] == "exact"], ids=lambda row: row["log"])
def test_a_published_figure_follows_from_its_raw_log(row: dict[str, str]) -> None:
    figure = parsed(row["log"], row["estimator"]).figure

    assert figure is not None
    assert abs(figure.value - float(row["published"])) <= unit_of_the_last_digit(row["published"])


@needs_real_logs
@pytest.mark.parametrize("row", [row for row in ROWS if row["verdict"] != "exact"], ids=lambda row: row["log"])
def test_a_published_figure_that_does_not_follow_from_its_log_is_told_apart(row: dict[str, str]) -> None:
    """The stored log is of another run, or cut: the rule gives another figure, and the same one every time."""
    figure = parsed(row["log"], row["estimator"]).figure

    assert figure is not None
    assert abs(figure.value - float(row["published"])) > unit_of_the_last_digit(row["published"])
    assert abs(figure.value - float(row["computed"])) <= unit_of_the_last_digit(row["computed"])


@needs_real_logs
@pytest.mark.parametrize(("case", "median"), [("1n1g", "321.80"), ("1n8g", "2458.74")])
def test_the_median_of_dlperfs_runs_is_the_published_one(case: str, median: str) -> None:
    result = parse_logs(
        [LOGS / "dlperf" / "tensorflow2-resnet50" / case], ParseOptions(estimator=parse_estimator("window(100, 600)"))
    )
    values = [run.figure.value for run in result.runs if run.figure]

    assert len(values) == 5
    assert f"{statistics.median(values):.2f}" == median


@needs_real_logs
def test_every_public_log_gives_a_value_or_that_of_one_gpu() -> None:
    result = parse_logs([LOGS], ParseOptions())

    assert len(result.runs) >= len(ROWS)
    assert [run.log for run in result.runs if not (run.figure or run.value_per_gpu)] == []


@needs_real_logs
def test_a_running_mean_is_found_to_differ_from_the_wall_clock() -> None:
    """PaddleClas prints a mean since the epoch began: on eight V100 it is 2.3 % above what the timestamps say."""
    run = parsed("perf/ResNet50V1.5/logs/V100-LOG/PaddleClas_ResNet50_bs256_fp32_DP_N1C8_log", "tipc(skip=10)")

    assert run.figure is not None
    assert run.figure.estimates["rate(skip=20)"] == pytest.approx(2952.8, abs=0.1)
    assert {"printed_rate", "drift"} <= {finding.code for finding in run.findings}


@needs_real_logs
def test_the_stall_at_the_end_of_the_data_is_found() -> None:
    run = parsed("perf/ResNet50V1.5/OtherReports/PyTorch/logs/V100-LOG/pytorch_gpu8_fp32_bs256.txt", "tailmean(55)")

    (stall,) = [finding for finding in run.findings if finding.code == "end_stall"]
    assert "without it the mean is 2,840, not 2,792" in str(stall.message)
