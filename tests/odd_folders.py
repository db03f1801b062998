"""Folders that no program of this project makes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def folders_in_folders(folder: Path, levels: int) -> Iterator[None]:
    """Make folders whose path is longer than Python has frames, for a while: pytest could not remove them."""
    here = os.getcwd()
    os.chdir(folder)
    for _ in range(levels):
        os.mkdir("d")
        os.chdir("d")
    Path("file").touch()
    os.chdir(here)
    try:
        yield
    finally:
        subprocess.run(["rm", "-rf", folder / "d"], check=True)
