"""The shell that prepares a program, with the module command that this machine has, and what is recorded of both."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version

import pytest
from trials import run_to_end, shell_trial

from dlperf.plan import Preparation
from dlperf.runs.records import State

FIND = "ls /etc/profile.d/*lmod*.sh /etc/profile.d/*modules*.sh"


@pytest.fixture
def modulefiles(tmp_path):
    """A folder with one module, demo/1.2."""
    if subprocess.run(["sh", "-c", FIND], capture_output=True).stdout == b"":
        pytest.skip("no modules on this machine (Debian: lmod, or environment-modules)")
    path = tmp_path / "modulefiles" / "demo" / "1.2"
    path.parent.mkdir(parents=True)
    path.write_text(f"#%Module1.0\nsetenv DEMO_LEVEL high\nprepend-path PATH {tmp_path}/bin\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "train").write_text('#!/bin/sh\necho "level $DEMO_LEVEL, $STATED"\nsleep 1.5\n')
    (tmp_path / "bin" / "train").chmod(0o755)
    return path.parent.parent


def prepared(trial, **fields):
    return replace(trial, launch=replace(trial.launch, **fields))


async def test_modules_and_prologue_prepare_the_program_and_are_recorded(executor, tmp_path, modulefiles):
    trial = prepared(
        shell_trial(tmp_path, "exec train"),
        env={"MODULEPATH": str(modulefiles)},
        node_preparation=Preparation(("demo/1.2",)),
        program_preparation=Preparation((), ("export STATED=$(echo by a shell)",)),
    )
    observation = await run_to_end(executor, trial)
    paths = trial.paths.node("here")
    assert (observation.state, paths.log.read_bytes()) == (State.SUCCEEDED, b"level high, by a shell\n")
    assert json.loads(paths.exit.read_text())["modules"]["demo"] == "1.2"


async def test_a_module_that_does_not_exist_ends_the_trial_with_its_name(executor, tmp_path, modulefiles):
    trial = prepared(
        shell_trial(tmp_path, "echo never"),
        env={"MODULEPATH": str(modulefiles)},
        node_preparation=Preparation(("demo/9; touch owned",)),
    )
    observation = await run_to_end(executor, trial)
    log = trial.paths.node("here").log.read_text()
    assert observation.state is State.FAILED
    assert "demo/9; touch owned" in log
    assert "never" not in log


async def test_a_line_of_a_prologue_that_fails_ends_the_trial(executor, tmp_path):
    trial = prepared(shell_trial(tmp_path, "echo never"), program_preparation=Preparation((), ("source /no/venv",)))
    assert (await run_to_end(executor, trial)).state is State.FAILED
    assert "/no/venv: No such file" in trial.paths.node("here").log.read_text()


LOAD = "import time; begun = time.monotonic(); import numpy; time.sleep(2 + time.monotonic() - begun)"
"""Stays for the next look at what it loaded, which are further apart the longer it takes."""


async def test_the_python_packages_of_a_program_are_recorded(executor, tmp_path):
    trial = prepared(shell_trial(tmp_path, ""), interpreter=(sys.executable,), command=("-c", LOAD))
    assert (await run_to_end(executor, trial)).state is State.SUCCEEDED
    facts = json.loads(trial.paths.node("here").environment.read_text())
    assert f"numpy=={version('numpy')}" in facts["packages"]
    assert facts["hostname"]
