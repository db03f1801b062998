"""Folders that no program of this project makes."""

from __future__ import annotations

import os
from pathlib import Path


def folders_in_folders(folder: Path, levels: int) -> None:
    """Make folders whose path is longer than Python has frames."""
    here = os.getcwd()
    os.chdir(folder)
    for _ in range(levels):
        os.mkdir("d")
        os.chdir("d")
    Path("file").touch()
    os.chdir(here)
