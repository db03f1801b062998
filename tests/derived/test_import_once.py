"""What an import takes once, refuses, or leaves as it is."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from import_requests import ids, paddle_log, request_for

from dlperf.catalog.files.load import Catalog
from dlperf.derived import import_writer
from dlperf.derived.import_writer import write_import
from dlperf.derived.importing import plan_import
from dlperf.errors import DlperfError, RequestError
from dlperf.evidence.logs import BUILTIN_FORMATS
from dlperf.evidence.names import NameFacts
from dlperf.plan import TrialKey
from dlperf.runs.paths import WorkspacePaths
from handmade_trials import own_log


def test_the_same_bytes_twice_are_one_trial(folder: Path, catalog: Catalog):
    (folder / "a.log").write_text(own_log(100.0))
    (folder / "b.log").write_text(own_log(100.0))
    plan = plan_import(request_for(folder), catalog, BUILTIN_FORMATS)
    assert len(plan.trials) == 1
    assert [(item.log, item.reason) for item in plan.skipped] == [
        (str(folder / "b.log"), f"the same bytes as {folder / 'a.log'}")
    ]


def test_the_same_run_as_text_and_as_json_is_one_trial(folder: Path, catalog: Catalog):
    clocks = [f"2023-08-04 05:46:{second}.892809" for second in range(10, 40)]
    numbered = list(enumerate(clocks, start=1))
    text = [f"DLL {clock} - Epoch: 0 Iteration: {step}  train.total_ips : 365.85 images/s" for step, clock in numbered]
    data = {"train.total_ips": 365.8512}
    events = [{"datetime": clock, "type": "LOG", "step": [0, step], "data": data} for step, clock in numbered]
    (folder / "pytorch_resnet50_gpu1_fp32_bs256.log").write_text("\n".join(text))
    (folder / "pytorch_resnet50_gpu1_fp32_bs256.txt").write_text(
        "".join(f"DLLL {json.dumps(each)}\n" for each in events)
    )
    plan = plan_import(request_for(folder), catalog, BUILTIN_FORMATS)
    assert ids(plan) == ["v100_pytorch_resnet50_fp32_bs256_1n1g/1"]
    assert [item.reason.partition(" as ")[0] for item in plan.skipped] == ["the same run"]


def test_the_same_bytes_as_two_configurations_are_a_contradiction(folder: Path, catalog: Catalog):
    for gpus in (8, 16):
        (folder / f"resnet50_N1C{gpus}_bs8_fp32.log").write_text(paddle_log(100.0))
    plan = plan_import(request_for(folder), catalog, BUILTIN_FORMATS)
    assert [bool(log.notes) for log in plan.trials.values()] == [True, False] or len(plan.trials) == 2
    assert any("the same bytes as" in note for log in plan.trials.values() for note in log.notes)


def test_nothing_is_overwritten(workspace: WorkspacePaths, folder: Path, catalog: Catalog):
    (folder / "a.log").write_text(own_log(100.0))
    plan = plan_import(request_for(folder), catalog, BUILTIN_FORMATS)
    write_import(workspace, "a", plan, BUILTIN_FORMATS)
    with pytest.raises(RequestError, match="exists already"):
        write_import(workspace, "a", plan, BUILTIN_FORMATS)


def test_an_import_that_is_cut_off_leaves_no_campaign(
    workspace: WorkspacePaths, folder: Path, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
):
    (folder / "a.log").write_text(own_log(100.0))
    (folder / "b.log").write_text(own_log(200.0))
    plan = plan_import(request_for(folder), catalog, BUILTIN_FORMATS)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(import_writer, "write_campaign", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_import(workspace, "a", plan, BUILTIN_FORMATS)
    assert workspace.campaigns() == ()
    assert not workspace.campaign("a").directory.exists()
    monkeypatch.undo()
    write_import(workspace, "a", plan, BUILTIN_FORMATS)
    assert len(workspace.campaigns()) == 1


def test_a_log_that_grows_while_it_is_imported_is_refused(workspace: WorkspacePaths, folder: Path, catalog: Catalog):
    log = folder / "a.log"
    log.write_text(own_log(100.0))
    plan = plan_import(request_for(folder), catalog, BUILTIN_FORMATS)
    log.write_text(own_log(100.0) + "more\n")
    with pytest.raises(DlperfError, match="changed while it was read"):
        write_import(workspace, "a", plan, BUILTIN_FORMATS)
    assert workspace.campaigns() == ()


def test_hostile_names_stay_inside_the_campaign(workspace: WorkspacePaths, folder: Path, catalog: Catalog):
    (folder / "..%2f..%2fevil\n$(touch x)_b4_fp32_1.log").write_text(own_log(100.0))
    (folder / os.fsdecode(b"\xff.log")).write_text(own_log(200.0))
    given = NameFacts(model="../../../etc/passwd", framework="<script>", precision="../fp32")
    plan = plan_import(replace(request_for(folder, given=given), hardware="../../v100"), catalog, BUILTIN_FORMATS)
    write_import(workspace, "../../evil", plan, BUILTIN_FORMATS)
    written = {path.relative_to(workspace.root).parts[0] for path in workspace.root.rglob("*")}
    assert written == {"mkdocs.yml", "runs"}
    (campaign,) = workspace.campaigns()
    assert campaign.directory.parent == workspace.runs
    assert {key.configuration for key in plan.trials} == {"v100_script_etc-passwd_fp32_bs4_1n2g"}
    assert all(isinstance(key, TrialKey) and campaign.trial(key).result.is_file() for key in plan.trials)


def test_a_source_that_does_not_exist_is_refused(tmp_path: Path, catalog: Catalog):
    with pytest.raises(RequestError, match="no such file"):
        plan_import(request_for(tmp_path / "nowhere"), catalog, BUILTIN_FORMATS)


def test_a_machine_needs_a_name_that_an_id_can_hold(folder: Path, catalog: Catalog):
    with pytest.raises(RequestError, match="--hardware"):
        plan_import(replace(request_for(folder), hardware="机器"), catalog, BUILTIN_FORMATS)
