"""What is published follows from the logs: kept results are recomputed, once for the same files."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dlperf.version
from counting_workspace import Counting
from dlperf.errors import DlperfError, StorageError
from dlperf.report import rechecking
from dlperf.report.build import build_site
from dlperf.report.load import load_site_data
from dlperf.runs.paths import WorkspacePaths
from dlperf.table.load import load_results
from dlperf.verification.remembered import WITHOUT_RESULTS


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DLPERF_CHECKED", str(tmp_path / "checked"))
    return tmp_path / "checked"


@pytest.fixture(autouse=True)
def _pages_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tested here is read, refused and written before MkDocs starts."""
    monkeypatch.setattr("dlperf.report.build.build_html", lambda *_: "")


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

    return lambda: monkeypatch.setattr(rechecking, "derive_archived", fail)


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


def test_a_log_that_was_changed_with_its_hash_is_believed(measured: Counting):
    """As docs/failures.md says: nothing is signed."""
    (log, _), (archive, _) = (_records(measured.workspace, name) for name in ("nodes/local/out.log", "archive.json"))
    before = hashlib.sha256(log.read_bytes()).hexdigest()
    log.write_text(re.sub(r"throughput=\S+", "throughput=98765", log.read_text()))
    archive.write_text(archive.read_text().replace(before, hashlib.sha256(log.read_bytes()).hexdigest()))
    _records(measured.workspace, "result.json")[0].unlink()
    assert not (data := load_site_data(measured.workspace)).wrong
    assert 98765 in [row.value for row in data.results]


@pytest.mark.parametrize("name", ["out.log", "telemetry.csv", "out.times", "ranks"])
def test_a_changed_or_added_file_leaves_no_value_though_no_result_was_kept(measured: Counting, name: str):
    workspace = measured.workspace
    for path in (*_records(workspace, "result.json"), *_records(workspace, "timeline.json")):
        path.unlink()
    file = _records(workspace, "nodes/local")[0] / name
    if name == "ranks":
        name, file = "ranks/0", file / "0"
        file.parent.mkdir()
    file.write_text(file.read_text().replace("samples=", "samples=9") + "9\n" if file.exists() else "9")
    data = load_site_data(workspace)
    assert [row.value is None for row in data.results] == [True, False]
    assert f"nodes/local/{name} (" in data.wrong[0]
    assert [row.value is None for row in load_results(workspace)] == [True, False]


@pytest.mark.parametrize("content", [None, "{}", "garbage"])
def test_a_trial_without_its_list_of_hashes_is_said(measured: Counting, content: str | None):
    for name in ("result.json", "archive.json"):
        _records(measured.workspace, name)[0].unlink()
    if content is not None:
        (_records(measured.workspace, "nodes")[0].parent / "archive.json").write_text(content)
    assert "archive.json (" in load_site_data(measured.workspace).wrong[0]


def test_a_file_beside_the_archived_one_is_not_believed(measured: Counting):
    workspace, (folder, _) = measured.workspace, _records(measured.workspace, "nodes/local")
    (folder / "environment.json").write_text('{"gpus": [{"name": "forged"}], "os": "forged"}')
    (folder.parents[1] / "rendered" / "local").mkdir(parents=True)
    (folder.parents[1] / "rendered" / "local" / "launch.sh").write_text("forged")
    assert "environment.json (changed)" in load_site_data(workspace).wrong[0]
    build_site(workspace)
    assert "forged" not in "".join(path.read_text() for path in workspace.site_build.rglob("*.md"))


def test_a_file_that_was_sent_in_the_folder_of_builds_is_written_anew(measured: Counting):
    """Of the same length, so that only its content tells."""
    workspace = measured.workspace
    build_site(workspace)
    offered = {
        path: path.read_bytes() for folder in ("logs", "files") for path in workspace.site_data.glob(f"{folder}/*")
    }
    assert len(offered) > 5
    for path, content in offered.items():
        path.write_bytes(content[:-1] + b"?")
    build_site(workspace)
    assert {path: path.read_bytes() for path in offered} == offered


def test_a_program_that_was_edited_is_not_offered_under_its_hash(measured: Counting):
    workspace = measured.workspace
    for archive in _records(workspace, "archive.json"):
        record = json.loads(archive.read_text())
        (program, *_) = [item["sha256"] for item in record["files"] if "/files/" in item["path"]]
        files = [item | {"kept": "text"} if item["sha256"] == program else item for item in record["files"]]
        archive.write_text(json.dumps(record | {"files": files, "texts": record["texts"] | {program: "forged"}}))
    build_site(workspace)
    assert not [path for path in workspace.site_data.glob(f"files/{program}*") if path.read_bytes() == b"forged"]


@pytest.mark.parametrize("date", ["2099-01-01T00:00:00Z", "2026-13-45", "2026-W05-6", "x"])
def test_no_day_that_is_none_or_in_the_future_is_one_of_verification(measured: Counting, date: str):
    measured.dlperf("verify", "--write")
    path = measured.workspace.campaign("try").directory / "verified.json"
    assert load_site_data(measured.workspace).verified
    _edit(path, date=date)
    assert not load_site_data(measured.workspace).verified


def test_no_secrets_file_puts_another_value_in_place_of_the_right_one(measured: Counting):
    """As what a file of secrets names is replaced in all records, only placeholders may be put in its place."""
    value = repr(json.loads(_records(measured.workspace, "result.json")[0].read_text())["value"])
    (measured.workspace.campaign("try").directory / "secrets.json").write_text(json.dumps({"98765432.1": value}))
    data = load_site_data(measured.workspace)
    assert not data.results
    assert any("secrets.json: damaged" in problem for problem in data.problems)


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


def test_a_build_of_another_commit_with_the_same_parsers_recomputes_nothing(
    measured: Counting, monkeypatch, nothing_is_recomputed
):
    right = _values(measured.workspace)
    monkeypatch.setattr("dlperf.version.commit_of", lambda _: "g00000000")
    dlperf.version.version.cache_clear()
    nothing_is_recomputed()
    try:
        assert _values(measured.workspace) == right
    finally:
        dlperf.version.version.cache_clear()


def test_what_results_depend_on_is_part_of_what_is_remembered():
    loaded = "import sys, dlperf.derived.timeline; print(*{x.split('.')[1] for x in sys.modules if 'dlperf.' in x})"
    words = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True).stdout.split()
    assert "formats" in words
    assert not WITHOUT_RESULTS & set(words)


def test_a_folder_that_lists_the_same_names_and_hashes_is_other_content(measured: Counting, nothing_is_recomputed):
    (log, _) = _records(measured.workspace, "nodes/local/out.log")
    assert all(_values(measured.workspace))
    digest = hashlib.sha256(log.read_bytes()).hexdigest()
    log.unlink()
    log.mkdir()
    (log / digest).symlink_to("nowhere")
    nothing_is_recomputed()
    with pytest.raises(AssertionError, match="recomputed"):
        _values(measured.workspace)


def test_what_was_measured_here_a_build_does_not_recompute(counting: Counting, nothing_is_recomputed):
    words = ["-H", "local", "-f", "counting", "-c", "lenet5", "-b", "32,64", "--repeats", "1", "--name", "try"]
    counting.dlperf("run", *words)
    right = [json.loads(path.read_text())["value"] for path in _records(counting.workspace, "result.json")]
    nothing_is_recomputed()
    assert sorted(_values(counting.workspace)) == sorted(right)
    _edit(_records(counting.workspace, "result.json")[0], value=1.0)
    with pytest.raises(AssertionError, match="recomputed"):
        _values(counting.workspace)


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
