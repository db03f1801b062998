"""One configuration, run by dlperf in a workspace of its own: what ``observer.py`` and ``kill.py`` share."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DLPERF = [sys.executable, "-m", "dlperf"]


def arguments(description: str) -> argparse.ArgumentParser:
    """Which configuration; a small network on this machine's CPU if nothing is said."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--hardware", default="local", help="default: local")
    parser.add_argument("--framework", default="numpy", help="default: numpy")
    parser.add_argument("--case", default="lenet5", help="default: lenet5")
    parser.add_argument("--precision", default="fp32", help="default: fp32")
    parser.add_argument("--batch-size", default="256", help="default: 256")
    parser.add_argument("--gpus", default="1n1g", help="default: 1n1g")
    parser.add_argument("--catalog", type=Path, default=ROOT / "catalog", help="default: this repository's")
    return parser


@dataclass
class Bench:
    """A workspace in a temporary folder, which is also the home of everything that is started."""

    folder: Path
    words: list[str]

    def start(self, name: str) -> subprocess.Popen[bytes]:
        """``dlperf run`` in the foreground, one trial; ends when the trial is collected and measured."""
        command = [*DLPERF, "run", *self.words, "--repeats", "1", "--name", name, "--yes"]
        with (self.folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=log, stderr=log)

    def dlperf(self, *words: str, check: bool = True) -> None:
        subprocess.run([*DLPERF, *words], cwd=self.folder, env=self.environment, check=check, capture_output=True)

    @property
    def environment(self) -> dict[str, str]:
        sources = [str(ROOT / "tui"), *filter(None, [os.environ.get("PYTHONPATH")])]
        return {**os.environ, "HOME": str(self.folder), "PYTHONPATH": os.pathsep.join(sources)}

    def trial(self, name: str) -> Path:
        """The folder of a campaign's first node."""
        (found,) = (self.folder / "runs" / name).glob("*/1/nodes/*")
        return found


@contextmanager
def bench(asked: argparse.Namespace) -> Iterator[Bench]:
    """A new workspace for one configuration; removed at the end."""
    words = ["-H", asked.hardware, "-f", asked.framework, "-c", asked.case, "-p", asked.precision]
    words += ["-b", asked.batch_size, "-g", asked.gpus]
    with tempfile.TemporaryDirectory() as folder:
        ready = Bench(Path(folder) / "workspace", words)
        ready.folder.mkdir()
        subprocess.run([*DLPERF, "init", "."], cwd=ready.folder, env=ready.environment, check=True, capture_output=True)
        if asked.catalog.is_dir():
            subprocess.run(["cp", "-r", f"{asked.catalog}/.", ready.folder / "catalog"], check=True)
        yield ready
