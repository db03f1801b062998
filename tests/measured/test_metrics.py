"""Metrics of trials and configurations."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

import dlperf
from dlperf.catalog.files.load import load_catalog
from dlperf.catalog.machines import Price
from dlperf.catalog.units import Aggregation
from dlperf.cli import main
from dlperf.errors import RequestError
from dlperf.plan import PlannedConfiguration, PlannedMetric, PlannedProtocol
from dlperf.plan.metrics import planned_metrics
from dlperf.runs.paths import WorkspacePaths
from dlperf.table.load import Filters, load_results
from dlperf.verdicts.workspace import compare_in_workspace
from handmade_trials import end_trial, own_log, planned, workspace_in, write_planned

EVERY = planned_metrics("images/s", None, load_catalog().metrics)
GPU_ROWS = "time,gpu,memory_used_mib,power_watts\n" + "".join(
    f"{1769860800 + second},{gpu},{1000 + 24 * gpu * (second == 3)},{100 + 60 * gpu}\n"
    for second in range(14)
    for gpu in (0, 1)
)


def plan_with(*metrics: PlannedMetric) -> PlannedConfiguration:
    return replace(planned(2, gflops_per_sample=5.0, peaks={"fp32": 2.0}), unit=metrics[0].unit, metrics=metrics)


def measured(workspace: WorkspacePaths, name: str, plan: PlannedConfiguration, *logs: str) -> None:
    campaign = write_planned(workspace, name, [plan])
    for number, log in enumerate(logs, 1):
        end_trial(campaign, plan, number, {"n0/out.log": log, "n0/telemetry.csv": GPU_ROWS})


def with_losses(log: str) -> str:
    return log.replace(" throughput", " loss=0.25 throughput")


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspacePaths:
    return workspace_in(tmp_path / "w")


def test_a_trial_that_does_not_meet_what_its_case_expects_has_no_value(workspace: WorkspacePaths) -> None:
    plan = replace(plan_with(*EVERY), repeats=2, expect=("final_loss < 0.5", "throughput >= 60"))
    measured(workspace, "a", plan, with_losses(own_log(64.0)), with_losses(own_log(32.0)))
    (row,) = load_results(workspace)
    assert (row.value, row.n) == (pytest.approx(64.0), 1)
    assert [str(item.message) for item in row.trials[1].findings] == ["expected throughput >= 60, measured 32"]
    assert "error" in [item.severity for item in row.caveats]
    measured(workspace, "b", replace(plan, repeats=1), own_log(64.0))
    (row,) = load_results(workspace, Filters(campaigns=("b",)))
    assert str(row.status) == "failed: expected final_loss < 0.5, and it was not measured"


def test_a_trial_whose_logs_have_not_the_lines_that_its_case_expects_has_no_value(workspace: WorkspacePaths) -> None:
    plan = replace(plan_with(*EVERY), repeats=4, expect=(r"log has ^epoch \d+ done$", "log lacks loss=(nan|inf)"))
    done = own_log(64.0) + "\x1b[32mepoch 3 done\x1b[0m"
    measured(workspace, "a", plan, done, own_log(64.0), f"{done}\nloss=inf\nloss=nan\n")
    campaign = workspace.campaign("a")
    ranks = {"n0/out.log": own_log(64.0), "n0/ranks/1.log": "epoch 3 done\n", "n0/telemetry.csv": GPU_ROWS}
    end_trial(campaign, plan, 4, ranks)
    (row,) = load_results(workspace)
    assert [trial.value is None for trial in row.trials] == [False, True, True, False]
    assert [str(item.message) for trial in row.trials for item in trial.findings if item.severity == "error"] == [
        r"expected log has ^epoch \d+ done$, and no line matches",
        "expected log lacks loss=(nan|inf), found loss=inf",
    ]


def test_samples_and_telemetry_give_every_built_in_metric(workspace: WorkspacePaths) -> None:
    measured(workspace, "a", plan_with(*EVERY), with_losses(own_log(64.0)))
    (row,) = load_results(workspace)
    assert {metric.id: metric.value for metric in row.metrics} == {
        "throughput": pytest.approx(64.0),
        "goodput": pytest.approx(64.0),
        "steady_rate": pytest.approx(64.0),
        "paused_share": 0.0,
        "step_time": pytest.approx(0.125),
        "model_tflops_per_gpu": pytest.approx(0.16),
        "mfu": pytest.approx(8.0),
        "peak_memory_per_gpu": pytest.approx(1024 * 2**20 / 1e9),
        "energy_per_sample": pytest.approx(260 / 64),
        "final_loss": 0.25,
    }
    assert (row.metrics[0].id, row.value, row.unit, row.mfu) == (
        "throughput",
        row.metrics[0].value,
        "images/s",
        pytest.approx(0.08),
    )


@pytest.mark.parametrize("rates", [(64.0,), (64.0, 96.0), (64.0, 65.0, 96.0, 128.0)])
@pytest.mark.parametrize("aggregate", ["median", "mean", "olympic"])
def test_energy_and_samples_per_joule_say_the_same(
    workspace: WorkspacePaths, rates: tuple[float, ...], aggregate: Aggregation
) -> None:
    plan = plan_with(*EVERY)
    plan = replace(plan, protocol=replace(plan.protocol, aggregate=aggregate), repeats=len(rates))
    measured(workspace, "a", plan, *map(own_log, rates))
    (row,) = load_results(workspace)
    (energy,) = (metric for metric in row.metrics if metric.id == "energy_per_sample")
    assert energy.unit == "J/image"
    assert row.samples_per_joule is not None
    assert row.samples_per_joule * energy.value == pytest.approx(1.0, rel=1e-12)


def test_energy_of_processors_and_machines_counts_a_machine_of_several_nodes_once(workspace: WorkspacePaths) -> None:
    plan = replace(plan_with(*EVERY), launch=planned(1, nodes=3).launch)
    rows = "".join(f"{1769860800 + second},50,{1000 * 320 * second},1280\n" for second in range(14))
    telemetry = "time,cpu_percent,cpu_package_millijoules,node_watts\n" + rows
    campaign = write_planned(workspace, "a", [plan])
    files = {"n0/out.log": own_log(64.0)}
    for node, machine in (("n0", "one"), ("n1", "two"), ("n2", "two")):
        files[f"{node}/telemetry.csv"] = telemetry
        files[f"{node}/environment.json"] = json.dumps({"boot_id": machine})
    end_trial(campaign, plan, 1, files)
    (row,) = load_results(workspace)
    found = {metric.id: metric.value for metric in row.metrics}
    assert found["cpu_energy_per_sample"] == pytest.approx(2 * 320 / 64)
    assert found["node_energy_per_sample"] == pytest.approx(2 * 1280 / 64)
    assert "energy_per_sample" not in found


def test_errors_of_gpus_are_metrics_and_those_of_the_trials_time_a_caveat(workspace: WorkspacePaths) -> None:
    plan = plan_with(*EVERY)
    campaign = write_planned(workspace, "a", [plan])
    gpus = [
        {"index": 0, "memory_errors_corrected": 4, "driver_errors": None},
        {"index": 1, "memory_errors_corrected": 7},
    ]
    reported = [{"pci_bus": "0000:3b:00", "code": 79}, {"pci_bus": "0000:3b:00", "code": 48}, 7]
    files = {"environment.json": {"gpus": gpus}, "exit.json": {"driver_errors": reported}}
    end_trial(
        campaign, plan, 1, {"n0/out.log": own_log(64.0), **{f"n0/{name}": json.dumps(files[name]) for name in files}}
    )
    (row,) = load_results(workspace)
    found = {metric.id: metric.value for metric in row.metrics}
    assert (found["memory_errors_corrected"], "driver_errors" in found) == (7.0, False)
    said = "the driver reported errors of failing hardware (48, 79) on the GPUs 0000:3b:00 while the trial ran"
    assert said in [str(finding.message) for finding in row.caveats]


def test_a_case_may_be_measured_by_step_time_where_less_is_better(workspace: WorkspacePaths) -> None:
    step_time = next(metric for metric in EVERY if metric.id == "step_time")
    for name, rate in (("a", 64.0), ("b", 128.0)):
        measured(workspace, name, plan_with(step_time, *EVERY), own_log(rate), own_log(rate * 1.01))
    (pair,) = compare_in_workspace(workspace, "a", "b").pairs
    assert (pair.a.metric, pair.a.unit, pair.a.direction) == ("step_time", "s", "lower")
    assert (pair.ratio, pair.gain) == (pytest.approx(0.5), pytest.approx(2.0))
    assert (pair.a.speedup, pair.a.spread, pair.a.n) == (None, pytest.approx(0.01, rel=0.02), 2)


def test_another_metric_than_the_primary_one_can_be_compared(workspace: WorkspacePaths) -> None:
    for name, rate in (("a", 64.0), ("b", 128.0)):
        measured(workspace, name, plan_with(*EVERY), own_log(rate), own_log(rate * 1.01))
    (pair,) = compare_in_workspace(workspace, "a", "b", metric="energy_per_sample").pairs
    assert (pair.a.unit, pair.ratio, pair.gain) == ("J/image", pytest.approx(0.5), pytest.approx(2.0))
    with pytest.raises(RequestError, match=r"--metric enrgy_per_sample: no result has this metric \(did you mean"):
        compare_in_workspace(workspace, "a", "b", metric="enrgy_per_sample")


def test_the_cost_of_a_million_samples_stands_with_its_price_source_and_date(
    workspace: WorkspacePaths, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, rate, amount in (("a", 64.0, 3.6), ("b", 128.0, 1.8)):
        price = Price(amount, "EUR", "contract 7", date(2026, 11, 1))
        metrics = planned_metrics("images/s", None, load_catalog().metrics, price)
        measured(workspace, name, replace(plan_with(*metrics), price=price), own_log(rate))
    row, _ = load_results(workspace, Filters(metrics=("cost_per_million",)))
    basis = "3.6 EUR/GPU-hour (contract 7, 2026-11-01)"
    assert (row.unit, row.direction, row.basis) == ("EUR/million images", "lower", basis)
    assert row.value == pytest.approx(2 * 3.6 / 3600 / 64 * 1e6)
    (pair,) = compare_in_workspace(workspace, "a", "b", metric="cost_per_million").pairs
    assert (pair.ratio, pair.gain) == (pytest.approx(0.25), pytest.approx(4.0))
    for command in (["results", "--metric", "cost_per_million"], ["compare", "a", "b", "--metric", "cost_per_million"]):
        with pytest.raises(SystemExit):
            main(["--workspace", str(workspace.root), *command])
        assert basis in capsys.readouterr().err


def test_the_long_form_has_a_row_for_each_metric_with_unit_and_direction(workspace: WorkspacePaths) -> None:
    measured(workspace, "a", plan_with(*EVERY), own_log(64.0), own_log(65.0))
    frame = dlperf.Workspace(workspace.root).results(metrics="all").set_index("metric")
    assert frame["value"]["step_time"] == pytest.approx((8 / 64 + 8 / 65) / 2)
    assert (frame["unit"]["step_time"], frame["direction"]["step_time"]) == ("s", "lower")
    assert [trial.value for trial in frame["trials"]["step_time"]] == [pytest.approx(8 / 64), pytest.approx(8 / 65)]
    assert frame["n"]["throughput"] == 2
    assert [row.metric for row in load_results(workspace, Filters(metrics=("mfu",)))] == ["mfu"]


def test_a_configuration_that_failed_is_listed_with_its_reason_among_all_metrics(workspace: WorkspacePaths) -> None:
    failed = plan_with(PlannedMetric("bandwidth", "GB/s"))
    measured(workspace, "a", failed, own_log(64.0))
    measured(workspace, "b", plan_with(*EVERY), own_log(64.0))
    rows = load_results(workspace, Filters(metrics=("all",)))
    (reason,) = (row.status.text() for row in rows if row.campaign == "a")
    assert reason == "failed: neither log nor telemetry gives the metric bandwidth"
    assert [row.campaign for row in load_results(workspace, Filters(metrics=("step_time",)))] == ["b"]


def test_a_trial_without_its_primary_metric_has_no_figure(workspace: WorkspacePaths) -> None:
    bandwidth = PlannedMetric("bandwidth", "GB/s")
    measured(workspace, "a", plan_with(bandwidth, *EVERY), own_log(64.0))
    (row,) = load_results(workspace)
    assert row.value is None
    assert row.status.text() == "failed: neither log nor telemetry gives the metric bandwidth"


def test_a_plan_without_metrics_has_throughput_alone(workspace: WorkspacePaths) -> None:
    measured(workspace, "a", planned(2), own_log(64.0))
    (row,) = load_results(workspace)
    assert [(metric.id, metric.unit) for metric in row.metrics] == [("throughput", "images/s")]
    (result,) = (workspace.root / "runs" / "a").rglob("result.json")
    assert json.loads(result.read_text())["metrics"] == []


def test_a_value_that_the_log_prints_is_a_metric(workspace: WorkspacePaths) -> None:
    bandwidth = PlannedMetric("bandwidth", "GB/s", estimator="mean")
    log = own_log(64.0).replace("throughput=64.0", "throughput=64.0 bandwidth=300 accuracy=0.5", 1)
    log = log.replace('{"throughput": 64.0', '{"metrics": {"bandwidth": 302, "mfu": 99}, "throughput": 64.0')
    measured(workspace, "a", plan_with(bandwidth, *EVERY), log)
    (row,) = load_results(workspace)
    found = {metric.id: (metric.value, metric.unit) for metric in row.metrics}
    assert (row.metric, row.value, row.unit, row.trials[0].estimator) == ("bandwidth", 301.0, "GB/s", "mean")
    assert (found["accuracy"], found["mfu"]) == ((0.5, ""), (pytest.approx(8.0), "%"))


def test_a_result_of_hardware_that_never_ran_says_so(workspace: WorkspacePaths) -> None:
    plan = plan_with(*EVERY)
    campaign = write_planned(workspace, "a", [plan])
    end_trial(campaign, plan, 1, {"n0/out.log": own_log(64.0), "n0/environment.json": '{"never_run_vendor": "AMD"}'})
    (row,) = load_results(workspace)
    said = "telemetry and checks of AMD GPUs follow published outputs of its tools and never ran on such hardware"
    assert said in [str(finding.message) for finding in row.caveats]


def test_of_a_log_without_a_throughput_all_telemetry_counts(workspace: WorkspacePaths) -> None:
    lines = (
        '{time} run {{"gpus": 2, "steps": 2}}',
        "{time} step=1 product=700",
        "{time} step=2 product=600",
        "{time} summary {{}}",
    )
    log = "".join(f"DLPERF {line.format(time='2026-01-31T12:00:10.000000Z')}\n" for line in lines)
    measured(workspace, "a", plan_with(PlannedMetric("product", "TFLOP/s", estimator="min")), log)
    (row,) = load_results(workspace)
    assert (row.value, row.trials[0].power_watts, row.trials[0].telemetry_samples) == (600, 260, 14)


def test_one_printed_number_is_a_figure_under_the_protocol_printed(workspace: WorkspacePaths) -> None:
    duration = planned_metrics("ms", None, load_catalog().metrics)[0]
    plan = replace(plan_with(duration), protocol=PlannedProtocol("printed", estimator="printed()"), repeats=1)
    measured(workspace, "a", plan, 'DLPERF 2026-01-31T12:00:00.0Z summary {"throughput": 3.25, "unit": "ms"}\n')
    (row,) = load_results(workspace)
    assert (row.value, row.unit, row.direction, row.metric) == (3.25, "ms", "lower", "duration")
    assert [finding.code for finding in row.findings] == ["measured_once"]


def test_a_metric_of_trials_that_all_failed_is_answered_by_where_the_reasons_are(workspace: WorkspacePaths) -> None:
    measured(workspace, "a", plan_with(*EVERY), "no record\n")
    with pytest.raises(RequestError, match="none has a value: leave --metric out to see why"):
        load_results(workspace, Filters(metrics=("step_time",)))
    (row,) = load_results(workspace, Filters(metrics=("all",)))
    assert row.value is None
