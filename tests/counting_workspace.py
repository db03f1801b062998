"""A workspace whose framework is a shell script that counts its own starts: real processes, over in a moment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dlperf.plan import TrialKey
from dlperf.runs.journal import campaign_status
from dlperf.runs.paths import CampaignPaths, WorkspacePaths
from forked_commands import run_command
from waiting import until

FRAMEWORK = """\
id: counting
title: Counting
version: "1"
format: dlperf
devices: [cpu]
recipes:
  - case: lenet5
    precisions: [fp32]
    scales: [1n1g]
    interpreter: [sh]
    command: ["{files}/count.sh", "{batch_size}"]
    files: [count.sh]
"""

PROTOCOL = """\
id: dlperf
title: By printed values
description: The mean of what the program prints, whose times are invented.
skip_steps: 20
take_steps: 100
estimator: window(20, 120)
repeats: 5
aggregate: median
"""

SCRIPT = """\
echo "$DLPERF_TRIAL" >> "$HOME/starts"
step=0 lines=
while [ $step -lt 120 ]; do
    step=$((step + 10))
    lines="$lines
DLPERF 2026-01-01T00:0$((step / 60)):$((step % 60 / 10))0.000000Z\\
 step=$step epoch=0 samples=$((step * $1)) loss=1 throughput=$1"
done
echo "$lines"
[ -e "$HOME/fail-$1" ] && exit 7
while [ -e "$HOME/hold-$1" ]; do sleep 0.05; done
sleep 0.2
"""
"""Its times are invented: printed at once, its lines arrive together, and their arrival contradicts no rate."""


@dataclass(frozen=True)
class Counting:
    """The workspace and the home folder of its one node."""

    workspace: WorkspacePaths
    home: Path
    operator: Path | None = None
    """The operator's home folder where it is not that of the node."""

    @property
    def environment(self) -> Mapping[str, str]:
        return {**os.environ, "HOME": str(self.operator or self.home)}

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "dlperf", "--workspace", str(self.workspace.root), *words]

    def dlperf(self, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, which must be this exit code."""
        done = self.run(*words)
        assert done.returncode == code, done
        return done

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, in the workspace."""
        return run_command(("--workspace", str(self.workspace.root), *words), self.workspace.root, self.environment)

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Start a command and let it run."""
        return subprocess.Popen(
            self.command(*words),
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def campaign(self, name: str) -> CampaignPaths:
        return self.workspace.campaign(name)

    def hold(self, batch_size: int) -> Path:
        """Trials of this batch size run until the file is removed."""
        path = self.home / f"hold-{batch_size}"
        path.touch()
        return path

    def fail(self, batch_size: int) -> Path:
        """Trials of this batch size end with exit code 7 while the file is there."""
        path = self.home / f"fail-{batch_size}"
        path.touch()
        return path

    @property
    def starts(self) -> Sequence[str]:
        """The mark of every trial that was started, once for each start."""
        path = self.home / "starts"
        return path.read_text().split() if path.exists() else []

    def states(self, name: str) -> dict[str, str]:
        """``32/1`` (batch size and number) → state."""
        trials = campaign_status(self.campaign(name)).trials
        return {short(key): str(trial.state) for key, trial in trials.items()}

    def wait_for(self, name: str, trial: str, state: str) -> None:
        """Wait until a trial is in a state."""
        until(
            lambda: self.campaign(name).journal.exists() and self.states(name).get(trial) == state,
            lambda: f"{trial} never became {state}: {self.states(name)}",
        )


def short(key: TrialKey) -> str:
    batch_size = key.configuration.split("_")[4].removeprefix("bs")
    return f"{batch_size}/{key.number}"


def counting_workspace(folder: Path) -> Counting:
    """Make the workspace."""
    root, home = folder / "workspace", folder / "home"
    folders = (root / "catalog" / "protocols", root / "catalog" / "frameworks")
    for path in (root / "runs", *folders, root / "catalog" / "workloads", home):
        path.mkdir(parents=True)
    (root / "mkdocs.yml").touch()
    (root / "catalog" / "frameworks" / "counting.yaml").write_text(FRAMEWORK)
    (root / "catalog" / "protocols" / "dlperf.yaml").write_text(PROTOCOL)
    (root / "catalog" / "workloads" / "count.sh").write_text(SCRIPT)
    return Counting(WorkspacePaths(root), home)
