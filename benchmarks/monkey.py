"""Whether a monkey ends the terminal UI: keys, bursts, mouse, pastes, resizes, campaigns that vanish meanwhile.

    PYTHONPATH=tui:tests:tests/app python benchmarks/monkey.py [--keys 3000] [--seeds 10] [--workspace DIR]

Plays with copies of three workspaces: an empty one, one with something of every state, and ``DIR`` (that of the
repository, where it is given). The aim: no death in 10 seeds of 3 000 keys for each, and after them `dlperf verify`
finds no difference in what is left of ``DIR``, which the monkey only renamed, removed and copied.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playing import play

from app.builder import finished_campaign, make_workspace, running_campaign
from dlperf.runs.paths import WorkspacePaths


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keys", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--workspace", type=Path, help="a workspace with real campaigns, which is copied")
    options = parser.parse_args()
    kinds: dict[str, Callable[[Path], WorkspacePaths]] = {"empty": make_workspace, "states": _of_every_state}
    if options.workspace:
        kinds["real"] = lambda folder: _copy_of(options.workspace, folder)
    for name, make in kinds.items():
        print(json.dumps({"benchmark": "monkey", "workspace": name} | _played(make, options)), flush=True)


def _played(make: Callable[[Path], WorkspacePaths], options: argparse.Namespace) -> dict[str, object]:
    deaths, keys, differences = [], 0, 0
    for seed in range(options.seeds):
        with tempfile.TemporaryDirectory() as folder:
            workspace = make(Path(folder))
            try:
                keys += asyncio.run(play(workspace, options.keys, seed))
            except Exception as error:
                deaths.append(f"seed {seed}: {error!r}")
            differences += make.__name__ == "<lambda>" and _differs(workspace)
    return {"keys": keys, "seeds": options.seeds, "deaths": deaths, "workspaces_that_differ": differences}


def _of_every_state(folder: Path) -> WorkspacePaths:
    workspace = make_workspace(folder)
    running_campaign(workspace)
    for day, name in enumerate(("alpha", "beta", "基线")):
        finished_campaign(workspace, name, day=day + 1)
    return workspace


def _copy_of(workspace: Path, folder: Path) -> WorkspacePaths:
    (folder / "mkdocs.yml").write_text("site_name: monkey\n")
    shutil.copytree(workspace / "runs", folder / "runs", symlinks=True)
    if (workspace / "catalog").is_dir():
        shutil.copytree(workspace / "catalog", folder / "catalog")
    return WorkspacePaths(folder)


def _differs(workspace: WorkspacePaths) -> bool:
    """Whether `dlperf verify` finds a difference in what is left."""
    command = [sys.executable, "-m", "dlperf", "--workspace", str(workspace.root), "verify"]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode != 0


if __name__ == "__main__":
    main()
