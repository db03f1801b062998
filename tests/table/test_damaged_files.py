"""A damaged file of a trial costs nothing that can be made again, and is said in one line."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import ExitStack
from pathlib import Path

from counting_workspace import Counting
from dlperf.catalog.files.load import load_catalog
from dlperf.derived.import_writer import write_import
from dlperf.derived.importing import ImportRequest, plan_import
from dlperf.evidence.logs import BUILTIN_FORMATS
from dlperf.plan import TrialKey
from dlperf.report.load import load_site_data
from dlperf.table.load import load_results
from every_reader import cheap, pages, run, screens, watch
from handmade_trials import measured_campaign, own_log, planned, workspace_in
from odd_folders import folders_in_folders


def test_a_damaged_result_is_measured_again_and_said(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path)
    campaign = measured_campaign(workspace, "a b", [(planned(repeats=1), [100.0])])
    before = load_site_data(workspace).results
    result = campaign.trial(TrialKey(planned().configuration.id, 1)).result
    result.write_text(result.read_text()[:100])
    data = load_site_data(workspace)
    assert data.results == before
    (problem,) = data.problems
    assert problem.startswith(f"{result}: not a TrialResult (")
    assert problem.endswith("measured again from its log; dlperf verify 'a b' --write writes it anew")


def test_an_imported_trial_whose_record_is_damaged_is_left_out_of_the_audit_and_said(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path)
    log = tmp_path / "training.log"
    log.write_text(own_log(100.0))
    plan = plan_import(ImportRequest((log,), "local", gpus_per_node=1), load_catalog(), BUILTIN_FORMATS)
    write_import(workspace, "theirs", plan, BUILTIN_FORMATS)
    (key,) = plan.trials
    trial = workspace.campaign("theirs").trial(key)
    record, archive = trial.trial, json.loads(trial.archive.read_text())
    assert load_site_data(workspace).problems == ()
    (digest,) = (item["sha256"] for item in archive["files"] if item["path"] == record.name)
    trial.archive.write_text(json.dumps(archive | {"texts": archive["texts"] | {digest: "{"}}))
    (problem,) = [line for line in load_site_data(workspace).problems if "TrialRecord" in line]
    assert problem.startswith(f"{record}: not a TrialRecord (")
    assert "import its log again" in problem


def test_an_odd_file_of_a_trial_ends_no_command(measured: Counting) -> None:
    """A size that is nearly all holes, more folders than Python has frames, a name that is no text."""
    workspace = measured.workspace
    original = workspace.campaign("try").directory
    first = min(original.glob("*/1"))
    files = [path.relative_to(original) for path in sorted(first.rglob("*")) if path.is_file()]
    files.append(first.relative_to(original) / "nodes/local/launch.sh")
    for number, file in enumerate(files):
        shutil.copytree(original, copy := workspace.runs / f"hollow{number}")
        (copy / file).touch()
        os.truncate(copy / file, 1 << 40)
    with ExitStack() as removed:
        for name in ("out.log", "telemetry.csv"):
            shutil.copytree(original, copy := workspace.runs / f"odd-{name}")
            node = next(copy.glob("*/1/nodes/local"))
            (node / "ranks").mkdir()
            removed.enter_context(folders_in_folders(node / "ranks", 1200))
            for odd in (b"out.log.\xff", b"ranks/\xff"):
                Path(os.fsdecode(bytes(node) + b"/" + odd)).write_text("x\n")
        said = run(workspace, "verify")[0]
        assert said.count("out.log unreadable") == 1
        assert "try" in said
        removed.enter_context(cheap(one_catalogue=True))
        for paths in workspace.campaigns():
            watch(workspace, paths)
        pages(workspace)


def test_a_caveat_of_no_known_severity_is_made_anew(tmp_path: Path) -> None:
    """An error that is called something else would let its value count."""
    workspace = workspace_in(tmp_path)
    campaign = measured_campaign(workspace, "a", [(planned(repeats=1), [100.0])])
    result = campaign.trial(TrialKey(planned().configuration.id, 1)).result
    record = json.loads(result.read_text())
    finding = {"message": {"code": "waiting"}, "severity": "x"}
    result.write_text(json.dumps(record | {"findings": [finding]}))
    (row,) = load_results(workspace)
    assert "x" not in {item.severity for trial in row.trials for item in trial.findings}
    screens(workspace)
