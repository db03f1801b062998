"""Results of MLPerf Training in the layout in which MLCommons publishes them."""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path

import pytest

from dlperf.catalog.files.load import Catalog, load_catalog
from dlperf.derived.import_writer import write_import
from dlperf.derived.importing import ImportPlan, ImportRequest, plan_import
from dlperf.derived.third_party import write_report
from dlperf.errors import RequestError
from dlperf.evidence.logs import BUILTIN_FORMATS, LogReader
from dlperf.evidence.names import NameFacts
from dlperf.formats.samples import Run
from dlperf.plan import PlannedProtocol
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.published import load_reports
from dlperf.table.load import load_results
from dlperf.table.published import rows_of_report
from handmade_trials import own_log, workspace_in

SYSTEM = {
    "submitter": "Example",
    "number_of_nodes": "9",
    "accelerators_per_node": "4",
    "accelerator_model_name": "Example Accelerator",
    "framework": "NVIDIA NeMo Framework Release 25.09",
    "other_software_stack": {"cuda_version": "13.0"},
}
ORIGIN = "mlcommons/training_results_v5.1@441d65f4"
SPEEDS = (60.0, 50.0, 61.0, 59.0)
"""Samples per second of four runs without their evaluations of 20 s."""
GPUS, BATCH, LENGTH, SAMPLES = 36, 18, 8192, 1800


def event(seconds: float, key: str, value: object = None, **metadata: object) -> str:
    data = {"time_ms": round(1.7e12 + seconds * 1000), "key": key, "value": value, "metadata": metadata}
    return f":::MLLOG {json.dumps(data)}\n"


def log(speed: float, converges: bool = True) -> str:
    block = SAMPLES / speed
    first, second = (5 + block, 5 + block + 20), (5 + 2 * block + 20, 5 + 2 * block + 40)
    return "".join(
        (
            event(0, "submission_benchmark", "llama31_8b"),
            event(0, "global_batch_size", BATCH),
            event(0, "max_sequence_length", LENGTH),
            event(5, "run_start"),
            event(5, "block_start", samples_count=0),
            event(first[0], "eval_start", samples_count=SAMPLES),
            event(first[1], "eval_stop", samples_count=SAMPLES),
            event(first[1], "block_start", samples_count=SAMPLES),
            event(second[0], "eval_start", samples_count=2 * SAMPLES),
            event(second[1], "run_stop", status="success" if converges else "aborted"),
        )
    )


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "mirror" / "Example"
    logs = folder / "results" / "rack_n9" / "llama31_8b"
    logs.mkdir(parents=True)
    (folder / "systems").mkdir()
    (folder / "systems" / "rack_n9.json").write_text(json.dumps(SYSTEM))
    for number, speed in enumerate(SPEEDS):
        (logs / f"result_{number}.txt").write_text(log(speed, converges=number != 3))
    return folder


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspacePaths:
    return workspace_in(tmp_path / "workspace")


@cache
def catalog() -> Catalog:
    return load_catalog()


def planned(results: Path) -> ImportPlan:
    request = ImportRequest((results / "results",), origin=ORIGIN, date="2025-11")
    return plan_import(request, catalog(), BUILTIN_FORMATS)


def whole(speed: float) -> float:
    """Tokens per second from start to stop, evaluations included."""
    return 2 * SAMPLES * LENGTH / (2 * SAMPLES / speed + 40)


def test_a_system_is_described_by_its_file_and_measured_by_the_rule_of_mlperf(results, workspace):
    write_import(workspace, "mlperf", planned(results), BUILTIN_FORMATS)
    (row,) = load_results(workspace)
    assert (row.hardware, row.framework, row.case, row.precision) == ("rack-n9", "nemo", "llama31-8b", "unstated")
    assert (row.nodes, row.gpus, row.batch_size, row.axes) == (9, 4, 0, (("global_batch", BATCH),))
    assert (row.unit, row.protocol, row.pauses, row.date, row.source) == (
        *("tokens/s", "mlperf", "with", "2025-11"),
        ORIGIN,
    )
    middle = sorted(map(whole, SPEEDS))[1:-1]
    assert row.value == pytest.approx(sum(middle) / 2)


def test_a_run_that_does_not_converge_is_the_worst_time_to_train(results, workspace):
    write_import(workspace, "mlperf", planned(results), BUILTIN_FORMATS)
    metrics = {metric.id: metric for metric in load_results(workspace)[0].metrics}
    minutes = sorted((2 * SAMPLES / speed + 40) / 60 for speed in SPEEDS[:3])
    assert metrics["time_to_train"].value == pytest.approx(sum(minutes[1:]) / 2)
    steady = sorted(speed * LENGTH for speed in SPEEDS)
    assert metrics["steady_rate"].value == pytest.approx(sum(steady[1:-1]) / 2)
    assert metrics["tokens_per_second_per_gpu"].value == pytest.approx(load_results(workspace)[0].value / GPUS)


def test_of_two_runs_that_do_not_converge_there_is_no_time_to_train(results, workspace):
    (results / "results" / "rack_n9" / "llama31_8b" / "result_0.txt").write_text(log(SPEEDS[0], converges=False))
    write_import(workspace, "mlperf", planned(results), BUILTIN_FORMATS)
    assert "time_to_train" not in [metric.id for metric in load_results(workspace)[0].metrics]
    write_report(workspace, "mlperf-training", planned(results), BUILTIN_FORMATS)
    folder = workspace.published / "mlperf-training"
    assert values_of(folder, "time_to_train") == []


def test_3d_unet_drops_four_runs_at_each_end(results, workspace):
    logs = results / "results" / "rack_n9"
    (logs / "llama31_8b").rename(logs / "unet3d")
    for number in range(10):
        about = event(0, "submission_benchmark", "unet3d") + event(0, "global_batch_size", BATCH)
        run = event(5, "run_start") + event(605 + 60 * number**2, "run_stop", status="success")
        (logs / "unet3d" / f"result_{number}.txt").write_text(about + run)
    write_import(workspace, "mlperf", planned(results), BUILTIN_FORMATS)
    (row,) = load_results(workspace)
    assert (row.protocol, row.unit, row.n) == ("mlperf-unet3d", "min", 10)
    assert row.value == pytest.approx(10 + (16 + 25) / 2)


def test_the_description_of_a_system_stands_with_its_results(results):
    (configuration,) = planned(results).configurations
    assert configuration.facts["other_software_stack.cuda_version"] == "13.0"
    assert configuration.facts["log_date"] == "2025-11"


def test_values_and_sources_become_a_report_without_the_logs(results, workspace):
    write_report(workspace, "mlperf-training", planned(results), BUILTIN_FORMATS)
    folder = workspace.published / "mlperf-training"
    (report,) = load_reports(workspace)
    (row,) = rows_of_report(report)
    assert (row.hardware, row.date, row.n) == ("example-accelerator", "2025-11", len(SPEEDS))
    assert row.source == f"{ORIGIN}:Example/results/rack_n9/llama31_8b"
    assert [metric.id for metric in row.metrics] == ["throughput", "steady_rate", "time_to_train"]
    rows = list(csv.DictReader((folder / "figures.csv").open()))
    assert [one["metric"] for one in rows[1:3]] == ["throughput_run_1", "throughput_run_2"]
    assert float(rows[0]["value"]) * GPUS == pytest.approx(sum(sorted(map(whole, SPEEDS))[1:-1]) / 2, rel=1e-5)
    assert ":::MLLOG" not in "".join(path.read_text() for path in folder.iterdir())
    with pytest.raises(RequestError, match="nothing is overwritten"):
        write_report(workspace, "mlperf-training", planned(results), BUILTIN_FORMATS)


def test_a_result_without_a_record_is_a_log_that_was_not_imported(results):
    (results / "results/rack_n9/llama31_8b/result_4.txt").write_text(event(0, "run_start"))
    (skipped,) = planned(results).skipped
    assert skipped.is_log


def test_an_empty_result_is_a_log_that_was_not_imported(results):
    (results / "results" / "rack_n9" / "llama31_8b" / "result_0.txt").write_text("")
    (skipped,) = planned(results).skipped
    assert (skipped.reason, skipped.is_log) == ("empty", True)


def test_a_description_with_a_byte_order_mark_is_read(results):
    file = results / "systems" / "rack_n9.json"
    file.write_text(file.read_text(), encoding="utf-8-sig")
    assert len(planned(results).trials) == len(SPEEDS)


def test_a_result_says_that_its_system_is_not_described(results):
    (results / "systems" / "rack_n9.json").write_text("[]")
    assert {skipped.reason.rpartition("; ")[2] for skipped in planned(results).skipped} == {
        "no JSON file of its system under systems/ states nodes and accelerators"
    }


def test_a_folder_of_results_without_the_description_of_its_system_is_an_ordinary_one(results):
    (results / "systems" / "rack_n9.json").write_text("{")
    assert "hardware (give --hardware)" in planned(results).skipped[0].reason


def values_of(folder: Path, metric: str) -> list[float]:
    return [float(row["value"]) for row in csv.DictReader((folder / "figures.csv").open()) if row["metric"] == metric]


def test_a_report_leaves_out_a_run_above_the_peak_as_a_campaign_does(tmp_path, workspace):
    for number, speed in enumerate((640.0, 41_000.0)):
        (tmp_path / f"{number}.log").write_text(own_log(speed, gpus=1))
    given = NameFacts("resnet50", "pytorch", "bf16", 4, 1)
    protocol = PlannedProtocol("mean", estimator="mean()")
    request = ImportRequest((tmp_path / "0.log", tmp_path / "1.log"), "h100", given, protocol=protocol)
    plan = plan_import(request, catalog(), BUILTIN_FORMATS)
    assert len(plan.trials) == 2
    write_import(workspace, "fast", plan, BUILTIN_FORMATS)
    (row,) = load_results(workspace)
    write_report(workspace, "fast", plan, BUILTIN_FORMATS)
    folder = workspace.published / "fast"
    assert values_of(folder, "throughput") == values_of(folder, "throughput_run_1") == [pytest.approx(row.value)]
    assert values_of(folder, "throughput_run_2") == []


def test_a_report_of_runs_that_state_no_samples_is_of_their_time_to_train(results, workspace):
    for number in range(5):
        about = event(0, "submission_benchmark", "llama31_8b") + event(0, "global_batch_size", BATCH)
        run = event(5, "run_start") + event(605 + 60 * number**2, "run_stop", status="success")
        (results / "results" / "rack_n9" / "llama31_8b" / f"result_{number}.txt").write_text(about + run)
    write_report(workspace, "mlperf-training", planned(results), BUILTIN_FORMATS)
    (report,) = load_reports(workspace)
    (row,) = rows_of_report(report)
    assert (row.metric, row.unit, row.direction, row.n) == ("time_to_train", "min", "lower", 5)
    assert row.value == pytest.approx((11 + 14 + 19) / 3, rel=1e-5)
    assert [metric.id for metric in row.metrics] == ["time_to_train"]


class WithoutTheFirst(LogReader):
    """Leaves out the first run, as it does a run without records."""

    def read(self, path: Path, format_id: str | None = None) -> list[Run]:
        return super().read(path, format_id)[1:]


def test_a_report_takes_runs_by_their_numbers_where_one_has_no_record(results, workspace):
    logs = results / "results" / "rack_n9" / "llama31_8b"
    for path in logs.iterdir():
        path.unlink()
    (logs / "result_0.txt").write_text(log(61.0) + log(60.0) + log(50.0))
    request = ImportRequest((results / "results",), origin=ORIGIN)
    plan = plan_import(request, catalog(), WithoutTheFirst())
    assert [one.log_run for one in plan.trials.values()] == [2, 3]
    write_report(workspace, "mlperf", plan, WithoutTheFirst())
    (report,) = load_reports(workspace)
    assert [str(finding.message) for finding in rows_of_report(report)[0].caveats] == [
        "the protocol takes the mean of 3 trials or more without the best and the worst; this is the median of 2"
    ]
    folder = workspace.published / "mlperf"
    found = values_of(folder, "throughput_run_1") + values_of(folder, "throughput_run_2")
    assert found == pytest.approx([whole(speed) / GPUS for speed in (60.0, 50.0)], rel=1e-5)


def test_a_report_that_cannot_be_computed_leaves_no_folder(results, workspace):
    plan = planned(results)
    for path in (results / "results" / "rack_n9" / "llama31_8b").iterdir():
        path.write_text("")
    with pytest.raises(RequestError, match="changed while it was read"):
        write_report(workspace, "mlperf", plan, BUILTIN_FORMATS)
    assert not (workspace.published / "mlperf").exists()
