"""The shell lines of GitHub Action and GitLab template run; pip and gh are stand-ins that record their words."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
ACTION = yaml.safe_load((ROOT / ".github/actions/dlperf/action.yml").read_text())
GITLAB = yaml.safe_load((ROOT / ".gitlab/dlperf.yml").read_text())[".dlperf"]
STAND_INS = {
    "python3": f'[ "$2" = pip ] && {{ echo "$@" >> "$CALLS"; exit; }}\nexec {sys.executable} "$@"',
    "dlperf": f'exec {sys.executable} -m dlperf "$@"',
    "gh": 'echo "$@" >> "$CALLS"\ncase "$*" in *--paginate*) cat "$COMMENTS";; esac',
}
FILES = ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "CALLS", "COMMENTS")
PLACE = re.compile(r"\$\{\{ (.*?) \}\}")
PROGRAM = """\
rate=80
[ -e "$HOME/slower" ] && rate=40
for step in 10 20 30 40 50 60 70 80 90 100 110 120; do
    echo "step $step loss 1.0 $rate images/s"
done
"""


@pytest.fixture
def runner(tmp_path: Path) -> dict[str, str]:
    """The environment of a runner."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in STAND_INS.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    files = {name: str(tmp_path / name.lower()) for name in FILES}
    for path in files.values():
        Path(path).touch()
    (tmp_path / "train.sh").write_text(PROGRAM)
    more = {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(tmp_path), "GITHUB_REPOSITORY": "me/mine"}
    return {**os.environ, **files, **more}


def bash(line: str, environment: Mapping[str, str], folder: Path, code: int = 0) -> None:
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", line]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == code, done


def run_action(runner: Mapping[str, str], folder: Path, code: int, **inputs: str) -> list[str]:
    """Run the steps as for a pull request, the last of which ends with this code; the names of those that ran."""
    known = {f"inputs.{name}": str(item.get("default", "")) for name, item in ACTION["inputs"].items()}
    known |= {f"inputs.{name}": value for name, value in inputs.items()}
    known |= {"runner.temp": str(folder / "temp"), "github.action_path": "/actions/dlperf", "github.job": "speed"}
    known |= {"github.event.number": "7", "github.token": "t", "github.event_name": "pull_request"}
    names = []
    for step in (step for step in ACTION["runs"]["steps"] if "run" in step):
        written = (line.split("=") for line in Path(runner["GITHUB_OUTPUT"]).read_text().splitlines())
        known |= {f"steps.measure.outputs.{name}": value for name, value in written}
        if all(holds(part, known) for part in step.get("if", "x == x").split(" && ")):
            own = {name: PLACE.sub(partial(filled, known), text) for name, text in step["env"].items()}
            bash(step["run"], {**runner, **own}, folder, code if step["name"] == "Verdict" else 0)
            names.append(step["name"])
    return names


def filled(values: Mapping[str, str], place: re.Match[str]) -> str:
    return values[place[1]]


def holds(condition: str, values: Mapping[str, str]) -> bool:
    left, comparison, right = condition.split()
    return (values.get(left, left) == right.strip("'")) == (comparison == "==")


def test_action_and_template_measure_say_and_end_with_the_verdict(runner, tmp_path):
    wrong = "run -f sh"  # --ci without --gate
    made = run_action(runner, tmp_path, 2, program="sh train.sh", workspace="bench", command=wrong, comment="false")
    assert made == ["Install", "Prepare", "Measure", "Summary", "Verdict"]

    bash("cd bench && dlperf run -f sh -b 1 --repeats 5 --name before", runner, tmp_path)
    bash("cd bench && dlperf baseline save main", runner, tmp_path)
    template = {**runner, **GITLAB["variables"], "DLPERF_COMMAND": "baseline compare main before"}
    for line in (*GITLAB["before_script"], *GITLAB["script"]):
        bash(line, template, tmp_path / "bench")
    assert (tmp_path / "bench" / GITLAB["artifacts"]["reports"]["junit"]).is_file()

    (tmp_path / "slower").touch()
    Path(runner["COMMENTS"]).write_text("41\n")
    ran = run_action(runner, tmp_path, 1, workspace="bench", command="run --gate main", comment="true")
    assert ran == ["Install", "Measure", "Summary", "Comment", "Verdict"]
    assert "worse: -" in Path(runner["GITHUB_STEP_SUMMARY"]).read_text()
    calls = Path(runner["CALLS"]).read_text().splitlines()
    assert calls[0] == "-m pip install --quiet /actions/dlperf/../../.."
    assert calls[-1].startswith("api --method PATCH repos/me/mine/issues/comments/41 -F body=@")
