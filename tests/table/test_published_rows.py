"""Published reports among the results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dlperf.catalog.files.load import load_catalog
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.published import LocalizedText, PublishedFigure, PublishedReport, load_reports
from dlperf.table.model import ConfigurationResult
from dlperf.table.published import rows_of_report


def figure(printed: str, metric: str = "throughput", **fields: object) -> PublishedFigure:
    known: dict[str, object] = {
        "model": "ResNet50V1.5",
        "framework": "NGC PyTorch",
        "hardware": "Tesla V100-SXM2-32GB",
        "nodes": 1,
        "gpus": 1,
        "precision": "FP32",
        "batch_size": 256,
        "unit": "images/sec",
        "value": None if printed == "-" else float(printed),
        "source": "owner/repository@abc:README.md",
        "log": "",
        "rule": "",
    }
    return PublishedFigure(metric=metric, printed=printed, **(known | fields))  # type: ignore[arg-type]


def rows(*figures: PublishedFigure) -> list[ConfigurationResult]:
    report = PublishedReport(
        "a",
        LocalizedText("A", "A"),
        "en",
        "",
        "",
        None,
        "perf-paddle",
        LocalizedText(),
        LocalizedText(),
        (),
        "",
        (),
        (),
        figures,
    )
    return rows_of_report(report)


def test_a_published_figure_is_a_row_without_spread_or_n():
    (row,) = rows(figure("370.194"))
    assert (row.campaign, str(row.status), row.protocol) == ("published/a", "published", "perf-paddle")
    assert (row.framework, row.case, row.precision, row.scale) == ("ngc-pytorch", "resnet50", "fp32", "1n1g")
    assert (row.value, row.printed, row.unit) == (370.194, "370.194", "images/s")
    assert (row.spread, row.n, row.mfu, row.trials) == (None, None, None, ())
    assert row.id == "tesla-v100-sxm2-32gb_ngc-pytorch_resnet50_fp32_bs256_1n1g"
    assert row.source == "owner/repository@abc:README.md"


def test_a_value_that_a_report_prints_twice_is_one_row():
    again = figure("370.194", source="owner/repository@abc:other.md")
    found = rows(figure("370.194"), again, figure("371.0"))
    assert [(row.value, row.variant, row.source[-9:]) for row in found] == [
        (370.194, 1, "README.md"),
        (371.0, 2, "README.md"),
    ]


def test_speed_up_is_computed_and_a_typed_one_is_no_figure():
    one, eight = rows(figure("100.0"), figure("700.0", gpus=8), figure("7.7", "speedup", gpus=8))
    assert (one.speedup, eight.speedup, eight.efficiency) == (1.0, 7.0, 0.875)


def test_two_different_1_gpu_figures_are_no_baseline():
    assert [row.speedup for row in rows(figure("100.0"), figure("110.0"), figure("700.0", gpus=8))] == [None] * 3


def test_the_single_runs_that_a_report_prints_give_spread_and_n():
    runs = [figure(printed, f"throughput_run_{number}") for number, printed in enumerate(("99", "100", "102"), 1)]
    (row,) = rows(figure("100", "throughput_median"), figure("100.33", "throughput_average"), *runs)
    assert (row.value, row.n, row.spread) == (100.0, 3, pytest.approx(0.03))
    assert [trial.value for trial in row.trials] == [99.0, 100.0, 102.0]


def test_gpus_are_counted_over_all_nodes_in_a_report_and_per_node_in_a_row():
    (row,) = rows(figure("10984.436", nodes=4, gpus=32))
    assert (row.nodes, row.gpus, row.gpus_total) == (4, 8, 32)


def test_a_cell_without_a_figure_has_its_reason():
    (row,) = rows(figure("-", rule="not run"))
    assert (row.value, str(row.status), row.printed) == (None, "not run", "")


def test_fp32_on_an_accelerator_that_computes_it_in_tf32_is_called_so():
    (row,) = rows(figure("908.244", hardware="NVIDIA A100-SXM4-40GB"))
    assert row.precision == "tf32"
    assert [finding.code for finding in row.findings] == ["tf32"]


def test_a_figure_whose_log_has_another_precision_than_its_label_is_called_by_that_and_says_so():
    (row,) = rows(figure("1444.9", precision="AMP", computed="fp16-pure"))
    assert (row.precision, row.id.split("_")[3]) == ("fp16-pure", "fp16-pure")
    assert [str(finding.message) for finding in row.findings] == [
        "the source calls this AMP; by its log it is FP16-PURE"
    ]


def test_a_throughput_per_gpu_becomes_that_of_all_gpus():
    axes = (("sequence_length", 8192), ("tensor_parallel", 2))
    (row,) = rows(figure("14451", model="Llama 3.1 8B", unit="tokens/s/GPU", gpus=8, precision="FP8", axes=axes))
    assert (row.case, row.precision, row.value, row.unit) == ("llama3-8b", "fp8", 8 * 14451.0, "tokens/s")
    assert (row.axes, row.printed) == (axes, "")


def test_runs_of_a_throughput_per_gpu_are_those_of_all_gpus_too():
    runs = [figure(printed, f"throughput_run_{number}") for number, printed in enumerate(("99", "101"), 1)]
    (row,) = rows(*(replace(item, unit="tokens/s/GPU", gpus=8) for item in (figure("100"), *runs)))
    assert (row.value, row.values) == (800.0, (792.0, 808.0))


def test_the_protocol_of_a_published_row_fits_its_framework_and_the_rule_of_its_log():
    workspace = WorkspacePaths(Path(__file__).parents[2])
    protocols = load_catalog(workspace.catalog).protocols
    contradictions, checked = [], 0
    for report in load_reports(workspace):
        for item in report.figures:
            (row, *_) = rows_of_report(replace(report, figures=(item,))) or (None,)
            rule = item.estimator
            if row is None or row.protocol is None:
                continue
            family = next((name for name in ("tensorflow", "pytorch", "mxnet", "paddle") if name in row.protocol), "")
            checked += bool(rule)
            if family not in row.framework or rule not in ("", protocols[row.protocol].estimator):
                contradictions.append((report.id, row.id, row.protocol, rule))
    assert contradictions == []
    assert checked > 150
