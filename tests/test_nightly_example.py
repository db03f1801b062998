"""The repository of docs/nightly finds the commit that slowed a framework, keeps its results and opens an issue."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from ports import free_port
from waiting import until

EXAMPLE = Path(__file__).parents[1] / "docs" / "nightly"
STAND_INS = {
    "dlperf": f'exec {sys.executable} -m dlperf "$@"',
    "gh": 'echo "$@" >> "$CALLS"; cp "${@: -1}" "$CALLS.body"',
    "python3": f'exec {sys.executable} "$@"',
}
PROGRAM = """\
COST = {cost}  # of a step
for step in range(1, 31):
    print(f"step {{step}}: {{100 / COST:.1f}} samples/s")
"""


class Night:
    """A git server with a framework and the repository of its nights, and a machine that runs them."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self.calls = folder, folder / "calls"
        programs = folder / "programs"
        programs.mkdir()
        for name, text in STAND_INS.items():
            (programs / name).write_text(f"#!/bin/bash\n{text}\n")
            (programs / name).chmod(0o755)
        author = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        more = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder), "CALLS": str(self.calls)}
        self.environment = {**os.environ, **author, **more, "FRAMEWORK": f"{address}/framework"}
        self.environment["PROGRAM"] = "python3 train.py"
        for name in ("framework", "nights"):
            self.run("git", "init", "-q", "--bare", "-b", "main", f"served/{name}")
        self.run("git", "clone", "-q", "served/framework", "work")
        shutil.copytree(EXAMPLE, folder / "nights")
        self.run("git", "init", "-q", "-b", "main", at="nights")
        self.run("git", "remote", "add", "origin", f"{address}/nights", at="nights")
        self.run("git", "add", "-A", at="nights")
        self.run("git", "commit", "-q", "-m", "Begin", at="nights")
        self.run("git", "push", "-q", "-u", "origin", "main", at="nights")

    def run(self, *words: str, at: str = ".") -> str:
        done = subprocess.run(
            words, cwd=self.folder / at, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done
        return done.stdout

    def commit(self, cost: int, subject: str) -> str:
        """Publish a commit of the framework whose steps cost this much; return its id."""
        (self.folder / "work" / "train.py").write_text(PROGRAM.format(cost=cost) + f"# {subject}\n")
        self.run("git", "add", "train.py", at="work")
        self.run("git", "commit", "-q", "-m", subject, at="work")
        self.run("git", "push", "-q", "origin", "HEAD:main", at="work")
        return self.run("git", "rev-parse", "HEAD", at="work").strip()


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def night(tmp_path: Path) -> Iterator[Night]:
    port = free_port()
    (tmp_path / "served").mkdir()
    served = ["git", "daemon", "--reuseaddr", "--export-all", "--enable=receive-pack", "--listen=127.0.0.1"]
    command = [*served, f"--port={port}", f"--base-path={tmp_path / 'served'}", str(tmp_path / "served")]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True) as daemon:
        try:
            until(lambda: is_open(port), lambda: "no git server")
            yield Night(tmp_path, f"git://127.0.0.1:{port}")
        finally:
            os.killpg(daemon.pid, 15)


def test_a_slower_commit_is_named_in_an_issue_and_the_results_are_kept(night: Night):
    first = night.commit(1, "Train")
    night.run("./nightly.sh", at="nights")
    assert f"no new commit since {first}" in night.run("./nightly.sh", at="nights")
    bad = night.commit(2, "Slow down")
    newest = night.commit(2, "Say more")
    night.run("./nightly.sh", at="nights")
    assert night.calls.read_text().startswith(f"issue create --title Slower between {first[:12]} and {newest[:12]} ")
    body = Path(f"{night.calls}.body").read_text()
    assert "worse: -50.00 %" in body
    assert bad[:7] in body[body.index("```") :]
    kept = night.run("git", "ls-tree", "-r", "--name-only", "main", at="served/nights").splitlines()
    assert any(name.endswith("/campaign.json") for name in kept)
    assert night.run("git", "show", "main:last-commit", at="served/nights").strip() == newest
    night.calls.unlink()
    broken = night.commit(0, "Break")
    night.run("./nightly.sh", at="nights")
    assert f"--title No result between {newest[:12]} and {broken[:12]} " in night.calls.read_text()


def test_the_workflow_runs_the_script_with_the_variables_that_it_reads():
    workflow = yaml.safe_load((EXAMPLE / ".github/workflows/nightly.yml").read_text())
    last = workflow["jobs"]["compare"]["steps"][-1]
    assert "./nightly.sh" in last["run"]
    assert {"FRAMEWORK", "PROGRAM", "GH_TOKEN"} <= set(last["env"])
