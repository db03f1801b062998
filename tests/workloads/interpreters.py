"""Interpreters that have a framework: named by a variable such as DLPERF_TORCH_PYTHON, or the running one."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import dlperf.workloads
from ports import free_port

_FOLDER = TemporaryDirectory(prefix="dlperf-programs-")
WORKLOADS = Path(_FOLDER.name)
"""All programs in one folder, as on a node."""
for _program in Path(dlperf.workloads.__file__).parent.glob("*/*.py"):
    shutil.copy(_program, WORKLOADS)
SMALL = Path(__file__).with_name("small.py")
"""Starts a program of these with a narrow network of fewer layers."""
RANKS = Path(__file__).with_name("ranks.py")
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "PASSIVE",
    "CUDA_VISIBLE_DEVICES": "",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",
    "PADDLE_DISTRI_BACKEND": "gloo",
}
"""On the CPU, alone on a core; compiling fast counts for more than running fast."""
PATIENCE_SECONDS = 800.0
"""For one program: some compile for a minute, and for several where the machine does other work."""
trains = pytest.mark.timeout(2 * PATIENCE_SECONDS)
"""For modules whose tests train."""


def interpreter(module: str) -> str:
    """The path of a Python that can import a framework; the test is skipped where there is none."""
    variable = f"DLPERF_{module.rpartition('.')[2].upper()}_PYTHON"
    python = os.environ.get(variable, sys.executable)
    if not _has(python, module):
        pytest.skip(f"{python} has no {module}: set {variable} to a Python that has")
    return python


@functools.cache
def _has(python: str, module: str) -> bool:
    probe = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return subprocess.run([python, "-c", probe], check=False).returncode == 0


def run(*command: str | Path, cwd: Path | None = None, **environment: str | None) -> subprocess.CompletedProcess[str]:
    """Run a command on the CPU, one thread to a process; a variable that is None is unset."""
    variables = os.environ | ONE_THREAD | environment
    return subprocess.run(
        list(map(str, command)),
        env={name: value for name, value in variables.items() if value is not None},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )


def run_ranks(processes: int, *command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a PyTorch program in several processes of this machine, which talk through gloo."""
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "PYTHONPATH": str(WORKLOADS)}
    return run(interpreter("torch"), RANKS, str(processes), *command, **place)
