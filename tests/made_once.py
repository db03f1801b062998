"""Folders that take seconds to make, shared by all processes of a test run, or of several."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object], shared: bool = False) -> Path:
    """Return a folder for reading only, which the first process that needs it lets ``make`` fill.

    Args:
        shared: it depends on the commit alone, so that test runs that are given a folder by ``DLPERF_MADE`` share it.
    """
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    if shared and (given := os.environ.get("DLPERF_MADE")):
        folder = Path(given) / name
    done = folder.with_suffix(".done")
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            done.touch()
    return folder
