"""``dlperf bisect`` in a repository whose program is slower from one commit on, and by chance in each run."""

from __future__ import annotations

import importlib.util
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "commits.py"


def test_the_commit_that_made_a_noisy_program_slower_is_found(tmp_path: Path) -> None:
    specification = importlib.util.spec_from_file_location("sleeping_commits", PROGRAM)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    outcome, said = module.search(tmp_path, commits=5, bad=3, loss=0.3, noise=0.01)
    assert outcome == "right", said
