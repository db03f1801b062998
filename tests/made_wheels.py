"""Small wheels and their locks, made in a moment, and a Python with pip to install them."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest


def python_with_pip() -> str:
    """The path of a Python that has pip; the test is skipped where there is none."""
    for python in filter(None, (sys.executable, os.environ.get("DLPERF_TORCH_PYTHON"), "/usr/bin/python3")):
        if subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0:
            return python
    pytest.skip("no Python here has pip")


def make_wheel(folder: Path, name: str, version: str, content: str) -> Path:
    """Make a wheel of one module for any Python."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}.py", content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return path


def lock_line(wheel: Path) -> str:
    """The line of a lock that only this wheel meets."""
    name, version, *_ = wheel.name.split("-")
    return f"{name}=={version} \\\n    --hash=sha256:{sha256(wheel)}\n"


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def keep(cache: Path, wheel: Path) -> Path:
    """Put a wheel where ``dlperf fetch`` puts it."""
    target = cache / sha256(wheel) / wheel.name
    target.parent.mkdir(parents=True)
    target.write_bytes(wheel.read_bytes())
    return target
