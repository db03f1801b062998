"""The commands results, compare and verify, as a person or a script calls them."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from run_commands import Command

import dlperf
from claimable import NUMERICS, claimable
from dlperf.catalog.axes import field_values
from dlperf.plan import TrialKey
from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.records import Event
from dlperf.runs.store import append_records, write_record
from dlperf.table.model import ConfigurationResult, Status
from handmade_trials import measured_campaign, own_log, planned, workspace_in, write_planned

KEYS = [
    *("campaign", "hardware", "framework", "case", "precision", "batch_size", "nodes", "gpus", "unit", "value"),
    *("spread", "n", "speedup", "efficiency", "mfu", "protocol", "status", "trials", "findings"),
]
"""What ``dlperf results --json`` promises."""


def in_turns(workspace: WorkspacePaths, gpu: str, rates: Mapping[str, float]) -> None:
    """A campaign on a GPU of frameworks in turns, by their rates, that lacks nothing of what a claim needs."""
    items = [planned(1, framework=name, repeats=5) for name in rates]
    campaign = write_planned(workspace, f"on-{gpu}", items)
    for turn, (item, rate) in enumerate(zip(items, rates.values(), strict=True)):
        row = ConfigurationResult(**field_values(item.configuration), campaign="", unit="images/s", status=Status(""))
        for trial in claimable(replace(row, value=rate), turn=turn).trials:
            key = TrialKey(item.configuration.id, trial.number)
            told = replace(trial, numerics=NUMERICS, conditions=trial.conditions | {"gpu.uuid": gpu})
            write_record(campaign.trial(key).result, told)
            append_records(campaign.journal, [Event("2026-01-31T12:05:00Z", "state", str(key), "succeeded")])


@pytest.mark.parametrize(
    ("others", "share", "said", "verdict"),
    [
        ((), 1, r"among 1 tested claim with p ≤ 0.01 each, this p is 0\.00\d+", "better"),
        (("gamma", "delta"), 1, r"among 6 tested claims with p ≤ 0.0017 each, this p is 0\.00\d+", "same"),
        ((), 0, "among 1 tested claim with p ≤ 0.01 each, this p is 1", "same"),
    ],
)
def test_a_claim_says_what_it_is_among_those_of_the_site(
    run: Command, workspace, others: Sequence[str], share: float, said: str, verdict: str
):
    for gpu, gain in {"gpu-1": 0.020, "gpu-2": 0.022, "gpu-3": 0.019}.items():
        in_turns(workspace, gpu, {"alpha": 100.0, "beta": 100 * (1 + gain * share), **dict.fromkeys(others, 100.0)})
    for gpu in ("gpu-1", "gpu-3"):
        done = run("compare", f"framework=alpha,campaign=on-{gpu}", f"framework=beta,campaign=on-{gpu}")
        assert done.returncode == 0, done
        assert re.search(rf"on the site, {said}: {verdict}$", done.stderr, re.MULTILINE)


def test_results_are_a_table_for_a_person(run: Command):
    done = run("results", "--campaign", "a", "-g", "2")
    header, line = done.stdout.splitlines()
    assert header.split()[:3] == ["campaign", "hardware", "framework"]
    assert line.split()[:8] == ["a", "here", "numpy", "lenet5", "fp32", "4", "1n2g", "190.0"]
    assert line.split()[8:] == ["images/s", "1.1", "%", "3", "1.90×", "-", "measured"]


def test_results_are_one_json_document_for_a_script(run: Command):
    done = run("results", "--json")
    rows = json.loads(done.stdout)
    assert len(rows) == 3
    assert [key for key in KEYS if key not in rows[0]] == []
    assert rows[0]["trials"][0]["value"] == pytest.approx(100.0)
    assert rows[0]["mfu"] is None


def test_results_are_csv_and_parquet_for_a_table_program(run: Command, tmp_path: Path):
    text, binary = tmp_path / "a.csv", tmp_path / "a.parquet"
    assert run("results", "--csv", str(text), "--parquet", str(binary)).returncode == 0
    with text.open(newline="") as stream:
        assert [row["n"] for row in csv.DictReader(stream)] == ["3", "3", "3"]
    assert list(pd.read_parquet(binary)["gpus"]) == [1, 2, 1]


def test_the_frame_has_the_columns_of_the_json_and_nan_for_what_is_missing(workspace: WorkspacePaths):
    frame = dlperf.Workspace(workspace.root / "runs").results()
    assert [key for key in KEYS if key not in frame.columns] == []
    assert frame["mfu"].isna().all()
    assert frame["n"].tolist() == [3, 3, 3]
    assert frame.loc[0, "trials"][0].value == pytest.approx(100.0)


def test_the_frame_of_an_empty_workspace_has_its_columns(tmp_path: Path):
    frame = dlperf.Workspace(workspace_in(tmp_path / "w").root).results()
    assert len(frame) == 0
    assert "value" in frame.columns


def test_a_wrong_filter_is_a_wrong_request(run: Command):
    done = run("results", "-g", "2x8")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("dlperf: --gpus: invalid scale '2x8'")


def test_a_campaign_that_is_not_there_is_a_wrong_request(run: Command):
    done = run("results", "--campaign", "published/aa", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "dlperf: --campaign published/aa: no such campaign (known: a, b)\n"
    assert run("results", "--campaign", "a", "-f", "jax").returncode == 0


def test_compare_fails_below_a_threshold(run: Command):
    done = run("compare", "a", "b", "--fail-below", "0.97")
    assert done.returncode == 1
    assert re.search(r"0\.900  0\.\d+ … \d\.\d+  +0\.\d+  cannot tell: ", done.stdout)
    assert "below 0.97: here_numpy_lenet5_fp32_bs4_1n1g of b" in done.stderr


def test_a_figure_that_b_has_no_row_for_is_listed_and_fails_unless_that_is_allowed(
    run: Command, workspace: WorkspacePaths
):
    five = [90.0, 91.0, 89.0, 90.5, 89.5]
    measured_campaign(workspace, "c", [(planned(1), five), (planned(2), five)])
    measured_campaign(workspace, "d", [(planned(1), five)])
    shown = run("compare", "c", "d")
    assert "missing: B has no 1n2g" in shown.stdout
    assert shown.returncode == 4, "of what both have it cannot be told"
    failed = run("compare", "c", "d", "--fail-below", "0.5")
    assert failed.returncode == 1
    missing = "missing in B: here_numpy_lenet5_fp32_bs4_1n2g of c: measure it, or pass --allow-missing"
    assert failed.stderr.splitlines() == [missing]
    assert run("compare", "c", "d", "--fail-below", "0.5", "--allow-missing").returncode == 0
    assert run("compare", "d", "c", "--fail-below", "0.5").returncode == 0


def test_too_few_trials_pass_no_threshold(run: Command):
    done = run("compare", "a", "b", "--fail-below", "0.5", "--allow-missing")
    assert done.returncode == 4
    assert "perhaps below 0.5: here_numpy_lenet5_fp32_bs4_1n1g of b: cannot tell: " in done.stderr


def test_what_could_not_be_compared_passes_no_threshold(run: Command):
    done = run("compare", "hardware=here", "b", "--fail-below", "0.5", "--allow-missing")
    assert done.returncode == 1
    assert "2 rows against 1: name one more axis" in done.stderr


def test_compare_gives_json(run: Command):
    done = run("compare", "a", "b", "--json")
    document = json.loads(done.stdout)
    (pair,) = document["pairs"]
    assert (pair["ratio"], pair["verdict_code"]["code"]) == (pytest.approx(0.9), "cannot_tell")
    assert {"low", "high", "p", "detectable"} <= pair.keys()
    assert [item["reason"] for item in document["only_a"]] == ["no 1n2g"]


def test_the_whole_name_of_a_campaign_means_its_trials_alone(run: Command):
    done = run("logs", "b")
    assert (done.returncode, done.stdout) == (2, "")
    assert "'b/here_numpy_lenet5_fp32_bs4_1n1g/1'" in done.stderr
    assert "'a/" not in done.stderr


def test_verify_exits_1_on_any_difference(run: Command, workspace: WorkspacePaths):
    assert run("verify").returncode == 0
    assert "90.00  images/s" in run("verify", "b").stdout
    log = workspace.campaign("b").trial(TrialKey(planned(1).configuration.id, 1)).node("n0").log
    log.write_text(own_log(500.0, gpus=1))
    done = run("verify", "b")
    assert done.returncode == 1
    assert "changed" in done.stdout
    assert run("verify", "a").returncode == 0
    assert json.loads(run("verify", "--json").stdout)[1]["differences"]


def test_verify_of_no_campaign_is_said_in_one_line(run: Command):
    done = run("verify", "nowhere")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("words", [["verify"], ["results"], ["compare", "a", "b"]])
def test_figures_that_were_measured_need_no_flawless_catalogue(
    run: Command, workspace: WorkspacePaths, words: list[str]
):
    (workspace.catalog / "hardware").mkdir(parents=True)
    (workspace.catalog / "hardware" / "broken.yaml").write_text("id: [\n")
    for campaign in workspace.campaigns():
        for result in campaign.directory.rglob("result.json"):
            result.unlink()
    assert "broken.yaml" not in run(*words).stderr


def test_a_broken_format_is_said_and_logs_of_others_are_read(run: Command, workspace: WorkspacePaths):
    (workspace.catalog / "formats").mkdir(parents=True)
    (workspace.catalog / "formats" / "mine.yaml").write_text("id: mine\n")
    for campaign in workspace.campaigns():
        for result in campaign.directory.rglob("result.json"):
            result.unlink()
    done = run("results")
    assert "here" in done.stdout
    assert "mine.yaml:1: record: is missing" in done.stderr
    done = run("verify")
    assert "9 results recomputed" in done.stdout
    assert "mine.yaml:1: record: is missing" in done.stderr


@pytest.mark.parametrize(("words", "said"), [(["results"], "here"), (["verify"], "3 trials of 1 campaign")])
def test_a_campaign_that_cannot_be_read_is_left_out_and_said(
    run: Command, workspace: WorkspacePaths, words: list[str], said: str
):
    workspace.campaign("a").plan.write_text("trials: [")
    done = run(*words)
    assert done.returncode == 1
    assert said in done.stdout
    assert done.stderr.startswith("dlperf: skipped: ")
    assert "a/campaign.json: not a campaign" in done.stderr


def test_a_campaign_of_a_newer_dlperf_says_so(run: Command, workspace: WorkspacePaths):
    plan = workspace.campaign("a").plan
    plan.write_text(plan.read_text().replace('"schema": 2', '"schema": 99'))
    done = run("results", "--campaign", "a")
    assert done.returncode == 1
    assert done.stderr.endswith("written by a newer dlperf (schema 99, this one knows 2): update dlperf\n")
    assert "not a campaign" not in done.stderr


def test_a_workspace_is_looked_for_above_a_folder_that_is_there(run: Command, workspace: WorkspacePaths):
    (workspace.root / "notes").mkdir()
    assert run("--workspace", "notes", "results").returncode == 0
    done = run("--workspace", "nots", "results")
    assert (done.returncode, done.stderr) == (2, f"dlperf: {workspace.root}/nots: there is no such folder\n")


@pytest.mark.parametrize("words", ["results", "status", "verify"])
def test_campaigns_of_version_0_1_are_named_where_results_are_read(
    run: Command, workspace: WorkspacePaths, words: str
) -> None:
    (workspace.runs / "old").mkdir()
    (workspace.runs / "old/campaign.yaml").write_text("name: old\n")
    assert "runs/old: of dlperf 0.1, which this version does not read" in run(words).stderr
