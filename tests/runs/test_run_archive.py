"""A sealed trial keeps every byte, each content once; trials of version 0.1 are read the same way."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from dlperf.errors import StorageError
from dlperf.runs import archive
from dlperf.runs.archive import INLINE_BYTES, ChecksumProblem, TrialFiles, keep_sent, seal
from dlperf.runs.paths import TrialPaths

PROGRAM = b"print('training')\n" * 200
CONTENTS = {
    "trial.json": b"{}\n",
    "ref.json": b'{"executor": "direct"}\n',
    "job.log": b"srun: done\n",
    "nodes/a/launch.sh": b"exec train\n",
    "nodes/a/environment.json": b'{"cpu": "' + b"x" * INLINE_BYTES + b'"}',
    "nodes/a/exit.json": '{"cause": "内存不足\\r\\n"}\r\n'.encode(),
    "nodes/a/supervisor.json": b"\xff not text",
    "nodes/a/out.log": b"step 1\n",
    "nodes/a/telemetry.csv": b"time\n",
    "nodes/a/ranks/exit.json": b"a log of this name\n",
    "nodes/a/ranks/odd\nname\\.log": b"rank\n",
}
SENT = {"a/launch.sh": b"exec train\n", "a/files/train.py": PROGRAM, "b/files/train.py": PROGRAM}
EVERYTHING = CONTENTS | {f"rendered/{name}": data for name, data in SENT.items()}


def make_trial(folder: Path, number: int = 1) -> TrialPaths:
    """A trial that was sent to its nodes and came back, not sealed yet."""
    paths = TrialPaths(folder / "campaign" / "configuration" / str(number))
    keep_sent(paths, SENT)
    write(paths, CONTENTS)
    return paths


def write(paths: TrialPaths, contents: dict[str, bytes]) -> None:
    for name, data in contents.items():
        file = paths.directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def read_everything(paths: TrialPaths) -> dict[str, bytes]:
    return {name: TrialFiles(paths).read(paths.directory / name) for name in EVERYTHING}


def loose(paths: TrialPaths) -> set[str]:
    return {path.relative_to(paths.directory).as_posix() for path in paths.directory.rglob("*") if path.is_file()}


@pytest.fixture
def sealed(tmp_path: Path) -> TrialPaths:
    paths = make_trial(tmp_path)
    seal(paths)
    return paths


def test_every_byte_is_still_there_after_sealing(sealed: TrialPaths):
    assert read_everything(sealed) == EVERYTHING
    assert TrialFiles(sealed).problems() == []
    assert TrialFiles(sealed).sealed


def test_only_logs_and_telemetry_stay_beside_the_list(sealed: TrialPaths):
    logs = {"job.log", *(f"nodes/a/{name}" for name in ("out.log", "telemetry.csv"))}
    ranks = {"nodes/a/ranks/exit.json", "nodes/a/ranks/odd\nname\\.log"}
    assert loose(sealed) == {"archive.json"} | logs | ranks


def test_logs_are_on_the_disk_before_the_list_that_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    flushed = []

    def note(descriptor: int) -> None:
        flushed.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")))

    paths = make_trial(tmp_path)
    monkeypatch.setattr(os, "fsync", note)
    seal(paths)
    *before, record = flushed
    assert record.name.startswith(".archive.json.")
    assert {paths.directory / name for name in loose(paths) - {"archive.json"}} <= set(before)


def test_equal_contents_are_stored_once_for_a_whole_campaign(tmp_path: Path):
    for number in (1, 2):
        seal(make_trial(tmp_path, number))
    objects = list((tmp_path / "campaign" / "objects").iterdir())
    assert {path.name for path in objects} == {hashlib.sha256(path.read_bytes()).hexdigest() for path in objects}
    assert len(objects) == len({PROGRAM, CONTENTS["nodes/a/environment.json"], CONTENTS["nodes/a/supervisor.json"]})
    text = (tmp_path / "campaign/configuration/1/archive.json").read_text()
    assert text.count("exec train") == 1, "the script that came back is the one that was sent"


def test_only_the_owner_may_read_what_was_sent_or_came_back(sealed: TrialPaths):
    kept = [sealed.archive, *sealed.objects.iterdir()]
    assert {path.stat().st_mode & 0o777 for path in kept} == {0o600}


def test_what_is_sent_is_on_disk_before_the_trial_is_sealed(tmp_path: Path):
    paths = make_trial(tmp_path)
    assert [path.relative_to(paths.rendered).as_posix() for path in TrialFiles(paths).sent()] == sorted(SENT)
    assert read_everything(paths) == EVERYTHING
    assert not TrialFiles(paths).sealed
    assert TrialFiles(paths).problems() == [ChecksumProblem("archive.json", "unsealed")]


def test_files_that_are_sent_again_replace_the_first_ones(tmp_path: Path):
    paths = make_trial(tmp_path)
    keep_sent(paths, SENT | {"a/launch.sh": b"exec train --port 2\n"})
    seal(paths)
    assert TrialFiles(paths).read(paths.rendered / "a/launch.sh") == b"exec train --port 2\n"
    assert TrialFiles(paths).problems() == []


@pytest.mark.parametrize("crash_at", ["before the list", "after the list"])
def test_sealing_again_finishes_what_a_crash_cut_short(tmp_path: Path, monkeypatch, crash_at: str):
    paths = make_trial(tmp_path)

    def crash(*_: object) -> None:
        raise StorageError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(archive, "_write_archive" if crash_at == "before the list" else "_remove", crash)
        with pytest.raises(StorageError):
            seal(paths)
    assert read_everything(paths) == EVERYTHING
    paths.trial.unlink()
    write(paths, {"trial.json": b"{}\n"})  # the next engine writes and collects anew
    seal(paths)
    assert read_everything(paths) == EVERYTHING
    assert "trial.json" not in loose(paths)
    assert TrialFiles(paths).problems() == []


def test_a_node_that_left_no_log_is_still_known(tmp_path: Path):
    paths = TrialPaths(tmp_path / "campaign/configuration/1")
    write(paths, {"nodes/b/exit.json": b"{}", "nodes/a/out.log": b""})
    seal(paths)
    assert [node.directory.name for node in TrialFiles(paths).nodes()] == ["a", "b"]


def test_a_derived_result_is_no_part_of_what_was_archived(sealed: TrialPaths):
    sealed.result.write_text("{}")
    assert TrialFiles(sealed).problems() == []


def test_changed_missing_and_added_files_are_told_apart(sealed: TrialPaths):
    write(sealed, {"nodes/a/out.log": b"other", "nodes/a/extra.log": b"new", "nodes/a/exit.json": b"{}"})
    (sealed.directory / "job.log").unlink()
    (sealed.objects / hashlib.sha256(PROGRAM).hexdigest()).write_bytes(b"other")
    (sealed.objects / hashlib.sha256(CONTENTS["nodes/a/supervisor.json"]).hexdigest()).unlink()
    assert TrialFiles(sealed).problems() == [
        ChecksumProblem("job.log", "missing"),
        ChecksumProblem("nodes/a/exit.json", "changed"),
        ChecksumProblem("nodes/a/extra.log", "added"),
        ChecksumProblem("nodes/a/out.log", "changed"),
        ChecksumProblem("nodes/a/supervisor.json", "missing"),
        ChecksumProblem("rendered/a/files/train.py", "changed"),
        ChecksumProblem("rendered/b/files/train.py", "changed"),
    ]


def test_a_text_that_was_changed_in_the_list_is_found(sealed: TrialPaths):
    sealed.archive.write_text(sealed.archive.read_text().replace("exec train", "exec trick"))
    assert {item.file for item in TrialFiles(sealed).problems()} == {"nodes/a/launch.sh", "rendered/a/launch.sh"}


@pytest.mark.parametrize("kept", ["file", "object", "text"])
@pytest.mark.parametrize("outside", ["../secret", "../../objects/../secret"])
def test_a_list_that_names_files_outside_the_trial_reads_none_of_them(sealed: TrialPaths, kept: str, outside: str):
    (sealed.directory.parent / "secret").write_text("secret")
    (sealed.objects.parent / "secret").write_text("secret")
    document = json.loads(sealed.archive.read_text())
    document["files"].append({"path": outside, "sha256": "../secret", "size": 6, "kept": kept})
    sealed.archive.write_text(json.dumps(document))
    assert TrialFiles(sealed).problems() == [ChecksumProblem(outside, "missing")]


def test_a_link_out_of_the_trial_is_not_followed(sealed: TrialPaths):
    (sealed.directory / "link").symlink_to("/etc")
    (sealed.directory / "nodes/b").mkdir()
    (sealed.directory / "nodes/b/environment.json").symlink_to("/etc/passwd")
    assert TrialFiles(sealed).problems() == []
    assert not TrialFiles(sealed).has(sealed.node("b").environment)


@pytest.mark.parametrize("place", ["nodes/b", "nodes/b/ranks"])
def test_a_link_in_place_of_a_folder_of_logs_is_not_followed(sealed: TrialPaths, tmp_path: Path, place: str):
    outside = tmp_path / "outside"
    (outside / "ranks").mkdir(parents=True)
    for name in ("out.log", "rank0.log", "rank0.log.replaced-1", "ranks/rank0.log"):
        (outside / name).write_text("secret")
    link = sealed.directory / place
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside)
    assert [log for node in sealed.nodes() if node.directory.name == "b" for log in node.logs()] == []


def test_a_name_that_is_no_text_is_listed(tmp_path: Path):
    paths = make_trial(tmp_path)
    (paths.directory / os.fsdecode(b"nodes/a/ranks/\xff.log")).write_bytes(b"rank\n")
    seal(paths)
    assert TrialFiles(paths).problems() == []


def test_a_trial_that_was_never_sealed_says_so(tmp_path: Path):
    paths = TrialPaths(tmp_path / "campaign/configuration/1")
    assert TrialFiles(paths).problems() == [ChecksumProblem("archive.json", "missing")]
    write(paths, {"archive.json": b"{"})
    assert TrialFiles(paths).problems() == [ChecksumProblem("archive.json", "unreadable")]
