"""``supervisor.py`` runs on any node: old Python, nothing installed."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dlperf.nodes import supervisor
from dlperf.nodes.bootstrap import SOURCE, agent_command, supervisor_name

OLDEST = (3, 6)


def _imported_modules() -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(SOURCE.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    return names


def _old_python() -> str | None:
    """A real Python 3.6 or 3.7 of this machine."""
    for name in ("python3.6", "python3.7"):
        pyenv = sorted(Path.home().glob(f".pyenv/versions/{name.removeprefix('python')}.*/bin/python3"))
        found = shutil.which(name)
        for path in [*map(str, pyenv), *([found] if found else [])]:
            if subprocess.run([path, "-c", ""], capture_output=True).returncode == 0:
                return path
    return None


def test_it_compiles_with_the_oldest_python():
    ast.parse(SOURCE.read_text(), feature_version=OLDEST)


def test_it_imports_the_standard_library_alone():
    assert _imported_modules() <= sys.stdlib_module_names


def test_another_version_has_another_name():
    assert supervisor_name().startswith("supervisor-")
    assert len(supervisor_name()) == len("supervisor-123456789abc.py")


def test_the_bootstrap_line_survives_every_login_shell():
    script = agent_command()[2]
    assert not set("'!\\\n") & set(script)


def test_a_trial_runs_under_the_oldest_python(tmp_path):
    python = _old_python()
    if python is None:
        pytest.skip("no Python 3.6 or 3.7 on this machine")
    job = {
        "mark": "old/é",
        "command": ["sh", "-c", 'echo "$DLPERF_TRIAL"'],
        "deadline_seconds": 30,
        "stall_seconds": 30,
        "container": None,
        "gpu_indices": [],
    }
    supervisor.write_json(str(tmp_path / "job.json"), job)
    clean = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    subprocess.run([python, "-I", "-S", str(SOURCE), "run", str(tmp_path)], env=clean, check=True, timeout=30)
    assert supervisor.read_json(str(tmp_path / "exit.json"))["state"] == "succeeded"
    assert (tmp_path / "out.log").read_text("utf-8") == "old/é\n"


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../../b", "a//b", "a/./b", "a/.."])
def test_a_path_outside_the_folder_is_refused(path):
    with pytest.raises(ValueError, match="does not stay below"):
        supervisor.confined(path)


@pytest.mark.parametrize(
    ("code", "state", "cause"),
    [
        (0, "succeeded", "exit code 0"),
        (3, "failed", "exit code 3"),
        (-11, "failed", "signal 11 (SIGSEGV)"),
        (139, "failed", "signal 11 (SIGSEGV)"),
        (128, "failed", "exit code 128"),
        (255, "failed", "exit code 255"),
    ],
)
def test_an_exit_status_is_told_in_words(code, state, cause):
    assert supervisor.ending_of(code) == (state, cause)


def test_a_jump_of_the_wall_clock_changes_no_duration():
    started = supervisor.Moment(wall=1_000_000.0, monotonic=50.0)
    ended = supervisor.Moment(wall=996_400.0, monotonic=62.5)
    record = supervisor.exit_record(supervisor.ending_of(0), 0, started, ended, [])
    assert record["duration_seconds"] == 12.5


@pytest.mark.parametrize(
    ("running", "silent", "cause"),
    [
        (9.9, 1.9, None),
        (10.0, 0.0, "deadline of 10 s"),
        (5.0, 2.0, "no output for 2 s (stall limit)"),
    ],
)
def test_a_limit_is_reached_by_elapsed_seconds(running, silent, cause):
    reached = supervisor.limit_reached({"deadline_seconds": 10.0, "stall_seconds": 2.0}, running, silent)
    assert (reached.cause if reached else None) == cause
