"""What a user gets: wheel and sdist are built, checked, installed in new environments, and pass the quick start.

    python benchmarks/package.py [--keep DIR]

Needs a package index. Prints size and times as a Markdown table, and ends with exit code 1 where a step fails. The
processor time is that of pip alone; the time in all depends on the index and on what the machine does besides.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
LARGEST = 5
"""Packages that are named."""


def main() -> None:
    """Build, install and try each artifact; keep them in a folder where one is named."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--keep", type=Path)
    keep = options.parse_args().keep
    with tempfile.TemporaryDirectory() as scratch:
        artifacts = built(Path(scratch))
        print("| artifact | kB | installed MB | s of processor | s in all | quick start s |\n|---|--:|--:|--:|--:|--:|")
        for artifact in artifacts:
            print(tried(artifact, Path(scratch) / f"try-{artifact.suffix[1:]}"), flush=True)
        if keep:
            shutil.copytree(Path(scratch) / "dist", keep)
        print(f"\nLargest packages: {largest(Path(scratch) / 'try-whl')}")


def built(scratch: Path) -> list[Path]:
    """Return the sdist, and the wheel that is built from it, both accepted by ``twine check``."""
    tools = environment(scratch / "tools")
    run(tools, "-m", "pip", "install", "-q", "build", "twine", output=subprocess.DEVNULL)
    run(tools, "-m", "build", "--outdir", scratch / "dist", ROOT, output=subprocess.DEVNULL)
    artifacts = sorted((scratch / "dist").iterdir())
    run(tools, "-m", "twine", "check", "--strict", *artifacts, output=subprocess.DEVNULL)
    return artifacts


def tried(artifact: Path, folder: Path) -> str:
    """Install an artifact and run the quick start; return its row."""
    python, before = environment(folder), size_of(folder)
    begun, used = time.monotonic(), processor_seconds()
    run(python, "-m", "pip", "install", "-q", "--no-compile", artifact, output=subprocess.DEVNULL)
    seconds, processor = time.monotonic() - begun, processor_seconds() - used
    installed = size_of(folder) - before
    begun = time.monotonic()
    run(python.with_name("dlperf"), "quickstart", folder / "bench", output=subprocess.DEVNULL)
    quick = time.monotonic() - begun
    assert (folder / "bench" / "site" / "html" / "index.html").is_file()
    cells = (artifact.stat().st_size / 1e3, installed / 1e6, processor, seconds, quick)
    return f"| {artifact.name} | " + " | ".join(f"{cell:.0f}" for cell in cells) + " |"


def largest(folder: Path) -> str:
    """Name the largest packages of an environment."""
    packages = next(folder.glob("lib/python*/site-packages"))
    sizes = sorted(((size_of(path), path.name) for path in packages.iterdir() if path.is_dir()), reverse=True)
    return ", ".join(f"{name} {size / 1e6:.0f} MB" for size, name in sizes[:LARGEST])


def environment(folder: Path) -> Path:
    """Make a virtual environment and return its Python."""
    run(Path(sys.executable), "-m", "venv", folder)
    return folder / "bin" / "python"


def run(program: Path, *words: str | Path, output: int | None = None) -> None:
    """Run a program without the variables of this one but those of pip, and end where it fails."""
    surroundings = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(Path.home()), "PYTHONDONTWRITEBYTECODE": "1"}
    surroundings["DLPERF_LEASE"] = f"{tempfile.gettempdir()}/dlperf-package-{os.getpid()}.lease"
    surroundings |= {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    subprocess.run([program, *words], check=True, stdout=output, env=surroundings, cwd="/")


def processor_seconds() -> float:
    """Return the processor time of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def size_of(folder: Path) -> int:
    """Return the bytes that all files take on the disk."""
    return sum(512 * path.lstat().st_blocks for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


if __name__ == "__main__":
    main()
