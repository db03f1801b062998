"""All results of a workspace, one row for each configuration."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from pandas import read_csv

from dlperf.measured.model import TrialResult
from dlperf.messages import message, quoted
from dlperf.plan import Configuration, Impossible, Launch, PlannedConfiguration, Selection
from dlperf.runs.journal import campaign_status
from dlperf.runs.lookup import tag_campaign
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.records import Event, State
from dlperf.runs.store import append_records, read_campaign, write_campaign
from dlperf.table.columns import csv_text, flat_columns, write_csv
from dlperf.table.load import Filters, load_results
from dlperf.table.model import ConfigurationResult, Status
from dlperf.view.campaigns import read_summary
from handmade_trials import PROTOCOL, START, end_trial, measured_campaign, own_log, planned, workspace_in, write_planned


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspacePaths:
    return workspace_in(tmp_path)


def the_row(workspace: WorkspacePaths, filters: Filters | None = None) -> ConfigurationResult:
    (row,) = load_results(workspace, filters or Filters())
    return row


def codes(row: ConfigurationResult) -> set[str]:
    return {finding.code for finding in row.findings}


def test_a_workspace_without_campaigns_has_no_results(workspace: WorkspacePaths):
    assert load_results(workspace) == []


@pytest.mark.parametrize("kind", [ConfigurationResult, TrialResult, PlannedConfiguration, Launch])
def test_records_that_a_workspace_has_by_the_thousand_have_no_dictionary_each(kind: type):
    assert not kind.__dictoffset__


def test_a_configuration_is_the_median_of_its_trials_with_spread_and_n(workspace: WorkspacePaths):
    measured_campaign(workspace, "a", [(planned(), [100.0, 103.0, 101.0])])
    row = the_row(workspace)
    assert row.status == Status("measured")
    assert row.value == pytest.approx(101.0)
    assert row.spread == pytest.approx(3 / 101)
    assert (row.n, len(row.trials), row.unit, row.protocol) == (3, 3, "images/s", "test")


TELEMETRY = "time,gpu,utilization_percent,throttle_reasons,foreign_processes\n" + "".join(
    f"{START.timestamp() + second:.1f},0,99,0x0,1\n" for second in range(30)
)


def test_of_a_disturbed_trial_and_its_repeat_the_repeat_counts_and_both_are_shown(workspace: WorkspacePaths):
    item = planned(repeats=2)
    campaign = measured_campaign(workspace, "a", [(item, [100.0])])
    end_trial(campaign, item, 2, {"n0/out.log": own_log(150.0), "n0/telemetry.csv": TELEMETRY})
    assert codes(the_row(workspace)) >= {"contended_gpu", "trial_spread"}
    end_trial(campaign, item, 3, {"n0/out.log": own_log(100.5)}, retry_of=2)
    row = the_row(workspace)
    assert row.value == pytest.approx(100.25)
    assert (row.n, [trial.number for trial in row.trials], row.trials[1].value) == (2, [1, 2, 3], pytest.approx(150.0))
    assert codes(row) == {"trial_excluded"}
    why = "other processes used GPU n0:0 while the trial was measured"
    assert str(row.findings[0].message) == f"excluded trials: trial 2 (repeated as trial 3: {why})"


def test_trials_that_failed_are_a_caveat_until_they_are_run_again(workspace: WorkspacePaths):
    item = planned(repeats=1)
    campaign = measured_campaign(workspace, "a", [(item, [100.0])])
    end_trial(campaign, item, 2, {"n0/out.log": own_log(100.0)}, State.TIMED_OUT)
    end_trial(campaign, item, 3, {"n0/out.log": "nothing"})
    end_trial(campaign, item, 4, {}, State.LOST)
    assert "2 of 4 trials failed or gave no value" in map(str, (each.message for each in the_row(workspace).findings))
    end_trial(campaign, item, 5, {"n0/out.log": own_log(100.0)}, retry_of=2)
    assert "1 of 4 trials failed or gave no value" in map(str, (each.message for each in the_row(workspace).findings))


def test_a_repeat_counts_whatever_its_figure_and_even_if_it_was_disturbed_as_well(workspace: WorkspacePaths):
    item = planned(repeats=1)
    campaign = write_planned(workspace, "a", [item])
    end_trial(campaign, item, 1, {"n0/out.log": own_log(150.0), "n0/telemetry.csv": TELEMETRY})
    end_trial(campaign, item, 2, {"n0/out.log": own_log(81.0), "n0/telemetry.csv": TELEMETRY}, retry_of=1)
    row = the_row(workspace)
    assert (row.value, row.n) == (pytest.approx(81.0), 1)
    assert codes(row) == {"measured_once", "trial_excluded", "contended_gpu"}


def test_a_disturbed_trial_counts_where_its_repeat_gave_no_figure(workspace: WorkspacePaths):
    item = planned(repeats=1)
    campaign = write_planned(workspace, "a", [item])
    end_trial(campaign, item, 1, {"n0/out.log": own_log(150.0), "n0/telemetry.csv": TELEMETRY})
    end_trial(campaign, item, 2, {"n0/out.log": ""}, State.FAILED, "exit code 1", retry_of=1)
    assert (the_row(workspace).value, the_row(workspace).n) == (pytest.approx(150.0), 1)


def test_what_was_found_of_a_trial_that_did_not_succeed_marks_no_result(workspace: WorkspacePaths):
    item = planned(repeats=2)
    campaign = measured_campaign(workspace, "a", [(item, [100.0, 101.0])])
    logs = {"n0/out.log": own_log(50.0), "n0/telemetry.csv": TELEMETRY}
    end_trial(campaign, item, 3, logs, State.FAILED, "exit code 1")
    assert "contended_gpu" not in codes(the_row(workspace))


def test_a_campaign_with_the_tag_superseded_gives_results_with_a_caveat(workspace: WorkspacePaths):
    campaign = measured_campaign(workspace, "a", [(planned(), [100.0, 101.0, 102.0])])
    tag_campaign(campaign, "night superseded")
    assert [finding.code for finding in the_row(workspace).caveats] == ["superseded"]


def test_mean_and_olympic_protocols_aggregate_their_own_way(workspace: WorkspacePaths):
    olympic = PROTOCOL | {"aggregate": "olympic"}
    measured_campaign(workspace, "a", [(planned(protocol=olympic), [100.0, 110.0, 101.0, 50.0])])
    assert the_row(workspace).value == pytest.approx(100.5)


def test_a_median_in_place_of_the_mean_of_a_protocol_is_called_that(workspace: WorkspacePaths):
    olympic = PROTOCOL | {"aggregate": "olympic"}
    measured_campaign(workspace, "a", [(planned(protocol=olympic), [100.0, 110.0])])
    assert the_row(workspace).value == pytest.approx(105.0)
    assert "few_for_mean" in [finding.code for finding in the_row(workspace).caveats]


def test_speed_up_and_efficiency_are_computed_from_the_1_gpu_median_of_the_same_campaign(workspace: WorkspacePaths):
    measured_campaign(workspace, "a", [(planned(1), [100.0, 102.0, 98.0]), (planned(8), [720.0])])
    measured_campaign(workspace, "b", [(planned(8), [720.0])])
    one, eight, alone = load_results(workspace)
    assert (one.speedup, one.efficiency) == (pytest.approx(1.0), pytest.approx(1.0))
    assert (eight.speedup, eight.efficiency) == (pytest.approx(7.2), pytest.approx(0.9))
    assert (alone.speedup, alone.efficiency) == (None, None)


def test_super_linear_scaling_is_found(workspace: WorkspacePaths):
    measured_campaign(workspace, "a", [(planned(1), [100.0]), (planned(2), [230.0])])
    assert "super_linear" in codes(load_results(workspace)[1])


def test_mfu_takes_the_peak_of_the_precision_that_was_used(workspace: WorkspacePaths):
    plan = planned(gflops_per_sample=50.0, peaks={"fp32": 10.0, "amp": 100.0})
    measured_campaign(workspace, "a", [(plan, [100.0])])
    assert the_row(workspace).mfu == pytest.approx(100 * 50 / (2 * 10_000))


def test_a_trial_with_an_error_stays_out_of_the_median_and_is_said(workspace: WorkspacePaths):
    plan = planned()
    campaign = measured_campaign(workspace, "a", [(plan, [100.0, 102.0])])
    end_trial(campaign, plan, 3, {"n0/out.log": "no record\n"})
    row = the_row(workspace)
    assert (row.value, row.n, len(row.trials)) == (pytest.approx(101.0), 2, 3)
    assert {"trial_excluded", "too_few_trials"} <= codes(row)


def test_trials_that_differ_are_found(workspace: WorkspacePaths):
    measured_campaign(workspace, "a", [(planned(), [100.0, 110.0, 120.0])])
    assert "trial_spread" in codes(the_row(workspace))


def test_what_never_ran_is_not_run(workspace: WorkspacePaths):
    write_planned(workspace, "a", [planned()])
    row = the_row(workspace)
    assert (str(row.status), row.value, row.spread, row.n, row.trials) == ("not run", None, None, None, ())


def test_what_cannot_run_is_not_supported_with_the_reason(workspace: WorkspacePaths):
    point = Configuration("here", "numpy", "lenet5", "amp", 4, 1, 2)
    write_planned(workspace, "a", [], [Impossible(point, quoted("numpy has no amp"))])
    assert str(the_row(workspace).status) == "not supported: numpy has no amp"


ENDINGS = {
    "out of memory in the log": (State.FAILED, "exit code 1", "RuntimeError: CUDA out of memory.", "out of memory"),
    "out of memory on the host": (State.FAILED, message("job_memory"), "", "out of memory"),
    "failed": (State.FAILED, "exit code 3", "", "failed: exit code 3"),
    "failed for a known cause": (
        State.FAILED,
        "exit code 1",
        "Watchdog caught collective operation timeout",
        "failed: exit code 1: NCCL timeout",
    ),
    "timed out": (State.TIMED_OUT, "deadline of 60 s", "", "timed out: deadline of 60 s"),
    "cancelled": (State.CANCELLED, "by a viewer", "", "cancelled"),
    "lost": (State.LOST, "the node has no record of the trial", "", "lost: the node has no record of the trial"),
    "lost, nobody knows why": (State.LOST, None, "", "lost"),
    "no records": (
        State.SUCCEEDED,
        None,
        "hello",
        "failed: no log has throughput records of the format dlperf",
    ),
}


@pytest.mark.parametrize(("state", "cause", "log", "status"), ENDINGS.values(), ids=ENDINGS)
def test_a_missing_figure_has_its_reason(
    workspace: WorkspacePaths, state: State, cause: str | None, log: str, status: str
):
    plan = planned(repeats=1)
    campaign = write_planned(workspace, "a", [plan])
    end_trial(campaign, plan, 1, {"n0/out.log": log}, state, cause)
    row = the_row(workspace)
    assert (str(row.status), row.value) == (status, None)


def test_a_trial_under_way_is_running(workspace: WorkspacePaths):
    plan = planned()
    campaign = write_planned(workspace, "a", [plan])
    append_records(campaign.journal, [Event("2026-01-31T12:00:00Z", "state", f"{plan.configuration.id}/1", "running")])
    assert the_row(workspace).status == Status("running")


def test_a_retry_that_succeeded_gives_the_figure(workspace: WorkspacePaths):
    plan = planned(repeats=1)
    campaign = write_planned(workspace, "a", [plan])
    end_trial(campaign, plan, 1, {"n0/out.log": ""}, State.FAILED, "ssh: connection lost")
    key = f"{plan.configuration.id}/2"
    append_records(campaign.journal, [Event("2026-01-31T12:06:00Z", "planned", key, data={"retry_of": 1})])
    end_trial(campaign, plan, 2, {"n0/out.log": own_log(100.0)})
    row = the_row(workspace)
    assert (str(row.status), row.n, len(row.trials)) == ("measured", 1, 2)


def test_a_finished_trial_whose_result_was_not_written_is_measured_from_its_log(workspace: WorkspacePaths):
    plan = planned(repeats=1)
    campaign = measured_campaign(workspace, "a", [(plan, [100.0])])
    next(campaign.directory.rglob("result.json")).unlink()
    assert the_row(workspace).value == pytest.approx(100.0)


FILTERS = {
    "campaign": (Filters(campaigns=("b",)), 1),
    "framework": (Filters(Selection(frameworks=("numpy",))), 3),
    "precision": (Filters(Selection(precisions=("amp",))), 0),
    "batch size": (Filters(Selection(batch_sizes=(8, 4))), 3),
    "scale": (Filters(Selection(scales=("1n8g",))), 2),
    "scale by a number": (Filters(Selection(scales=("8",))), 2),
    "status": (Filters(statuses=("measured",)), 3),
    "status with a reason": (Filters(statuses=("failed",)), 0),
}


@pytest.mark.parametrize(("filters", "count"), FILTERS.values(), ids=FILTERS)
def test_filters_choose_rows(workspace: WorkspacePaths, filters: Filters, count: int):
    measured_campaign(workspace, "a", [(planned(1), [100.0]), (planned(8), [720.0])])
    measured_campaign(workspace, "b", [(planned(8), [720.0])])
    assert len(load_results(workspace, filters)) == count


def test_filtering_by_status_finds_failures_whatever_the_reason():
    status = Status("failed", message("nccl_timeout"))
    row = ConfigurationResult("h", "f", "m", "fp32", 1, 1, 1, "c", "u", *[None] * 7, status=status)
    assert Filters(statuses=("failed",)).matches(row)
    assert Filters(statuses=("failed: NCCL timeout",)).matches(row)
    assert not Filters(statuses=("fail",)).matches(row)


@pytest.mark.parametrize("damage", ["", '{"value": 1', "[]", '{"number": "one"}'])
def test_a_damaged_result_is_measured_again(workspace: WorkspacePaths, damage: str):
    campaign = measured_campaign(workspace, "a", [(planned(), [100.0, 101.0])])
    trial = next(iter(campaign_status(campaign).trials))
    campaign.trial(trial).result.write_text(damage)
    assert [trial.value for trial in the_row(workspace).trials] == [pytest.approx(100), pytest.approx(101)]


def test_a_damaged_line_of_the_journal_costs_what_it_says_alone(workspace: WorkspacePaths):
    campaign = measured_campaign(workspace, "a", [(planned(), [100.0, 101.0, 102.0])])
    lines = campaign.journal.read_text().splitlines(keepends=True)
    (lost,) = [number for number, line in enumerate(lines) if '/2"' in line and "succeeded" in line]
    campaign.journal.write_text("".join([*lines[:lost], "garbage{\n", *lines[lost + 1 :]]))
    assert [trial.number for trial in the_row(workspace).trials if trial.value] == [1, 3]


def test_an_axis_is_a_column_a_filter_and_a_key_of_results(workspace: WorkspacePaths, tmp_path: Path):
    points = [replace(planned().configuration, axes=(("sequence_length", length),)) for length in (2048, 8192)]
    items = [replace(planned(), configuration=point) for point in points]
    measured_campaign(workspace, "a", [(item, [100.0 * number]) for number, item in enumerate(items, 1)])
    (row,) = load_results(workspace, Filters(Selection(axes=("sequence_length=8192",))))
    assert (row.value, row.as_data()["axes"]) == (pytest.approx(200.0), {"sequence_length": 8192})
    columns = flat_columns(load_results(workspace))
    assert (columns["sequence_length"], "axes" in columns) == ([2048, 8192], False)
    write_csv(csv_text(flat_columns(load_results(workspace))), tmp_path / "all.csv")
    assert list(read_csv(tmp_path / "all.csv")["sequence_length"]) == [2048, 8192]


def test_every_kept_result_has_one_identity_that_can_name_a_folder() -> None:
    rows = load_results(WorkspacePaths(Path(__file__).parents[2]))
    assert all(re.fullmatch(r"[\w.-]+", row.id, re.ASCII) for row in rows)
    assert len({(row.campaign, row.id, row.variant) for row in rows}) == len(rows)
    assert {row.as_data()["configuration"] == row.id for row in rows} == {True}


def test_a_campaign_has_the_name_of_its_folder_whatever_its_plan_says(tmp_path):
    workspace = workspace_in(tmp_path)
    measured_campaign(workspace, "good", [(planned(repeats=1), [100.0])])
    forged = measured_campaign(workspace, "forged", [(planned(repeats=1), [900.0])])
    write_campaign(forged, replace(read_campaign(forged), name="good"))
    assert {row.campaign: row.value for row in load_results(workspace)} == pytest.approx(
        {"good": 100.0, "forged": 900.0}
    )
    assert read_summary(forged, None).name == "forged"
