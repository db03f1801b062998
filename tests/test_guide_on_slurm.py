"""The guide's page on Slurm is typed as a reader would type it, on a real cluster."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from guide_pages import GUIDE, type_page, typed
from slurm_lab import slurm, slurm_cluster

__all__ = ["slurm", "slurm_cluster", "typed"]


def test_a_cluster_is_set_up_and_measured_as_the_page_on_slurm_says(typed, tmp_path, slurm, monkeypatch):
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")  # NumPy of the tests' own Python
    type_page(typed, tmp_path, GUIDE / "slurm.md")
    (row,) = json.loads(typed("dlperf results --campaign first --json"))
    assert (row["n"], row["status"]) == (2, "measured")
