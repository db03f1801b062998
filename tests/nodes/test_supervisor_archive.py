"""The one file that is copied to nodes: the same everywhere, for old Pythons, needed at the start alone."""

from __future__ import annotations

import ast
import contextlib
import itertools
import json
import os
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dlperf.nodes import bootstrap
from dlperf.nodes.bootstrap import agent_command, supervisor_archive, supervisor_name
from dlperf.nodes.supervisor import files, operations
from dlperf.nodes.supervisor.host import machine
from waiting import until

OLDEST = (3, 6)
MODULES = [*sorted(bootstrap.PACKAGE.rglob("*.py")), bootstrap.SHARED]


def _old_python() -> str | None:
    """A real Python 3.6 or 3.7 of this machine."""
    for name in ("python3.6", "python3.7"):
        pyenv = sorted(Path.home().glob(f".pyenv/versions/{name.removeprefix('python')}.*/bin/python3"))
        found = shutil.which(name)
        for path in [*map(str, pyenv), *([found] if found else [])]:
            if subprocess.run([path, "-c", ""], capture_output=True).returncode == 0:
                return path
    return None


def _trial(folder: Path, script: str, mark: str = "archive/node") -> Path:
    """A trial's folder, as an executor would write it."""
    folder.mkdir()
    job = {
        "mark": mark,
        "command": ["sh", "-c", script],
        "deadline_seconds": 60,
        "stall_seconds": 60,
        "container": None,
        "gpu_indices": [],
    }
    (folder / "job.json").write_text(json.dumps(job))
    return folder


def _imports(path: Path) -> Iterator[ast.Import | ast.ImportFrom]:
    return (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Import | ast.ImportFrom))


def _names(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    return [(node.module or "").partition(".")[0]]


def _is_inside(node: ast.Import | ast.ImportFrom, path: Path) -> bool:
    """Whether a module imports a part of the package, relative to itself, or the one shared module."""
    if not isinstance(node, ast.ImportFrom):
        return False
    depth = len(path.relative_to(bootstrap.PACKAGE.parent).parts) - 1 if bootstrap.PACKAGE in path.parents else 0
    return node.module == f"dlperf.{bootstrap.SHARED.stem}" or 1 <= node.level <= depth


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "bin" / supervisor_name()
    path.parent.mkdir()
    path.write_bytes(supervisor_archive())
    return path


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_compiles_with_the_oldest_python(path):
    ast.parse(path.read_text(), feature_version=OLDEST)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_imports_its_neighbours_and_the_standard_library(path):
    foreign = {name for node in _imports(path) if not _is_inside(node, path) for name in _names(node)}
    assert foreign <= sys.stdlib_module_names


@pytest.mark.parametrize("path", [path for path in MODULES if path.stem != "main"], ids=lambda path: path.stem)
def test_a_module_imports_at_its_top_alone(path):
    top = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert len(list(_imports(path))) == len(top)


def test_the_same_modules_give_the_same_file_wherever_they_lie(tmp_path, monkeypatch):
    elsewhere = shutil.copytree(bootstrap.PACKAGE, tmp_path / "supervisor", copy_function=shutil.copyfile)
    monkeypatch.setattr(bootstrap, "PACKAGE", elsewhere)
    assert supervisor_archive.__wrapped__() == supervisor_archive()


def test_another_version_has_another_name(tmp_path, monkeypatch):
    before = supervisor_name()
    changed = shutil.copytree(bootstrap.PACKAGE, tmp_path / "supervisor")
    (changed / "main.py").write_text("pass\n")
    monkeypatch.setattr(bootstrap, "PACKAGE", changed)
    monkeypatch.setattr(bootstrap, "supervisor_archive", supervisor_archive.__wrapped__)
    assert supervisor_name() != before
    assert len(supervisor_name()) == len(before) == len("supervisor-123456789abc.pyz")


def test_the_bootstrap_line_survives_every_login_shell():
    script = agent_command()[2]
    assert not set("'!\\\n") & set(script)


def test_a_trial_runs_under_the_oldest_python(program, tmp_path):
    python = _old_python()
    if python is None:
        pytest.skip("no Python 3.6 or 3.7 on this machine")
    trial = _trial(tmp_path / "trial", 'echo "$DLPERF_TRIAL"', mark="old/é")
    clean = {"PATH": os.environ["PATH"], "LC_ALL": "C", "DLPERF_LEASE": str(tmp_path / "lease")}
    subprocess.run([python, "-I", "-S", str(program), "run", str(trial)], env=clean, check=True, timeout=60)
    assert json.loads((trial / "exit.json").read_text())["state"] == "succeeded"
    assert (trial / "out.log").read_text("utf-8") == "old/é\n"


def test_the_agent_answers_under_the_oldest_python(program):
    python = _old_python()
    if python is None:
        pytest.skip("no Python 3.6 or 3.7 on this machine")
    body = json.dumps({"operation": "check", "container": None, "files": [], "addresses": []}).encode()
    request = struct.pack(">I", len(body)) + body
    done = subprocess.run([python, "-I", "-S", str(program), "agent"], input=request, capture_output=True, timeout=60)
    assert done.stderr == b""
    assert json.loads(done.stdout[4:])["answer"]["missing"] == []


def test_a_supervisor_needs_its_file_no_more_once_it_has_started(program, tmp_path):
    trial = _trial(tmp_path / "trial", "while ! test -e go; do sleep 0.02; done; exit 3")
    command = [sys.executable, "-I", "-S", str(program), "run", str(trial)]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as supervisor:
        while not (trial / "out.log").exists():
            time.sleep(0.01)
        program.write_bytes(b"another file")
        program.unlink()
        (trial / "go").touch()
        _, complaints = supervisor.communicate(timeout=60)
    assert complaints == b""
    assert json.loads((trial / "exit.json").read_text())["cause"] == {"code": "exit_code", "code_value": 3}
    assert json.loads((trial / "environment.json").read_text())["schema"] == 1


def test_a_payload_that_fills_its_disk_ends_with_its_own_exit_code(program, small_disk):
    trial = _trial(small_disk / "trial", "dd if=/dev/zero of=ranks/0 bs=4096; exit 3")
    subprocess.run([sys.executable, "-I", "-S", str(program), "run", str(trial)], check=True, timeout=60)
    assert json.loads((trial / "exit.json").read_text())["code"] == 3


def test_a_payload_that_takes_every_file_of_its_disk_ends_with_its_own_exit_code(program, few_files):
    script = "n=0; while : > ranks/$n; do n=$((n + 1)); done; echo done >> out.log; exit 3"
    trial = _trial(few_files / "trial", f"sh -c '{script}' 2> /dev/null; exit 3")
    subprocess.run([sys.executable, "-I", "-S", str(program), "run", str(trial)], check=True, timeout=60)
    assert json.loads((trial / "exit.json").read_text())["code"] == 3
    assert sorted(path.name for path in trial.glob("*.reserved")) == []


def test_a_payload_that_fills_its_quota_ends_with_its_own_exit_code(program, full_quota):
    script = "sync; for part in $(seq 20); do cat /dev/zero > ranks/$part; done 2> /dev/null; sync; exit 3"
    trial = _trial(full_quota / "trial", script)
    subprocess.run([sys.executable, "-I", "-S", str(program), "run", str(trial)], check=True, timeout=60)
    assert json.loads((trial / "exit.json").read_text())["code"] == 3


def test_an_end_that_is_asked_for_is_noted_though_no_file_can_be_made(few_files, monkeypatch):
    monkeypatch.setattr(files, "ROOT", str(few_files))
    trial = few_files / "trial"
    trial.mkdir()
    files.reserve(f"{trial}/cancel.json.reserved")
    _take_every_file(few_files)
    operations.note_ending(str(trial), {"grace_seconds": 1.0, "state": "timed_out", "cause": {"code": "cancelled"}})
    assert json.loads((trial / "cancel.json").read_text())["state"] == "timed_out"


def test_a_disk_without_a_file_left_is_not_ready(few_files, monkeypatch):
    monkeypatch.setattr(machine, "ROOT", str(few_files))
    assert (machine.disk_problem(), 0 < machine.files_free() < 100) == ("", True)
    _take_every_file(few_files)
    assert machine.disk_problem() == "No space left on device"
    assert machine.files_free() == 0


def test_a_trial_that_cannot_be_claimed_leaves_no_temporary_folder(program, few_files, tmp_path):
    trial = _trial(few_files / "trial", "true")
    _take_every_file(few_files)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command, environment = [sys.executable, "-I", "-S", str(program), "run", str(trial)], {"TMPDIR": str(temporary)}
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, timeout=60, check=False)
    assert b"No space left on device" in done.stderr
    assert list(temporary.iterdir()) == []


def _take_every_file(folder: Path) -> None:
    with contextlib.suppress(OSError):
        for number in itertools.count():
            (folder / f"taken{number}").touch()


def test_it_is_recorded_when_the_bytes_of_each_log_arrived(program, tmp_path):
    script = "echo a; echo b > ranks/0; until test -e go; do sleep 0.02; done; echo later"
    trial = _trial(tmp_path / "trial", script)
    with subprocess.Popen([sys.executable, "-I", "-S", str(program), "run", str(trial)]):
        times = trial / "out.times"
        until(lambda: times.exists() and "2,out.log" in times.read_text(), lambda: "no row for the first line")
        (trial / "go").touch()
    header, *rows = (trial / "out.times").read_text().splitlines()
    assert header == "seconds,bytes,log"
    found = [(float(seconds), int(size), name) for seconds, size, name in (row.split(",") for row in rows)]
    assert [size for _, size, name in found if name == "out.log"] == [2, 8]
    assert [size for _, size, name in found if name == "ranks/0"] == [2]
    assert [seconds for seconds, _, _ in found] == sorted(seconds for seconds, _, _ in found)
    duration = json.loads((trial / "exit.json").read_text())["duration_seconds"]
    assert all(seconds >= 0 for seconds, _, _ in found)
    assert found[0][0] < duration


def test_a_disk_that_takes_no_telemetry_ends_no_trial_and_is_counted(program, tmp_path):
    trial = _trial(tmp_path / "trial", "sleep 0.1; exit 3")
    (trial / "telemetry.csv").symlink_to("/dev/full")
    command = [sys.executable, "-I", "-S", str(program), "run", str(trial)]
    done = subprocess.run(command, capture_output=True, timeout=60)
    ended = json.loads((trial / "exit.json").read_text())
    assert (done.stderr, ended["code"], ended["telemetry_rows_lost"] > 0) == (b"", 3, True)


def test_nothing_is_written_beside_the_file_and_what_was_compiled_for_one_trial_goes(program, tmp_path):
    trial = _trial(tmp_path / "trial", "mkdir -p .compiled/triton && touch .compiled/triton/kernel && ls -A")
    subprocess.run([sys.executable, "-I", "-S", str(program), "run", str(trial)], check=True, timeout=60)
    assert list(program.parent.iterdir()) == [program]
    assert ".compiled" in (trial / "out.log").read_text().split()
    assert not (trial / ".compiled").exists()


def test_a_command_that_is_none_is_answered_in_one_line(program):
    done = subprocess.run([sys.executable, str(program), "dance"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("usage: ")
