"""What is published follows from the logs: kept results are recomputed, once for the same files."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from counting_workspace import Counting
from dlperf.errors import DlperfError, StorageError
from dlperf.report import rechecking
from dlperf.report.build import build_site
from dlperf.report.load import load_site_data
from dlperf.runs.paths import WorkspacePaths


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DLPERF_CHECKED", str(tmp_path / "checked"))
    return tmp_path / "checked"


def _records(workspace: WorkspacePaths, name: str) -> list[Path]:
    return sorted(workspace.campaign("try").directory.glob(f"*/1/{name}"))


def _edit(path: Path, **changes: object) -> None:
    """Change fields, and keep the time of modification."""
    before = path.stat()
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.fixture
def nothing_is_recomputed(monkeypatch: pytest.MonkeyPatch):
    """Return a function after which a build fails where it recomputes a trial."""

    def fail(*_: object) -> None:
        raise AssertionError("recomputed")

    return lambda: monkeypatch.setattr(rechecking, "derive", fail)


def _values(workspace: WorkspacePaths) -> list[float | None]:
    return [row.value for row in load_site_data(workspace).results]


def test_a_value_that_was_edited_is_not_published(measured: Counting):
    workspace = measured.workspace
    right = _values(workspace)
    path = _records(workspace, "result.json")[0]
    metrics = json.loads(path.read_text())["metrics"]
    _edit(path, value=98765432.1, metrics=[item | {"value": 98765432.1} for item in metrics])
    data = load_site_data(workspace)
    assert [row.value for row in data.results] == right
    (problem,) = data.wrong
    assert problem.startswith(f"{path}: not what the log gives (value")
    with pytest.raises(DlperfError, match="not what the log gives"):
        build_site(workspace, strict=True)


def test_a_curve_that_was_edited_is_made_again(measured: Counting):
    path = _records(measured.workspace, "timeline.json")[0]
    right = path.read_bytes()
    _edit(path, throughput=[[1, 5.0], [2, 98765432.1]])
    assert load_site_data(measured.workspace).wrong
    assert json.loads(path.read_bytes()) == json.loads(right)


def test_a_result_whose_log_was_edited_or_is_gone_has_no_value_of_before(measured: Counting):
    workspace = measured.workspace
    right = _values(workspace)
    edited, gone = _records(workspace, "nodes/local/out.log")
    edited.write_text(re.sub(r"throughput=\S+", "throughput=98765", edited.read_text()))
    gone.unlink()
    assert all(right)
    assert _values(workspace) == [None, None]


def test_the_same_content_is_recomputed_once_wherever_it_lies(measured: Counting, tmp_path, nothing_is_recomputed):
    workspace = measured.workspace
    right = _values(workspace)
    nothing_is_recomputed()
    assert _values(workspace) == right
    clone = WorkspacePaths(shutil.copytree(workspace.root, tmp_path / "clone"))
    assert _values(clone) == right
    _edit(_records(clone, "result.json")[0], value=1.0)
    with pytest.raises(AssertionError, match="recomputed"):
        _values(clone)


def test_what_verify_recomputed_a_build_does_not(measured: Counting, nothing_is_recomputed):
    measured.dlperf("verify")
    nothing_is_recomputed()
    assert all(_values(measured.workspace))


@pytest.mark.parametrize("name", ["result.json", "timeline.json"])
def test_a_record_that_was_found_wrong_is_recomputed_each_time(measured: Counting, name: str):
    path = _records(measured.workspace, name)[0]
    _edit(path, **({"value": 5.0} if name == "result.json" else {"throughput": [[1, 5.0], [2, 98765432.1]]}))
    wrong = path.read_bytes()
    for _ in range(2):
        path.write_bytes(wrong)
        assert load_site_data(measured.workspace).wrong


def test_a_timeline_that_cannot_be_corrected_leaves_its_campaign_out(measured: Counting, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise StorageError("timeline.json: cannot be written")

    monkeypatch.setattr(rechecking, "write_timeline", fail)
    _edit(_records(measured.workspace, "timeline.json")[0], throughput=[[1, 5.0], [2, 98765432.1]])
    data = load_site_data(measured.workspace)
    assert not data.results
    assert any("cannot be written" in problem for problem in data.problems)


def test_a_cache_that_holds_anything_or_cannot_be_written_is_none(measured: Counting, cache: Path):
    right = _values(measured.workspace)
    (kept,) = cache.iterdir()
    kept.write_bytes(b"\xff\x00garbage")
    assert _values(measured.workspace) == right
    kept.unlink()
    cache.rmdir()
    cache.touch()
    assert _values(measured.workspace) == right
