"""The lines of benchmarks/h200.sh plan what its page says."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

from dlperf.catalog.files.load import load_catalog
from dlperf.plan import Selection, expand

ROOT = Path(__file__).parents[2]
AXES = ("-H", "-f", "-c", "-p", "-b", "-g")


def planned(stage: str) -> int:
    """How many configurations a stage has; its command is printed instead of run."""
    done = subprocess.run(
        ["sh", ROOT / "benchmarks" / "h200.sh", "plan", stage],
        env={"DLPERF": "echo", "WORKSPACE": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [shlex.split(line) for line in done.stdout.splitlines() if not line.startswith("== ")]
    return sum(map(configurations, lines))


def configurations(words: list[str]) -> int:
    named = {axis: tuple(words[words.index(axis) + 1].split(",")) for axis in AXES}
    batch_sizes = tuple(map(int, named["-b"]))
    selection = Selection(named["-H"], named["-f"], named["-c"], named["-p"], batch_sizes, named["-g"])
    plan = expand(selection, load_catalog(ROOT / "catalog"))
    asked = len(named["-f"]) * len(named["-c"]) * len(named["-p"]) * len(named["-b"]) * len(named["-g"])
    assert len(plan.configurations) == asked, words
    return asked


def test_every_stage_plans_the_configurations_that_its_page_counts():
    page = (ROOT / "benchmarks" / "h200.md").read_text()
    counted = {row[1]: int(row[2]) for row in re.finditer(r"^\| `([a-z-]+)` \|.*\| (\d+) \|$", page, re.MULTILINE)}
    assert len(counted) == 6
    assert {stage: planned(stage) for stage in counted} == counted


def test_an_unknown_stage_is_refused():
    done = subprocess.run(
        ["sh", ROOT / "benchmarks" / "h200.sh", "plan", "all"], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 2
    assert "no stage all: they are first one-gpu jax scaling nodes precisions" in done.stderr
