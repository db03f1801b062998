"""Verdicts on third-party results, kept by the owner of a workspace."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from dlperf.runs.paths import WorkspacePaths
from dlperf.runs.published import load_reports
from dlperf.table.audited import caveats_of_figure, read_verdicts
from dlperf.table.load import load_results
from dlperf.verification.audit import audit_workspace
from dlperf.verification.verify import verify_published
from dlperf.version import version
from handmade_trials import own_log, workspace_in

HEADER = (
    "model,framework,hardware,nodes,gpus,precision,batch_size,metric,unit,value,source,log,rule,estimator,noted,difference,"
    "remark\n"
)
REPORT = """
title: {en: A}
language: en
source: owner/repository@abc
url: ""
date: null
protocol: null
protocol_text: {}
summary: {}
environment: []
topology: ""
steps: []
notes: []
"""


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspacePaths:
    """A report with a value that its log gives, one that it does not give, and one with remarks only."""
    workspace = workspace_in(tmp_path / "workspace")
    folder = workspace.published / "a"
    folder.mkdir(parents=True)
    (folder / "report.yaml").write_text(REPORT)
    a, b = (f"owner/repository@abc:logs/{name}.txt" for name in "ab")
    rows = (
        ("FP32", "800.0", a, "mean of all records", "mean()", "", "", ""),
        ("AMP", "900.0", a, "NOT REPRODUCED [exact] NOTE: words", "mean()", "", "", "the log is FP32"),
        ("FP16", "700.0", b, "mean of all records", "mean()", "noted_difference", "-1.00e-02", "cut"),
    )
    lines = [
        f"ResNet50,PyTorch,V100,1,1,{precision},256,throughput,images/sec,{value},README.md,{','.join(rest)}\n"
        for precision, value, *rest in rows
    ]
    (folder / "figures.csv").write_text(HEADER + "".join(lines))
    (tmp_path / "raw" / "logs").mkdir(parents=True)
    (tmp_path / "raw" / "logs" / "a.txt").write_text(own_log(800.0, gpus=1, batch_size=256))
    return workspace


def codes(workspace: WorkspacePaths) -> dict[str, list[str]]:
    return {row.precision: [finding.code for finding in row.caveats] for row in load_results(workspace)}


def test_a_kept_verdict_is_a_caveat_without_the_raw_log_and_says_when_and_by_what(
    workspace: WorkspacePaths, tmp_path: Path
) -> None:
    assert codes(workspace) == {"fp32": [], "amp": ["source_remark"], "fp16": ["not_reproduced", "source_remark"]}
    found = verify_published(workspace, [f"owner/repository@abc:{tmp_path / 'raw'}"], write=True)
    assert (found.figures, found.differences) == (2, ())
    shutil.rmtree(tmp_path / "raw")
    assert codes(workspace)["amp"] == ["not_reproduced", "source_remark"]
    exact, other, noted = audit_workspace(workspace)
    assert [row.verdict.code for row in (exact, other, noted)] == ["exact", "differs_by", "noted_difference"]
    assert (exact.version, exact.recomputed, len(exact.log_sha256), bool(exact.date)) == (version(), 800.0, 64, True)


def test_a_verdict_that_was_sent_with_the_reports_is_not_believed(workspace: WorkspacePaths, tmp_path: Path) -> None:
    verify_published(workspace, [f"owner/repository@abc:{tmp_path / 'raw'}"], write=True)
    shutil.rmtree(tmp_path / "raw")
    workspace.audit.rename(workspace.published / "audit.json")
    problems: list[str] = []
    exact, other, _ = audit_workspace(workspace, damaged=problems.append)
    assert [row.recomputed for row in (exact, other)] == [None, None]
    assert "not believed" in problems[0]


@pytest.mark.parametrize(("difference", "caveats"), [(0.0004, []), (-0.0004, []), (-0.0006, ["not_reproduced"])])
def test_a_difference_of_rounding_is_no_caveat(difference: float, caveats: list[str]) -> None:
    (figure, *_) = next(report.figures for report in load_reports(WorkspacePaths(Path(__file__).parents[2])))
    noted = replace(figure, noted="noted_difference", difference=difference, remark="")
    assert [found.code for found in caveats_of_figure("a", noted, {})] == caveats


def test_a_verdict_that_no_longer_holds_is_a_difference(workspace: WorkspacePaths, tmp_path: Path) -> None:
    folder = f"owner/repository@abc:{tmp_path / 'raw'}"
    verify_published(workspace, [folder], write=True)
    (tmp_path / "raw" / "logs" / "a.txt").write_text(own_log(900.0, gpus=1, batch_size=256))
    found = verify_published(workspace, [folder])
    assert [(item.campaign, item.stored, item.recomputed) for item in found.differences] == [
        ("published/a", "exact", "+12.500 %"),
        ("published/a", "-11.111 %", "exact"),
    ]


def test_the_verdicts_of_the_repository_are_of_figures_that_it_has() -> None:
    workspace = WorkspacePaths(Path(__file__).parents[2])
    kept = read_verdicts(workspace)
    dated = {row.key for row in audit_workspace(workspace, records={}) if row.date}
    assert dated == set(kept)
    assert len(kept) > 40
